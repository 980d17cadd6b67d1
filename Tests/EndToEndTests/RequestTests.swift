// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing
import ThreadRequests

/// Requests to a real daemon over a real broker with an access list.
@Suite("Requests over MQTT", .inTurns, .timeLimit(.minutes(30)))
struct RequestTests {
  /// A client with a login of its own that asks and hears its answers.
  private final class Asker: Sendable {
    let user: String
    let publisher: TestPublisher
    let subscriber: TestSubscriber

    init(_ broker: TestBroker, _ user: String) async throws {
      self.user = user
      publisher = try await TestPublisher.start(broker, user: user)
      subscriber = try await TestSubscriber.start(broker, user: user, "threadkeeper/out/\(user)/#")
    }

    func request(
      _ command: String, _ fields: [String: String] = [:],
      change: (inout Publication) -> Void = { _ in }
    ) async throws {
      var publication = Publication(
        topic: "threadkeeper/in/\(user)/request/\(command)",
        payload: Array(try JSONSerialization.data(withJSONObject: fields)))
      change(&publication)
      try await publisher.publish([publication])
    }

    /// Asks and waits for the answer, which is found by its transaction.
    func ask(
      _ command: String, _ fields: [String: String] = [:],
      change: (inout Publication) -> Void = { _ in }
    ) async throws -> (message: IncomingMessage, answer: ThreadAnswer) {
      let transaction = "t-\(UInt64.random(in: 0 ... .max))"
      try await request(
        command, fields.merging(["transaction": transaction]) { $1 }, change: change)
      func found(_ messages: [IncomingMessage]) -> (IncomingMessage, ThreadAnswer)? {
        for message in messages {
          if let answer = ThreadAnswer(json: message.payload), answer.transaction == transaction {
            return (message, answer)
          }
        }
        return nil
      }
      let messages = try await subscriber.wait { found($0) != nil }
      return try #require(found(messages))
    }
  }

  private struct Scene {
    let broker: TestBroker
    let installation: Installation
    let daemon: DaemonProcess
    let audience: Audience
    let anna: Asker
    let bob: Asker
  }

  private func scene() async throws -> Scene {
    let broker = try TestBroker(logins: [
      .init("keeper", role: .daemon), .init("everything", role: .daemon),
      .init("anna", role: .client), .init("bob", role: .client),
    ])
    let installation = try Installation(
      broker,
      mqtt: ["username: keeper", "password: \(broker.broker.password(of: "keeper") ?? "")"],
      hold: 0)
    let audience = try await Audience.start(broker, user: "everything")
    let daemon = try await installation.start()
    return Scene(
      broker: broker, installation: installation, daemon: daemon, audience: audience,
      anna: try await Asker(broker, "anna"), bob: try await Asker(broker, "bob"))
  }

