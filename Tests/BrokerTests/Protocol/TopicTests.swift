import Broker
import Home
import Testing
import ThreadDataset

@Suite("Base topics") struct BaseTopicsTests {
  let topics = BaseTopics([
    .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    .init(name: "flat", base: "lets/flats/3b"), .init(name: "longer", base: "threadkeeper2"),
  ])

  @Test(
    "A topic belongs to the home whose base it lies below",
    arguments: [
      ("threadkeeper/in/anna/announce", "home", "in/anna/announce"),
      ("threadkeeper2/in/anna/announce", "longer", "in/anna/announce"),
      ("lets/flats/3b/in/anna/announce", "flat", "in/anna/announce"),
      ("cabin/in/anna/announce", "cabin", "in/anna/announce"),
      ("threadkeeper/cabins/in/anna/announce", "home", "cabins/in/anna/announce"), ("threadkeeper/", "home", ""),
      ("threadkeeper//", "home", "/"),
    ]) func ownTopic(topic: String, home: String, rest: String)
  {
    let split = topics.split(topic)
    #expect(split?.home.name == home)
    #expect(split.map { String($0.rest) } == rest)
  }

  @Test(
    "A topic that is not below a base topic is foreign",
    arguments: [
      "", "/", "threadkeeper", "threadkeeper3/in/a/announce", "thread/in/a/announce", "/threadkeeper/in/a/announce",
      "Threadkeeper/in/a/announce", "lets/flats/in/a/announce", "lets/flats/3bb/in/a/announce", "homeassistant/status",
      "$SYS/broker/uptime",
      // One more accent on the last letter: other bytes, so another topic.
      "threadkeeper\u{301}/in/a/announce",
    ]) func foreignTopic(topic: String)
  { #expect(topics.split(topic) == nil) }

  @Test("Base topics are compared byte by byte, like the broker does") func bytes() {
    let composed = BaseTopics([.init(name: "home", base: "caf\u{E9}")])
    #expect(composed.split("caf\u{E9}/in/a/announce") != nil)
    #expect(composed.split("cafe\u{301}/in/a/announce") == nil)
  }

  @Test("One subscription for each home, and nothing that the daemon itself publishes") func filters() {
    #expect(topics.intakeFilters == ["threadkeeper/in/#", "cabin/in/#", "lets/flats/3b/in/#", "threadkeeper2/in/#"])
    #expect(topics.roots == ["threadkeeper", "cabin", "lets/flats/3b", "threadkeeper2"])
    #expect(topics.formerRoots(of: ["old", "cabin", "old"]) == ["old"])
    #expect(BaseTopics([]).intakeFilters.isEmpty)
    #expect(BaseTopics([]).split("threadkeeper/in/a/announce") == nil)
  }

  @Test("One subscription for all homes of a shard, also where it has none") func shard() {
    let shard = BaseTopics(
      [.init(name: "smith", base: "tk/17/smith"), .init(name: "ada", base: "tk/17/ada")], below: "tk/17")
    #expect(shard.intakeFilters == ["tk/17/+/in/#"] && shard.roots == ["tk/17/+"])
    #expect(BaseTopics([], below: "tk/17").intakeFilters == ["tk/17/+/in/#"])
    #expect(shard.split("tk/17/ada/in/a/announce")?.home.name == "ada")
    #expect(shard.split("tk/17/jones/in/a/announce") == nil)
    #expect(shard.formerRoots(of: ["tk/17/gone", "old/17/smith", "old/17/ada", "alone"]) == ["old/17/+", "alone"])
  }
}

@Suite("Inbound topics") struct InboundTopicTests {
  private func topic(_ text: String) throws(Rejection) -> InboundTopic {
    try InboundTopic(Substring(text), belowBaseOf: "home")
  }

  @Test("Each kind of event has its topic", arguments: RouterMessage.Kind.allCases) func events(
    kind: RouterMessage.Kind
  ) throws {
    let topic = try topic("in/anna/\(kind.word)")
    #expect(topic.home == "home" && topic.user == "anna" && topic.purpose == .event(kind))
  }

  @Test("The kinds of events are those of the protocol") func kinds() {
    #expect(
      RouterMessage.Kind.allCases.map(\.word.description) == [
        "announce", "dataset", "leave", "heartbeat", "offline", "ssid", "credentials", "sightings",
      ])
  }

