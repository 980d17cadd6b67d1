import Broker
import Testing

@testable import Bridge
@testable import Home

@Suite("Topics that the broker keeps") struct KeptTopicsTests {
  @Test("What a shard publishes once belongs to its first home, and to none while it has none") func parent() {
    for (homes, expected) in [(["a", "b"], 0), ([], nil)] as [([String], Int?)] {
      let topics = BaseTopics(homes.map { .init(name: $0, base: "tk/\($0)") }, below: "tk")
      let states = RetainedStates(PublisherSettings(topics))
      #expect(states.home(of: "tk/bridge/health")?.home == expected)
    }
  }

  private func running(_ change: (inout PublisherSettings) -> Void = { _ in }) throws -> PublisherScene {
    let scene = PublisherScene(.home(change))
    scene.publisher.connected(sessionPresent: true)
    scene.announce(1)
    scene.commit { $0.handle(.condition(.sessionLost, .sessionLost)) }
    // A process compares first what an earlier one has left.
    scene.read()
    scene.tick(after: 11)
    try scene.pump()
    return scene
  }

  @Test("After a start, only alerts are published that the broker does not keep as they are", arguments: [true, false])
  func restarted(hasWaiting: Bool) throws {
    let before = try running()
    let (lost, stale) = ("tk/alert/\(AlertKey(.sessionLost).fingerprint(in: "home"))", "tk/router/0000000000000001")
    before.commit { $0.handle(.condition(.sessionTakenOver, .sessionTakenOver("x"))) }
    let rows = before.rows
    try before.pump()
    let kept = "tk/alert/\(AlertKey(.sessionTakenOver).fingerprint(in: "home"))"
    let scene = PublisherScene(before.settings, before.scene, ofEarlier: hasWaiting ? rows : [])
    for topic in [kept, stale] { scene.put(topic, before.kept(topic)) }
    // What stored messages are about comes before them.
    let first = try scene.connect().topics
    #expect(first.contains(stale) && first.contains(kept) == hasWaiting && first.contains(lost) == hasWaiting)
    scene.read()
    scene.tick(after: 11)
    let missing = try scene.pump().topics.filter { $0.hasPrefix("tk/alert/") }
    #expect(missing == (hasWaiting ? [] : [lost]) && scene.publisher.takeNotices().isEmpty)
    #expect(scene.kept(kept) == before.kept(kept) && scene.kept(lost) == before.kept(lost))
  }

  @Test("What is as it should be is left alone") func unchanged() throws {
    let scene = try running()
    try scene.connect()
    #expect(scene.read().isEmpty)
    #expect(try scene.pump().isEmpty)
    scene.tick(after: 11)
    #expect(try scene.pump().isEmpty)
  }

  @Test(
    "What no home has is emptied",
    arguments: [
      "tk/router/0000000000000009", "tk/router/0000000000000009/availability", "tk/network/00000000000000ff",
      "tk/alert/0123456789abcdef", "tk/router/what", "tk/router/0000000000000001/event", "tk/bridge/event",
      "tk/bridge/what/else", "tk/router/0000000000000001".uppercased().replacing("TK/ROUTER", with: "tk/router") + "0",
    ]) func emptied(topic: String) throws
  {
    let scene = try running()
    scene.put(topic, "{}")
    scene.read()
    let sent = try scene.pump()
    #expect(sent.topics == [topic] && sent[0].retain && sent[0].payload.isEmpty)
  }

