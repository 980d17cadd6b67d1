import Broker
import Testing

@testable import Bridge
@testable import Home

@Suite("Topics of the daemon that another client has altered") struct AlteredTopicsTests {
  private static let router = "tk/router/0000000000000001"
  private static let availability = "\(router)/availability"
  private static let network = "tk/network/0000000000000007"
  private static let alert = "tk/alert/" + AlertKey(.sessionLost, .home).fingerprint(in: "home")
  private static let states =
    [router, availability, network, alert] + ["state", "info", "health", "alerts", "consent"].map { "tk/bridge/\($0)" }

  /// One router, one alert, and a broker that has all of it.
  private func running(receivesOwn: Bool = false) throws -> PublisherScene {
    let scene = PublisherScene(.home())
    scene.publisher.connected(sessionPresent: false, receivesOwn: receivesOwn)
    scene.announce(1)
    scene.commit { $0.handle(.condition(.sessionLost, .sessionLost)) }
    scene.publisher.publish(BridgeHealth(status: DaemonStatus()))
    try scene.pump()
    scene.read()
    for _ in 0..<2 {
      scene.tick(after: 11)
      try scene.pump()
    }
    return scene
  }

  @Test("Each is replaced with the next tick, and reported", arguments: states, ["{}", ""]) func altered(
    topic: String, payload: String
  ) throws {
    let scene = try running()
    let before = scene.broker
    #expect(before[topic] != nil)
    let altered = scene.alter(topic, payload)
    #expect(altered.map(\.topic) == [topic] && altered[0].home == "home" && !altered[0].isDevice)
    #expect(try scene.pump().isEmpty)
    // Once for a tick, however often it is written.
    #expect(scene.alter(topic, "[]").isEmpty)
    scene.tick()
    #expect(try scene.pump().topics == [topic])
    #expect(scene.broker == before)
    scene.tick()
    #expect(try scene.pump().isEmpty)
  }

  @Test(
    "What belongs to nothing is emptied with the next tick, and reported",
    arguments: [
      "tk/router/0000000000000009", "tk/router/0000000000000009/availability", "tk/router/what", "\(router)/event",
      "\(router)/more/levels", "tk/network/00000000000000ff", "tk/network/x", "tk/alert/0123456789abcdef",
      "tk/alert/x/y", "tk/bridge/what", "tk/bridge/event", "tk/bridge/event/alert", "tk/bridge/state/x",
    ]) func invented(topic: String) throws
  {
    let scene = try running()
    let before = scene.broker
    #expect(scene.alter(topic, "{}").map(\.topic) == [topic])
    scene.tick()
    #expect(try scene.pump().topics == [topic])
    #expect(scene.broker == before)
  }

