import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Devices for Home Assistant") struct HomeAssistantTests {
  private static let topic = "ha/device/threadkeeper/threadkeeper_tk_0000000000000001/config"
  private static let bridge = "ha/device/threadkeeper/threadkeeper_tk/config"

  private func connected(decides: ConsentDecision.Extent? = nil, _ prepare: (PublisherScene) -> Void = { _ in }) throws
    -> PublisherScene
  {
    let settings = PublisherSettings.home {
      $0.discoveryPrefix = "ha"
      $0.birthTopic = "ha/status"
      $0.requests.homeAssistant = decides
      $0.requests.homeAssistantLogin = decides.map { _ in "ha" }
    }
    let scene = PublisherScene(settings)
    prepare(scene)
    try scene.connect(sessionPresent: false)
    scene.tick(after: 6)
    try scene.pump()
    return scene
  }

  @Test("A router's device is what the encoder makes of the same values") func bytes() throws {
    var random = SeededGenerator(seed: 6)
    for first in ["tk", "a\"b/é"] {
      for (login, page) in [(nil, nil), ("ha", "http://keeper.home.arpa:8423/")] as [(String?, String?)] {
        let topics = BaseTopics([.init(name: "one", base: first), .init(name: "two", base: "second/\\x")])
        var devices = RouterDevices(firstBase: first, prefix: "ha", version: "1.2", page: page, login: login)
        for home in topics.homes {
          var place = try #require(HomeAssistantPlace(home: home.name, in: topics, prefix: "ha", version: "1.2"))
          place.page = page
          for _ in 0..<100 {
            var router = Router(
              BorderAgentID(high: random.next(), low: random.maybe(random.next()) ?? 0), at: random.time())
            let name = random.pick([
              random.text(), "Living room 2", "x", " ", "!!", "Äpfel", "  A--b ", "HomePod (Küche)",
            ])
            router.ownName = random.maybe(name)
            router.vendor = random.maybe(random.text())
            router.model = random.maybe(random.text())
            router.source = random.pick([.mqtt, .mdns])
            let needsID = Bool.random(using: &random)
            let isVisible = router.name?.contains { !$0.isWhitespace } == true
            let told = router.name.map { needsID && isVisible ? "\($0) (\(router.agent))" : $0 }
            let old = HomeAssistantDevice.router(
              .init(
                agent: router.agent.description, name: told, vendor: router.vendor, model: router.model,
                isOnlySeen: router.source == .mdns), place, login: login)
            let json = devices.json(router, base: home.base, bridge: place.bridgeID, needsID: needsID)
            #expect(json.text == old.json().text)
          }
        }
      }
    }
  }

  @Test("Two routers of one name are two names of devices, and one again when one has left") func namesakes() throws {
    let scene = try connected()
    func isNamed(_ agent: UInt64, _ name: String) throws -> Bool {
      // A device is announced once in five seconds.
      scene.tick(after: 6)
      try scene.pump()
      let topic = Self.topic.replacing("_0000000000000001", with: "_000000000000000\(agent)")
      return scene.broker[topic]?.text.contains(#""name":"\#(name)""#) == true
    }
    func announce(_ agent: UInt64) { scene.commit { $0.publish(.announce, agent, .of(7)) { $0.name = "Attic" } } }
    announce(1)
    #expect(try isNamed(1, "Attic"))
    announce(2)
    #expect(try isNamed(1, "Attic (0000000000000001)"))
    #expect(try isNamed(2, "Attic (0000000000000002)"))
    scene.commit { $0.publish(.leave, 2) }
    #expect(try isNamed(1, "Attic"))
  }

  @Test("A device is announced before the router's state, and emptied after its last event") func order() throws {
    let scene = try connected()
    #expect(scene.broker[Self.bridge] != nil)
    scene.announce(1)
    #expect(try scene.pump().topics.first == Self.topic)
    scene.commit { $0.publish(.leave, 1) }
    let topics = try scene.pump().topics
    let removal = try #require(topics.firstIndex(of: Self.topic))
    #expect(try #require(topics.lastIndex(of: "tk/router/0000000000000001/event")) < removal)
    #expect(scene.broker[Self.topic] == nil)
  }

  @Test("A device is emptied after its last event, also while messages of before wait for states")
  func removalDuringWalk() throws {
    let (settings, before, rows) = PublisherScene.announced()
    for isSent in [true, false] {
      let scene = PublisherScene(settings, before, ofEarlier: rows)
      scene.publisher.connected(sessionPresent: true)
      if isSent {
        // Lost with the connection, so it is due again.
        var sent: String?
        repeat { sent = scene.publisher.publications(upTo: 1).first?.topic } while sent != nil && sent != Self.topic
        scene.publisher.disconnected()
        scene.publisher.connected(sessionPresent: true)
      }
      scene.commit { $0.publish(.leave, 1) }
      let topics = try scene.pump().topics
      let removal = try #require(topics.firstIndex(of: Self.topic))
      let event = try #require(topics.lastIndex(of: "tk/router/0000000000000001/event"))
      #expect(event < removal)
    }
  }

  @Test("A device is announced again when its texts change, and not when its state does") func texts() throws {
    let scene = try connected()
    scene.commit { $0.publish(.announce, 1, .of(7)) { $0.name = "Attic" } }
    try scene.pump()
    scene.tick(after: 6)
    scene.commit { $0.publish(.dataset, 1, .of(7, at: 2, channel: 20)) }
    scene.commit { $0.publish(.offline, 1) }
    #expect(try !scene.pump().topics.contains(Self.topic))
    scene.commit { $0.publish(.announce, 1) { $0.name = "Cellar" } }
    #expect(try scene.pump().topics.contains(Self.topic))
  }

  @Test("A router that comes, goes and changes its name is announced once in five seconds") func pace() throws {
    let scene = try connected()
    for name in ["a", "b", "c"] {
      scene.commit { $0.publish(.announce, 1, .of(7)) { $0.name = name } }
      try scene.pump()
    }
    #expect(scene.sent.count { $0.topic == Self.topic } == 1)
    scene.tick(after: 4)
    try scene.pump()
    #expect(scene.sent.count { $0.topic == Self.topic } == 1)
    scene.tick(after: 2)
    try scene.pump()
    #expect(scene.sent.count { $0.topic == Self.topic } == 2)
    let device = scene.kept(Self.topic)
    #expect(device.contains(#""name":"c""#))
  }

  @Test("When Home Assistant has started, devices come first, then presence, then states") func birth() throws {
    let scene = try connected()
    scene.announce(1)
    scene.tick()
    try scene.pump()
    let born = IncomingMessage.of("ha/status", "online")
    _ = scene.publisher.received([born], delay: 3)
    scene.tick(after: 2)
    #expect(try scene.pump().isEmpty)
    // At most once a minute.
    scene.tick(after: 60)
    let topics = try scene.pump().topics
    let places = try [
      Self.topic, "tk/bridge/state", "tk/router/0000000000000001/availability", "tk/router/0000000000000001",
      "tk/network/0000000000000007",
    ].map { try #require(topics.firstIndex(of: $0)) }
    #expect(places == places.sorted())
    _ = scene.publisher.received([born], delay: 1)
    scene.tick(after: 30)
    #expect(try scene.pump().isEmpty)
    scene.tick(after: 31)
    #expect(try !scene.pump().isEmpty)
  }

  @Test("A birth that the broker kept, and a death, are no reason to publish") func otherStatus() throws {
    let scene = try connected()
    _ = scene.publisher.received(
      [IncomingMessage.of("ha/status", "online", isRetained: true), .of("ha/status", "offline")], delay: 0)
    scene.tick(after: 120)
    #expect(try scene.pump().isEmpty)
  }

  @Test("A question has buttons while it waits, and the list of questions its token") func question() throws {
    let scene = try connected(decides: .all)
    scene.announce(1)
    try scene.pump()
    scene.commit { $0.ask() }
    let id = try #require(scene.scene.home.questions.last?.id.questionText)
    try scene.pump()
    let topic = "ha/device/threadkeeper/threadkeeper_tk_\(id)/config"
    let token = scene.settings.requests.tokens.token(for: scene.scene.home.questions[0].id)
    let buttons = scene.kept(topic)
    #expect(buttons.contains(#"\"token\":\"\#(token)\""#))
    let list = scene.kept("tk/bridge/consent")
    #expect(list.contains(#""token":"\#(token)""#))
    scene.commit { $0.decide(.deny($0.home.questions[0].id), by: .commandLine(user: 0)) }
    try scene.pump()
    #expect(scene.broker[topic] == nil)
    let after = scene.kept("tk/bridge/consent")
    #expect(after == #"{"pending":0,"v":1}"#)
  }

  @Test("Where only adoptions are decided, another question has no buttons") func adoptionsOnly() throws {
    let scene = try connected(decides: .adoptions)
    scene.announce(1)
    scene.commit { $0.ask() }
    try scene.pump()
    #expect(scene.broker.keys.filter { $0.contains("_c-") }.isEmpty)
    let list = scene.kept("tk/bridge/consent")
    #expect(list.contains(#""pending":1"#) && !list.contains("home_assistant"))
  }

  @Test("Where adoptions are decided, the question of Home Assistant's own agent has buttons") func written() throws {
    let scene = try connected(decides: .adoptions)
    scene.announce(1)
    scene.commit { $0.ask(by: "agent", writes: true) }
    try scene.pump()
    let question = try #require(scene.scene.home.questions.first)
    let topic = "ha/device/threadkeeper/threadkeeper_tk_\(question.id.questionText)/config"
    #expect(scene.kept(topic).contains("agent: approve once"))
    #expect(scene.kept("tk/bridge/consent").contains(#""command":"preferred/write""#))
  }

  @Test("Where adoptions are decided, so is whether shared credentials are used") func offered() throws {
    let scene = try connected(decides: .adoptions)
    scene.commit { $0.prefer(seen: 7) }
    scene.commit { $0.share(.of(7), from: "store") }
    try scene.pump()
    let question = try #require(scene.scene.home.questions.first)
    let topic = "ha/device/threadkeeper/threadkeeper_tk_\(question.id.questionText)/config"
    let buttons = scene.kept(topic)
    #expect(buttons.contains("store: approve once"))
    let list = scene.kept("tk/bridge/consent")
    #expect(list.contains(#""command":"credentials/accept""#) && list.contains("Use them?"))

    // One that waits for days hides none of two minutes.
    scene.commit { $0.publish(.announce, 1, .of(8)) }
    scene.wait(5)
    scene.commit { $0.ask(.getNetwork(ExtendedPANID(number: 8))) }
    try scene.pump()
    let later = scene.kept("tk/bridge/consent")
    #expect(later.contains(#""command":"network/get""#) && later.contains(#""pending":2"#))

    scene.commit { $0.decide(.approve(question.id, .once)) }
    try scene.pump()
    #expect(scene.broker[topic] == nil)
    let network = scene.kept("tk/network/0000000000000007")
    #expect(network.contains(#""preferred":true"#) && network.contains(#""shared_by":["store"]"#))
    #expect(network.contains(#""channel":15"#))
  }

  @Test("A network that is only shared is published, and emptied when that is deleted") func onlyShared() throws {
    let scene = try connected()
    scene.announce(1)
    scene.commit { $0.share(.of(8)) }
    try scene.pump()
    scene.tick()
    try scene.pump()
    let topic = "tk/network/0000000000000008"
    let network = scene.kept(topic)
    #expect(network.contains(#""routers":0"#) && network.contains(#""shared_by":["ha"]"#))
    #expect(try scene.fresh()[topic] == scene.broker[topic])
    scene.commit { $0.handle(.request(.forgetNetwork(.network(ExtendedPANID(number: 8))), .administrator)) }
    try scene.pump()
    scene.tick()
    try scene.pump()
    #expect(scene.broker[topic] == nil)
  }

  @Test("While no network is preferred, each network that routers are on has a button") func choices() throws {
    let scene = try connected(decides: .adoptions)
    scene.announce(1)
    scene.commit { $0.handle(.request(.forgetPreferred, .administrator)) }
    scene.tick()
    try scene.pump()
    let topic = "ha/device/threadkeeper/threadkeeper_tk_n-0000000000000007/config"
    #expect(scene.broker[topic] != nil)
    scene.commit { $0.handle(.request(.setPreferred(.dataset(.of(7))), .administrator)) }
    scene.tick()
    try scene.pump()
    #expect(scene.broker[topic] == nil)
  }

  @Test("While the keys of the preferred network are disputed, a button keeps the current ones") func dispute() throws {
    let scene = try connected(decides: .adoptions)
    for agent: UInt64 in [1, 2] { scene.announce(agent) }
    let since = try #require(scene.scene.home.preferred?.changedAt)
    scene.commit { $0.publish(.announce, 1, .of(7, key: 8, at: 2)) }
    let topic = "ha/device/threadkeeper/threadkeeper_tk_p-\(since.milliseconds)/config"
    func wait(_ seconds: Int) throws {
      scene.commit { $0.tick(after: seconds) }
      scene.tick()
      try scene.pump()
    }
    try wait(1)
    #expect(scene.broker[topic] == nil)
    try wait(30)
    let device = try #require(scene.broker[topic].map { String(decoding: $0, as: UTF8.self) })
    let token = scene.settings.requests.tokens.token(forKeepingKeysSince: since)
    let alert = AlertKey(.preferredKeyDisputed).fingerprint(in: "home")
    for part in [
      #""name":"Keep the current keys""#, #""command_topic":"tk/in/ha/request/preferred/set""#,
      #"{\"id\":\"p-current\",\"token\":\"\#(token)\"}"#, "tk/alert/\(alert)",
    ] { #expect(device.contains(part), "\(part) in \(device)") }
    scene.commit { $0.handle(.request(.setPreferred(.current), .administrator)) }
    scene.tick()
    try scene.pump()
    #expect(scene.broker[topic] == nil)
  }

  @Test("What another client writes over a device is replaced with the next tick") func altered() throws {
    let scene = try connected(decides: .all)
    scene.announce(1)
    try scene.pump()
    scene.tick()
    try scene.pump()
    let right = scene.broker[Self.topic]
    let bad = IncomingMessage.of(Self.topic, #"{"x":1}"#)
    let altered = scene.publisher.received([bad])
    #expect(altered.map(\.topic) == [Self.topic] && !altered[0].isButton)
    #expect(try scene.pump().isEmpty)
    scene.put(Self.topic, #"{"x":1}"#)
    scene.tick()
    #expect(try scene.pump().topics == [Self.topic])
    #expect(scene.broker[Self.topic] == right)
  }

  @Test("The daemon's own devices that come back, and those that a person deletes, are no alteration") func notAltered()
    throws
  {
    let scene = try connected()
    // As with MQTT 3.1.1.
    scene.publisher.connected(sessionPresent: false, receivesOwn: true)
    try scene.pump()
    scene.commit { $0.publish(.announce, 1, .of(7)) { $0.name = "old" } }
    try scene.pump()
    let earlier = scene.broker[Self.topic] ?? []
    scene.tick(after: 6)
    scene.commit { $0.publish(.announce, 1) { $0.name = "new" } }
    try scene.pump()
    let messages = [
      IncomingMessage(topic: Self.topic, payload: earlier), .of(Self.topic),
      .of("ha/device/threadkeeper/threadkeeper_other/config", "x"),
    ]
    #expect(scene.publisher.received(messages).isEmpty)
    scene.tick()
    #expect(try scene.pump().isEmpty)
    // It comes back once.
    #expect(!scene.publisher.received([messages[0]]).isEmpty)
  }

  /// An earlier daemon's devices may wait in the session; this one does not know them as its own.
  @Test("A session with MQTT 3.1.1 may bring earlier devices: replaced, altered only later") func earlierDevices()
    throws
  {
    let scene = try connected()
    scene.announce(1)
    try scene.pump()
    for (receivesOwn, isKnown) in [(false, true), (true, false)] {
      scene.publisher.connected(sessionPresent: true, receivesOwn: receivesOwn)
      try scene.pump()
      let earlier = [IncomingMessage.of(Self.topic, #"{"x":1}"#)]
      // Before the broker has answered the subscriptions, and after that.
      #expect(scene.publisher.received(earlier).isEmpty != isKnown)
      scene.tick()
      scene.publisher.subscribed()
      #expect(scene.publisher.received(earlier).isEmpty != isKnown)
      scene.tick()
      #expect(try scene.pump().topics.contains(Self.topic))
      scene.tick(after: KeptTopics.readingSeconds)
      #expect(!scene.publisher.received(earlier).isEmpty)
      scene.tick()
      try scene.pump()
    }
  }

  @Test("An unknown device is altered in the home below whose id it is; a long topic is nobody's") func alteredHome()
    throws
  {
    var settings = PublisherSettings(BaseTopics([.init(name: "home", base: "tk"), .init(name: "attic", base: "tk2")]))
    settings.discoveryPrefix = "ha"
    let scene = PublisherScene(settings)
    try scene.connect()
    func altered(_ id: String) -> [String] {
      scene.publisher.received([.of("ha/device/threadkeeper/threadkeeper_\(id)/config", "x")]).map(\.home)
    }
    #expect(altered("tk2_what") == ["attic"])
    #expect(altered("tk_what") == ["home"])
    #expect(altered("tk3_what") == [])
    #expect(altered("tk_" + String(repeating: "x", count: 1_000)) == [])
  }

  @Test("After a restart only those devices are announced that the broker does not keep as they are") func restart()
    throws
  {
    let before = try connected()
    for agent in UInt64(1)...2 { before.commit { $0.publish(.announce, agent, .of(7)) } }
    try before.pump()
    let scene = PublisherScene(before.settings, before.scene)
    for (topic, payload) in before.broker { scene.put(topic, payload.text) }
    let missing = Self.topic.replacing("01/config", with: "02/config")
    scene.forget(missing)
    // As an earlier version has announced it.
    scene.put(Self.topic, "{}")
    func devices() throws -> [String] { try scene.pump().topics.filter { $0.hasPrefix("ha/") } }
    scene.publisher.connected(sessionPresent: true)
    #expect(try devices() == [])
    #expect(scene.read() == [])
    #expect(try devices() == [])
    scene.tick(after: 11)
    #expect(try devices().sorted() == [Self.topic, missing])
    scene.tick()
    #expect(try devices() == [])
    #expect(scene.broker.keys.sorted() == before.broker.keys.sorted())
    #expect(scene.broker[missing] == before.broker[missing])
  }

  @Test("Home Assistant that starts with the daemon has its devices without waiting for a minute")
  func birthAtTheStart() throws {
    let before = try connected()
    before.announce(1)
    try before.pump()
    let scene = PublisherScene(before.settings, before.scene)
    try scene.connect()
    _ = scene.publisher.received([IncomingMessage.of("ha/status", "online")], delay: 1)
    scene.tick(after: 2)
    #expect(try scene.pump().topics.prefix(2) == [Self.bridge, Self.topic])
  }

  @Test("Altered buttons are said to be buttons, and emptied ones come back") func alteredButtons() throws {
    let scene = try connected(decides: .all)
    scene.announce(1)
    scene.commit { $0.ask() }
    let id = try #require(scene.scene.home.questions.last?.id.questionText)
    try scene.pump()
    let topic = "ha/device/threadkeeper/threadkeeper_tk_\(id)/config"
    scene.tick()
    try scene.pump()
    let bad = IncomingMessage.of(topic, "x")
    #expect(scene.publisher.received([bad]).map(\.isButton) == [true])
    // Also where they were emptied before within the same tick.
    scene.tick()
    #expect(try scene.pump().topics == [topic])
    #expect(scene.publisher.received([.of(topic), bad]).map(\.isButton) == [true])
    _ = scene.publisher.received([.of(topic)])
    scene.tick()
    #expect(try scene.pump().topics == [topic])
  }

  @Test("Devices that the broker keeps and nobody has are emptied") func kept() throws {
    let scene = try connected()
    let topics = [
      "ha/device/threadkeeper/threadkeeper_tk_0000000000000009/config",
      "ha/device/threadkeeper/threadkeeper_tk_c-0000000000000009/config",
      "ha/device/threadkeeper/threadkeeper_tk_what/config",
    ]
    for topic in topics { scene.put(topic, "{}") }
    #expect(scene.read { $0.hasPrefix("ha/") }.isEmpty)
    scene.tick()
    #expect(Set(try scene.pump().topics) == Set(topics))
    #expect(scene.publisher.deviceFilters == ["ha/device/threadkeeper/+/config"])
  }

  @Test("Where discovery is off, or has another prefix, devices of before are emptied") func formerPrefix() throws {
    let scene = PublisherScene(.home { $0.formerPrefixes = ["ha"] })
    scene.put(Self.topic, "{}")
    // Of another daemon.
    scene.put("ha/device/threadkeeper/threadkeeper_other/config", "{}")
    scene.publisher.connected(sessionPresent: false)
    scene.read()
    try scene.pump()
    #expect(scene.broker[Self.topic] == nil)
    #expect(scene.broker["ha/device/threadkeeper/threadkeeper_other/config"] != nil)
  }

  @Test("Devices of a base topic that was given up are emptied below the same prefix") func formerBase() throws {
    var settings = PublisherSettings(BaseTopics([.init(name: "home", base: "new")]))
    settings.discoveryPrefix = "ha"
    settings.formerBases = ["tk"]
    let scene = PublisherScene(settings)
    scene.put(Self.topic, "{}")
    scene.put(Self.bridge, "{}")
    try scene.connect(sessionPresent: false)
    scene.read()
    try scene.pump()
    #expect(scene.broker.keys.filter { $0.hasPrefix("ha/") } == ["ha/device/threadkeeper/threadkeeper_new/config"])
  }

  @Test("A broker that refuses devices is sent no more of them, until the next connection") func refused() throws {
    let scene = try connected()
    let error = MosquittoError(.notAuthorized, "not authorized")
    scene.announce(1)
    try scene.pump(refusing: error) { $0.topic == Self.topic }
    scene.announce(2)
    let sent = try scene.pump().topics
    #expect(!sent.contains { $0.hasPrefix("ha/") })
    #expect(sent.contains("tk/router/0000000000000002"))
    scene.publisher.disconnected()
    try scene.connect()
    #expect(scene.broker.keys.filter { $0.hasPrefix("ha/") }.count == 3)
  }
}
