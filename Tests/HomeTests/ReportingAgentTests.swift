import Testing
import ThreadDataset

@testable import Home

/// Programs of a login that say by themselves whether they can do their work.
@Suite struct ReportingAgentTests {
  private static let key = AlertKey(.agentNotWorking, .user("ha"))
  private var scene = HomeScene()

  @discardableResult private mutating func report(
    _ kind: RouterMessage.Kind, _ trouble: String? = nil, of agent: ExactName = "store", from user: ExactName = "ha",
    change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    var message = RouterMessage(kind, .agent(agent))
    message.trouble = trouble
    change(&message)
    return scene.handle(.message(message, from: user))
  }

  private var alert: Alert? { scene.home.alerts[Self.key] }
  private var isFiring: Bool { alert?.phase == .firing }

  @Test("What it can't do is an alert once that lasts, with why and when it worked last, until it can")
  mutating func fails() throws {
    report(.heartbeat)
    let worked = scene.now
    scene.live(20)
    report(.offline, "no token")
    scene.live(20)
    #expect(!isFiring)
    report(.offline, "no token")
    scene.live(20)
    #expect(isFiring)
    var facts = try #require(alert?.facts)
    #expect(facts.message == .agentNotWorking("no token") && facts.since == worked)
    #expect(facts.user == "ha" && facts.names == .init(["store"]))
    let sequence = alert?.sequence
    report(.offline, "no token")
    #expect(alert?.sequence == sequence, "the same is not published again")
    report(.offline, "no answer")
    facts = try #require(alert?.facts)
    #expect(facts.message == .agentNotWorking("no answer") && facts.since == worked)
    report(.heartbeat)
    #expect(alert?.phase == .resolved)
  }

