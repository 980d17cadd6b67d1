// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite(
  "Datasets in the daemon's memory", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: geteuid() == 0, "only root reads another process's memory"))
struct DatasetMemoryTests {
  @Test(
    "A dataset that has been stored or given out is not left in ordinary memory, whichever way it came and went"
  )
  func ways() async throws {
    let place = try await PageHome()
    let (broker, installation) = (place.broker, place.installation)
    let sealer = try SealingLogin("sealer", "a1b2c3d4e5f60704")
    #expect(
      try await installation.command(
        "clients", "enroll", sealer.user, sealer.identity.keys.line, "--trust", "signed"
      ).status == 0)
    let line = try await installation.daemonLine()
    let answers = try await TestSubscriber.start(broker, "threadkeeper/out/#")
    let router = BorderRouter("a1b2c3d4e5f60701")
    var needles: [ProcessMemory.Needle] = []
    func network(_ way: String) throws -> ThreadNetwork {
      let network = try ThreadNetwork(way)
      needles += ProcessMemory.needles("network key by \(way)", network.networkKey)
      needles += ProcessMemory.needles("PSKc by \(way)", network.pskc)
      return network
    }
    func request(_ command: String, _ fields: String) -> Publication {
      Publication(
        topic: "threadkeeper/in/\(router.user)/request/\(command)", payload: Array(fields.utf8))
    }
    func sealed(_ command: String, _ id: String, _ fields: String) throws -> Publication {
      let topic = "threadkeeper/in/\(sealer.user)/request/\(command)"
      let now = Int64(Date().timeIntervalSince1970)
      let envelope = try Envelope.seal(
        Array(#"{"transaction":"\#(id)","border_agent_id":"a1b2c3d4e5f60705"\#(fields)}"#.utf8),
        to: try PublicIdentity(line: line), from: sealer.identity,
        at: .init(topic: topic, order: .identifier(id), now: now, lifetime: 60))
      return Publication(
        topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
    }

    let announced = try network("announce")
    try await place.publisher.publish([
      router.announces(try announced.hex()),
      router.changes(to: try network("dataset").hex(at: 2).uppercased()),
      BorderRouter("a1b2c3d4e5f60702").announces(String(try network("refusal").hex().dropLast())),
      request(
        "credentials/store",
        #"{"border_agent_id":"a1b2c3d4e5f60703","dataset":"\#(try network("request").hex())"}"#),
      try sealer.says("announce", try network("sealed").hex(), to: line),
      try sealed(
        "credentials/store", "sealed-1", #","dataset":"\#(try network("sealed-request").hex())""#),
      try sealed("credentials/get", "sealed-2", ""),
    ])
    try await answers.wait { $0.count >= 3 }

    let socket = installation.socketPath
    let ours = try network("socket")
    let stored = try await SocketRequest.ask(
      "credentials/store",
      ["border_agent_id": "a1b2c3d4e5f60706", "dataset": .text(try ours.hex())], at: socket)
    #expect(stored.data?.change == .stored)
    for command in ["credentials/get", "credentials/list"] {
      let given = try await SocketRequest.ask(
        command, command == "credentials/get" ? ["border_agent_id": "a1b2c3d4e5f60706"] : [:],
        at: socket)
      #expect(given.data?.credentials?.first?.dataset?.hex == (try ours.hex()))
    }

    let body = #"{"id":"none","dataset":"\#(try network("page").hex())"}"#
    let connection = try await RawConnection(port: Int(place.port))
    try await connection.send(
      "POST /consent/deny HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Authorization: Bearer \(PageHome.token)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        + body)
    #expect(try RawAnswer(await connection.readToEnd()).status == 409)

    try await eventually("all credentials") {
      try await installation.json("status")["credentials"] == 5
    }
    #expect(
      try !ProcessMemory.finds(of: needles, in: getpid()).isEmpty,
      "the search finds nothing where something is")
    var finds: Set<String> = []
    do {
      try await eventually(within: .seconds(30), "the end of all calls") {
        finds = try ProcessMemory.finds(of: needles, in: place.daemon.identifier)
        return finds.isEmpty
      }
    } catch is TimedOut {
      Issue.record("left in memory: \(finds.sorted().joined(separator: "; "))")
    }
    #expect(try await place.daemon.stop() == .exit(0))
  }
}