  @Test("What is as it should be, other topics, and what `doctor` tries are no alteration") func unaltered() throws {
    let scene = try running()
    for (topic, payload) in scene.broker { #expect(scene.alter(topic, payload.text).isEmpty) }
    for topic in [
      "tk/in/a/announce", "tk/out/a/response/ping", "tk", "tk/other", "other/router/1",
      "tk/bridge/threadkeeper-probe/probe", "tk/router/threadkeeper-probe/probe",
    ] { #expect(scene.publisher.received([.of(topic, "{}")]).isEmpty, "\(topic)") }
    scene.tick()
    #expect(try scene.pump().isEmpty)
  }

  @Test("With MQTT 3.1.1 the daemon's own publications come back, each once") func own() throws {
    let scene = try running(receivesOwn: true)
    let (online, offline) = ("{\"state\":\"online\"}", "{\"state\":\"offline\"}")
    // Later than the state that it was about.
    scene.commit { $0.publish(.offline, 1) }
    let sent = try scene.pump()
    scene.announce(1)
    let then = try scene.pump()
    #expect(scene.kept(Self.availability) == online)
    for publication in sent + then {
      let message = IncomingMessage(topic: publication.topic, payload: publication.payload)
      #expect(scene.publisher.received([message]).isEmpty, "\(publication)")
    }
    scene.tick()
    #expect(try scene.pump().isEmpty)
    // Another client repeats it.
    #expect(scene.alter(Self.availability, offline).count == 1)
    scene.tick()
    #expect(try scene.pump().topics == [Self.availability])
    #expect(scene.kept(Self.availability) == online)
  }

  @Test("That the daemon stops comes back with MQTT 3.1.1, and is no alteration") func lastOwn() throws {
    let scene = try running(receivesOwn: true)
    let last = scene.publisher.lastPublications()
    #expect(last.topics == ["tk/bridge/state"])
    let messages = last.map { IncomingMessage(topic: $0.topic, payload: $0.payload) }
    #expect(scene.publisher.received(messages).isEmpty)
    // Another client repeats it.
    #expect(scene.publisher.received(messages).count == 1)
  }

  @Test("One that has come back makes room for no other of the same words") func ownInTurn() {
    var kept = KeptTopics()
    kept.begin(publishesAll: false, receivesOwn: true, returnsEarlier: false)
    func publication(_ number: Int) -> Publication { Publication(topic: "tk/\(number)", payload: [], retain: true) }
    func message(_ number: Int) -> IncomingMessage { .of("tk/\(number)") }
    kept.noteOwn(publication(0))
    func isOwn(_ number: Int) -> Bool { kept.isOwn(message(number)) }
    #expect(isOwn(0))
    for number in 1..<2_047 { kept.noteOwn(publication(number)) }
    kept.noteOwn(publication(0))
    kept.noteOwn(publication(9_000))
    #expect(isOwn(0) && !isOwn(0))
    for number in 10_000..<12_100 { kept.noteOwn(publication(number)) }
    #expect(!isOwn(1) && isOwn(12_099))
  }

  @Test("The last will of a connection before is replaced and no alteration; later it is one") func lastWill() throws {
    let scene = try running()
    let presence = "tk/bridge/state"
    let will = BridgeState.offline.text
    for isBeginning in [true, false] {
      scene.publisher.connected(sessionPresent: true)
      try scene.pump()
      scene.read()
      if !isBeginning { scene.tick(after: 11) }
      try scene.pump()
      #expect(scene.alter(presence, will).isEmpty == isBeginning)
      scene.tick()
      #expect(try scene.pump().topics == [presence])
      #expect(scene.kept(presence) == BridgeState.online.text)
    }
  }

  @Test("A session with MQTT 3.1.1 may bring earlier states: replaced, altered only later") func earlier() throws {
    let scene = try running()
    scene.publisher.connected(sessionPresent: true, receivesOwn: true)
    try scene.pump()
    scene.publisher.subscribed()
    #expect(scene.alter(Self.router, "{}").isEmpty)
    scene.tick()
    #expect(try scene.pump().topics == [Self.router])
    scene.tick(after: KeptTopics.readingSeconds)
    try scene.pump()
    #expect(scene.alter(Self.router, "{}").count == 1)
  }

  @Test("The alert that no home has is published again") func storeAlert() throws {
    let scene = try running()
    let topic = "tk/alert/\(AlertKey(.storeReadOnly).fingerprint(in: "home"))"
    scene.publisher.setStoreProblem("disk full")
    try scene.pump()
    let before = scene.broker
    for payload in ["", "{}"] {
      #expect(scene.alter(topic, payload).count == 1)
      scene.tick()
      #expect(try scene.pump().topics == [topic])
      #expect(scene.broker == before)
    }
    #expect(scene.alter("tk/bridge/alerts", "{}").count == 1)
    scene.tick()
    try scene.pump()
    #expect(scene.broker == before)
  }

  @Test("However many topics are altered at once, all come back") func many() throws {
    let scene = try running()
    let before = scene.broker
    for number in 0..<5_000 { scene.alter("tk/router/\(String(number, radix: 16))x", "{}") }
    for topic in Self.states { scene.alter(topic, "") }
    scene.tick()
    try scene.pump()
    #expect(scene.broker == before)
    // Names of 60 kilobytes: more than is remembered.
    let long = String(repeating: "x", count: 60_000)
    for number in 0..<100 { scene.alter("tk/router/\(long)\(number)", "{}") }
    for number in 0..<1_000 { scene.alter("tk/router/\(long.prefix(100))\(number)", "{}") }
    for topic in Self.states { scene.alter(topic, "") }
    // All is published at most once a minute.
    for _ in 0..<2 { scene.tick(after: 61) }
    try scene.pump()
    #expect(Self.states.allSatisfy { scene.broker[$0] == before[$0] || $0.hasSuffix("health") })
  }
}
