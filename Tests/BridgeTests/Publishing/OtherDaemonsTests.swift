import Broker
import Testing

@testable import Bridge
@testable import Home

@Suite("Another daemon on the base topic") struct OtherDaemonsTests {
  private static let (ours, theirs) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
  private static let info = "tk/bridge/info"

  private func settings(
    _ bases: [String] = ["tk"], instance: String = ours, _ change: (inout PublisherSettings) -> Void = { _ in }
  ) -> PublisherSettings {
    let names = ["home", "attic"]
    var settings = PublisherSettings(BaseTopics(zip(names, bases).map { .init(name: $0, base: $1) }))
    settings.instanceID = instance
    settings.discoveryPrefix = "ha"
    change(&settings)
    return settings
  }

  /// A daemon with one router that has published all.
  private func running(_ settings: PublisherSettings, agent: UInt64 = 1) throws -> PublisherScene {
    let scene = PublisherScene(settings)
    scene.announce(agent)
    try join(scene)
    return scene
  }

  /// A connection, from its begin to when all has come.
  private func join(_ scene: PublisherScene) throws {
    scene.publisher.connected(sessionPresent: true)
    scene.read()
    try scene.pump()
    for _ in 0..<2 {
      scene.tick(after: 11)
      try scene.pump()
    }
  }

  /// A newcomer with a store of its own, on the broker of another daemon.
  private func newcomer(_ settings: PublisherSettings, on first: PublisherScene) throws -> PublisherScene {
    let scene = PublisherScene(settings)
    for (topic, payload) in first.broker { scene.put(topic, payload.text) }
    scene.announce(2)
    try join(scene)
    return scene
  }

  private func others(_ scene: PublisherScene) -> [Publisher.OtherDaemon] { scene.publisher.otherDaemons ?? [] }

  @Test("A newcomer publishes, empties and corrects nothing there but who it is") func newcomer() throws {
    let first = try running(settings(instance: Self.theirs))
    let second = try newcomer(settings(), on: first)
    second.commit { $0.handle(.condition(.sessionLost, .sessionLost)) }
    second.publisher.setStoreProblem("disk full")
    second.alter("tk/router/0000000000000001", "{}")
    second.alter("tk/bridge/state", BridgeState.offline.text)
    second.tick()
    try second.pump()
    #expect(Set(second.sent.topics) == ["tk/bridge/daemon"])
    #expect(second.sent.allSatisfy { !$0.retain })
    #expect(second.publisher.lastPublications().isEmpty)
    #expect(second.publisher.isHeld("tk/out/hub/response/ping"))
    #expect(others(second) == [.init(home: "home", base: "tk", instance: Self.theirs, isOwner: true, isCopy: false)])
    // Nothing waits that would come all at once.
    #expect(second.publisher.waiting == 0)
  }

  @Test("The daemon that is there learns of it by its greetings, and goes on") func running() throws {
    let first = try running(settings())
    let second = PublisherScene(settings(instance: Self.theirs))
    let greeting = try #require(second.publisher.greetings().first)
    #expect(greeting.topic == "tk/bridge/daemon" && !greeting.retain)
    _ = first.publisher.received([.of(greeting.topic, greeting.payload.text)])
    #expect(others(first) == [.init(home: "home", base: "tk", instance: Self.theirs, isOwner: false, isCopy: false)])
    #expect(!first.publisher.isHeld(Self.info))
    first.tick()
    let answer = try first.pump()
    #expect(answer.topics == ["tk/bridge/daemon"])
    // Each minute while the other one is there, which is three minutes after its last greeting.
    for isThere in [true, true, false] {
      first.tick(after: 61)
      #expect(try first.pump().topics.contains("tk/bridge/daemon") == isThere)
      #expect(others(first).isEmpty != isThere)
    }
  }

  @Test("A copy of the store is another daemon; this process itself is none") func copies() throws {
    let first = try running(settings())
    let copy = PublisherScene(settings())
    func greeted(by other: PublisherScene) throws -> [Bool] {
      let greeting = try #require(other.publisher.greetings().first)
      _ = first.publisher.received([.of(greeting.topic, greeting.payload.text)])
      return others(first).map(\.isCopy)
    }
    #expect(try greeted(by: first) == [])
    #expect(try greeted(by: copy) == [true])
  }