  @Test("Stored, listed, preferred, deleted: a life by requests alone")
  func life() async throws {
    let scene = try await scene()
    let home = try ThreadNetwork("home")
    let agent = BorderRouter(number: 1).agent
    #expect(try await scene.anna.ask("ping").answer.data?.version != nil)
    #expect(try await scene.anna.ask("preferred/available").answer.data?.available == false)
    let stored = try await scene.anna.ask(
      "credentials/store", ["border_agent_id": agent, "dataset": try home.hex()])
    #expect(stored.answer.data?.change == .stored)
    #expect(stored.answer.data?.preferred == .match)
    try await scene.audience.until("the event, with who did it") {
      $0.events("dataset_stored").last?["user"] == "anna"
    }
    #expect(try await scene.installation.dataset(of: agent) == (try home.hex()))
    let list = try await scene.anna.ask("credentials/list").answer
    #expect(list.data?.credentials?.map(\.networkName) == ["home"])
    #expect(list.data?.isSecret == false)
    #expect(
      try await scene.anna.ask("preferred/check", ["dataset": try home.hex(at: 5)]).answer.data?
        .result == .match)
    // Another team: nothing of it can be seen or touched.
    #expect(try await scene.bob.ask("credentials/list").answer.data?.credentials == [])
    for command in ["credentials/store", "credentials/delete"] {
      let refused = try await scene.bob.ask(
        command, ["border_agent_id": agent, "dataset": try ThreadNetwork("evil").hex()])
      #expect(refused.answer.error?.code == "not_authorized")
    }
    for command in ["credentials/get", "preferred/get", "networks/nearby"] {
      let refused = try await scene.bob.ask(command, ["border_agent_id": agent])
      #expect(refused.answer.error?.code == "not_enrolled")
    }
    #expect(try await scene.installation.dataset(of: agent) == (try home.hex()))
    #expect(
      try await scene.anna.ask("credentials/delete", ["border_agent_id": agent]).answer.data?
        .deleted == true)
    #expect(try await scene.installation.command("credentials", "get", agent).status == 66)
    #expect(try await scene.anna.ask("preferred/available").answer.data?.available == true)
    #expect(try await scene.daemon.stop() == .exit(0))
    #expect(try scene.installation.verify().matchesManifest)
  }

  @Test("Response Topic, Correlation Data and expiry, as the broker carries them")
  func properties() async throws {
    let scene = try await scene()
    let own = try await scene.anna.ask("ping") {
      $0.responseTopic = "threadkeeper/out/anna/mine/1"
      $0.correlationData = [0, 1, 0xFF]
      $0.messageExpiry = 20
    }
    #expect(own.message.topic == "threadkeeper/out/anna/mine/1")
    #expect(own.message.correlationData == [0, 1, 0xFF])
    #expect(own.message.messageExpiry.map { (1...20).contains($0) } == true)
    #expect(!own.message.isRetained)
    for foreign in ["threadkeeper/out/bob/mine", "threadkeeper/bridge/state", "elsewhere/anna"] {
      let answered = try await scene.anna.ask("ping") { $0.responseTopic = foreign }
      #expect(answered.message.topic == "threadkeeper/out/anna/response/ping")
    }
    #expect(scene.bob.subscriber.messages.isEmpty)
    #expect(scene.audience.look { !$0.messages.contains { $0.topic == "elsewhere/anna" } })
    // A retained request acts neither now nor with the next start.
    try await scene.anna.request(
      "credentials/store",
      ["border_agent_id": BorderRouter(number: 1).agent, "dataset": try ThreadNetwork("x").hex()]
    ) { $0.retain = true }
    try await scene.audience.until("the rejection") {
      $0.events("message_rejected").last?["code"] == "retained"
    }
    #expect(try await scene.anna.ask("credentials/list").answer.data?.credentials == [])
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Who asks too often is refused, others are not, and events go on", .beginsFirst)
  func rateLimit() async throws {
    let scene = try await scene()
    let flood = (0..<400).map { number in
      Publication(
        topic: "threadkeeper/in/anna/request/ping",
        payload: Array("{\"transaction\":\"flood-\(number)\"}".utf8))
    }
    try await scene.anna.publisher.publish(flood)
    let refused = try await scene.anna.subscriber.wait {
      $0.contains { ThreadAnswer(json: $0.payload)?.error?.known == .rateLimited }
    }
    #expect(refused.filter { ThreadAnswer(json: $0.payload)?.status == .ok }.count >= 50)
    #expect(try await scene.bob.ask("ping").answer.status == .ok)
    let router = BorderRouter(number: 1, user: "bob")
    try await scene.bob.publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await scene.audience.until("the router") { $0.state(router.topic) != nil }
    try await scene.audience.until("the counts", within: .seconds(90)) {
      ($0.state("threadkeeper/bridge/health")?["requests_refused"]?.number ?? 0) > 100
    }
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Garbage harms nobody, and no secret is in anything that the daemon publishes")
  func garbageAndSecrecy() async throws {
    let scene = try await scene()
    let home = try ThreadNetwork("home")
    var needles = Needles()
    needles.add("network key", home.networkKey)
    needles.add("PSKc", home.pskc)
    let router = BorderRouter(number: 1, user: "anna")
    try await scene.anna.publisher.publish([router.announces(try home.hex())])
    try await scene.audience.until("the router") { $0.state(router.topic) != nil }
    for command in RequestCommand.allCases where command != .deleteCredentials {
      for asker in [scene.anna, scene.bob] {
        _ = try await asker.ask(
          command.rawValue,
          command == .setPreferred
            ? ["dataset": try home.hex()]
            : [
              "border_agent_id": router.agent, "dataset": try home.hex(), "id": "c-1",
              "ext_pan_id": home.extendedPANID,
            ])
      }
    }
    var generator = SystemRandomNumberGenerator()
    let garbage = (0..<300).map { number in
      var payload = Array(
        "{\"border_agent_id\":\"\(router.agent)\",\"dataset\":\"\((try? home.hex()) ?? "")\"}".utf8)
      for _ in 0..<Int.random(in: 1...9, using: &generator) {
        payload[Int.random(in: 0..<payload.count, using: &generator)] = .random(
          in: 0...255, using: &generator)
      }
      let command = RequestCommand.allCases[number % RequestCommand.allCases.count]
      return Publication(
        topic: "threadkeeper/in/bob/request/\(command.rawValue)", payload: payload,
        correlationData: (0..<20).map { _ in .random(in: 0...255, using: &generator) })
    }
    try await scene.bob.publisher.publish(garbage)
    #expect(try await scene.anna.ask("ping").answer.status == .ok)
    #expect(scene.daemon.isRunning)
    #expect(try await scene.installation.dataset(of: router.agent) == (try home.hex()))
    #expect(try await scene.daemon.stop() == .exit(0))
    let said = scene.audience.look { $0.messages.filter { !$0.topic.contains("/in/") } }
    #expect(said.count > 50)
    for message in said {
      #expect(needles.found(in: Data(message.payload)) == [], "\(message.topic)")
      #expect(needles.found(in: message.topic) == [])
    }
    #expect(needles.found(in: scene.daemon.log) == [])
  }
}
