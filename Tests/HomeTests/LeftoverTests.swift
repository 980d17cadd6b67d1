import Testing
import ThreadDataset

@testable import Home

/// Rows of the table of `Leftover`, and what becomes of a person's yes.
@Suite("What a store of credentials has kept that is not there any more") struct LeftoverTests {
  private static let ghost = AlertKey(.ghostNetwork, .network(2))
  private static let goneAgent = AlertKey(.ghostNetwork, .network(1))
  private static let age = 14 * 86_400
  /// One with an id of 16 bytes, as Home Assistant names them.
  private static let next = BorderAgentID(high: 3, low: 3)
  private static let gone = BorderAgentID(high: 9, low: 9)

  /// A home that prefers network 1, on which a router is, and Home Assistant, which has network 2 besides.
  private static func scene(writes: Bool = true) -> HomeScene {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.see(.of(1, on: 1))
    scene.prefer(.of(1))
    scene.enroll("ha")
    scene.share(.of(1), isPreferred: true) { $0.writes = writes }
    scene.share(.of(2)) { $0.writes = writes }
    return scene
  }

  /// Home Assistant names a border agent that has gone, and another one is there.
  private static func agentScene() -> HomeScene {
    var scene = Self.scene()
    scene.see(.of(1, on: 1), router())
    scene.share(.of(1), isPreferred: true) { ($0.writes, $0.borderAgent) = (true, gone) }
    return scene
  }

  private static func router() -> Advertisement {
    guard var one = Advertisement([next]) else { preconditionFailure("an id") }
    (one.name, one.network, one.networkName, one.extendedAddress) = ("Hall", 1, "net-1", 0x33)
    return one
  }

  @discardableResult private static func report(_ scene: inout HomeScene, after seconds: Int = 60) -> [StoreOrder] {
    scene.wait(seconds: seconds)
    return scene.handle(.message(RouterMessage(.heartbeat, .agent("home_assistant")), from: "ha")).storeOrders
  }

  private static func shared(_ scene: HomeScene, _ network: UInt64 = 2) -> SharedCredentials? {
    scene.home.shared[.number(network)]?["ha"]
  }

  // MARK: What is left over

  @Test("After 14 days without a border router it is an alert, and a person is asked whether it is deleted there")
  func asked() throws {
    var scene = Self.scene()
    let begin = scene.now
    scene.pass(seconds: 2 * 86_400)
    #expect(scene.due() == Double(Self.age - 2 * 86_400))
    scene.pass(seconds: Self.age - 2 * 86_400 - 1)
    #expect(!scene.firing.contains(Self.ghost) && scene.waiting.isEmpty)
    scene.tick()
    let facts = try #require(scene.home.alerts[Self.ghost]?.facts)
    #expect(facts.message == .ghostNetwork(isAsked: true) && facts.since == begin && facts.user == "ha")
    #expect(facts.names.first == [#""Home Assistant""#] && facts.network == .init(.of(2)))
    let question = try #require(scene.waiting.first)
    #expect(scene.waiting.count == 1 && question.subject.command == .deleteThere)
    #expect(question.subject.networks.map(\.id) == [2] && question.subject.since == begin)
    #expect(question.requester.login == "ha" && question.requester.fingerprint == "key of ha")
    #expect(scene.output.storeOrders.isEmpty && Self.report(&scene).isEmpty, "before a yes nothing is sent")
  }

  @Test("Who does not write, or has no keys, is an alert alone", arguments: [true, false]) func alertAlone(
    hasKeys: Bool
  ) {
    var scene = Self.scene(writes: !hasKeys)
    if !hasKeys { scene.revoke("ha") }
    if !hasKeys { scene.share(.of(2)) { $0.writes = true } }
    scene.pass(seconds: Self.age + 1)
    #expect(scene.home.alerts[Self.ghost]?.facts.message == .ghostNetwork(isAsked: false))
    #expect(scene.waiting.isEmpty)
  }