  @Test("Its own topics after a restart, and those of a daemon that it takes over, are its own") func takesOver() throws
  {
    let first = try running(settings(instance: Self.theirs))
    let restarted = try newcomer(settings(instance: Self.theirs), on: first)
    let second = try newcomer(settings { $0.takesOver = Self.theirs }, on: first)
    for scene in [restarted, second] {
      #expect(others(scene).isEmpty)
      #expect(scene.broker["tk/router/0000000000000001"] == nil)
      #expect(scene.broker["tk/router/0000000000000002"] != nil)
      #expect(!scene.publisher.lastPublications().isEmpty)
    }
    #expect(second.kept(Self.info).contains(Self.ours))
    // It is there still: both say so.
    second.alter(Self.info, first.kept(Self.info))
    #expect(others(second).map(\.isOwner) == [false])
  }

  @Test("What is left of a daemon that is gone may be emptied: then the base topic is free") func emptied() throws {
    let first = try running(settings(instance: Self.theirs))
    let second = try newcomer(settings(), on: first)
    second.alter(Self.info, "")
    #expect(others(second).isEmpty)
    second.tick()
    try second.pump()
    #expect(second.kept(Self.info).contains(Self.ours))
    #expect(second.kept("tk/bridge/state") == BridgeState.online.text)
    #expect(second.broker["tk/router/0000000000000002"] != nil)
  }

  @Test("A broker that forgets all does not hand the topics to the newcomer while the other is there") func forgotten()
    throws
  {
    let first = try running(settings(instance: Self.theirs))
    let second = try newcomer(settings(), on: first)
    let greeting = try #require(first.publisher.greetings().first)
    _ = second.publisher.received([.of(greeting.topic, greeting.payload.text)])
    for topic in second.broker.keys { second.forget(topic) }
    try join(second)
    #expect(others(second).map(\.isOwner) == [true])
    #expect(second.broker.isEmpty)
    // It does not come back.
    for _ in 0..<3 {
      second.tick(after: 100)
      try second.pump()
    }
    #expect(others(second).isEmpty)
    #expect(second.kept(Self.info).contains(Self.ours))
  }

  @Test("Whoever writes another daemon's name there does not silence the one that publishes") func altered() throws {
    let scene = try running(settings())
    let right = scene.kept(Self.info)
    let altered = scene.alter(Self.info, right.replacing(Self.ours, with: Self.theirs))
    #expect(altered.map(\.topic) == [Self.info])
    #expect(others(scene).map(\.isOwner) == [false])
    scene.tick()
    try scene.pump()
    #expect(scene.kept(Self.info) == right)
  }

  @Test("Of several homes only the one is held back whose base topic is another daemon's") func severalHomes() throws {
    let first = try running(settings(["tk2"], instance: Self.theirs))
    let second = try newcomer(settings(["tk", "tk2"]), on: first)
    #expect(others(second).map(\.home) == ["attic"])
    #expect(second.broker["tk/router/0000000000000002"] != nil)
    for (topic, payload) in first.broker { #expect(second.broker[topic] == payload, "\(topic)") }
    #expect(second.publisher.lastPublications().topics == ["tk/bridge/state"])
  }

  @Test("A base topic that was given up, and is another daemon's by now, is left alone") func formerBase() throws {
    let first = try running(settings(["old"], instance: Self.theirs))
    let second = try newcomer(settings { $0.formerBases = ["old"] }, on: first)
    for (topic, payload) in first.broker { #expect(second.broker[topic] == payload, "\(topic)") }
    #expect(second.publisher.hasEmptiedBases)
  }

  @Test(
    "What is no daemon's `bridge/info` keeps nobody from publishing",
    arguments: ["{}", "x", #"{"instance_id":"b"}"#, #"{"instance_id":""}"#, #"{"instance_id":"#]) func noDaemon(
      payload: String
    ) throws
  {
    let scene = PublisherScene(settings())
    scene.put(Self.info, payload)
    try join(scene)
    #expect(scene.kept(Self.info).contains(Self.ours))
  }
}
