import Broker
import Foundation
import TestKit
import Testing
import ThreadRequests

@Suite("The daemon's memory", .inTurns, .timeLimit(.minutes(30))) struct ProcessMemoryTests {
  /// The words after `name` in a file of a process.
  private static func words(after name: String, in file: String) throws -> [Substring] {
    let text = try String(contentsOfFile: "/proc/" + file, encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name) })
    return line.dropFirst(name.count).split(whereSeparator: \.isWhitespace)
  }

  /// Whether a process may lock what sodium_malloc locks for the keys of a store.
  private static var mayLock: Bool {
    let limit = try? words(after: "Max locked memory", in: "self/limits").first
    return limit == "unlimited" || limit.flatMap { Int($0) } ?? 0 >= 64 << 10
  }

  @Test("Keys are locked into RAM, and no core is dumped", .enabled(if: mayLock)) func hardened() async throws {
    let running = try await RunningHome()
    let files = "\(running.daemon.identifier)/"
    let core = try Self.words(after: "Max core file size", in: files + "limits")
    #expect(core.prefix(2) == ["0", "0"])
    let locked = try Self.words(after: "VmLck:", in: files + "status").first
    #expect(locked.flatMap { Int($0) } ?? 0 > 0)
    try await running.stop()
  }

  /// The process of the tests is linked with the program, so with its `free` as well.
  @Test("A program that releases a block twice ends", arguments: [24, 100, 1_000, 5_000]) func twice(size: Int) async {
    await #expect(processExitsWith: .failure) { [size = size as Int] in
      let block = malloc(size)
      free(block)
      free(block)
      exit(0)
    }
  }
}