  /// What follows is looked at after so many seconds.
  private typealias Row = (name: String, seconds: Int, change: @Sendable (inout HomeScene) -> Void)

  private static let kept: [Row] = [
    ("it is preferred there", age, { $0.share(.of(2), isPreferred: true) { $0.writes = true } }),
    ("a person has accepted it", age, { $0.handle(.acceptNetwork(2, isAccepted: true)) }),
    ("it is preferred here", age, { $0.prefer(.of(2)) }),
    ("no network is preferred", age, { $0.command(.forgetPreferred) }),
    ("a router is on it", age, { $0.see(.of(1, on: 1), .of(5, on: 2)) }),
    (
      "a router was on it until a day later", age - 1,
      { scene in
        scene.see(.of(1, on: 1), .of(5, on: 2))
        scene.pass(seconds: 86_400)
        scene.see(.of(1, on: 1))
      }
    ),
    (
      "a router that is configured for another one is on it", age,
      { scene in scene.announce(5, .of(1)) { ($0.thread.state, $0.thread.network) = (.router, 2) } }
    ), ("nothing is looked for", age, { $0.handle(.discoveryEnded) }),
    (
      "nobody has watched for a day", age - 7_200,
      { scene in
        scene.wait(seconds: 86_400)
        scene.handle(.unwatched(since: scene.now.adding(seconds: -86_400)))
      }
    ),
    (
      "nobody has watched for two months", age - 86_400,
      { scene in
        scene.wait(seconds: 60 * 86_400)
        scene.handle(.unwatched(since: scene.now.adding(seconds: -60 * 86_400)))
      }
    ),
    (
      "the clock was set forward by years", age - 86_400,
      { scene in
        scene.wait(seconds: 2_000 * 86_400)
        scene.handle(.clockJumped(by: 2_000 * 86_400_000))
      }
    ), ("it was deleted there", age, { $0.handle(.message(RouterMessage(.leave, .network(2)), from: "ha")) }),
  ]

  @Test("It is not left over where", arguments: kept.indices) func isKept(_ row: Int) {
    var scene = Self.scene()
    Self.kept[row].change(&scene)
    scene.pass(seconds: Self.kept[row].seconds)
    #expect(!scene.firing.contains(Self.ghost) && scene.waiting.isEmpty, "\(Self.kept[row].name)")
  }

  @Test("Of the network that is preferred there, the alert that both differ says since when nobody is on it")
  func deadPreferred() {
    var scene = Self.scene()
    let begin = scene.now
    scene.share(.of(2), isPreferred: true) { $0.writes = true }
    let differs = AlertKey(.homeAssistantDiffers, .user("ha"))
    #expect(scene.firing.contains(differs) && scene.home.alerts[differs]?.facts.since == nil)
    scene.pass(seconds: Self.age)
    #expect(scene.home.alerts[differs]?.facts.since == begin)
  }

  @Test("It is over once a router is there, and the question with it") func returns() {
    var scene = Self.scene()
    scene.pass(seconds: Self.age)
    scene.see(.of(1, on: 1), .of(5, on: 2))
    #expect(!scene.firing.contains(Self.ghost) && scene.waiting.isEmpty)
    #expect(Self.shared(scene)?.offAirSince == nil)
  }

  // MARK: A person's decision

  @Test("After a yes the order follows, again with each report a minute later, until the network is gone there")
  func agreed() throws {
    var scene = Self.scene()
    scene.pass(seconds: Self.age)
    let id = try #require(scene.waiting.first?.id)
    let order = StoreOrder(user: "ha", consent: id, network: 2, change: .delete)
    scene.approve(.always)
    #expect(scene.output.storeOrders == [order] && scene.home.grants.isEmpty)
    #expect(Self.report(&scene, after: 59).isEmpty)
    #expect(Self.report(&scene, after: 1) == [order])
    scene.restart()
    #expect(Self.report(&scene) == [order], "it outlives the daemon")
    _ = scene.home.takeChanges()
    let output = scene.handle(.message(RouterMessage(.leave, .network(2)), from: "ha"))
    let former = try #require(scene.home.former.first)
    #expect(former.dataset == .of(2), "its credentials are kept")
    #expect(output.secrets == [SecretMove(to: .former(former.id), from: .record(.shared("ha", 2)))])
    #expect(output.audit.contains(.sharedDeleted(of: "ha", 2)))
    #expect(Self.shared(scene) == nil && !scene.firing.contains(Self.ghost) && scene.waiting.isEmpty)
    #expect(scene.home.decisions.last.map { $0.id == id && $0.obstacle == nil } == true)
    #expect(Self.report(&scene).isEmpty)
  }

