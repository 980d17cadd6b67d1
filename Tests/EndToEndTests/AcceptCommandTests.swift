// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite("threadkeeper networks accept and routers accept", .inTurns)
struct AcceptCommandTests {
  private static let network = "3333333344444444"

  @Test("A network is accepted and taken back")
  func networks() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    let home = try ThreadNetwork("home")
    try await publisher.publish([router.announces(try home.hex())])
    let topic = "threadkeeper/network/\(home.extendedPANID)"
    try await audience.until("the network") { $0.state(topic)?["accepted"] == false }

    let accepted = try await installation.command("networks", "accept", home.extendedPANID)
    #expect(accepted.status == 0, "\(accepted.error)")
    #expect(accepted.output == "\(home.extendedPANID) is accepted.\n")
    try await audience.until("the acceptance") { $0.state(topic)?["accepted"] == true }
    let again = try await installation.command("networks", "accept", home.extendedPANID)
    #expect(again.output == "\(home.extendedPANID) is accepted already.\n")

    let undone = try await installation.command(
      "networks", "accept", home.extendedPANID, "--undo", "--json")
    #expect(undone.status == 0, "\(undone.error)")
    let report = try #require(JSON(undone.output))
    #expect(report["changed"] == true)
    #expect(report["known"] == true)
    let unknown = try await installation.command("networks", "accept", Self.network)
    #expect(unknown.output.hasSuffix("This network is not listed now.\n"))
    _ = try await daemon.stop()
    #expect(try await installation.command("networks", "accept", Self.network).status == 69)
  }

  @Test("What is no network and no listed router is refused by name")
  func refused() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let daemon = try await installation.start()
    let network = try await installation.command("networks", "accept", "xyz")
    #expect(network.status == 64)
    #expect(network.error.contains("an Extended PAN ID has 16 hex digits"))
    let router = try await installation.command("routers", "accept", "a1b2c3d4e5f60718")
    #expect(router.status == 66)
    #expect(router.error.contains("no border router is listed under the border agent id"))
    _ = try await daemon.stop()
  }

  @Test("A router that a login has announced needs no acceptance")
  func routers() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await audience.until("the router") { $0.state(router.topic)?["source"] == "mqtt" }
    let outcome = try await installation.command("routers", "accept", router.agent)
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.contains("needs no acceptance"))
    _ = try await daemon.stop()
  }
}
