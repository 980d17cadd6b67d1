import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

/// What else a login can reach: `KeyDisputeTests`, `FormerMemberTests`, `HomeMoveTests`, `PreferredNetworkTests` and
/// `PreferredDecisionTests`.
@Suite("What one login can change of the preferred network", .inTurns, .timeLimit(.minutes(30)))
struct PreferredClaimTests {
  /// A login that has once learned the preferred dataset puts another network key in its place, so that another
  /// router's "always" hands it out.
  @Test("After the key has changed, by an attack or by a person, \"always\" asks a person again") func replacedKey()
    async throws
  {
    let running = try await RunningHome(
      logins: EmbeddedBrokerConfiguration.Login.home + ["hub", "router", "mallory"].map { .init($0) },
      more: AdoptingHome.settings)
    let (broker, installation) = (running.broker, running.installation)
    let home = try ThreadNetwork("home-thread")
    /// The home's dataset with another key.
    func dataset(key: UInt8, at seconds: UInt64) throws -> String {
      let bytes = [UInt8](repeating: key, count: 16)
      Recorder.current?.note("a replaced network key", bytes)
      let other = try OperationalDataset(hex: home.hex()).replacing(.networkKey(try #require(NetworkKey(bytes: bytes))))
      return try other.replacing(.activeTimestamp(try #require(Timestamp(seconds: seconds)))).hex
    }
    func say(as user: String, _ publication: Publication) async throws {
      let publisher = try await TestPublisher.start(broker, user: user)
      #expect(try await publisher.publish([publication]) == [.delivered])
    }
    let router = try SealingLogin("router", "a1b2c3d4e5f60702")
    try await installation.enroll(router)
    let line = try await installation.daemonLine()
    let received = try await TestSubscriber.start(broker, user: "router", "threadkeeper/out/router/dataset/set")
    func delivered() throws -> [String] {
      try received.messages.compactMap { try router.identity.opens($0, from: line)["dataset"]?.text }
    }
    let hub = BorderRouter("a1b2c3d4e5f60701", user: "hub")
    try await say(as: "hub", hub.announces(try home.hex(at: 5)))
    try await running.until("the preferred network") { $0.state(hub.topic)?["preferred"] == "match" }

    // A router that is elsewhere is given the preferred network, from now on always.
    let guest = try ThreadNetwork("guest-thread").hex()
    try await say(as: "router", router.says("announce", guest, to: line))
    try await installation.decide("approve", "--always")
    try await eventually("the first delivery") { try delivered() == [home.hex(at: 5)] }
    try await say(as: "router", router.says("dataset", home.hex(at: 5), to: line))
    try await running.until("the router is on it") {
      $0.state(router.state)?["preferred"] == "match" && $0.state(router.state)?["adoption"] == nil
    }

    // The attack: a member, with an older timestamp and a key of its own.
    let mallory = BorderRouter("a1b2c3d4e5f60703", user: "mallory")
    let evil = try dataset(key: 0xEE, at: 1)
    try await say(as: "mallory", mallory.announces(try home.hex(at: 5)))
    try await running.until("the member") { $0.state(mallory.topic)?["preferred"] == "match" }
    let answers = try await TestSubscriber.start(broker, user: "mallory", "threadkeeper/out/mallory/#")
    try await say(
      as: "mallory",
      Publication(
        topic: "threadkeeper/in/mallory/request/credentials/store",
        payload: Array(#"{"border_agent_id":"\#(mallory.agent)","dataset":"\#(evil)"}"#.utf8)))
    try await answers.wait { !$0.isEmpty }

    // The same by a person's word: also a key that a person chose is another one than "always" was said for.
    // Older than what the router has, as after an attack: it does not follow by itself.
    let chosen = try dataset(key: 0xAB, at: 3)
    try installation.directory.put(chosen, "chosen")
    try await installation.run("preferred", "set", "@\(installation.directory.file("chosen"))")
    let question = try await installation.question { $0["reason"]?.text?.contains("network key has changed") == true }
    #expect(try delivered() == [home.hex(at: 5)], "nothing was delivered without a person")
    let grants = try await installation.json("consent", "list", "--grants")["grants"]?.list
    #expect(grants?.first?["asks_again"] == true)
    try await installation.run("consent", "approve", try #require(question["id"]?.text))
    try await eventually("the delivery that was agreed to") { try delivered().last == chosen }
    #expect(try !delivered().contains(evil))
    try await running.stop()
  }
}
