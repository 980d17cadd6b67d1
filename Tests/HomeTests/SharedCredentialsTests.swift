import Testing
import ThreadDataset

@testable import Home

/// Credentials that a login shares which is no border router: what is kept, and what that means for the home.
@Suite struct SharedCredentialsTests {
  private static let differs = AlertKey(.homeAssistantDiffers, .user("ha"))
  private static let stale = AlertKey(.staleDataset, .network(1))
  private static let conflict = AlertKey(.datasetConflict, .network(1))

  /// A home that prefers network 1 by its id alone, with router 1 that is only seen.
  private static func scene(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene {
      $0.settings.alertsHold = 0
      change(&$0)
    }
    scene.see(.of(1, on: 1))
    scene.prefer(network: 1)
    return scene
  }

  private static func shared(_ scene: HomeScene, _ network: UInt64 = 1) -> SharedCredentials? {
    scene.home.shared[.number(network)]?["ha"]
  }

  private static func sign(_ message: inout RouterMessage, _ number: UInt64) {
    message.signature = .init(issuer: Hash128(low: 1), number: number)
  }

  /// Who the events name that the preferred network has changed.
  private static func chosenBy(_ output: HomeOutput) -> [ExactName?] {
    output.routerEvents.filter { $0.types == .preferredChanged }.map(\.user)
  }

  // MARK: What is kept

