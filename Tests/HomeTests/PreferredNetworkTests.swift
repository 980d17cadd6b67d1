import Testing

@testable import Home

/// How the preferred network changes, what that means for every router, and what is kept of those before.
@Suite struct PreferredNetworkTests {
  /// Two members of one team.
  private static func scene(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene(change)
    scene.announce(1, .of(1))
    scene.announce(2, .of(1))
    return scene
  }

  @Test("A member's newer parameters become those of the home, and all others are behind") func follow() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    let moved = DatasetSummary.of(1, at: 2, channel: 20)
    let output = scene.announce(1, moved)
    #expect(output.types == [.datasetUpdated, .preferredChanged])
    #expect(scene.preferred == moved && scene.verdict(of: 1) == .match)
    #expect(scene.verdict(of: 2) == .stale(.channel))
    #expect(scene.home.changes.routers.contains(2))
    #expect(scene.alarms == [.of(.staleDataset, 2), .of(.preferredNetworkChanged)])
    #expect(scene.router(2)?.followsPreferred == true)
    scene.announce(2, moved)
    #expect(scene.verdict(of: 2) == .match && scene.alarms == [.of(.preferredNetworkChanged)])
  }

  @Test("A router that drifts to another network drags nothing, and is a member again when it is back") func drift()
    throws
  {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(2, at: 99))
    #expect(scene.preferred == .of(1) && scene.router(1)?.followsPreferred == false)
    #expect(scene.alarms == [.of(.preferredNetworkMismatch, 1)])
    let facts = try #require(scene.alert(.preferredNetworkMismatch, 1)?.facts)
    #expect(facts.message == .otherNetwork && facts.differs == [.extendedPANID, .networkName])
    #expect(facts.network == .init(.of(2)) && facts.preferred == .init(.of(1)))
    scene.announce(1, .of(1))
    #expect(scene.alarms == [] && scene.router(1)?.followsPreferred == true)
  }

  @Test("A router that has only the preferred Extended PAN ID never moves it, and is a mismatch") func otherKey() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    for seconds in [1, 5, 6, 1_000] as [UInt64] {
      scene.announce(3, .of(1, key: 9, at: seconds), from: "other")
      #expect(scene.router(3)?.followsPreferred == false && scene.verdict(of: 3)?.isMismatch == true)
      #expect(scene.preferred == .of(1))
    }
    #expect(scene.alarms == [.of(.preferredNetworkMismatch, 3)])
    #expect(scene.alert(.preferredNetworkMismatch, 3)?.facts.message == .otherCredentials)
  }

  @Test("Membership of an earlier preferred network is none of a later one") func earlier() {
    var scene = Self.scene()
    scene.prefer(.of(2))
    #expect(scene.router(1)?.followsPreferred == false)
    for seconds in [7, 8] as [UInt64] {
      scene.announce(1, .of(2, key: 9, at: seconds))
      #expect(scene.router(1)?.followsPreferred == false)
    }
    #expect(scene.preferred == .of(2))
  }

  @Test("Who is left behind by a person's choice does not undo it, and leads with the parameters again")
  func leftBehind() {
    var scene = Self.scene()
    scene.announce(1...2, .of(1, at: 5, channel: 20))
    scene.prefer(.of(1))
    scene.announce(1, .of(1, at: 6, channel: 21))
    scene.announce(2, .of(1, key: 2, at: 6))
    scene.publish(.leave, 1)
    #expect(scene.preferred == .of(1))
    #expect(scene.router(2)?.followsPreferred == false && scene.alert(.preferredKeyDisputed) == nil)
    scene.announce(2, .of(1, at: 7))
    scene.announce(2, .of(1, at: 8, channel: 22))
    #expect(scene.preferred == .of(1, at: 8, channel: 22))
  }

  @Test("It stays when the last of its routers leaves") func last() {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    for agent: UInt64 in 1...2 { scene.publish(.leave, agent) }
    #expect(scene.preferred == .of(1) && scene.alarms == [])
    #expect(scene.home.networks.map(\.isPreferred) == [true])
  }

  @Test("Preferred by its id alone, it gets credentials when routers of two teams report the same") func named() throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.see(.of(9, on: 1))
    scene.prefer(network: 1)
    #expect(scene.preferred == DatasetSummary(network: 1, name: "net-1"))
    scene.announce(1, .of(1))
    scene.announce(2, .of(1))
    #expect(scene.preferred?.hasCredentials == false)
    #expect(scene.verdict(of: 1) == .match && scene.router(1)?.followsPreferred == false)
    scene.announce(3, .of(1), from: "other")
    #expect(scene.preferred == .of(1) && scene.home.former == [])
    #expect([1, 2, 3].map { scene.router($0)?.followsPreferred } == [true, true, true])
    let change = try #require(scene.preferredChange)
    #expect(scene.alert(.preferredNetworkChanged)?.facts.message == .preferredChanged(change, disagrees: false))
    #expect(change.bringsCredentials && change.formerID == nil)
    #expect(change.cause == .confirmed(by: 1) && change.second == "0000000000000001")
    #expect(scene.alert(.preferredNetworkChanged)?.facts.differs == nil)
  }

  // MARK: The alert about a change

  @Test("A change names both networks, why, by whom, and under which id the former one is kept") func notice() throws {
    var scene = Self.scene()
    scene.prefer(.of(2))
    let alert = try #require(scene.alert(.preferredNetworkChanged))
    #expect(alert.phase == .firing && AlertKey(.preferredNetworkChanged).severity(alert.facts) == .info)
    let change = try #require(scene.preferredChange)
    #expect(alert.facts.message == .preferredChanged(change, disagrees: false))
    #expect(change.from == .init(.of(1)) && change.to == .init(.of(2)))
    #expect(change.cause == .person && change.who == "somebody")
    #expect(change.formerID == scene.home.former.first?.id && change.formerID != nil)
  }

  @Test("What routers change is held while others of the network have other parameters") func disagreement() throws {
    var scene = Self.scene()
    let moved = DatasetSummary.of(1, at: 2, channel: 20)
    scene.announce(1, moved)
    var alert = try #require(scene.alert(.preferredNetworkChanged))
    #expect(alert.phase == .held && alert.facts.names == .init(["0000000000000002"]))
    scene.pass(seconds: 30)
    alert = try #require(scene.alert(.preferredNetworkChanged))
    #expect(alert.phase == .firing && AlertKey(.preferredNetworkChanged).severity(alert.facts) == .warning)
    let output = scene.announce(2, moved)
    #expect(output.alerts[.preferredNetworkChanged] == .updated)
    #expect(output.events.contains { if case .alert(_, _, .updated, .warning) = $0 { true } else { false } })
    alert = try #require(scene.alert(.preferredNetworkChanged))
    #expect(alert.facts.names == .init() && AlertKey(.preferredNetworkChanged).severity(alert.facts) == .info)
  }

  @Test("Of a change that all follow within the hold only the notice is published") func migration() {
    var scene = Self.scene()
    scene.pass(seconds: 30)
    let moved = DatasetSummary.of(1, key: 2, at: 6, channel: 20)
    var news: [[AlertName: Alert.News]] = []
    for agent: UInt64 in 1...2 {
      news.append(scene.announce(agent, moved).alerts)
      news.append(scene.pass(seconds: 9).alerts)
    }
    news.append(scene.pass(seconds: 60).alerts)
    #expect(news == [[:], [:], [.preferredNetworkChanged: .raised], [:], [:]])
    #expect(scene.alarms == [.of(.preferredNetworkChanged)])
  }

  // MARK: Networks that were preferred

  private static func history(_ scene: HomeScene) -> [DatasetSummary] { scene.home.former.map(\.dataset) }

  @Test("A network that was preferred is kept once, whatever its timestamp, and not beside itself") func once() {
    var scene = Self.scene()
    scene.prefer(.of(2))
    #expect(Self.history(scene) == [.of(1)])
    scene.prefer(.of(1, at: 9))
    #expect(Self.history(scene) == [.of(2)])
    scene.prefer(.of(2))
    #expect(Self.history(scene) == [.of(1, at: 9)])
    // Only the timestamp changes: there is nothing to go back to.
    scene.prefer(.of(2, at: 2))
    #expect(Self.history(scene) == [.of(1, at: 9)])
  }

  @Test("Eight are kept, each once, the newest first") func history() {
    var scene = HomeScene()
    for network: UInt64 in 0...9 { scene.prefer(.of(network)) }
    #expect(scene.home.former.map(\.dataset.network) == [8, 7, 6, 5, 4, 3, 2, 1])
    scene.command(.setPreferred(.name("net-5")))
    scene.command(.setPreferred(.name("net-9")))
    #expect(scene.home.former.map(\.dataset.network) == [5, 8, 7, 6, 4, 3, 2, 1])
  }

  @Test("Whoever changes other parameters again and again pushes out no keys of earlier networks") func sameKeys() {
    var scene = HomeScene()
    scene.prefer(.of(1))
    scene.prefer(.of(2))
    for channel: UInt32 in 11...26 { scene.prefer(.of(3, at: UInt64(channel), channel: channel)) }
    let history = Self.history(scene)
    #expect(history.count == FormerNetwork.limit && history.suffix(2) == [.of(2), .of(1)])
    // Of those with the same keys the oldest stays, and the newest.
    #expect(history.prefix(6).map(\.parameters?.channel) == [25, 24, 23, 22, 21, 11])
  }

  @Test("A person forgets the preferred network: none is preferred, whatever is announced") func forget() throws {
    var scene = Self.scene { $0.settings.alertsHold = 0 }
    scene.command(.forgetPreferred)
    #expect(scene.verdict(of: 1) == PreferredCheck.none && scene.router(1)?.followsPreferred == false)
    scene.announce(3, .of(3))
    #expect(scene.home.preferred == nil)
    #expect(scene.alarms == [.of(.noPreferredNetwork)])
    scene.prefer(.of(1))
    #expect(scene.alarms == [.of(.preferredNetworkMismatch, 3)])
    #expect(!scene.home.isPreferredForgotten && scene.router(1)?.followsPreferred == true)
  }

  // MARK: Without one

  @Test("A home with routers and no preferred network says so, and names the networks to choose from") func none()
    throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.tick()
    #expect(scene.alarms == [])
    scene.see(.of(1, on: 1))
    func message() -> AlertFacts.Message? { scene.alert(.noPreferredNetwork)?.facts.message }
    #expect(message() == .noPreferred(isForgotten: false, networks: [.init(.of(1))], more: 0))
    scene.see(.of(1, on: 1), .of(2, on: 2))
    scene.tick()
    #expect(message() == .noPreferred(isForgotten: false, networks: [.init(.of(1)), .init(.of(2))], more: 0))
    for agent: UInt64 in 3...7 { scene.announce(agent) { $0.thread.network = .number(agent) } }
    scene.see(.of(1), .of(2, on: 2), .of(13, on: 3), .of(14, on: 4), .of(15, on: 5), .of(16, on: 6))
    scene.tick()
    guard case .noPreferred(_, let networks, let more) = message() else {
      Issue.record("an alert")
      return
    }
    #expect(networks == [.init(7, "")] + [1, 2, 3, 4].map { .init(.of($0)) } && more == 2)
    scene.announce(1, .of(1))
    #expect(!scene.alarms.contains(.of(.noPreferredNetwork)))
  }

  @Test("What it names changes with the clock: a message does not look at all networks") func networksByTheClock() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.see(.of(1, on: 2))
    scene.tick()
    let before = scene.alert(.noPreferredNetwork)?.facts
    scene.see(.of(1, on: 2), .of(2, on: 1))
    #expect(scene.alert(.noPreferredNetwork)?.facts == before && (scene.due() ?? 0) <= 0)
    scene.tick()
    #expect(
      scene.alert(.noPreferredNetwork)?.facts.message
        == .noPreferred(isForgotten: false, networks: [.init(.of(1)), .init(.of(2))], more: 0))
    #expect(scene.due() != 0 && !scene.home.needsNetworkNames)
  }

  @Test("It is no matter when no router is left") func nobodyLeft() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1)
    #expect(scene.alarms.contains(.of(.noPreferredNetwork)))
    scene.publish(.leave, 1)
    #expect(scene.alarms == [])
  }
}
