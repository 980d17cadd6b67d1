import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

/// What a login can reach at all: `KeyDisputeTests`, `PreferredNetworkTests` and `PreferredDecisionTests`.
@Suite("What one login can change of the preferred network", .inTurns, .timeLimit(.minutes(30)))
struct PreferredClaimTests {
  @Test("Alone it replaces no key, also not after it has changed the channel and the others came back") func attack()
    async throws
  {
    let running = try await RunningHome()
    let home = try ThreadNetwork("home")
    let rekeyed = try ThreadNetwork("home", rekeying: home)
    let routers = ["anna", "bert", "carl"].enumerated().map { BorderRouter(number: $0.offset + 1, user: $0.element) }
    let (mine, others) = (routers[0], routers.dropFirst())
    /// Returns when the router's report is in the registry.
    func reports(_ router: BorderRouter, _ dataset: String, at seconds: UInt64) async throws {
      try await running.publish(router.announces(dataset))
      try await running.until("the report of \(router.user)") {
        $0.state(router.topic)?["active_timestamp"]?.number == Int64(seconds)
      }
    }
    func othersLeave() async throws {
      for router in others {
        try await running.publish(router.leaves)
        try await running.until("\(router.user) to leave") { $0.latest[router.topic] == "" }
      }
    }
    func preferred() async throws -> Int64? {
      try await running.installation.json("preferred", "show")["active_timestamp"]?.number
    }
    func names(_ alert: JSON, _ routers: some Sequence<BorderRouter>) -> Bool {
      routers.allSatisfy { alert["summary"]?.text?.contains($0.agent) == true }
    }
    for router in routers { try await reports(router, try home.hex(), at: 1) }

    // The same keys, another channel, a later timestamp: followed, kept, and said with those that disagree.
    try await reports(mine, try home.hex(at: 1_000, channel: 20), at: 1_000)
    #expect(try await preferred() == 1_000)
    let history = try await running.installation.json("preferred", "show", "--history")
    let former = try #require(history.list.first?["id"]?.text)
    try await running.until("the warning") {
      $0.alerts("alert_raised", "PreferredNetworkChanged").contains { alert in
        alert["severity"] == "warning" && alert["reason"] == "disagreement"
          && alert["summary"]?.text?.contains("channel from 15 to 20") == true
          && alert["remedy"]?.text?.contains("preferred set") == false && names(alert, others)
      }
    }

    // The others leave and return with what they had.
    try await othersLeave()
    for router in others { try await reports(router, try home.hex(at: 1), at: 1) }
    try await reports(mine, try rekeyed.hex(at: 1_001), at: 1_001)
    try await running.until("the dispute, with both sides") {
      $0.alerts("alert_raised", "PreferredKeyDisputed").contains { alert in
        alert["severity"] == "warning" && names(alert, routers)
      }
    }
    #expect(try await preferred() == 1_000)

    // They leave for good.
    try await othersLeave()
    try await reports(mine, try rekeyed.hex(at: 1_002), at: 1_002)
    #expect(try await preferred() == 1_000)
    try await running.until("those that left to be named") {
      $0.alertEvents.last { $0["alertname"] == "PreferredKeyDisputed" }.map { alert in
        alert["status"] == "firing" && alert["summary"]?.text?.contains("30 days ago") == true && names(alert, routers)
      } == true
    }

    // A person goes back.
    try await running.installation.run("preferred", "set", former)
    #expect(try await preferred() == 1)
    try await running.stop()
  }

  @Test("A member that has moved still counts, and unconfirmed keys are named in questions") func moved() async throws {
    let running = try await RunningHome()
    let home = try ThreadNetwork("home")
    let (other, rekeyed) = (try ThreadNetwork("other"), try ThreadNetwork("home", rekeying: home))
    let (anna, bert) = (BorderRouter(number: 1, user: "anna"), BorderRouter(number: 2, user: "bert"))
    for router in [anna, bert] {
      try await running.publish(router.announces(try home.hex()))
      try await running.until("\(router.user)'s router") { $0.state(router.topic)?["preferred"] == "match" }
    }
    // One is reset, and the other one brings keys of its own.
    try await running.publish(anna.announces(try other.hex()))
    try await running.publish(bert.announces(try rekeyed.hex(at: 9)))
    try await running.until("the dispute, with the former member") {
      $0.alerts("alert_raised", "PreferredKeyDisputed").contains { alert in
        alert["summary"]?.text?.contains("\(anna.agent) had the current ones") == true
      }
    }
    #expect(try await running.installation.json("preferred", "show")["active_timestamp"]?.number == 1)

    // A person gives that up without a word about the keys.
    try await running.installation.run("routers", "remove", anna.agent)
    try await running.until("the warning") {
      $0.alerts("alert_raised", "PreferredNetworkChanged").contains { alert in
        alert["severity"] == "warning" && alert["reason"] == "unconfirmed_keys"
      }
    }
    let asked = running.ask()
    let question = try await running.installation.question {
      $0["reason"]?.text?.contains("(login bert), and no person has confirmed that") == true
    }
    try await running.installation.run("consent", "deny", try #require(question["id"]?.text))
    #expect(try await !asked.value)
    try await running.stop()
  }

  @Test("A home that has moved in part is counted whole, and networks of one name have their ids") func movedInPart()
    async throws
  {
    let running = try await RunningHome()
    let (home, other) = (try ThreadNetwork("MyHome"), try ThreadNetwork("MyHome"))
    let routers = (1...4).map { BorderRouter(number: $0, user: $0 % 2 == 0 ? "anna" : "bert") }
    for router in routers {
      try await running.publish(router.announces(try home.hex()))
      try await running.until("router \(router.agent)") { $0.state(router.topic)?["preferred"] == "match" }
    }
    for router in routers.suffix(2) { try await running.publish(router.says("offline")) }
    for router in routers.prefix(2) { try await running.publish(router.announces(try other.hex())) }
    try await running.until("the alert") { !$0.alerts("alert_raised", "HomeMoved").isEmpty }
    let alert = try #require(running.audience.look { $0.alerts("alert_raised", "HomeMoved").first })
    let (summary, remedy) = (alert["summary"]?.text ?? "", alert["remedy"]?.text ?? "")
    #expect(summary.hasPrefix("2 of 4 border routers of the preferred network "), "\(alert)")
    for part in [
      home.extendedPANID, other.extendedPANID, routers[0].agent, routers[1].agent, "anna", "bert",
      "the others cannot be reached",
    ] { #expect(summary.contains(part), "\(summary)") }
    #expect(remedy.hasPrefix("Check first why the others cannot be reached."), "\(remedy)")
    #expect(remedy.contains("threadkeeper preferred set \(other.extendedPANID)"), "\(remedy)")
    // One was left behind.
    try await running.publish(routers[2].announces(try home.hex()))
    try await running.until("the one that can be reached") {
      $0.alerts("alert_updated", "HomeMoved").last?["summary"]?.text?.hasSuffix(
        "; the others are not, and 1 of them cannot be reached") == true
    }
    try await running.stop()
  }

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
