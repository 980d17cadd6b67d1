// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite(
  "Network keys in the daemon's memory", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: geteuid() == 0, "only root reads another process's memory"))
struct NetworkKeyMemoryTests {
  private static let routers = 100

  /// What all planted secrets begin and end with, so that a part of any of them is found.
  private struct Plant {
    private let head: [UInt8]
    private let tail: [UInt8]

    init() {
      head = (0..<6).map { _ in .random(in: 1 ... .max) }
      tail = (0..<6).map { _ in .random(in: 1 ... .max) }
    }

    func secret(_ number: UInt16) -> [UInt8] {
      let middle = [UInt8(number >> 8), UInt8(number & 0xFF)]
      return head + middle + middle.map { ~$0 } + tail
    }

    func needles(_ name: String) -> [ProcessMemory.Needle] {
      ProcessMemory.needles("the beginning of a \(name)", head)
        + ProcessMemory.needles("the end of a \(name)", tail)
    }
  }

  private let place: AdoptingHome
  private let key = Plant()
  private let pskc = Plant()
  private let needles: [ProcessMemory.Needle]

  init() throws {
    // Programs of root are given what those routers have announced.
    place = try AdoptingHome(
      more: "teams: {routers: [border-router]}\nclient_users: {0: routers}")
    needles =
      key.needles("network key") + pskc.needles("PSKc")
      + ProcessMemory.needles("the preferred network's key", place.home.networkKey)
      + ProcessMemory.needles("the other network's key", place.guest.networkKey)
  }

  @Test("Of 100 routers with planted keys none is left, whatever was done with them")
  func planted() async throws {
    let installation = place.installation
    let audience = try await Audience.start(place.broker)
    let publisher = try await TestPublisher.start(place.broker)
    let daemon = try await installation.start()
    let hub = try SealingLogin("hub", BorderRouter(number: 1).agent)
    let stray = try SealingLogin("router", BorderRouter(number: 2).agent)
    for login in [hub, stray] { try await place.enroll(login) }
    let scene = AdoptingHome.Scene(
      audience: audience, publisher: publisher, line: try await installation.daemonLine(),
      router: stray)
    try await publisher.publish([hub.says("announce", place.home.hex(), to: scene.line)])
    try await audience.until("the preferred network") {
      $0.state(hub.state)?["preferred"] == "match"
    }
    try await publisher.publish([stray.says("announce", place.guest.hex(), to: scene.line)])
    // The others do not seal what they say.
    for number in 3...Self.routers {
      let network = try ThreadNetwork(
        "network-\(number)", networkKey: key.secret(UInt16(number)),
        pskc: pskc.secret(UInt16(number)))
      let router = BorderRouter(number: number)
      let dataset = try network.hex()
      try await publisher.publish(
        number.isMultiple(of: 2)
          ? [router.announces(dataset)] : [router.says("announce"), router.changes(to: dataset)])
    }
    try await eventually("all credentials") {
      try await installation.json("status")["credentials"]?.number == Int64(Self.routers)
    }
    #expect(
      try ProcessMemory.finds(of: needles, in: getpid()).count > 8,
      "the search finds nothing where something is")
    try await look(in: daemon, after: "all were announced")

    for number in 3...Self.routers {
      let router = BorderRouter(number: number)
      let given = try await SocketRequest.ask(
        "credentials/get",
        ["border_agent_id": .text(router.agent)],
        at: installation.socketPath)
      let dataset = try #require(given.data?.credentials?.first?.dataset, "\(given)")
      #expect(
        dataset.networkKey?.withUnsafeBytes { Array($0) } == key.secret(UInt16(number)))
    }
    let listed = try await SocketRequest.ask(
      "credentials/list", at: installation.socketPath)
    #expect(listed.data?.credentials?.count == Self.routers - 2)
    try await look(in: daemon, after: "all were given to a program")

    try await place.approve()
    try await audience.until("the message of the adoption") {
      !place.messages($0).isEmpty
    }
    #expect(try place.opened(scene).first?["dataset"]?.text == (try place.home.hex()))
    try await look(in: daemon, after: "a router was sent the preferred credentials")

    async let asked = SocketRequest.ask("preferred/get", at: installation.socketPath)
    try await place.approve()
    #expect(try await asked.data?.credentials?.first?.dataset?.hex == (try place.home.hex()))
    try await look(in: daemon, after: "a person has agreed to a request")

    let rotated = try await installation.command("keys", "rotate", "--yes")
    #expect(rotated.status == 0, "\(rotated.error)")
    #expect(try await installation.command("store", "verify").status == 0)
    try await look(in: daemon, after: "the store's keys were rotated")
    #expect(try await daemon.stop() == .exit(0))

    let again = try await installation.start()
    try await publisher.publish(
      (3...Self.routers).map { BorderRouter(number: $0).says("heartbeat") })
    try await look(in: again, after: "a start")
    #expect(
      try await installation.json("status")["credentials"]?.number == Int64(Self.routers))
    #expect(try await again.stop() == .exit(0))
  }

  /// What is on its way to the disk or the broker may be there for a moment.
  private func look(in daemon: DaemonProcess, after event: String) async throws {
    var finds: Set<String> = []
    do {
      try await eventually(within: .seconds(30), "rest") {
        finds = try ProcessMemory.finds(of: needles, in: daemon.identifier)
        return finds.isEmpty
      }
    } catch is TimedOut {
      Issue.record("left in memory after \(event): \(finds.sorted().joined(separator: "; "))")
    }
  }
}
