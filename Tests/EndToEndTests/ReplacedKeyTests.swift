// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

/// A login that has once learned the preferred dataset puts another network key in its place, so that another
/// router's "always" hands it out.
@Suite("\"Always\" does not hand out a replaced network key", .inTurns, .timeLimit(.minutes(30)))
struct ReplacedKeyTests {
  private static let topic = "threadkeeper/out/router/dataset/set"

  private let broker: TestBroker
  private let installation: Installation
  private let home: ThreadNetwork

  init() throws {
    broker = try TestBroker(
      logins: [
        .init("threadkeeper", role: .daemon), .init("monitor", role: .monitor),
        .init("hub", role: .client), .init("router", role: .client),
        .init("mallory", role: .client),
      ], baseTopics: ["threadkeeper"])
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"], hold: 1,
      more: "preferred:\n  on_mismatch: adopt\n")
    home = try ThreadNetwork("home-thread")
  }

  /// The home's dataset with another key.
  private func dataset(key: UInt8, at seconds: UInt64) throws -> String {
    let bytes = [UInt8](repeating: key, count: 16)
    Recorder.current?.note("a replaced network key", bytes)
    let other = try OperationalDataset(hex: home.hex()).replacing(
      .networkKey(try #require(NetworkKey(bytes: bytes))))
    return try other.replacing(.activeTimestamp(try #require(Timestamp(seconds: seconds)))).hex
  }

  @Test("After the key has changed, by an attack or by a person, a person is asked again")
  func asksAgain() async throws {
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    let router = try SealingLogin("router", "a1b2c3d4e5f60702")
    #expect(
      try await installation.command("clients", "enroll", "router", router.identity.keys.line)
        .status == 0
    )
    let line = try await installation.daemonLine()
    let received = try await TestSubscriber.start(broker, user: "router", Self.topic)
    func delivered() throws -> [String] {
      try received.messages.map { try dataset(in: $0, for: router, from: line) }
    }
    let hub = BorderRouter("a1b2c3d4e5f60701", user: "hub")
    try await say(as: "hub", [hub.announces(try home.hex(at: 5))])
    try await audience.until("the preferred network") {
      $0.state(hub.topic)?["preferred"] == "match"
    }

    // A router that is elsewhere is given the preferred network, from now on always.
    let guest = try ThreadNetwork("guest-thread").hex()
    try await say(as: "router", [router.says("announce", guest, to: line)])
    #expect(
      try await installation.command("consent", "approve", waiting(besides: []), "--always").status
        == 0)
    try await eventually("the first delivery") { try delivered() == [home.hex(at: 5)] }
    try await say(as: "router", [router.says("dataset", home.hex(at: 5), to: line)])
    try await audience.until("the router is on it") {
      $0.state(router.state)?["preferred"] == "match" && $0.state(router.state)?["adoption"] == nil
    }

    // The attack: a member, with an older timestamp and a key of its own.
    let mallory = BorderRouter("a1b2c3d4e5f60703", user: "mallory")
    let evil = try dataset(key: 0xEE, at: 1)
    try await say(as: "mallory", [mallory.announces(try home.hex(at: 5))])
    try await audience.until("the member") { $0.state(mallory.topic)?["preferred"] == "match" }
    let answers = try await TestSubscriber.start(
      broker, user: "mallory", "threadkeeper/out/mallory/#")
    try await say(
      as: "mallory",
      [
        Publication(
          topic: "threadkeeper/in/mallory/request/credentials/store",
          payload: Array(#"{"border_agent_id":"\#(mallory.agent)","dataset":"\#(evil)"}"#.utf8))
      ])
    try await answers.wait { !$0.isEmpty }

    // The same by a person's word: also a key that a person chose is another one than "always" was said for.
    // Older than what the router has, as after an attack: it does not follow by itself.
    let chosen = try dataset(key: 0xAB, at: 3)
    let file = installation.directory.file("chosen")
    try Data(chosen.utf8).write(to: URL(fileURLWithPath: file))
    #expect(try await installation.command("preferred", "set", "@\(file)").status == 0)
    let questions = try await changedQuestions()
    #expect(try delivered() == [home.hex(at: 5)], "nothing was delivered without a person")
    #expect(
      try await installation.json("consent", "list", "--grants")["grants"]?.list.first?[
        "asks_again"] == true)
    #expect(try await installation.command("consent", "approve", questions).status == 0)
    try await eventually("the delivery that was agreed to") { try delivered().last == chosen }
    #expect(try !delivered().contains(evil))
    #expect(try await daemon.stop() == .exit(0))
  }

  private func say(as user: String, _ publications: [Publication]) async throws {
    let publisher = try await TestPublisher.start(broker, user: user)
    #expect(try await publisher.publish(publications).allSatisfy { $0 == .delivered })
    try await publisher.stop()
  }

  private func dataset(
    in message: IncomingMessage, for router: SealingLogin, from line: String
  ) throws -> String {
    let payload = try #require(
      try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
    let opened = try Envelope.open(
      Array(JSONSerialization.data(withJSONObject: try #require(payload["sealed"]))),
      with: router.identity, from: [PublicIdentity(line: line)], topic: Self.topic,
      now: Int64(Date().timeIntervalSince1970))
    return try #require(JSON(String(decoding: opened.body, as: UTF8.self))?["dataset"]?.text)
  }

  /// The id of a question about the router that says that the key has changed, once the router's state shows it.
  private func changedQuestions() async throws -> String {
    try await waiting { $0["reason"]?.text?.contains("network key has changed") == true }
  }

  private func waiting(besides others: [String]) async throws -> String {
    try await waiting { question in !others.contains(question["id"]?.text ?? "") }
  }

  private func waiting(where fits: @escaping (JSON) -> Bool) async throws -> String {
    var found: [JSON] = []
    try await eventually("a question") {
      found = try await installation.json("consent", "list")["pending"]?.list.filter(fits) ?? []
      return found.count == 1
    }
    return try #require(found.first?["id"]?.text)
  }
}
