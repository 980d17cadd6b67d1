import Testing

@testable import Home

/// Alerts about what was seen on the local network.
@Suite struct DiscoveryAlertTests {
  private static func scene() -> HomeScene {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1, at: 5))
    return scene
  }

  private static let mismatch = AlertKey.of(.preferredNetworkMismatch, 1)

  private static func severity(_ scene: HomeScene) -> AlertSeverity? {
    scene.alert(.preferredNetworkMismatch, 1).map { mismatch.severity($0.facts) }
  }

  @Test("A router that never was on the preferred network is an info, until its network is accepted") func neverMember()
  {
    var scene = Self.scene()
    scene.see(.of(1, on: 2))
    #expect(scene.alarms == [Self.mismatch] && Self.severity(scene) == .info)
    #expect(scene.alert(.preferredNetworkMismatch, 1)?.facts.differs == .extendedPANID)
    #expect(scene.verdict(of: 1) == .mismatch(.extendedPANID))
    _ = scene.home.takeChanges()
    func accept(_ network: UInt64, _ isAccepted: Bool) -> HomeAnswer? {
      scene.handle(.acceptNetwork(.number(network), isAccepted: isAccepted)).answer
    }
    #expect(accept(2, true) == .accepted(isChange: true, isKnown: true))
    #expect(scene.alarms == [] && scene.verdict(of: 1) == PreferredCheck.none)
    #expect(scene.home.network(2)?.isAccepted == true)
    let changes = scene.home.takeChanges()
    #expect(changes.records.contains(.home) && changes.networks == [2])
    #expect(changes.routers == [1])
    #expect(accept(2, true) == .accepted(isChange: false, isKnown: true))
    #expect(accept(7, true) == .accepted(isChange: true, isKnown: false))
    #expect(accept(2, false) == .accepted(isChange: true, isKnown: true))
    #expect(scene.alarms == [Self.mismatch])
  }

  @Test("One that was on the preferred network is a warning when it moves, to an accepted one too") func moved() {
    for seconds in [5, 4] as [UInt64] {
      var scene = Self.scene()
      scene.see(.of(1, at: seconds))
      scene.handle(.acceptNetwork(2, isAccepted: true))
      scene.see(.of(1, on: 2))
      #expect(scene.alarms == [Self.mismatch] && Self.severity(scene) == .warning)
      scene.see(.of(1, at: 5))
      #expect(scene.alarms == [])
    }
  }

  @Test("Accepting its network ends the warning of one that was on the preferred network, until it is taken back")
  func movedAndAccepted() {
    for isAcceptedBefore in [false, true] {
      var scene = Self.scene()
      scene.see(.of(1, at: 5))
      if isAcceptedBefore { scene.handle(.acceptNetwork(2, isAccepted: true)) }
      scene.see(.of(1, on: 2))
      #expect(scene.alarms == [Self.mismatch] && Self.severity(scene) == .warning)
      func accept(_ isAccepted: Bool) -> HomeAnswer? { scene.handle(.acceptNetwork(2, isAccepted: isAccepted)).answer }
      #expect(accept(true) == .accepted(isChange: true, isKnown: true))
      #expect(scene.alarms == [] && scene.verdict(of: 1) == PreferredCheck.none)
      #expect(accept(true) == .accepted(isChange: false, isKnown: true))
      // It is not accepted elsewhere.
      scene.see(.of(1, on: 3))
      #expect(scene.alarms == [Self.mismatch] && Self.severity(scene) == .warning)
      scene.see(.of(1, on: 2))
      #expect(scene.alarms == [])
      #expect(accept(false) == .accepted(isChange: true, isKnown: true))
      #expect(scene.alarms == [Self.mismatch] && Self.severity(scene) == .warning)
    }
  }

  @Test("Of one that a login has announced it is the same") func announcedAndAccepted() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    for agent: UInt64 in [9, 1] { scene.announce(agent, .of(1)) }
    scene.announce(8, .of(2))
    let other = AlertKey(.preferredNetworkMismatch, .router(8))
    #expect(scene.alarms == [other])
    scene.handle(.acceptNetwork(2, isAccepted: true))
    #expect(scene.alarms == [] && scene.verdict(of: 8) == PreferredCheck.none)
    scene.announce(1, .of(2))
    #expect(scene.alarms == [Self.mismatch])
    scene.handle(.acceptNetwork(2, isAccepted: true))
    #expect(scene.alarms == [])
    scene.announce(1, .of(3))
    #expect(scene.alarms == [Self.mismatch])
    scene.announce(1, .of(2))
    #expect(scene.alarms == [])
    // It runs elsewhere than it is configured for, or has lost its network.
    scene.publish(.heartbeat, 8) { $0.thread.network = 3 }
    #expect(scene.alarms == [other])
    scene.publish(.offline, 8) { $0.offlineReason = .noNetwork }
    #expect(scene.alarms == [.of(.borderRouterOffline, 8)] && scene.verdict(of: 8)?.isMismatch == true)
  }

  @Test("When another network is preferred, who stays on the former one can be accepted") func formerPreferred() {
    var scene = Self.scene()
    scene.see(.of(1, at: 5))
    scene.prefer(.of(2))
    // One for the home, as nobody is on it yet.
    #expect(scene.alarms.contains(.of(.preferredNetworkEmpty)))
    #expect(!scene.alarms.contains(Self.mismatch))
    scene.announce(8, .of(2))
    #expect(!scene.alarms.contains(.of(.preferredNetworkEmpty)))
    // With the one that a login has announced there.
    let ofAnnounced = AlertKey.of(.preferredNetworkMismatch, 9)
    #expect(scene.alarms.contains(Self.mismatch) && Self.severity(scene) == .info)
    #expect(scene.alarms.contains(ofAnnounced))
    scene.handle(.acceptNetwork(1, isAccepted: true))
    #expect(!scene.alarms.contains(Self.mismatch) && !scene.alarms.contains(ofAnnounced))
  }

  @Test("An older active timestamp of the preferred network is stale, also while it does not say one") func stale() {
    var scene = Self.scene()
    for (seconds, isStale) in [(4, true), (nil, true), (5, false), (nil, false)] as [(UInt64?, Bool)] {
      scene.see(.of(1, at: seconds))
      #expect(scene.alarms == (isStale ? [.of(.staleDataset, 1)] : []))
    }
  }

  @Test("A code that opens a router of the home is an alert, unless somebody here has asked for it") func code() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    let alert = AlertKey.of(.credentialSharingOpen, 1)
    func look(_ isOpen: Bool) {
      scene.see(.of(1) { $0.codePort = isOpen ? 1 : nil }, .of(2, on: 5) { $0.codePort = isOpen ? 1 : nil })
    }
    scene.announce(9, .of(1))
    scene.handle(.acceptNetwork(5, isAccepted: true))
    look(true)
    #expect(scene.alarms == [alert], "a neighbour's is not its business")
    look(false)
    #expect(scene.alarms == [])
    for minutes in [1, 10] {
      scene.handle(.codeAsked(1, minutes: minutes))
      look(true)
      scene.wait(seconds: minutes * 60 - 1)
      look(true)
      #expect(scene.alarms == [])
      scene.wait(seconds: 1)
      look(true)
      #expect(scene.alarms == [alert], "\(minutes)")
    }
    scene.handle(.codeAsked(1, minutes: 2))
    #expect(scene.alarms == [], "it was noticed before it was said")
    #expect(scene.handle(.codeAsked(7, minutes: 2)).answer == .refused(.unknownRouter(7)))
  }

  /// A router in the place of router 1.
  private static func box(
    _ agent: UInt64, _ name: String? = nil, on network: UInt64? = 1, _ change: (inout Advertisement) -> Void = { _ in }
  ) -> Advertisement {
    .of(agent, on: network, at: network) {
      $0.endpoint = "10.0.0.7, 49154"
      $0.name = name ?? $0.name
      $0.isThreadActive = network != nil
      change(&$0)
    }
  }

  @Test("A router that was reset is one row and one alert, and keeps its name when it is accepted") func reset() throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.see(Self.box(1, "Attic"))
    scene.wait(seconds: 60)
    for seconds in [60, 200, 0] {
      // Caches still have its former record.
      scene.see(Self.box(1, "Attic"), Self.box(2, on: nil))
      #expect(scene.router(1) == nil && scene.alarms == [.of(.unknownRouter, 2)])
      scene.wait(seconds: seconds)
    }
    var facts = try #require(scene.alert(.unknownRouter, 2)?.facts)
    #expect(facts.message == .wasReset(isOnPreferred: false) && facts.names == .init([#""Attic""#]))
    scene.see(Self.box(2, on: 5))
    #expect(scene.alarms == [.of(.unknownRouter, 2)])
    scene.see(Self.box(2))
    facts = try #require(scene.alert(.unknownRouter, 2)?.facts)
    #expect(facts.message == .wasReset(isOnPreferred: true))
    // Once more, before anybody has accepted it.
    scene.wait(seconds: 60)
    scene.see(Self.box(3))
    #expect(scene.router(2) == nil && scene.alarms == [.of(.unknownRouter, 3)])
    #expect(scene.router(3)?.name == "seen 3")
    #expect(scene.handle(.acceptRouter(3)).answer == .accepted(isChange: true, isKnown: true))
    #expect(scene.alarms == [] && scene.router(3)?.name == "Attic")
    scene.see(Self.box(3))
    #expect(scene.router(3)?.name == "Attic")
    scene.handle(.renameRouter(3, nil))
    #expect(scene.router(3)?.name == "seen 3")
  }

  @Test("What is another router in the place of one that has gone is not taken for it") func noReset() {
    let others: [(what: String, seconds: Int, change: (inout Advertisement) -> Void)] = [
      ("another maker", 60, { $0.vendor = "Other" }), ("another model", 60, { $0.model = "Other" }),
      ("another address", 60, { $0.endpoint = "10.0.0.8, 49154" }), ("an unknown address", 60, { $0.endpoint = nil }),
      ("one that was there at first, too", 0, { _ in }), ("two days later", 172_800, { _ in }),
    ]
    for other in others {
      var scene = HomeScene()
      scene.announce(9, .of(1))
      scene.see(Self.box(1, "Attic"))
      scene.see()
      scene.wait(seconds: other.seconds)
      scene.see(Self.box(2, on: nil, other.change))
      #expect(scene.router(1) != nil && scene.router(2)?.resetFrom == nil, "\(other.what)")
    }
  }

  @Test("A visitor that was reset is one row without a word") func visitorReset() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.handle(.acceptNetwork(5, isAccepted: true))
    scene.see(Self.box(1, on: 5))
    scene.wait(seconds: 60)
    scene.see(Self.box(2, on: 5))
    #expect(scene.router(1) == nil && scene.router(2) != nil && scene.alarms == [])
  }

  @Test("A member that is not seen any more is offline, and a visitor may go without a word") func offline() {
    var scene = Self.scene()
    scene.see(.of(1, at: 5), .of(2, on: 2))
    scene.handle(.acceptNetwork(2, isAccepted: true))
    scene.see()
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.message == .notSeen(isStopped: false))
    scene.see(.of(1, at: 5) { $0.isThreadActive = false })
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.message == .notSeen(isStopped: true))
  }

  @Test("While the login of a router is silent its record counts, and no longer") func agentSilent() {
    var scene = Self.scene()
    scene.announce(1, .of(1, at: 5)) { $0.thread.network = 1 }
    scene.see(.of(1, on: 2))
    #expect(scene.alarms == [])
    scene.publish(.offline, 1)
    let offline = AlertKey.of(.borderRouterOffline, 1)
    #expect(scene.alarms == [offline])
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.message == .agentSilent(nil))
    scene.see(.of(1, on: 2))
    #expect(scene.alarms == [offline, Self.mismatch] && Self.severity(scene) == .warning)
    scene.see()
    #expect(scene.alarms == [offline])
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.message == .offline(nil))
    scene.see(.of(1, on: 2))
    scene.publish(.heartbeat, 1)
    #expect(scene.alarms == [])
    scene.see(.of(1, on: 2))
    #expect(scene.alarms == [])
  }

  @Test("A router with a login whose record has gone is an alert where it sends no heartbeats") func recordGone() {
    var scene = Self.scene()
    scene.announce(1, .of(1, at: 5))
    scene.see()
    #expect(scene.alarms == [])
    scene.see(.of(1))
    scene.see()
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)] && scene.router(1)?.isOnline == true)
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.message == .recordGone)
    scene.announce(1, .of(1, at: 5))
    #expect(scene.alarms == [])
    scene.publish(.heartbeat, 1)
    scene.see(.of(1))
    scene.see()
    #expect(scene.alarms == [.of(.routerNotAdvertised, 1)])
  }

  @Test("A router that works and is not advertised is an info, until either ends, or discovery") func notAdvertised()
    throws
  {
    let key = AlertKey.of(.routerNotAdvertised, 1)
    func scene(_ state: ThreadState? = .leader, beats: Bool = true) -> HomeScene {
      var scene = Self.scene()
      scene.announce(1, .of(1, at: 5)) { $0.thread = .init(state: state, network: 1) }
      if beats { scene.publish(.heartbeat, 1) { $0.thread = .init(state: state, network: 1) } }
      scene.handle(.sightings(Sightings([], isComplete: false)))
      #expect(!scene.alarms.contains(key), "the list has only begun")
      scene.see()
      return scene
    }
    var one = scene()
    #expect(one.alarms == [key])
    _ = one.home.takeChanges()
    one.see()
    #expect(one.home.takeChanges().isEmpty)
    let ends: [(inout HomeScene) -> Void] = [
      { $0.see(.of(1)) }, { $0.handle(.discoveryEnded) }, { $0.publish(.leave, 1) },
      { $0.publish(.heartbeat, 1) { $0.thread.state = .detached } },
      { $0.publish(.offline, 1) { $0.offlineReason = .frozen } },
    ]
    for end in ends {
      var other = one
      end(&other)
      #expect(!other.alarms.contains(key))
    }
    #expect(scene(nil).alarms == [key])
    #expect(scene(.detached).alarms == [.of(.routerDetached, 1)])
    #expect(scene(beats: false).alarms == [], "whether anybody lives there is not known")
  }

  // MARK: Nobody on the preferred network

  @Test("Where nobody is or was on the preferred network, that is one alert and none for each router") func empty()
    throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.prefer(.of(1, at: 5))
    scene.see(.of(1, on: 2), .of(2, on: 2), .of(3, on: 3))
    let key = AlertKey.of(.preferredNetworkEmpty)
    #expect(scene.alarms == [key])
    let facts = try #require(scene.alert(.preferredNetworkEmpty)?.facts)
    #expect(facts.message == .preferredEmpty(routers: 2, elsewhere: 1))
    #expect(facts.network == .init(.of(2)) && facts.preferred == .init(.of(1)))
    // Accepted networks are where their routers should be.
    scene.handle(.acceptNetwork(2, isAccepted: true))
    #expect(scene.alert(.preferredNetworkEmpty)?.facts.network?.id == 3 && scene.alarms == [key])
    scene.handle(.acceptNetwork(3, isAccepted: true))
    #expect(scene.alarms == [])
    scene.handle(.acceptNetwork(2, isAccepted: false))
    #expect(scene.alarms == [key])
    // The first one on it, also when it is off later, makes the others routers that are elsewhere.
    scene.see(.of(1, on: 2), .of(2, on: 1, at: 5), .of(3, on: 3))
    #expect(scene.alarms == [Self.mismatch, .of(.unknownRouter, 2)])
    scene.see(.of(1, on: 2), .of(3, on: 3))
    #expect(scene.alarms == [Self.mismatch, .of(.unknownRouter, 2), .of(.borderRouterOffline, 2)])
  }

  @Test("Nobody who was announced is explained by it: each of them can be given the credentials") func emptyWithLogin()
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(2))
    scene.see(.of(1, on: 2))
    scene.prefer(.of(1, at: 5))
    #expect(scene.alarms.isSuperset(of: [.of(.preferredNetworkEmpty), .of(.preferredNetworkMismatch, 9)]))
    #expect(!scene.alarms.contains(Self.mismatch))
  }

  // MARK: Routers that were not there before

  enum Start: CaseIterable {
    case inTheFirstHour, later, nowhereInTheFirstHour, elsewhereInTheFirstHour, elsewhere
    case accepted, withLogin, withCredentials, beforeItWasPreferred

    var isUnknown: Bool {
      switch self {
      case .later, .nowhereInTheFirstHour, .elsewhereInTheFirstHour, .elsewhere: true
      default: false
      }
    }
  }

  @Test("Who joins the preferred network and was not there before is unknown", arguments: Start.allCases) func unknown(
    _ start: Start
  ) {
    var scene = Self.scene()
    scene.see()
    func passFirstLook() { scene.wait(seconds: 3_600) }
    switch start {
    case .inTheFirstHour: scene.wait(seconds: 3_599)
    case .later: passFirstLook()
    case .nowhereInTheFirstHour: scene.see(.of(1, on: nil, at: nil))
    case .elsewhereInTheFirstHour: scene.see(.of(1, on: 2))
    case .elsewhere:
      passFirstLook()
      scene.see(.of(1, on: 2))
    case .accepted:
      scene.see(.of(1, on: nil, at: nil))
      scene.handle(.acceptRouter(1))
    case .withLogin: scene.announce(1, .of(1, at: 5))
    case .withCredentials:
      passFirstLook()
      scene.ask(.storeCredentials(1, .of(1, at: 5)), by: .program(of: "x"))
    case .beforeItWasPreferred:
      passFirstLook()
      scene.prefer(.of(2))
      scene.see(.of(1, at: 5))
      scene.prefer(.of(1, at: 5))
    }
    scene.see(.of(1, at: 5))
    let key = AlertKey.of(.unknownRouter, 1)
    #expect(scene.alarms.contains(key) == start.isUnknown)
    guard start.isUnknown else { return }
    // It goes and comes back: that changes nothing; an acceptance does, and lasts.
    scene.see()
    scene.see(.of(1, at: 5))
    #expect(scene.alarms.contains(key))
    scene.handle(.acceptRouter(1))
    #expect(!scene.alarms.contains(key))
    scene.see(.of(1, on: 2))
    scene.see(.of(1, at: 5))
    #expect(!scene.alarms.contains(key))
  }
}