  @Test(
    "A request names its command, which may have levels of its own",
    arguments: [("ping", "ping"), ("credentials/list", "credentials/list"), ("a//b", "a//b")]) func requests(
      path: String, command: String
    ) throws
  { #expect(try topic("in/anna/request/\(path)").purpose == .request(command)) }

  @Test("A probe has a topic below its user, and no further level") func probe() throws {
    let own = ProbeTopic(base: "threadkeeper", group: .inbound, user: "anna")
    #expect(own.text == "threadkeeper/in/anna/probe")
    #expect(try topic("in/anna/probe").purpose == .probe)
    #expect(throws: Rejection.self) { try topic("in/anna/probe/x") }
    #expect(try topic("in/anna/request/probe").purpose == .request("probe"))
  }

  @Test(
    "A user is the whole level, however odd its name",
    arguments: [
      " ", "anna b", "anna@home", "añña", "安娜", "👩‍🚒", "in", "request", "announce", "..", "%u", "$SYS", "a\u{7}b", "\"",
      "a'; DROP TABLE router; --", String(repeating: "x", count: 128),
    ]) func oddUsers(user: String) throws
  { #expect(try topic("in/\(user)/announce").user == user) }

  @Test(
    "A combining mark after a slash does not hide the slash",
    arguments: ["\u{301}", "\u{338}", "\u{FE0F}", "\u{200D}", "\u{20DD}"]) func combiningMarks(mark: String) throws
  {
    // The broker's access list splits at the byte 0x2F, whatever follows. So must we, or a login
    // could speak under a name that is not its own.
    let topic = try topic("in/\(mark)anna/announce")
    #expect(Array(topic.user.utf8) == Array("\(mark)anna".utf8))
    #expect(topic.purpose == .event(.announce))
    #expect(throws: Rejection.self) { try self.topic("in/anna/\(mark)/announce") }
  }

  @Test(
    "What is not in/<user>/… is an invalid topic",
    arguments: [
      "", "in", "in/", "in/anna", "in//announce", "in///", "out/anna/announce", "/in/anna/announce", "IN/anna/announce",
      "bridge/state", "router/a1b2c3d4e5f60718",
    ]) func invalidTopics(text: String)
  {
    let rejection = #expect(throws: Rejection.self) { try topic(text) }
    #expect(rejection?.code == "invalid_topic")
  }

  @Test(
    "What is below in/<user>/ and stands for nothing is an unknown event",
    arguments: [
      "in/anna/", "in/anna/Announce", "in/anna/announce ", "in/anna/announce/", "in/anna/announce/x", "in/anna/request",
      "in/anna/request/", "in/anna/credentials/store", "in/anna/dataset/set",
      "in/a/request/announce/".replacing("request", with: "requests"),
    ]) func unknownEvents(text: String)
  {
    let rejection = #expect(throws: Rejection.self) { try topic(text) }
    #expect(rejection?.code == "unknown_event")
    #expect(rejection?.message.contains("announce, dataset, leave") == true)
  }

  @Test("A user name of unreasonable length is refused, and not repeated") func longUser() throws {
    let longest = String(repeating: "x", count: InboundLimits.userBytes)
    #expect(try topic("in/\(longest)/announce").user == longest)
    let rejection = #expect(throws: Rejection.self) { try topic("in/\(longest)x/announce") }
    #expect(rejection?.code == "invalid_topic")
    #expect(rejection?.message.contains("xxx") == false)
  }
}

@Suite("Outbound topics") struct OutboundTopicTests {
  let topic = OutboundTopic(base: "lets/3b")

  @Test("Topics about the daemon") func bridge() {
    #expect(
      [topic.state, topic.info, topic.health, topic.alerts, topic.event, topic.alertEvent]
        == ["state", "info", "health", "alerts", "event", "event/alert"].map { "lets/3b/bridge/\($0)" })
  }

  @Test("Topics about one thing carry its id in lower case") func things() throws {
    let agent = try #require(BorderAgentID(hex: "A1B2C3D4E5F60718"))
    #expect(topic.router(agent) == "lets/3b/router/a1b2c3d4e5f60718")
    #expect(topic.availability(agent) == "lets/3b/router/a1b2c3d4e5f60718/availability")
    #expect(topic.routerEvent(agent) == "lets/3b/router/a1b2c3d4e5f60718/event")
    let network = try #require(ExtendedPANID(hex: "1111111122222222"))
    #expect(topic.network(network) == "lets/3b/network/1111111122222222")
    let fingerprint = AlertFingerprint(home: "home", name: .storeReadOnly, subject: "")
    #expect(topic.alert(fingerprint) == "lets/3b/alert/b0134f915fc4b05e")
  }

  @Test("A long id with eight zero bytes at its end has the topics of the short one") func alias() throws {
    let short = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    let long = try #require(BorderAgentID(hex: "a1b2c3d4e5f607180000000000000000"))
    #expect(topic.router(long) == topic.router(short))
  }

  @Test("Answers lie below the user's own topic, under the name of what was asked") func answers() {
    #expect(topic.answer(to: "anna", command: "credentials/list") == "lets/3b/out/anna/response/credentials/list")
    for odd in ["", "A", "a//b", "/a", "a/", "..", "a b", "a+", "#", String(repeating: "a", count: 65)] {
      #expect(topic.answer(to: "anna", command: odd) == "lets/3b/out/anna/response/unknown")
    }
  }

  @Test("A topic for answers is the user's own, byte by byte, and one that can be published to") func ownTopics() {
    for own in ["a", "response/ping", "a b/ü", "$x/y", "datasets", "x/dataset/set"] {
      #expect(topic.isAnswer("lets/3b/out/anna/\(own)", to: "anna"))
    }
    for order in ["dataset", "dataset/set", "dataset/set/x"] {
      #expect(!topic.isAnswer("lets/3b/out/anna/\(order)", to: "anna"))
    }
    for strange in ["", "a/", "/a", "a//b", "a/+", "#", "..", "a/../b", "a\u{7F}"] {
      #expect(!topic.isAnswer("lets/3b/out/anna/\(strange)", to: "anna"))
    }
    for other in ["lets/3b/out/anna", "lets/3b/out/bob/a", "lets/3b/in/anna/a", "x/out/anna/a"] {
      #expect(!topic.isAnswer(other, to: "anna"))
    }
    let long = "lets/3b/out/anna/" + String(repeating: "a", count: 1_100)
    #expect(!topic.isAnswer(long, to: "anna"))
  }

  @Test("Nothing that is published comes back in") func loop() throws {
    let topics = BaseTopics([.init(name: "home", base: "lets/3b")])
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    for published in [topic.state, topic.event, topic.alertEvent, topic.routerEvent(agent)] {
      let rest = try #require(topics.split(published)).rest
      #expect(throws: Rejection.self) { try InboundTopic(rest, belowBaseOf: "home") }
    }
  }
}