  @Test("Border routers that it sees are handed on, each report once, and show that it works") mutating func sightings()
    throws
  {
    let router = try #require(Advertisement(id: nil, extendedAddress: 7))
    scene.enroll("ha")
    report(.offline, "no token")
    scene.live(31)
    func seen(_ message: inout RouterMessage) {
      (message.sightings, message.signature) = ([router], .init(issuer: Hash128(low: 1), number: 5))
    }
    #expect(report(.sightings, nil, of: "store", from: "ha", change: seen).sightings == [router])
    #expect(alert?.phase == .resolved)
    let again = report(.sightings, nil, of: "store", from: "ha", change: seen)
    #expect(again.isDuplicate && again.sightings == nil)
    let none = report(.sightings) { $0.signature = .init(issuer: Hash128(low: 1), number: 6) }
    #expect(none.sightings == [], "there are none")
    #expect(report(.heartbeat).sightings == nil)
    #expect(
      scene.home.routers[router.agents[0]] == nil, "what is listed of them is decided where records come together")
  }

  private static func sign(_ number: UInt64) -> (inout RouterMessage) -> Void {
    { ($0.sightings, $0.signature) = ([.of(7)], .init(issuer: Hash128(low: 1), number: number)) }
  }

  @Test("What an enrolled login sees counts signed alone; else the rejection says why, and that it works counts")
  mutating func unsignedSightings() {
    #expect(report(.sightings, change: Self.sign(1)).rejection == .notEnrolled)
    scene.enroll("ha")
    report(.offline, "no token")
    scene.live(31)
    #expect(isFiring)
    let plain = report(.sightings) { $0.sightings = [.of(7)] }
    #expect(plain.rejection == .sightingsNotSealed && plain.sightings == nil)
    #expect(alert?.phase == .resolved)
    let signed = report(.sightings, change: Self.sign(2))
    #expect(signed.rejection == nil && signed.sightings == [.of(7)])
    scene.handle(.revoke("ha", forgets: true, by: .statusPage))
    #expect(report(.sightings, change: Self.sign(3)).rejection == .notEnrolled)
    #expect(!scene.home.mayReportSightings("ha"))
  }

  @Test("Who has the enrolled login of a border router makes and hides no others, also after that has left")
  mutating func sightingsOfRouter() {
    scene.rules.team = { ["ha", "ben"].contains($0) ? "family" : $0 }
    for user: ExactName in ["ha", "ben", "otbr", "other"] { scene.enroll(user) }
    scene.announce(1, .of(1))
    scene.announce(2, from: "ben")
    func rejection(of user: ExactName, _ number: UInt64) -> HomeRejection? {
      let output = report(.sightings, from: user, change: Self.sign(number))
      #expect((output.sightings == nil) == (output.rejection != nil))
      return output.rejection
    }
    #expect(rejection(of: "otbr", 1) == .mayNotReportSightings)
    #expect(rejection(of: "ha", 1) == .mayNotReportSightings, "its team has one")
    #expect(rejection(of: "other", 1) == nil)
    scene.publish(.leave, 1)
    #expect(rejection(of: "otbr", 2) == .mayNotReportSightings)
  }

  @Test("One that has never worked says so; several of a login are one alert") mutating func several() throws {
    report(.offline, "no token", of: "b")
    report(.offline, "refused", of: "a")
    report(.heartbeat, of: "c")
    scene.live(31)
    let facts = try #require(alert?.facts)
    #expect(isFiring && facts.message == .agentNotWorking("refused") && facts.since == nil)
    #expect(facts.names == .init(["a", "b"]))
    report(.heartbeat, of: "a")
    #expect(alert?.facts.message == .agentNotWorking("no token"))
    report(.heartbeat, of: "b")
    #expect(alert?.phase == .resolved)
  }

  @Test("What a Matter server lacks is an alert of its own; that it can't be reached, or its agent is silent, is not")
  mutating func matterServer() throws {
    let key = AlertKey(.matterServerDiffers, .user("ha"))
    let name: ExactName = "matter_server ws://127.0.0.1:5580"
    report(.heartbeat, of: name)
    let worked = scene.now
    report(.heartbeat, "it lacks it", of: name)
    report(.offline, "no token")
    scene.live(31)
    let facts = try #require(scene.home.alerts[key]?.facts)
    #expect(facts.message == .matterServerDiffers("it lacks it") && facts.since == worked && facts.user == "ha")
    #expect(facts.names == .init([name.text]) && scene.firing.sorted() == [Self.key, key].sorted())
    #expect(alert?.facts.names == .init(["store"]))
    report(.heartbeat)
    report(.offline, "it can't be reached", of: name)
    #expect(scene.home.alerts[key]?.phase == .resolved)
    scene.live(31)
    #expect(alert?.facts.message == .agentNotWorking("it can't be reached") && alert?.facts.since == worked)
    report(.heartbeat, "it lacks it", of: name)
    scene.live(31)
    #expect(scene.firing == [key], "with the other's the alert of the agent has ended")
    report(.heartbeat)
    scene.live(180)
    #expect(scene.home.alerts[key]?.phase == .resolved)
    #expect(alert?.facts.message == .agentNotWorking(nil) && alert?.facts.names.first.contains(name.text) == true)
    report(.leave, of: name)
    report(.heartbeat, "of no Matter server")
    scene.live(31)
    #expect(scene.firing.isEmpty)
  }

  @Test("Nothing for three minutes is an alert; a daemon that was away has heard nothing from anybody")
  mutating func silent() throws {
    report(.heartbeat)
    let worked = scene.now
    scene.tick()
    #expect(scene.due() == 179)
    scene.live(178)
    #expect(alert == nil)
    scene.tick()
    #expect(alert?.phase == .held)
    scene.live(30)
    #expect(isFiring && alert?.facts.message == .agentNotWorking(nil))
    #expect(alert?.facts.since == worked)
    report(.heartbeat)
    #expect(alert?.phase == .resolved)

    scene.listening = nil
    scene.live(600)
    scene.listening = 0
    scene.live(179)
    #expect(alert?.phase == .resolved)
    scene.live(32)
    #expect(isFiring)
  }

  @Test("It is forgotten when it leaves, after 30 days, and with its login, whether that is enrolled")
  mutating func forgotten() {
    func end() -> [AlertKey] { scene.firing.sorted() }
    for way in ["leave", "revoke", "revoke of an enrolled one", "30 days"] {
      report(.offline, "no token")
      scene.live(31)
      #expect(end() == [Self.key], "\(way)")
      switch way {
      case "leave": report(.leave)
      case "30 days": scene.pass(seconds: 30 * 86_400)
      default:
        if way != "revoke" { scene.enroll("ha") }
        scene.handle(.revoke("ha", forgets: true, by: .statusPage))
        #expect(scene.output.answer == .revokedClient(true))
      }
      #expect(end() == [] && scene.home.agents.isEmpty, "\(way)")
      scene.live(300)
      #expect(end() == [], "\(way)")
    }
    scene.handle(.revoke("ha", forgets: true, by: .statusPage))
    #expect(scene.output.answer == .revokedClient(false))
  }

  @Test(
    "One that reports with another address replaces the former one, also when that is silent already",
    arguments: [20, 300]) mutating func otherAddress(_ pause: Int)
  {
    report(.offline, "no token", of: "ha old")
    scene.live(pause)
    let other: [ExactName] = ["ha2", "otbr new"]
    for agent in ["ha new"] + other { report(.heartbeat, of: agent) }
    for _ in 0..<3 {
      scene.live(60)
      for agent in ["ha new"] + other { report(.heartbeat, of: agent) }
    }
    #expect(alert?.phase == .resolved)
    #expect(scene.home.agents["ha"]?.keys.sorted() == ["ha new", "ha2", "otbr new"])
    // And back again.
    scene.live(1)
    report(.heartbeat, of: "ha old")
    for _ in 0..<4 {
      scene.live(60)
      for agent in ["ha old"] + other { report(.heartbeat, of: agent) }
    }
    #expect(scene.home.agents["ha"]?.keys.sorted() == ["ha old", "ha2", "otbr new"])
    #expect(!isFiring)
  }

  @Test("Of two that both report, or are of other kinds or logins, none replaces a silent one") mutating func both() {
    for others in [["ha two"], ["otbr two", "ha2"]] as [[ExactName]] {
      scene = HomeScene()
      report(.heartbeat, of: "ha one")
      scene.wait(seconds: 1)
      for other in others { report(.heartbeat, of: other) }
      if others.count == 1 { report(.heartbeat, of: "ha one") }
      report(.heartbeat, of: "ha three", from: "other")
      for _ in 0..<5 {
        scene.live(60)
        for other in others { report(.heartbeat, of: other) }
      }
      #expect(isFiring && alert?.facts.names == .init(["ha one"]))
    }
  }

  @Test("That one goes on after another one has begun is written at once: after a crash it is not replaced")
  mutating func goesOn() throws {
    let key = RecordKey.agent("ha", "ha one")
    report(.heartbeat, of: "ha one")
    scene.wait(seconds: 1)
    report(.heartbeat, of: "ha two")
    _ = scene.home.takeChanges()
    scene.wait(seconds: 1)
    report(.heartbeat, of: "ha one")
    #expect(Array(scene.home.takeChanges().records) == [key])
    scene.wait(seconds: 1)
    report(.heartbeat, of: "ha one")
    report(.heartbeat, of: "ha two")
    #expect(scene.home.takeChanges().records.isEmpty)
  }

  @Test("Numbers count for a user and a program") mutating func order() {
    func report(_ number: UInt64, of agent: ExactName = "store") -> HomeOutput {
      self.report(.heartbeat, of: agent) { $0.order = .number(number) }
    }
    #expect(report(5).rejection == nil)
    #expect(report(5).isDuplicate)
    #expect(report(4).rejection == .outOfOrder && report(4).isDuplicate)
    #expect(report(3, of: "other").rejection == nil)
  }

  @Test("What is known is written each hour, and what has changed at once; it comes back") mutating func records()
    throws
  {
    let key = RecordKey.agent("ha", "store")
    report(.heartbeat)
    #expect(Array(scene.home.takeChanges().records) == [key])
    var written = 0
    for _ in 0..<180 {
      scene.wait(seconds: 60)
      report(.heartbeat)
      written += scene.home.takeChanges().records.count
    }
    #expect(written == 3)
    report(.offline, "no token")
    #expect(scene.home.takeChanges().records.contains(key))
    let bytes = try #require(scene.home.record(key))
    var read = Home(rules: scene.rules)
    #expect(try read.load(bytes) == key)
    #expect(read.agents == scene.home.agents)
    // Also one that is silent.
    scene.live(200)
    #expect(scene.home.takeChanges().records.contains(key))
    report(.leave)
    #expect(scene.home.takeChanges().records.contains(key) && scene.home.record(key) == nil)
  }

  @Test("Of a login 64 are kept: for one more the one goes that was heard longest ago") mutating func limit() {
    for number in 0...ReportingAgent.most {
      report(.heartbeat, of: ExactName("\(number)"))
      scene.wait(seconds: 1)
    }
    let kept = scene.home.agents["ha"] ?? [:]
    #expect(kept.count == ReportingAgent.most && kept["0"] == nil && kept["64"] != nil)
    scene.rules.settings.routersPerHome = 1
    report(.heartbeat, from: "other")
    #expect(scene.home.agents["other"] == nil)
  }

  @Test("A clock that is set back makes none silent too late") mutating func clock() {
    report(.heartbeat)
    scene.wait(seconds: -3_600)
    scene.handle(.clockJumped(by: -3_600_000))
    scene.live(211)
    #expect(isFiring)
  }
}
