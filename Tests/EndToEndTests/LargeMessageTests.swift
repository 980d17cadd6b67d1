// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("Large messages", .inTurns, .timeLimit(.minutes(30)))
struct LargeMessageTests {
  /// What the private broker's own limit is taken away with.
  private static let unlimited = "max_packet_size 268435455"
  private static let large = [UInt8](repeating: 0x20, count: 60_000_000)

  @Test(
    "Messages of 60 MB do not fill the daemon's memory, retained or not, and it goes on",
    arguments: [("5", [unlimited]), ("3.1.1", [unlimited, "message_size_limit 65536"])])
  func flood(version: String, configuration: [String]) async throws {
    let broker = try TestBroker(extraConfiguration: configuration)
    let publisher = try await TestPublisher.start(broker)
    func flood() async throws {
      for topic in [
        "threadkeeper/in/mallory/announce", "homeassistant/status", "threadkeeper/in/x",
      ] {
        try await publisher.publish([Publication(topic: topic, payload: Self.large)])
      }
      for topic in ["threadkeeper/in/mallory/dataset", "homeassistant/status"] {
        try await publisher.publish([Publication(topic: topic, payload: Self.large, retain: true)])
      }
    }
    // What lies there when it starts.
    try await flood()
    let installation = try Installation(
      broker, mqtt: ["protocol: \(version == "5" ? "5" : "'3.1.1'")"])
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, "threadkeeper/#")
    let before = daemon.peakBytes
    try await flood()
    let router = BorderRouter(number: 1, user: "hub")
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await audience.until("the router") { $0.state(router.topic)?["credentials"] == "stored" }
    // One such message would be more than all that a debug build takes.
    #expect(before > 1 << 20 && before < 100 << 20, "\(before >> 20) MiB at the start")
    #expect(daemon.peakBytes < before + 16 << 20, "\(before >> 20), \(daemon.peakBytes >> 20) MiB")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The private broker ends the connection of who sends 60 MB")
  func privateBroker() async throws {
    let broker = try TestBroker()
    var configuration = broker.configuration(clientID: "mallory")
    // With MQTT 5 the client knows the broker's limit, and sends nothing.
    configuration.protocolVersion = .v311
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    let client = TestClient(configuration)
    try await client.ready()
    var publication = Publication(topic: "threadkeeper/in/mallory/announce", payload: Self.large)
    publication.token = 1
    client.publish([publication])
    try await eventually(within: .seconds(60), "the end of the connection") {
      client.handler.record.disconnections.contains { $0.wasConnected }
    }
    #expect(!client.handler.record.acknowledged.contains { $0.outcome == .delivered })
  }

  @Test("With MQTT 3.1.1 the doctor finds out whether the broker has a limit")
  func doctor() async throws {
    for (configuration, result) in [
      ([Self.unlimited], "warning"), ([Self.unlimited, "message_size_limit 1048576"], "ok"),
      (["max_packet_size 65536"], "ok"),
    ] {
      let broker = try TestBroker(extraConfiguration: configuration)
      let installation = try Installation(
        broker, mqtt: ["protocol: '3.1.1'"], more: "discovery: {mdns: off}")
      let report = try #require(
        JSON(try await installation.command("doctor", "--json").output))
      let finding = report["findings"]?.list.first { $0["check"]?.text == "message_size" }
      #expect(finding?["result"]?.text == result, "\(configuration): \(report)")
      #expect(result == "ok" || finding?["remedy"]?.text?.contains("message_size_limit") == true)
    }
  }
}