@Suite(
  "Secrets in the daemon's memory", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: geteuid() == 0, "only root reads another process's memory")) struct SecretMemoryTests
{
  @Test("A dataset that has been stored or given out is not left in ordinary memory, whichever way it came and went")
  func ways() async throws {
    let running = try await RunningHome(hasPage: true)
    let installation = running.installation
    let sealer = try SealingLogin("sealer", "a1b2c3d4e5f60704")
    try await installation.enroll(sealer, "--trust", "signed")
    let line = try await installation.daemonLine()
    let answers = try await TestSubscriber.start(running.broker, "threadkeeper/out/#")
    let router = BorderRouter("a1b2c3d4e5f60701")
    var needles: [ProcessMemory.Needle] = []
    func dataset(_ way: String, at seconds: UInt64 = 1) throws -> String {
      let network = try ThreadNetwork(way)
      needles += ProcessMemory.needles("network key by \(way)", network.networkKey)
      needles += ProcessMemory.needles("PSKc by \(way)", network.pskc)
      return try network.hex(at: seconds)
    }
    func sealed(_ command: String, _ id: String, _ fields: String) throws -> Publication {
      try sealer.identity.seals(
        #"{"transaction":"\#(id)","border_agent_id":"a1b2c3d4e5f60705"\#(fields)}"#, to: line,
        at: "threadkeeper/in/\(sealer.user)/request/\(command)", id: id)
    }
    let stored = #"{"border_agent_id":"a1b2c3d4e5f60703","dataset":"\#(try dataset("request"))"}"#
    try await running.publish(
      router.announces(try dataset("announce")), router.changes(to: try dataset("dataset", at: 2).uppercased()),
      BorderRouter("a1b2c3d4e5f60702").announces(String(try dataset("refusal").dropLast())),
      Publication(topic: "threadkeeper/in/\(router.user)/request/credentials/store", payload: Array(stored.utf8)),
      try sealer.says("announce", try dataset("sealed"), to: line),
      try sealed("credentials/store", "sealed-1", #","dataset":"\#(try dataset("sealed-request"))""#),
      try sealed("credentials/get", "sealed-2", ""))
    try await answers.wait { $0.count >= 3 }

    let ours = try dataset("socket")
    let agent: JSONValue = "a1b2c3d4e5f60706"
    let change = try await SocketRequest.ask(
      "credentials/store", ["border_agent_id": agent, "dataset": .text(ours)], at: installation.socketPath)
    #expect(change.data?.change == .stored)
    for (command, fields) in [("credentials/get", ["border_agent_id": agent]), ("credentials/list", [:])] {
      let given = try await SocketRequest.ask(command, fields, at: installation.socketPath)
      #expect(given.data?.credentials?.first?.dataset?.hex == ours)
    }
    let answer = try await running.post(
      "/consent/deny", #"{"id":"none","dataset":"\#(try dataset("page"))"}"#, RunningHome.shownToken)
    #expect(answer.status == 409)

    try await eventually("all credentials") { try await installation.status()["credentials"] == 5 }
    #expect(try !ProcessMemory.finds(of: needles, in: getpid()).isEmpty, "the search finds nothing where something is")
    try await ProcessMemory.expectNone(of: needles, in: running.daemon.identifier, after: "all calls")
    try await running.stop()
  }

  @Test(
    "When a border router has been read, neither the PSKc, nor what it gave, nor what was derived is left",
    .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) func read() async throws
  {
    let network = try LocalNetwork()
    let running = try await RunningHome(variables: network.environment())
    let (home, routers) = (try ThreadNetwork("home"), try ReadableRouters(network))
    try await running.publish(BorderRouter(number: 1).announces(try home.hex()))
    let router = AdvertisedRouter(2, home, takesPSKc: true)
    let pending = try ThreadNetwork("later")
    let agent = try routers.start("Kitchen", router, home.hex(at: 2), pending: pending.pending(at: 3, channel: 25))
    try await eventually("it is read") {
      try routers.announce()
      return running.state(router.topic)?["source"] == "meshcop"
    }
    var secrets = [
      ("network key", home.networkKey), ("PSKc", home.pskc), ("network key to come", pending.networkKey),
      ("PSKc to come", pending.pskc),
    ]
    func note() {
      for (name, secret) in agent.router.derivedSecrets {
        let bytes = secret.withUnsafeBytes { Array($0) }
        // In parts of 16: of the key block the keys, without the nonces.
        secrets += stride(from: 0, through: bytes.count - 16, by: 16).map { (name, Array(bytes[$0..<$0 + 16])) }
      }
    }
    note()
    try await running.installation.run("routers", "read", router.agent)
    note()
    #expect(secrets.count == 18)
    let needles = secrets.flatMap { ProcessMemory.needles($0, $1) }
    #expect(try !ProcessMemory.finds(of: needles, in: getpid()).isEmpty, "the search finds nothing where something is")
    try await ProcessMemory.expectNone(of: needles, in: running.daemon.identifier, after: "two conversations")
    try await running.stop()
  }

  /// What all planted secrets begin and end with, so that a part of any of them is found.
  private struct Plant {
    private let head = (0..<6).map { _ in UInt8.random(in: 1 ... .max) }
    private let tail = (0..<6).map { _ in UInt8.random(in: 1 ... .max) }

    func secret(_ number: Int) -> [UInt8] {
      let middle = [UInt8(number >> 8), UInt8(number & 0xFF)]
      return head + middle + middle.map { ~$0 } + tail
    }

    func needles(_ name: String) -> [ProcessMemory.Needle] {
      ProcessMemory.needles("the beginning of a \(name)", head) + ProcessMemory.needles("the end of a \(name)", tail)
    }
  }

  @Test("Of 40 routers with planted keys none is left, whatever was done with them") func planted() async throws {
    let numbers = 3...40
    let (key, pskc) = (Plant(), Plant())
    // Programs of root are given what those routers have announced.
    let place = try await AdoptingHome(
      more: "teams: {routers: [border-router]}\nclient_users: {0: routers}", othersAre: false)
    let (running, installation) = (place.running, place.installation)
    let needles =
      key.needles("network key") + pskc.needles("PSKc")
      + ProcessMemory.needles("the preferred network's key", place.home.networkKey)
      + ProcessMemory.needles("the other network's key", place.guest.networkKey)
    func look(_ event: String) async throws {
      try await ProcessMemory.expectNone(of: needles, in: running.daemon.identifier, after: event)
    }
    // These do not seal what they say.
    for number in numbers {
      let network = try ThreadNetwork("network-\(number)", networkKey: key.secret(number), pskc: pskc.secret(number))
      let router = BorderRouter(number: number)
      let dataset = try network.hex()
      try await running.publisher.publish(
        number.isMultiple(of: 2) ? [router.announces(dataset)] : [router.says("announce"), router.changes(to: dataset)])
    }
    let count = numbers.count + 2
    try await eventually("all credentials") { try await installation.status()["credentials"]?.number == Int64(count) }
    #expect(try ProcessMemory.finds(of: needles, in: getpid()).count > 8, "the search finds nothing where something is")
    try await look("all were announced")

    for number in numbers {
      let given = try await SocketRequest.ask(
        "credentials/get", ["border_agent_id": .text(BorderRouter(number: number).agent)], at: installation.socketPath)
      let dataset = try #require(given.data?.credentials?.first?.dataset, "\(given)")
      #expect(dataset.networkKey?.withUnsafeBytes { Array($0) } == key.secret(number))
    }
    let listed = try await SocketRequest.ask("credentials/list", at: installation.socketPath)
    #expect(listed.data?.credentials?.count == numbers.count)
    try await look("all were given to a program")

    try await installation.decide("approve")
    try await place.untilSent()
    #expect(try place.opened().first?["dataset"]?.text == (try place.home.hex()))
    try await look("a router was sent the preferred credentials")

    async let asked = SocketRequest.ask("preferred/get", at: installation.socketPath)
    try await installation.decide("approve")
    #expect(try await asked.data?.credentials?.first?.dataset?.hex == (try place.home.hex()))
    try await look("a person has agreed to a request")

    try await installation.run("keys", "rotate", "--yes")
    try await installation.run("store", "verify")
    try await look("the store's keys were rotated")

    try await running.restart()
    try await running.publisher.publish(numbers.map { BorderRouter(number: $0).says("heartbeat") })
    try await look("a start")
    #expect(try await installation.status()["credentials"]?.number == Int64(count))
    try await running.stop()
  }
}
