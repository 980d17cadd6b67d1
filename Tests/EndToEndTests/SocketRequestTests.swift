// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAPI
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

/// The same requests over the socket of a real daemon.
@Suite("Requests over the socket", .inTurns, .timeLimit(.minutes(30)))
struct SocketRequestTests {
  private func ask(
    _ installation: Installation, _ command: String, _ fields: [String: JSONValue] = [:]
  ) async throws -> ThreadAnswer {
    try await SocketRequest.ask(command, fields, at: installation.socketPath)
  }

  @Test("Stored, told with its secret, and deleted, in the team of who calls; said on the broker")
  func life() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let home = try ThreadNetwork("home")
    let agent = "a1b2c3d4e5f60718"
    let stored = try await ask(
      installation, "credentials/store",
      ["border_agent_id": .text(agent), "dataset": .text(try home.hex())])
    #expect(stored.data?.change == .stored)
    try await audience.until("the event") { !$0.events("dataset_stored").isEmpty }
    let got = try await ask(installation, "credentials/get", ["border_agent_id": .text(agent)])
    #expect(got.data?.credentials?.first?.dataset?.hex == (try home.hex()))
    let list = try await ask(installation, "credentials/list")
    #expect(list.data?.credentials?.first?.dataset?.hex == (try home.hex()))
    #expect(try await ask(installation, "preferred/available").data?.available == true)

    // Another team's credentials are out of reach, but for who keeps the store and says so.
    let publisher = try await TestPublisher.start(broker)
    let other = BorderRouter(number: 7)
    try await publisher.publish([other.announces(try home.hex())])
    try await audience.until("the other router") { $0.state(other.topic) != nil }
    let delete: [String: JSONValue] = ["border_agent_id": .text(other.agent)]
    #expect(
      try await ask(installation, "credentials/delete", delete).error?.known == .notAuthorized)
    #expect(try await ask(installation, "credentials/get", delete).error?.known == .notFound)
    let deleted = try await ask(
      installation, "credentials/delete", delete.merging(["administrator": true]) { $1 })
    #expect(deleted.data?.deleted == true)
    let again = try await ask(
      installation, "credentials/delete", delete.merging(["administrator": true]) { $1 })
    #expect(again.error?.known == .notFound)
    #expect(again.error?.exit == 66)
    let audit = try await installation.command("audit")
    #expect(audit.output.contains("uid \(geteuid())"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "A decision that names another home than the question's is stale, the daemon's own user's too")
  func homeOfDecision() async throws {
    let broker = try TestBroker()
    let installation = try Installation(
      broker, hold: 0, more: "homes: {home: {base_topic: threadkeeper}, cabin: {base_topic: cabin}}"
    )
    let daemon = try await installation.start()
    let dataset = try ThreadNetwork("home-thread").hex()
    #expect(try await ask(installation, "preferred/set", ["dataset": .text(dataset)]).status == .ok)
    async let answer = ask(installation, "preferred/get")
    var id: String?
    try await eventually("the question") {
      id = try await ask(installation, "consent/pending").data?.pending?.first?.id
      return id != nil
    }
    let decision: [String: JSONValue] = ["id": .text(try #require(id)), "administrator": true]
    let elsewhere = try await ask(
      installation, "consent/approve", decision.merging(["home": "cabin"]) { $1 })
    #expect(elsewhere.error?.known == .staleID && elsewhere.error?.field == "id")
    let here = try await ask(
      installation, "consent/approve", decision.merging(["home": "home"]) { $1 })
    #expect(here.status == .ok)
    #expect(try await answer.data?.credentials?.first?.dataset?.hex == dataset)
    #expect(try await daemon.stop() == .exit(0))
  }
}
