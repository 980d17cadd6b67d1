import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("Publisher") struct PublisherTests {
  private static let router = "tk/router/0000000000000001"
  private static let network = "tk/network/0000000000000007"

  private func connected(_ settings: PublisherSettings? = nil) throws -> PublisherScene {
    let scene = settings.map { PublisherScene($0) } ?? PublisherScene()
    try scene.connect(sessionPresent: false)
    return scene
  }

  @Test("A connection begins with what is said of the daemon") func connection() throws {
    let scene = PublisherScene()
    #expect(scene.publisher.publications(upTo: 10).isEmpty)
    let topics = try scene.connect().topics
    #expect(topics.first == "tk/bridge/state")
    #expect(Set(topics).isSuperset(of: ["tk/bridge/info", "tk/bridge/alerts", "tk/bridge/consent"]))
  }

  @Test("The states that an event is about come before it, what counts things after it") func order() throws {
    let scene = try connected()
    scene.announce(1)
    let topics = try scene.pump().topics
    #expect(
      topics == [
        Self.router, "\(Self.router)/availability", "tk/bridge/event", "\(Self.router)/event", "tk/bridge/event",
        "\(Self.router)/event", "tk/bridge/event", "\(Self.router)/event", Self.network,
      ])
  }

  @Test("Ten changes in a row are one state, and each is an event") func merging() throws {
    let scene = try connected()
    for channel in 11..<21 {
      scene.commit { $0.publish(.announce, 1, .of(7, at: UInt64(channel), channel: UInt32(channel))) }
    }
    let sent = try scene.pump()
    #expect(sent.count { $0.topic == Self.router } == 1)
    #expect(sent.count { $0.topic == "tk/bridge/event" && $0.text.contains("dataset_updated") } == 9)
    let state = scene.kept(Self.router)
    #expect(state.contains(#""channel":20"#))
  }

  @Test("A state does not wait for the events of another router") func statesFirst() throws {
    let scene = try connected()
    scene.announce(1)
    scene.announce(2)
    let topics = try scene.pump().topics
    let event = try #require(topics.firstIndex(of: "tk/router/0000000000000001/event"))
    let second = try #require(topics.firstIndex(of: "tk/router/0000000000000002"))
    #expect(second < event)
    // Three of the first one, whose network becomes the preferred one.
    #expect(topics.count { $0.hasPrefix("tk/router/") && $0.hasSuffix("/event") } == 5)
  }

  @Test("What has gone is emptied, before the event that says so") func leaving() throws {
    let scene = try connected()
    scene.announce(1)
    scene.commit { $0.publish(.announce, 2, .of(8)) }
    try scene.pump()
    scene.commit { $0.publish(.leave, 2) }
    let sent = try scene.pump()
    #expect(
      sent.prefix(3).topics == [
        "tk/router/0000000000000002", "tk/router/0000000000000002/availability", "tk/bridge/event",
      ])
    #expect(scene.broker.keys.filter { $0.contains("0000000000000002") }.isEmpty)
    #expect(scene.broker["tk/network/0000000000000008"] == nil)
    #expect(scene.broker[Self.network] != nil)
  }

  @Test("A router that came and left between two publications was never there") func cameAndLeft() throws {
    let scene = try connected()
    scene.commit {
      $0.publish(.announce, 1, .of(7))
      $0.publish(.leave, 1)
    }
    #expect(try scene.pump().allSatisfy { $0.topic != Self.router })
  }

  @Test("An alert is published when it is raised, says so for a day, and is emptied then") func alerts() throws {
    let scene = try connected()
    scene.announce(1)
    scene.commit { $0.publish(.offline, 1) }
    try scene.pump()
    #expect(scene.broker.keys.filter { $0.hasPrefix("tk/alert/") }.isEmpty)
    scene.wait(31)
    scene.commit { $0.tick() }
    let raised = try scene.pump()
    // The other one is that its login sends keys in plaintext.
    let key = AlertKey(.borderRouterOffline, .router(.number(1)))
    let topic = "tk/alert/" + key.fingerprint(in: "home")
    #expect(raised.dropFirst(2).topics == ["tk/bridge/event/alert", "tk/bridge/event/alert", "tk/bridge/alerts"])
    #expect(raised.prefix(2).contains { $0.topic == topic && $0.messageExpiry == nil })
    scene.commit { $0.publish(.heartbeat, 1) }
    let resolved = try scene.pump()
    #expect(resolved.first { $0.topic == topic }?.messageExpiry == 86_400)
    scene.wait(86_401)
    scene.commit { $0.tick() }
    #expect(try scene.pump().first { $0.topic == topic }?.payload.isEmpty == true)
  }

  @Test("What is on the broker is what a new publisher would publish", arguments: 0..<20) func randomLife(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let scene = PublisherScene(.homeAssistant)
    try scene.connect(sessionPresent: false)
    for _ in 0..<120 {
      let agent = UInt64.random(in: 1...6, using: &random)
      let dataset = DatasetSummary.of(
        UInt64.random(in: 1...3, using: &random), key: UInt64.random(in: 1...2, using: &random),
        at: UInt64.random(in: 1...9, using: &random))
      let kind = random.pick([RouterMessage.Kind.announce, .dataset, .leave, .heartbeat, .offline])
      let name = random.maybe(random.text())
      let choice = Int.random(in: 0..<10, using: &random)
      scene.commit {
        switch choice {
        case 0: $0.handle(.acceptNetwork(ExtendedPANID(number: agent % 3 + 1), isAccepted: agent > 3))
        case 1: $0.handle(.remove(.number(agent)))
        case 2: $0.ask(.getPreferred)
        case 3: $0.handle(.request(.forgetPreferred, .administrator))
        default:
          $0.publish(kind, agent, kind == .announce || kind == .dataset ? dataset : nil) {
            if kind == .announce { $0.name = name }
          }
        }
      }
      scene.wait(Int.random(in: 0...40, using: &random))
      scene.commit { $0.tick(after: 0) }
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try scene.pump()
      case 1:
        // Handed over, and lost with the connection.
        _ = scene.publisher.publications(upTo: 5)
        scene.publisher.disconnected()
        scene.publisher.connected(sessionPresent: true)
      default: break
      }
    }
    try scene.pump()
    // Held devices and overviews of large homes have their turn.
    for _ in 0..<2 {
      scene.tick(after: 6)
      scene.commit { $0.tick(after: 0) }
      try scene.pump()
    }
    let fresh = try scene.fresh()
    #expect(scene.broker.keys.sorted() == fresh.keys.sorted())
    for (topic, payload) in fresh { #expect(scene.kept(topic) == payload.text) }
  }

  @Test("What was not acknowledged when a connection ends is published on the next one") func lostConnection() throws {
    let scene = try connected()
    scene.announce(1)
    let lost = scene.publisher.publications(upTo: 3)
    #expect(lost.topics == [Self.router, "\(Self.router)/availability", "tk/bridge/event"])
    scene.publisher.acknowledged(lost[0].token, .delivered)
    scene.publisher.disconnected()
    scene.publisher.connected(sessionPresent: true)
    let again = try scene.pump().topics
    #expect(!again.contains(Self.router))
    #expect(again.contains("\(Self.router)/availability"))
    #expect(again.count { $0 == "tk/bridge/event" } == 3)
  }

  @Test("States that were not acknowledged come in the order in which they were sent") func lostOrder() throws {
    let scene = try connected()
    for agent in 1...9 { scene.commit { $0.publish(.announce, UInt64(agent), .of(7)) } }
    func states(_ sent: [Publication]) -> [String] {
      sent.filter { $0.retain && $0.topic.hasPrefix("tk/router/") }.topics
    }
    let lost = states(scene.publisher.publications(upTo: 1_000))
    #expect(lost.count == 18)
    scene.publisher.disconnected()
    scene.publisher.connected(sessionPresent: true)
    #expect(states(try scene.pump()) == lost)
  }

  @Test("After a start, what messages of before are about comes before them") func earlierMessages() throws {
    let (settings, before, rows) = PublisherScene.announced()
    let scene = PublisherScene(settings, before, ofEarlier: rows)
    let topics = try scene.connect(sessionPresent: false).topics
    let event = try #require(topics.firstIndex(of: "\(Self.router)/event"))
    let device = "ha/device/threadkeeper/threadkeeper_tk_0000000000000001/config"
    for topic in [Self.router, "\(Self.router)/availability", device] {
      #expect(try #require(topics.firstIndex(of: topic)) < event)
    }
    #expect(scene.publisher.published == Int64(rows.count))
  }

  @Test("Messages are published up to the last one of which all is acknowledged") func acknowledgements() throws {
    let scene = try connected()
    scene.announce(1)
    scene.announce(2)
    let all = scene.publisher.publications(upTo: 100)
    let events = all.filter { $0.topic.hasSuffix("event") }
    #expect(scene.publisher.published == 0)
    for publication in events.dropFirst() { scene.publisher.acknowledged(publication.token, .delivered) }
    #expect(scene.publisher.published == 0)
    scene.publisher.acknowledged(events[0].token, .delivered)
    #expect(scene.publisher.published == 2)
  }

  @Test("Published messages may be deleted in portions") func deletable() throws {
    let scene = try connected()
    for agent in 1...70 { scene.announce(UInt64(agent)) }
    try scene.pump()
    #expect(scene.publisher.published == 70)
    #expect(scene.publisher.deletable == 64)
  }

  @Test("A message is not handed out before the states of its commit are known") func unnotedMessages() throws {
    let scene = try connected()
    scene.store.add([[]], from: 1)
    #expect(try scene.pump().isEmpty)
  }

  @Test("A store that cannot be read stops nothing but its messages, which follow later") func failingStore() throws {
    let scene = try connected()
    scene.store.contents.withLock { $0.failsReads = true }
    scene.announce(1)
    scene.publisher.setStoreProblem("the disk fails")
    let sent = scene.publisher.publications(upTo: 10)
    #expect(sent.topics.contains("tk/bridge/event/alert") && sent.topics.contains(Self.router))
    for publication in sent { scene.publisher.acknowledged(publication.token, .delivered) }
    #expect(scene.publisher.publications(upTo: 10).isEmpty)
    #expect(scene.publisher.readFailure is MemoryStore.Failure)
    scene.store.contents.withLock { $0.failsReads = false }
    #expect(try scene.pump().topics.contains("tk/bridge/event"))
    #expect(scene.publisher.readFailure == nil)
  }

  @Test("The store is not asked while nothing waits") func idleStore() throws {
    let scene = try connected()
    scene.announce(1)
    try scene.pump()
    func reads() -> Int { scene.store.contents.withLock { $0.reads } }
    let before = reads()
    for _ in 0..<10 { _ = scene.publisher.publications(upTo: 10) }
    #expect(reads() == before)
  }

  @Test("A broker that has forgotten the session gets everything again") func forgotten() throws {
    let scene = try connected()
    scene.announce(1)
    try scene.pump()
    scene.publisher.connected(sessionPresent: true)
    #expect(try !scene.pump().topics.contains(Self.router))
    let topics = try scene.connect(sessionPresent: false).topics
    #expect(Set(topics).isSuperset(of: [Self.router, "\(Self.router)/availability", Self.network]))
  }

  @Test("What is said of the daemon changes with the next tick, and is not repeated") func info() throws {
    let scene = try connected()
    scene.announce(1)
    #expect(try !scene.pump().topics.contains("tk/bridge/info"))
    scene.tick()
    let info = try #require(try scene.pump().first { $0.topic == "tk/bridge/info" })
    #expect(info.text.contains(#""routers":1"#))
    scene.commit { $0.publish(.offline, 1) }
    scene.tick()
    #expect(try !scene.pump().topics.contains("tk/bridge/info"))
  }

  @Test("A tick says whether the connection may have something to take") func tickAtRest() throws {
    let scene = try connected()
    scene.tick()
    _ = try scene.pump()
    #expect(!scene.publisher.tick())
    scene.announce(1)
    #expect(scene.publisher.tick())
    _ = try scene.pump()
    #expect(!scene.publisher.tick())
  }

  @Test("That the store cannot be used is an alert of the first home, which needs no store") func storeProblem() throws
  {
    let scene = try connected()
    scene.publisher.setStoreProblem("disk full: free some space")
    let raised = try scene.pump()
    #expect(raised[0].topic.hasPrefix("tk/alert/") && raised[1].topic == "tk/bridge/event/alert")
    #expect(raised[1].text.contains("alert_raised"))
    let overview = raised.last?.text
    #expect(overview?.hasPrefix(#"{"active":1,"alerts":[{"alertname":"StoreReadOnly""#) == true)
    scene.publisher.setStoreProblem("disk full: free some space")
    #expect(try scene.pump().isEmpty)
    // Lists show the same.
    var home = Home(rules: HomeRules { .random(in: .min ... .max) })
    home.show(try #require(scene.publisher.storeAlert), as: AlertKey(.storeReadOnly))
    let shown = try #require(home.alertStates(in: "home", ways: .init(isOnlyHome: true)).first)
    #expect(shown.json().text == raised[0].text && shown.severity == .critical)
    scene.publisher.setStoreProblem(nil)
    #expect(scene.publisher.storeAlert?.phase == .resolved)
    let resolved = try scene.pump()
    #expect(resolved[0].messageExpiry == 86_400)
    #expect([raised[0], resolved[0], resolved[1]].map(sequence) == [1, 2, 2])
    func again(after seconds: Int) throws -> Publication? {
      scene.wait(seconds)
      scene.publisher.connected(sessionPresent: true)
      return try scene.pump().first { $0.topic == raised[0].topic }
    }
    #expect(try again(after: 86_000)?.messageExpiry == 400)
    let over = try #require(try again(after: 400))
    #expect(over.payload.isEmpty && over.messageExpiry == nil)
    #expect(resolved[1].text.contains("alert_resolved"))
  }

  private func sequence(_ publication: Publication) -> Int? {
    let text = publication.text
    return (1...9).first { text.contains(#""seq":\#($0),"#) }
  }

  @Test("A broker that takes again what its access list refused gets everything") func refused() throws {
    let scene = try connected()
    let error = MosquittoError(.notAuthorized, "not authorized")
    scene.announce(1)
    try scene.pump(refusing: error) { $0.topic == Self.router }
    scene.commit { $0.publish(.announce, 1, .of(7, at: 2, channel: 20)) }
    try scene.pump()
    scene.publisher.accessRegained()
    #expect(try scene.pump().topics.first == "tk/bridge/state")
    scene.forget("\(Self.router)/availability")
    scene.tick(after: 61)
    try scene.pump()
    #expect(scene.broker["\(Self.router)/availability"] != nil)
  }

  @Test("While full batches come in, publications are given out in portions") func pace() throws {
    let scene = try connected()
    for agent in 1...40 { scene.commit { $0.publish(.announce, UInt64(agent), .of(7)) } }
    scene.publisher.note([], messages: 1_000..<1_000, received: 1_000)
    // What was saved up before, and one for each 50 messages.
    #expect(scene.publisher.publications(upTo: 100).count == 52)
    #expect(scene.publisher.publications(upTo: 100).isEmpty)
    scene.tick()
    scene.tick()
    #expect(scene.publisher.publications(upTo: 100).count == 100)
  }
}