  @Test("Where as many networks are kept as can be, none goes for what is deleted: that stays with its login")
  func noRoom() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.see(.of(1, on: 1))
    for network in 11..<11 + UInt64(FormerNetwork.limit) { scene.prefer(.of(network)) }
    scene.prefer(.of(1))
    scene.enroll("ha")
    scene.share(.of(1), isPreferred: true) { $0.writes = true }
    scene.share(.of(2)) { $0.writes = true }
    let former = scene.home.former
    #expect(former.count == FormerNetwork.limit)
    scene.pass(seconds: Self.age)
    scene.approve()
    let output = scene.handle(.message(RouterMessage(.leave, .network(2)), from: "ha"))
    #expect(scene.home.former == former && output.secrets.isEmpty)
    #expect(Self.shared(scene)?.isThere == false && Self.shared(scene)?.dataset.hasCredentials == true)
    #expect(Self.report(&scene).isEmpty && !scene.firing.contains(Self.ghost) && scene.waiting.isEmpty)
  }

  @Test("After a no it is not asked again, and no alert, until a router was there") func denied() {
    var scene = Self.scene()
    scene.pass(seconds: Self.age)
    scene.deny()
    #expect(scene.output.storeOrders.isEmpty && !scene.firing.contains(Self.ghost))
    scene.pass(seconds: Self.age)
    #expect(Self.report(&scene).isEmpty && scene.waiting.isEmpty && scene.home.shared[2] != nil)
    scene.see(.of(1, on: 1), .of(5, on: 2))
    scene.see(.of(1, on: 1))
    scene.pass(seconds: Self.age)
    #expect(scene.waiting.count == 1)
  }

  @Test("Of several, one is asked about at a time, and the next one as soon as a person has decided") func oneByOne()
    throws
  {
    var scene = Self.scene()
    scene.share(.of(3)) { $0.writes = true }
    scene.pass(seconds: Self.age)
    let first = try #require(scene.waiting.first)
    #expect(scene.waiting.count == 1)
    scene.deny()
    let second = try #require(scene.waiting.first)
    #expect(scene.waiting.count == 1 && second.subject.command == .deleteThere)
    #expect(Set((first.subject.networks + second.subject.networks).map(\.id)) == [2, 3])
    scene.approve()
    #expect(scene.waiting.isEmpty)
  }

  @Test("Where a router comes after the yes, nothing is deleted any more") func changed() {
    var scene = Self.scene()
    scene.pass(seconds: Self.age)
    scene.approve()
    scene.see(.of(1, on: 1), .of(5, on: 2))
    #expect(Self.report(&scene).isEmpty && scene.home.decisions.last?.obstacle == .changed)
    scene.handle(.message(RouterMessage(.leave, .network(2)), from: "ha"))
    #expect(Self.shared(scene)?.isThere == false && scene.home.former.isEmpty, "that was not agreed to")
  }

  @Test("Other credentials of the network are another question") func otherKey() throws {
    var scene = Self.scene()
    scene.pass(seconds: Self.age)
    scene.approve()
    scene.share(.of(2, key: 2)) { $0.writes = true }
    #expect(Self.report(&scene).isEmpty)
    scene.pass(seconds: 120)
    #expect(scene.waiting.first?.subject.networks == [ConsentNetwork(.of(2, key: 2), of: "ha")])
  }

  @Test("What is not done within a day is asked again; with another key of the login nothing is sent") func late() {
    var scene = Self.scene()
    scene.pass(seconds: Self.age)
    scene.approve()
    scene.enroll("ha", fingerprint: "another")
    #expect(Self.report(&scene).isEmpty)
    scene.pass(seconds: 86_400)
    #expect(Self.shared(scene)?.agreed == nil && scene.waiting.first?.requester.fingerprint == "another")
  }

  @Test("Where a person forgets the network here after the yes, nothing more is sent") func forgotten() {
    var scene = Self.scene()
    scene.pass(seconds: Self.age)
    scene.approve()
    #expect(scene.home.orderedAt.count == 1)
    scene.command(.forgetNetwork(.network(2)))
    #expect(Self.shared(scene) == nil && scene.home.orderedAt.isEmpty)
    #expect(Self.report(&scene).isEmpty)
  }

  @Test("What is deleted there without a person's yes stays here, and comes back with a report") func deletedThere() {
    var scene = Self.scene()
    let output = scene.handle(.message(RouterMessage(.leave, .network(2)), from: "ha"))
    #expect(output.secrets.isEmpty && Self.shared(scene)?.isThere == false)
    scene.share(.of(2)) { $0.writes = true }
    #expect(Self.shared(scene)?.isThere == true)
    scene.handle(.message(RouterMessage(.leave, .network(7)), from: "ha"))
    #expect(scene.output == HomeOutput(), "it never shared that")
  }

  @Test("Numbers count for a deletion, too") func order() {
    var scene = Self.scene()
    scene.share(.of(2)) { $0.order = .number(5) }
    func leave(_ number: UInt64) -> HomeOutput {
      var message = RouterMessage(.leave, .network(2))
      message.order = .number(number)
      return scene.handle(.message(message, from: "ha"))
    }
    #expect(leave(4).rejection == .outOfOrder && leave(5).isDuplicate)
    #expect(Self.shared(scene)?.isThere == true)
    #expect(leave(6).rejection == nil && Self.shared(scene)?.isThere == false)
  }

  // MARK: A border agent that has gone

  @Test("A border agent that is not there for 14 days: another one of the network is named there, after a yes")
  func agent() throws {
    var scene = Self.agentScene()
    scene.pass(seconds: Self.age)
    let facts = try #require(scene.home.alerts[Self.goneAgent]?.facts)
    #expect(facts.message == .ghostAgent(isAsked: true) && facts.router == Self.gone)
    #expect(facts.otherNames.first == [#""Hall""#])
    let question = try #require(scene.waiting.first { $0.subject.command == .agentThere })
    #expect(question.subject.router?.agent == Self.next && question.subject.networks.map(\.id) == [1])
    scene.decide(.approve(question.id, .once))
    let change = StoreOrder.Change.name(Self.next, extendedAddress: 0x33)
    #expect(scene.output.storeOrders.map(\.change) == [change])
    #expect(Self.report(&scene).map(\.change) == [change])
    scene.share(.of(1), isPreferred: true) { ($0.writes, $0.borderAgent) = (true, Self.next) }
    #expect(!scene.firing.contains(Self.goneAgent) && Self.shared(scene, 1)?.agreed == nil)
    #expect(scene.home.decisions.last { $0.id == question.id }?.obstacle == nil)
    #expect(Self.report(&scene).isEmpty)
  }

  @Test("It is none where the border agent is there, or where nobody else could be named") func noAgent() {
    var scene = Self.agentScene()
    scene.share(.of(1), isPreferred: true) { ($0.writes, $0.borderAgent) = (true, Self.next) }
    scene.pass(seconds: Self.age)
    #expect(!scene.firing.contains(Self.goneAgent))
    // Only router 1 is there, whose id has 8 bytes.
    scene = Self.scene()
    scene.share(.of(1), isPreferred: true) { ($0.writes, $0.borderAgent) = (true, Self.gone) }
    scene.pass(seconds: Self.age)
    #expect(!scene.firing.contains(Self.goneAgent))
  }
}