  @Test("What a login prefers becomes the first preferred network, and what it does not prefer not") func first() throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.share(.of(2))
    #expect(scene.home.preferred == nil)
    let output = scene.share(.of(1), isPreferred: true)
    #expect(scene.preferred == .of(1) && output.types == .preferredChanged)
    let key = RecordKey.shared("ha", 1)
    #expect(output.secrets == [SecretMove(to: key, from: .input), SecretMove(to: .home, from: .record(key))])
    #expect(output.audit == [.sharedStored(by: "ha", 1, isNew: true), .preferredChanged(from: nil, to: 1)])
    #expect(scene.home.networks.map(\.id) == [1, 2])
    #expect(scene.firing == [AlertKey(.plaintextCredentials, .user("ha"))])
  }

  @Test("A dataset that is not complete names its network, is given to nobody, and what it lacks is said")
  func partial() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    let network = DatasetSummary(network: 1, name: "home")
    let lacks = [TLVType.networkName, .pskc]
    let missing = AlertKey(.credentialsMissing, .network(1))
    scene.share(.of(1), isPreferred: true)
    scene.command(.forgetPreferred)
    var output = scene.share(network, isPreferred: true) { $0.lacks = lacks }
    #expect(output.secrets == [SecretMove(to: .shared("ha", 1), from: .nothing)])
    #expect(output.audit == [.sharedDeleted(of: "ha", 1)])
    #expect(Self.shared(scene)?.lacks == lacks)
    let facts = try #require(scene.home.alerts[missing]?.facts)
    #expect(facts.message == .sharedPartial && facts.otherNames.first == lacks.map(\.name))
    #expect(scene.home.networks.map(\.sharedBy) == [["ha"]])
    #expect(scene.ask(.nearbyNetworks) == .credentials([]))
    // As what it is: the network is known, and its keys are not.
    var fresh = HomeScene { $0.settings.alertsHold = 0 }
    output = fresh.share(network, isPreferred: true) { $0.lacks = lacks }
    #expect(fresh.preferred == network && output.secrets.contains(SecretMove(to: .home, from: .nothing)))
    #expect(fresh.firing.contains(missing))
    fresh.share(.of(1), isPreferred: true)
    #expect(!fresh.firing.contains(missing))
  }

  @Test("What is reported replaces what is stored, whatever its age; what is known is not written") func mirror() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    let key = RecordKey.shared("ha", 1)
    for dataset in [DatasetSummary.of(1, at: 5), .of(1, at: 4), .of(1, at: 4, other: 1)] {
      let output = scene.share(dataset)
      #expect(Self.shared(scene)?.dataset == dataset)
      #expect(output.secrets == [SecretMove(to: key, from: .input)])
      #expect(scene.home.takeChanges().records.contains(key))
      scene.wait(seconds: 3_600)
      #expect(scene.share(dataset) == HomeOutput() && scene.home.takeChanges().isEmpty)
      #expect(scene.home.work == 0, "what else is shared is not looked at")
      #expect(Self.shared(scene)?.reportedAt == scene.now)
    }
    scene.share(.of(1, at: 4, other: 1)) {
      $0.name = "Attic"
      $0.borderAgent = 3
    }
    let changes = scene.home.takeChanges()
    #expect(Array(changes.records) == [key] && changes.networks == [1])
    #expect(Self.shared(scene)?.agent == 3 && Self.shared(scene)?.name == "Attic")
    #expect(scene.home.routers.count == 0, "a border agent is named, and not owned")
  }

  @Test("They were read last when the login reported them, or its program said that it works") func readAt() {
    var scene = HomeScene()
    #expect(scene.home.credentialsReadAt == nil)
    scene.share(.of(1, at: 1), from: "ha")
    #expect(scene.home.credentialsReadAt == scene.now)
    scene.pass(seconds: 60)
    scene.handle(.message(RouterMessage(.heartbeat, .agent("otbr")), from: "hub"))
    #expect(scene.home.credentialsReadAt == scene.now.adding(seconds: -60), "it shares none")
    scene.handle(.message(RouterMessage(.heartbeat, .agent("home_assistant")), from: "ha"))
    #expect(scene.home.credentialsReadAt == scene.now)
  }

  @Test("Numbers count for a user and a network") func order() {
    var scene = HomeScene()
    func share(_ network: UInt64, _ number: UInt64, from user: ExactName = "ha") -> HomeOutput {
      scene.share(.of(network, at: number), from: user) { $0.order = .number(number) }
    }
    #expect(share(1, 5).rejection == nil)
    #expect(share(1, 5).isDuplicate)
    #expect(share(1, 4).rejection == .outOfOrder && share(1, 4).isDuplicate)
    #expect(Self.shared(scene)?.dataset == .of(1, at: 5))
    #expect(share(2, 3).rejection == nil && share(1, 3, from: "hub").rejection == nil)
  }

  @Test("Numbers of envelopes count for a signer and a network") func signed() {
    var scene = HomeScene()
    scene.enroll("ha", trust: .signed)
    func share(_ network: UInt64, _ number: UInt64?) -> HomeRejection? {
      scene.share(.of(network)) { $0.signature = number.map { .init(issuer: Hash128(low: 1), number: $0) } }.rejection
    }
    #expect(share(1, nil) == .notSealed)
    #expect(share(1, 5) == nil && share(1, 4) == .envelopeOutOfOrder && share(2, 4) == nil)
    #expect(scene.firing == [])
    let key = RecordKey.signer(SignerKey(user: "ha", issuer: Hash128(low: 1)), .network(1))
    #expect(scene.home.takeChanges().records.contains(key))
    // What changes the name alone must not come again after a crash, either.
    scene.share(.of(1)) {
      $0.name = "Attic"
      $0.signature = .init(issuer: Hash128(low: 1), number: 6)
    }
    #expect(scene.output == HomeOutput() && scene.home.takeChanges().records.contains(key))
  }

  @Test(
    "What a login prefers is not taken where no router is in the air and others are: a person chooses",
    arguments: [false, true]) func offTheAir(isListed: Bool) throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.see(.of(1, on: 2), .of(2, on: 2), .of(3, on: 1))
    scene.see(.of(1, on: 2), .of(2, on: 2))
    if !isListed { scene.handle(.remove(3)) }
    scene.tick()
    let key = AlertKey.of(.noPreferredNetwork)
    #expect(key.severity(try #require(scene.alert(.noPreferredNetwork)).facts) == (isListed ? .warning : .info))
    scene.share(.of(1), isPreferred: true)
    scene.tick()
    #expect(scene.preferred == nil && scene.alarms.contains(key))
    let facts = try #require(scene.alert(.noPreferredNetwork)?.facts)
    #expect(facts.network == .init(.of(1)) && facts.user == "ha" && key.severity(facts) == .warning)
    // A power cut is no reason.
    scene.see()
    scene.share(.of(1), isPreferred: true)
    #expect(scene.preferred == nil)
    // One that is back on it is enough.
    scene.see(.of(1, on: 2), .of(2, on: 2), .of(3, on: 1))
    #expect(scene.preferred == .of(1) && !scene.alarms.contains(key))
  }

  @Test("Where routers are seen after it was taken, and none is on it, one alert of the home says so")
  func offTheAirAlone() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.share(.of(1), isPreferred: true)
    #expect(scene.preferred == .of(1))
    // Its routers were not there when it came.
    scene.see(.of(1, on: 2), .of(2, on: 2))
    #expect(scene.alarms == [.of(.preferredNetworkEmpty)])
  }

  @Test("A user shares at most 32 networks, and of them prefers one") func limits() {
    var scene = HomeScene()
    for network: UInt64 in 1...32 { scene.share(.of(network), isPreferred: true) }
    #expect(scene.share(.of(33)).rejection == .tooManyNetworks(32))
    #expect(scene.share(.of(33), from: "hub").rejection == nil)
    #expect(scene.share(.of(32, at: 9)).rejection == nil)
    scene.share(.of(7), isPreferred: true)
    #expect(scene.home.allShared.filter(\.isPreferredThere).map(\.network) == [7])
    scene.share(.of(7))
    #expect(scene.home.allShared.allSatisfy { !$0.isPreferredThere })
  }

  @Test("A network that is only shared is listed, with who shares it and the newest dataset") func networks() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.share(.of(1, at: 9))
    scene.share(.of(2, at: 3))
    scene.share(.of(2, at: 4, name: "Attic"), from: "hub")
    let network = scene.home.network(2)
    #expect(network?.sharedBy == ["ha", "hub"] && network?.name == "Attic")
    #expect(network?.dataset?.activeSeconds == 4 && network?.routers == 0)
    #expect(scene.home.network(1)?.dataset == .of(1))
    #expect(scene.home.network(1)?.sharedBy == ["ha"])
    #expect(scene.home.networkCount == 2 && scene.home.networks.count == 2)
  }

  @Test("Of a network that is preferred by its id alone no dataset is shown before it is accepted") func unaccepted() {
    var scene = Self.scene()
    scene.share(.of(1, name: "evil"))
    scene.announce(5, .of(1, key: 2, name: "evil"), from: "other")
    let network = scene.home.network(1)
    #expect(network?.dataset == nil && network?.name == "net-1" && network?.sharedBy == ["ha"])
    scene.accept()
    #expect(scene.home.network(1)?.dataset == .of(1, name: "evil"))
  }

  @Test("Once they are accepted, a router that was only seen on their network has its credentials") func ofRouters() {
    var scene = Self.scene()
    scene.see(.of(1, on: 1), .of(2, on: 2))
    scene.announce(3)
    func credentials() -> [CredentialState?] { (1...3).map { scene.router($0)?.credential } }
    scene.share(.of(1))
    #expect(credentials() == [.missing, .missing, .missing])
    _ = scene.home.takeChanges()
    scene.accept()
    #expect(credentials() == [.shared, .missing, .missing])
    #expect(scene.home.takeChanges().routers.contains(1))
    scene.see(.of(1, on: 2), .of(2, on: 1))
    #expect(credentials() == [.missing, .shared, .missing])
    scene.announce(2, .of(1))
    #expect(credentials() == [.missing, .stored, .missing])
    scene.see(.of(1, on: 1))
    scene.command(.forgetPreferred)
    #expect(credentials() == [.missing, .stored, .missing])
  }

  @Test("The alert that no network is preferred counts those that routers are on") func noPreferred() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1))
    scene.command(.forgetPreferred)
    for network: UInt64 in 3...5 { scene.share(.of(network)) }
    scene.announce(2, .of(2))
    scene.tick()
    #expect(
      scene.alert(.noPreferredNetwork)?.facts.message
        == .noPreferred(isForgotten: true, networks: [.init(.of(1)), .init(.of(2))], more: 0))
  }

  // MARK: Questions

  @Test("Of a network that is preferred by its id alone a person is asked, for seven days") func asks() throws {
    var scene = Self.scene()
    let output = scene.share(.of(1)) { $0.borderAgent = 1 }
    let question = try #require(scene.waiting.first)
    #expect(output.events.contains(.asked(question)))
    #expect(question.subject == ConsentSubject(.accept, [ConsentNetwork(.of(1), of: "ha")]))
    #expect(question.requester.program == "Home Assistant" && !question.keyHasChanged)
    #expect(scene.preferred?.hasCredentials == false)
    scene.share(.of(1))
    scene.pass(seconds: 7 * 86_400 - 1)
    #expect(scene.waiting == [question])
    #expect(scene.due().map { $0 <= 1 } == true)
    guard case .decided(let record) = scene.decide(.approve(question.id, .always)) else {
      Issue.record("not decided")
      return
    }
    #expect(record.outcome == .approved && record.scope == .once && scene.home.grants.isEmpty)
    #expect(scene.preferred == .of(1) && scene.output.settled.isEmpty)
    #expect(scene.output.secrets == [SecretMove(to: .home, from: .record(.shared("ha", 1)))])
    let change = try #require(scene.preferredChange)
    #expect(change.cause == .person && change.bringsCredentials)
    #expect(change.who == "uid 0 (command line)")
    #expect(scene.alert(.preferredNetworkChanged)?.facts.user == nil)
    #expect(Self.chosenBy(scene.output) == [nil], "who shares it has not chosen it")
    #expect(scene.ask(.isPreferredAvailable) == .available(true))
  }

  @Test("What was refused is asked again with other keys only; what has expired with each report") func askedAgain()
    throws
  {
    var scene = Self.scene()
    scene.share(.of(1))
    scene.decide(.deny(try #require(scene.waiting.first).id))
    #expect(scene.home.questions.isEmpty && scene.home.decisions.last?.outcome == .denied)
    scene.share(.of(1, at: 9, channel: 20))
    scene.handle(.started)
    #expect(scene.home.questions.isEmpty)
    scene.share(.of(1, key: 2, at: 9))
    scene.pass(seconds: 121)
    #expect(scene.waiting.count == 1)
    scene.pass(seconds: 121)
    scene.pass(seconds: 7 * 86_400)
    #expect(scene.home.questions.isEmpty && scene.home.decisions.last?.outcome == .expired)
    scene.share(.of(1, key: 2, at: 9))
    #expect(scene.waiting.count == 1)
    // Other keys in between lift no refusal.
    scene.share(.of(1))
    scene.pass(seconds: 121)
    #expect(scene.waiting.isEmpty)
    // A person has chosen these keys.
    scene.prefer(.of(1))
    #expect(Self.shared(scene)?.isDenied == false)
    scene.share(.of(1, at: 9, channel: 20))
    #expect(scene.preferred == .of(1, at: 9, channel: 20))
    scene.prefer(.of(1))
    scene.pass(seconds: 121)
    #expect(scene.preferred == .of(1) && scene.waiting.count == 1)
  }

  @Test("About a user a person is asked once in two minutes, whatever it shares meanwhile") func pause() {
    var scene = Self.scene()
    for key: UInt64 in 1...20 {
      let output = scene.share(.of(1, key: key))
      let isAsked = output.events.contains { if case .asked = $0 { true } else { false } }
      #expect(isAsked == (key == 1))
      scene.wait(seconds: 1)
    }
    #expect(scene.waiting.isEmpty)
    scene.share(.of(1), from: "hub")
    #expect(scene.waiting.count == 1)
    scene.tick()
    #expect(scene.due().map { $0 > 90 && $0 <= 120 } == true)
    scene.pass(seconds: 100)
    #expect(scene.waiting.map { $0.subject.networks[0].key?.low } == [1, 20])
    // The clock is set back.
    scene.share(.of(1, key: 21))
    scene.now = scene.now.adding(seconds: -86_400)
    scene.handle(.clockJumped(by: -86_400_000))
    scene.tick()
    #expect(scene.waiting.map { $0.subject.networks[0].key?.low } == [1, 21])
  }

  @Test("A question says whether the home has other keys, and is asked again when that changes") func replacesKeys() {
    var scene = Self.scene()
    func says(_ dataset: DatasetSummary) -> [Bool] {
      scene.share(dataset)
      scene.pass(seconds: 121)
      return scene.waiting.map(\.keyHasChanged)
    }
    #expect(says(.of(1, key: 2, at: 9)) == [false])
    scene.prefer(.of(1, at: 5))
    scene.tick()
    #expect(scene.waiting.map(\.keyHasChanged) == [true])
    #expect(says(.of(1, key: 3, at: 9)) == [true])
    #expect(says(.of(1, at: 9, channel: 20)) == [false], "other parameters alone")
  }

  @Test(
    "A question ends when it has no meaning any more",
    arguments: [
      .command(.setPreferred(.dataset(.of(1)))), .command(.setPreferred(.dataset(.of(2)))), .command(.forgetPreferred),
      .share(.of(1, key: 2)), .share(.of(1, at: 9)), .revoke,
    ] as [End]) func ends(_ end: End) throws
  {
    var scene = Self.scene()
    scene.enroll("ha")
    scene.share(.of(1))
    let question = try #require(scene.waiting.first)
    switch end {
    case .command(let request): scene.command(request)
    case .share(let dataset): scene.share(dataset)
    case .revoke: scene.revoke("ha")
    }
    // With the same keys it is the same question.
    #expect((scene.home.waiting(question.id) != nil) == (end == .share(.of(1, at: 9))))
    #expect(scene.waiting.allSatisfy { $0.id == question.id })
    scene.pass(seconds: 121)
    scene.handle(.started)
    #expect(scene.home.questions.count == (end == .share(.of(1, key: 2)) || end == .share(.of(1, at: 9)) ? 1 : 0))
  }

  enum End: Equatable {
    case command(HomeRequest)
    case share(DatasetSummary)
    case revoke
  }

  @Test("A second question about the same dataset ends when the first one is approved") func twoUsers() throws {
    var scene = Self.scene()
    scene.share(.of(1))
    scene.share(.of(1), from: "hub")
    #expect(scene.waiting.count == 2)
    scene.decide(.approve(try #require(scene.waiting.first).id, .once))
    #expect(scene.waiting.isEmpty)
  }

  @Test("Home Assistant decides where it decides about adoptions; nobody decides for its own team") func whoDecides()
    throws
  {
    var scene = Self.scene { $0.team = { $0 == "ben" ? "ha" : $0 } }
    scene.share(.of(1))
    let question = try #require(scene.waiting.first)
    #expect(
      scene.decide(.approve(question.id, .once), by: .login("ben", team: "ha")) == .refused(.consent(.notAuthorized)))
    var decision = ConsentDecision(.approve(question.id, .once), by: .login("homeassistant", team: "homeassistant"))
    decision.extent = .adoptions
    scene.handle(.decision(decision))
    #expect(scene.preferred == .of(1))
  }

  @Test("A user whom the settings trust is not asked about") func trusted() throws {
    var scene = Self.scene { $0.settings.trusted = ["ha"] }
    scene.enroll("ha")
    scene.share(.of(1), from: "hub")
    scene.share(.of(1))
    #expect(scene.waiting.count == 2, "whoever can publish as the login can send plaintext")
    let output = scene.share(.of(1, key: 2)) { Self.sign(&$0, 1) }
    #expect(scene.preferred == .of(1, key: 2) && output.types == .preferredChanged)
    let change = try #require(scene.preferredChange)
    #expect(change.cause == .shared && change.who == "ha", "what it calls itself is its own word")
    #expect(scene.alert(.preferredNetworkChanged)?.facts.user == "ha")
    #expect(Self.chosenBy(output) == ["ha"])
    // What the preferred network has lost comes back.
    scene.handle(.secretLost(.home))
    #expect(scene.preferred == .of(1, key: 2))
    #expect(scene.output.secrets.last == SecretMove(to: .home, from: .record(.shared("ha", 1))))
  }

  @Test("Who is trusted from a start on is not asked about any more") func trustedLater() {
    var scene = Self.scene()
    scene.enroll("ha")
    scene.share(.of(1)) { Self.sign(&$0, 1) }
    scene.rules.settings.trusted = ["ha"]
    scene.handle(.started)
    #expect(scene.preferred == .of(1) && scene.waiting.isEmpty)
  }

  @Test("A newer dataset of a user who has shared the preferred one is followed") func follows() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.share(.of(1, at: 5), isPreferred: true)
    scene.share(.of(1, at: 6, channel: 20), isPreferred: true)
    #expect(scene.preferred == .of(1, at: 6, channel: 20))
    #expect(scene.home.former.map(\.dataset) == [.of(1, at: 5)] && scene.home.questions.isEmpty)
    // A person has chosen the former one again.
    scene.prefer(.of(1, at: 5))
    scene.share(.of(1, at: 7, channel: 21), isPreferred: true)
    #expect(scene.preferred == .of(1, at: 5) && scene.waiting.count == 1)
    // An older one in between does not make it follow again.
    scene.share(.of(1, at: 4, channel: 20), isPreferred: true)
    scene.share(.of(1, at: 8, channel: 22), isPreferred: true)
    #expect(scene.preferred == .of(1, at: 5))
    // Just the preferred one does.
    scene.share(.of(1, at: 5), isPreferred: true)
    scene.share(.of(1, at: 4, channel: 20), isPreferred: true)
    scene.share(.of(1, at: 8, channel: 22), isPreferred: true)
    #expect(scene.preferred == .of(1, at: 8, channel: 22))
  }

  @Test("What was refused is not followed after an older one with the same keys") func deniedStays() throws {
    var scene = Self.scene()
    scene.prefer(.of(1, at: 5))
    scene.share(.of(1, at: 6, channel: 20))
    scene.decide(.deny(try #require(scene.waiting.first).id))
    scene.share(.of(1, at: 4, channel: 20))
    scene.share(.of(1, at: 6, channel: 20))
    scene.pass(seconds: 121)
    #expect(scene.preferred == .of(1, at: 5) && scene.home.questions.isEmpty)
  }

  @Test("A program that stores an older dataset for its router is not undone by what was followed") func owner() {
    var scene = HomeScene()
    let machine = Requester.program(of: "otbr")
    scene.ask(.storeCredentials(1, .of(1, at: 5)), by: machine)
    scene.share(.of(1, at: 5))
    scene.ask(.storeCredentials(1, .of(1, at: 4, channel: 20)), by: machine)
    #expect(scene.preferred == .of(1, at: 4, channel: 20))
    #expect(scene.waiting.count == 1)
  }

  @Test("Nothing is left of what a user has shared whose keys are revoked") func revoked() {
    var scene = Self.scene()
    scene.enroll("ha", trust: .signed)
    scene.share(.of(1)) { Self.sign(&$0, 1) }
    scene.share(.of(2)) { Self.sign(&$0, 1) }
    scene.share(.of(2), from: "hub")
    _ = scene.home.takeChanges()
    scene.revoke("ha")
    #expect(scene.home.allShared.map(\.user) == ["hub"])
    #expect(scene.output.audit.contains(.sharedDeleted(of: "ha", 1)))
    let records = scene.home.takeChanges().records
    #expect(records.contains(.shared("ha", 1)))
    scene.rules.settings.trusted = ["ha"]
    scene.handle(.started)
    #expect(scene.preferred?.hasCredentials == false)
  }

  @Test("Without a daemon nobody is asked, and no alert is raised, before one starts") func withoutDaemon() {
    var scene = Self.scene()
    scene.share(.of(2), isPreferred: true)
    scene.rules.hasDaemon = false
    scene.prefer(.of(2))
    #expect(scene.firing.contains(Self.differs))
    scene.rules.hasDaemon = true
    scene.handle(.started)
    #expect(!scene.firing.contains(Self.differs))
  }

  // MARK: By command

  @Test("What is shared is accepted by command, whether it is asked about or not") func accept() throws {
    for way in ["waits", "denied", "expired", "of the same age", "too far ahead"] {
      var scene = Self.scene()
      if way.contains("age") { scene.prefer(.of(1, key: 3)) }
      let dataset = DatasetSummary.of(1, at: way.contains("far") ? 1 << 40 : 1)
      if way.contains("far") { scene.prefer(.of(1, channel: 20)) }
      scene.share(dataset)
      let question = scene.waiting.first
      switch way {
      case "denied": scene.decide(.deny(try #require(question).id))
      case "expired":
        scene.pass(seconds: 121)
        scene.pass(seconds: 7 * 86_400)
      default: break
      }
      #expect(scene.accept(way == "waits" ? nil : 1) == .preferredSet(isChanged: true, hasCredentials: true), "\(way)")
      #expect(scene.preferred == dataset && scene.waiting.isEmpty, "\(way)")
      let outcome = scene.home.decisions.last?.outcome
      #expect(outcome == ["waits": .approved, "denied": .denied, "expired": .expired][way], "\(way)")
      #expect(Self.shared(scene)?.isDenied == false)
      #expect(scene.accept() == .preferredSet(isChanged: false, hasCredentials: true))
    }
  }

  @Test("Who accepts it is named, and has chosen it where it is a login") func whoAccepts() throws {
    for (approver, who) in [(.statusPage, "the status page"), (.commandLine(user: 1_000), "uid 1000 (command line)")]
      as [(ConsentApprover, String)]
    {
      var scene = Self.scene()
      scene.share(.of(1))
      scene.accept(by: approver)
      #expect(scene.home.decisions.last?.by == approver && Self.chosenBy(scene.output) == [nil])
      let change = try #require(scene.preferredChange)
      #expect(change.who == who)
    }
    var scene = Self.scene()
    scene.share(.of(1))
    scene.decide(.approve(scene.waiting[0].id, .once), by: .login("anna", team: "anna"))
    #expect(Self.chosenBy(scene.output) == ["anna"])
  }

  @Test("What a person is asked about is accepted, and not what is in conflict with the home") func acceptsAsked() {
    var scene = Self.scene()
    scene.prefer(.of(1, at: 5))
    scene.share(.of(1, at: 1 << 40, channel: 21), from: "hub")
    scene.share(.of(1, at: 6, channel: 20))
    #expect(scene.firing.contains(Self.conflict) && scene.waiting.count == 1)
    #expect(scene.accept() == .preferredSet(isChanged: true, hasCredentials: true))
    #expect(scene.preferred == .of(1, at: 6, channel: 20))
    #expect(scene.home.decisions.last?.outcome == .approved)
  }

  @Test("Where there is nothing to accept, that is said") func nothingToAccept() {
    var scene = HomeScene()
    #expect(scene.accept() == .refused(.noPreferred))
    scene.home.hasDamage = true
    #expect(scene.accept() == .refused(.damaged))
    scene = Self.scene()
    let none = HomeAnswer.refused(.nothingToAccept(1))
    #expect(scene.accept() == none)
    scene.share(.of(2))
    #expect(scene.accept(1) == none)
    #expect(scene.accept(2) == .refused(.notPreferred(2)))
    scene.share(.of(1, at: 2))
    scene.share(.of(1, key: 2, at: 3), from: "hub")
    #expect(scene.accept() == .refused(.severalShared(["ha", "hub"])))
    scene.prefer(.of(1, key: 3, at: 9))
    #expect(scene.accept() == .refused(.onlyOlderShared(1)))
    scene.home.hasLostCredentials = true
    #expect(scene.accept() == .refused(.damaged))
  }

  @Test("Of two logins with different keys the one is accepted that a person has not refused") func acceptsOther() {
    var scene = Self.scene()
    scene.share(.of(1, key: 2), from: "hub")
    scene.handle(.decision(ConsentDecision(.deny(scene.home.questions[0].id), by: .statusPage)))
    scene.share(.of(1))
    #expect(scene.accept() == .preferredSet(isChanged: true, hasCredentials: true))
    #expect(scene.preferred == .of(1))
  }

  // MARK: Alerts

  @Test("A login that prefers another network than the home is an alert until both are the same") func differs() {
    var scene = Self.scene { $0.settings.alertsHold = 30 }
    scene.share(.of(2), isPreferred: true)
    #expect(!scene.firing.contains(Self.differs))
    scene.pass(seconds: 31)
    let facts = scene.home.alerts[Self.differs]?.facts
    #expect(scene.firing.contains(Self.differs) && facts?.message == .otherPreferred)
    #expect(facts?.network == .init(.of(2)) && facts?.preferred?.id == 1)
    #expect(facts?.names.first == [#""Home Assistant""#] && facts?.user == "ha")
    scene.share(.of(1), isPreferred: true)
    #expect(!scene.firing.contains(Self.differs))
  }

  @Test("An older dataset, or one of the same age that differs, is an alert of its network") func ages() {
    var scene = Self.scene()
    scene.prefer(.of(1, at: 5))
    scene.share(.of(1, at: 4, channel: 20))
    let facts = scene.home.alerts[Self.stale]?.facts
    #expect(facts?.message == .sharedOlder && facts?.differs == .channel && facts?.user == "ha")
    scene.share(.of(1, at: 5, channel: 20))
    #expect(scene.home.alerts[Self.conflict]?.facts.message == .sharedConflict)
    #expect(!scene.firing.contains(Self.stale) && scene.firing.contains(Self.conflict))
    scene.prefer(.of(2))
    #expect(!scene.firing.contains(Self.conflict))
    #expect(scene.home.questions.isEmpty)
  }

  @Test("Plaintext is an alert as long as the user shares something") func plaintext() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    let key = AlertKey(.plaintextCredentials, .user("ha"))
    scene.share(.of(1))
    scene.handle(.started)
    #expect(scene.firing.contains(key))
    scene.command(.forgetNetwork(.network(1)))
    #expect(!scene.firing.contains(key))
  }

  // MARK: Answers

  /// Which border agents, networks and teams an answer has.
  private static func found(_ answer: HomeAnswer?) -> [String] {
    guard case .credentials(let all) = answer else { return ["\(answer as Any)"] }
    return all.map {
      "\($0.agent?.description ?? "-") \($0.dataset.name) " + "\($0.team?.text ?? "-")\($0.isActive ? " active" : "")"
    }
  }

  @Test("The own team is answered what it shares under a border agent that has nothing stored") func answers() {
    var scene = HomeScene { $0.team = { ["phone", "ha"].contains($0) ? "family" : $0 } }
    let phone = Requester.login("phone", team: "family")
    scene.share(.of(1)) { $0.borderAgent = 7 }
    scene.share(.of(2)) { $0.borderAgent = 8 }
    scene.share(.of(3))
    func get(_ agent: BorderAgentID, by requester: Requester) -> HomeAnswer? {
      scene.ask(.getCredentials(agent), by: requester)
    }
    func list(onlyActive: Bool) -> [String] {
      Self.found(scene.ask(.listCredentials(onlyActive: onlyActive), by: phone))
    }
    #expect(Self.found(get(7, by: phone)) == ["0000000000000007 net-1 family"])
    #expect(get(7, by: .login("other")) == .refused(.noCredentials(7)))
    #expect(list(onlyActive: false).count == 2 && list(onlyActive: true) == [])
    // A router of another team announces itself under one of the ids: what it has counts.
    scene.announce(8, .of(2, key: 2), from: "hub")
    #expect(get(8, by: phone) == .refused(.noCredentials(8)))
    scene.announce(9, .of(1), from: "hub")
    #expect(list(onlyActive: true) == ["0000000000000007 net-1 family active"])
  }

  @Test("What is shared of a network that is there, and of one that is asked for, needs consent") func disclosed()
    throws
  {
    var scene = Self.scene()
    scene.share(.of(2)) { $0.borderAgent = 7 }
    #expect(scene.ask(.nearbyNetworks) == .credentials([]))
    scene.see(.of(1, on: 1), .of(5, on: 2))
    for request in [HomeRequest.nearbyNetworks, .getNetwork(2)] {
      let given = Self.found(scene.agreed(request))
      #expect(given == ["0000000000000007 net-2 ha active"])
    }
    scene.announce(6, .of(2), from: "hub")
    scene.ask(.nearbyNetworks)
    #expect(scene.waiting.first?.subject.networks.map(\.team) == ["hub"])
  }

  @Test("The preferred network is answered with the border agent that is named for it") func preferred() {
    var scene = HomeScene()
    scene.share(.of(1), isPreferred: true) { $0.borderAgent = 7 }
    #expect(Self.found(scene.agreed(.getPreferred)) == ["0000000000000007 net-1 -"])
  }

  @Test("A person prefers a network that is only shared, with its credentials, where the keys agree") func chosen() {
    var scene = HomeScene()
    scene.share(.of(2, at: 3))
    scene.share(.of(2, at: 4), from: "hub")
    #expect(
      scene.command(.setPreferred(.name("net-2")))
        == .preferredSet(isChanged: true, hasCredentials: true, keysOf: .shared("hub", 2)))
    #expect(scene.output.secrets == [SecretMove(to: .home, from: .record(.shared("hub", 2)))])
    scene.share(.of(3))
    scene.share(.of(3, key: 2), from: "hub")
    #expect(
      scene.prefer(network: 3) == .preferredSet(isChanged: true, hasCredentials: false), "a person is asked about each")
    #expect(scene.preferred?.name == "net-3")
    #expect(scene.waiting.map(\.requester.login) == ["ha", "hub"])
  }

  // MARK: What is deleted

  @Test("What is shared of a network is forgotten by command, and comes back with the next report") func forget() {
    var scene = Self.scene()
    scene.share(.of(1))
    scene.share(.of(2))
    scene.share(.of(2), from: "hub")
    _ = scene.home.takeChanges()
    #expect(scene.command(.forgetNetwork(.network(2))) == .forgotten([], remaining: [], sharedBy: ["ha", "hub"]))
    #expect(scene.output.audit == [.sharedDeleted(of: "ha", 2), .sharedDeleted(of: "hub", 2)])
    let changes = scene.home.takeChanges()
    #expect(changes.records.contains(.shared("hub", 2)))
    #expect(changes.networks == [2] && scene.home.network(2) == nil)
    #expect(scene.command(.forgetNetwork(.network(2))) == .refused(.notInHistory(isUsed: false)))
    scene.share(.of(2))
    #expect(Self.shared(scene, 2) != nil)
  }

  @Test("Of the preferred network only what is shared is forgotten, and its alerts end") func forgetOfPreferred() {
    var scene = Self.scene()
    scene.prefer(.of(1, key: 2))
    scene.prefer(.of(1, at: 5))
    scene.share(.of(1, at: 4, channel: 20))
    #expect(scene.firing.contains(Self.stale))
    let forget = HomeRequest.forgetNetwork(.network(1))
    #expect(scene.command(forget) == .forgotten([], remaining: [], sharedBy: ["ha"]))
    #expect(scene.output.secrets.isEmpty && !scene.firing.contains(Self.stale))
    #expect(scene.preferred == .of(1, at: 5))
    #expect(scene.home.former.map(\.dataset) == [.of(1, key: 2)])
    #expect(scene.command(forget) == .refused(.isPreferred))
  }

  @Test("A secret that is lost takes its record along") func lost() {
    var scene = Self.scene()
    scene.share(.of(1))
    #expect(scene.waiting.count == 1)
    _ = scene.home.takeChanges()
    let key = RecordKey.shared("ha", 1)
    scene.handle(.secretLost(key))
    #expect(scene.home.shared.isEmpty && scene.home.takeChanges().records.contains(key))
    #expect(scene.home.record(key) == nil && scene.waiting.isEmpty)
    #expect(scene.output.audit.contains(.sharedDeleted(of: "ha", 1)))
  }
}