  @Test(
    "What is older than the home is published again",
    arguments: ["tk/router/0000000000000001", "tk/network/0000000000000007"]) func corrected(topic: String) throws
  {
    let scene = try running()
    let right = scene.broker[topic]
    scene.put(topic, #"{"v":1}"#)
    scene.read()
    #expect(try scene.pump().topics == [topic])
    #expect(scene.broker[topic] == right)
  }

  @Test("Topics of others, and what each connection begins with, are not touched") func others() throws {
    let scene = try running()
    for topic in ["tk/bridge/health", "tk/in/a/announce", "other/router/1", "tkk/router/1"] { scene.put(topic, "{}") }
    scene.read()
    #expect(try scene.pump().isEmpty)
  }

  @Test("What the broker has lost is published when all has come, and nothing else") func missing() throws {
    let scene = try running { $0.discoveryPrefix = "ha" }
    try scene.connect()
    scene.read()
    scene.tick(after: 11)
    try scene.pump()
    let before = scene.broker
    let topics = before.keys.filter { !$0.hasPrefix("tk/bridge/") }
    #expect(topics.count == 6, "\(topics)")
    for lost in topics.map({ [$0] }) + [topics] {
      for topic in lost { scene.forget(topic) }
      try scene.connect()
      scene.read()
      scene.tick(after: 9)
      #expect(try scene.pump().isEmpty)
      scene.tick(after: 2)
      #expect(Set(try scene.pump().topics) == Set(lost))
      #expect(scene.broker == before)
    }
  }

  @Test("A broker that refuses a subscription is not taken to have lost all") func incomplete() throws {
    let scene = try running()
    try scene.connect()
    scene.publisher.subscribed(isComplete: false)
    scene.tick(after: 11)
    #expect(try scene.pump().isEmpty)
  }

  @Test("A broker that sends slowly has not forgotten what comes late") func slow() throws {
    let scene = try running()
    scene.announce(2)
    try scene.pump()
    try scene.connect()
    scene.publisher.subscribed()
    for (topic, payload) in scene.broker where !topic.hasPrefix("tk/bridge/") {
      scene.tick(after: 8)
      _ = scene.publisher.received([IncomingMessage(topic: topic, payload: payload, isRetained: true)])
    }
    scene.tick(after: 8)
    #expect(!scene.publisher.hasEmptiedBases)
    scene.tick(after: 3)
    #expect(scene.publisher.hasEmptiedBases)
    #expect(try scene.pump().isEmpty && scene.publisher.takeNotices().isEmpty)
  }

  @Test("Below a base topic that was given up nothing stays") func formerBase() throws {
    let scene = try running { $0.formerBases = ["old"] }
    for topic in [
      "old/router/0000000000000001", "old/alert/0123456789abcdef", "old/network/1", "old/bridge/state",
      "old/bridge/info",
    ] { scene.put(topic, "{}") }
    #expect(scene.publisher.formerFilters.contains("old/router/#"))
    scene.publisher.connected(sessionPresent: true)
    scene.read()
    try scene.pump()
    #expect(scene.broker.keys.filter { $0.hasPrefix("old/") }.isEmpty)
  }

  @Test("One set of filters is for all homes of a shard, and for those that have left it") func shard() {
    let homes = ["ada", "smith"].map { BaseTopics.Home(name: $0, base: "tk/17/\($0)") }
    var settings = PublisherSettings(BaseTopics(homes, below: "tk/17"))
    settings.formerBases = ["tk/17/gone", "old/17/ada", "old/17/smith"]
    let publisher = PublisherScene(settings).publisher
    func filters(_ root: String) -> [String] { ["bridge", "router", "network", "alert"].map { "\(root)/\($0)/#" } }
    #expect(publisher.keptFilters == filters("tk/17/+") + ["tk/17/bridge/#"])
    #expect(publisher.formerFilters == filters("old/17/+"))
  }

  @Test("Alerts of the home are looked through once, whatever comes; those raised since are known") func fingerprints()
    throws
  {
    let scene = try running()
    func put(_ fingerprint: String) throws -> [Publication] {
      let message = IncomingMessage.of("tk/alert/\(fingerprint)", "x", isRetained: true)
      _ = scene.publisher.received([message])
      return try scene.pump()
    }
    scene.publisher.subscribed()
    #expect(try put("0123456789abcdef").map(\.payload) == [[]])
    scene.commit { $0.handle(.condition(.sessionTakenOver, .sessionTakenOver("x"))) }
    try scene.pump()
    let key = AlertKey(.sessionTakenOver, .home)
    let fingerprint = key.fingerprint(in: "home")
    #expect(try put(fingerprint).first?.payload == scene.broker["tk/alert/\(fingerprint)"])
    scene.publisher.state.withLock { $0.kept.fingerprints[0] = [:] }
    #expect(try put("0123456789abcde0").map(\.payload) == [[]])
    #expect(scene.publisher.state.withLock { $0.kept.fingerprints[0]?.isEmpty } == true)
  }

  @Test("The alert that the store cannot be used is not taken for one that is over") func storeAlert() throws {
    let scene = try running()
    scene.publisher.setStoreProblem("disk full")
    try scene.pump()
    scene.read()
    #expect(try scene.pump().isEmpty)
    try scene.connect()
    #expect(scene.broker["tk/alert/\(AlertKey(.storeReadOnly).fingerprint(in: "home"))"] != nil)
  }

  @Test("A base topic that was given up is empty when nothing comes from there any more") func emptiedBase() throws {
    let scene = try running { $0.formerBases = ["old"] }
    scene.put("old/router/0000000000000001", "{}")
    try scene.connect()
    #expect(!scene.publisher.hasEmptiedBases)
    scene.read()
    try scene.pump()
    scene.tick(after: 11)
    #expect(!scene.publisher.hasEmptiedBases)
    for isComplete in [false, true] {
      scene.publisher.connected(sessionPresent: true)
      scene.publisher.subscribed(isComplete: isComplete)
      try scene.pump()
      scene.tick(after: 11)
      try scene.pump()
      #expect(scene.publisher.hasEmptiedBases == isComplete)
    }
  }

  @Test("That the broker keeps something else, or not all, is noticed once") func notices() throws {
    let scene = try running()
    scene.put("tk/router/0000000000000001", "{}")
    scene.put("tk/network/0000000000000007", "{}")
    scene.publisher.connected(sessionPresent: true)
    scene.read()
    let notices = scene.publisher.takeNotices()
    #expect(notices.count == 1)
    guard case .corrects = notices.first else {
      Issue.record("\(notices)")
      return
    }
    try scene.pump()
    scene.forget("tk/router/0000000000000001")
    scene.publisher.connected(sessionPresent: true)
    scene.read()
    scene.tick(after: 11)
    #expect(scene.publisher.takeNotices() == [.republishes])
  }
}
