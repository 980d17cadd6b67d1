import Testing

@testable import Home

/// Whether routers can be reached, where they are, and how their Thread interface is.
@Suite struct PresenceTests {
  private static func scene() -> HomeScene {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.announce(1, .of(1))
    return scene
  }

  @Test("Out of reach is not gone: nothing is deleted, and any sign of life brings it back") func offline() {
    for kind in [RouterMessage.Kind.heartbeat, .announce, .dataset] {
      var scene = Self.scene()
      let output = scene.publish(.offline, 1) { $0.offlineReason = .frozen }
      #expect(output.alerts == [.borderRouterOffline: .raised] && output.types == [])
      #expect(scene.router(1)?.offlineReason == .frozen && scene.router(1)?.dataset == .of(1))
      #expect(scene.home.network(1)?.online == 1)
      let back = scene.publish(kind, 1) { if kind == .dataset { $0.dataset = .of(1) } }
      #expect(back.types == .online && back.alerts == [.borderRouterOffline: .resolved])
      #expect(scene.router(1)?.isOnline == true && scene.router(1)?.offlineReason == nil)
    }
  }

  @Test(
    "A router that sends heartbeats is offline when they stop, and no other one",
    arguments: [(301, true, true), (300, true, false), (900, false, false)]) func silence(
      _ seconds: Int, _ beats: Bool, _ isSilent: Bool
    )
  {
    var scene = Self.scene()
    if beats { scene.publish(.heartbeat, 1) }
    let last = scene.now
    scene.pass(seconds: seconds)
    #expect(scene.router(1)?.isOnline == !isSilent)
    #expect(scene.router(1)?.offlineReason == (isSilent ? .silent : nil))
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.since == (isSilent ? last : nil))
  }

  @Test("Who was not listened to was not silent", arguments: [nil, 0, 299, 300]) func listening(_ seconds: Int?) {
    var scene = Self.scene()
    scene.publish(.heartbeat, 1)
    scene.wait(seconds: 1_000)
    let link = Link(connection: 1, listeningSince: seconds.map { scene.now.adding(seconds: -$0) })
    scene.handle(.tick(link))
    #expect(scene.router(1)?.isOnline == (seconds != 300))
  }

  @Test("With a limit of 0 no router counts as silent") func never() {
    var scene = Self.scene()
    scene.rules.settings.offlineAfter = 0
    scene.publish(.heartbeat, 1)
    scene.pass(seconds: 100_000)
    #expect(scene.router(1)?.isOnline == true && scene.due() == nil)
  }

  @Test("A heartbeat or an announcement without news changes only when the router was seen") func signOfLife() throws {
    var scene = Self.scene()
    _ = scene.home.takeChanges()
    // The first one shows that silence means something.
    #expect(scene.publish(.heartbeat, 1) == HomeOutput())
    #expect(Array(scene.home.takeChanges().records) == [.router(1)])
    for kind in [RouterMessage.Kind.heartbeat, .heartbeat, .announce] {
      scene.wait(seconds: 20)
      let dataset: DatasetSummary? = kind == .announce ? .of(1) : nil
      #expect(scene.publish(kind, 1) { $0.dataset = dataset } == HomeOutput())
      #expect(scene.home.takeChanges().isEmpty)
      #expect(scene.home.routers.lastSeen(1) == scene.now)
    }
    var read = Home(rules: scene.rules)
    _ = try read.load(try #require(scene.home.record(.router(1))))
    #expect(read.routers[1]?.beats == true)
  }

  @Test("A router that runs on another network than it is configured for does not match") func elsewhere() throws {
    var scene = Self.scene()
    scene.announce(2, .of(2))
    scene.publish(.heartbeat, 1) { $0.thread = .init(state: .child, network: 2) }
    #expect(scene.verdict(of: 1) == .mismatch(.extendedPANID))
    let facts = try #require(scene.alert(.preferredNetworkMismatch, 1)?.facts)
    #expect(facts.message == .elsewhere(isConfiguredForPreferred: true))
    #expect(facts.network == .init(.of(2)) && facts.configured == .init(.of(1)))
    // One without these fields says nothing about that.
    scene.publish(.heartbeat, 1)
    #expect(scene.router(1)?.currentNetwork == 2)
    scene.publish(.heartbeat, 1) { $0.thread.network = 1 }
    #expect(scene.verdict(of: 1) == .match && !scene.alarms.contains(.of(.preferredNetworkMismatch, 1)))
    scene.announce(1, .of(2)) { $0.thread.network = 1 }
    #expect(scene.alert(.preferredNetworkMismatch, 1)?.facts.message == .elsewhere(isConfiguredForPreferred: false))
    // An announcement without them makes both unknown.
    scene.announce(1, .of(1))
    #expect(scene.verdict(of: 1) == .match)
  }

  @Test("A router that reports only its network counts for it, and is checked by its id") func onlyNetwork() throws {
    var scene = Self.scene()
    scene.announce(2, .of(2))
    scene.announce(3) { $0.thread.network = 2 }
    #expect(scene.home.network(2)?.routers == 2 && scene.verdict(of: 3) == .mismatch(.extendedPANID))
    let facts = try #require(scene.alert(.preferredNetworkMismatch, 3)?.facts)
    #expect(facts.message == .otherNetwork && facts.network == .init(.of(2)) && facts.configured == nil)
    // Also of one that nobody else is on.
    scene.publish(.heartbeat, 3) { $0.thread.network = 7 }
    #expect(scene.home.network(2)?.routers == 1 && scene.home.network(7)?.online == 1 && scene.home.networkCount == 3)
    scene.publish(.offline, 3)
    #expect(scene.home.network(7)?.routers == 1 && scene.home.network(7)?.online == 0)
    // Nobody has seen its keys.
    scene.publish(.heartbeat, 3) { $0.thread.network = 1 }
    #expect(scene.verdict(of: 3) == .match && scene.alarms.isDisjoint(with: [.of(.preferredNetworkMismatch, 3)]))
    #expect(scene.router(3)?.memberOf == nil && scene.home.network(7) == nil)
    scene.announce(3)
    #expect(scene.verdict(of: 3) == PreferredCheck.none && scene.home.network(1)?.routers == 2)
    // Without a dataset OpenThread names that, and is on no network.
    for (state, isThere) in [(ThreadState.detached, false), (.leader, true)] {
      scene.announce(3) { $0.thread = ThreadReport(state: state, network: .placeholder) }
      #expect((scene.home.network(.placeholder) != nil) == isThere)
    }
  }

  @Test("A detached router is an alert that says since when, while it is online") func detached() {
    var scene = Self.scene()
    let since = scene.now
    scene.publish(.heartbeat, 1) { $0.thread.state = .detached }
    scene.wait(seconds: 9)
    scene.publish(.heartbeat, 1) { $0.thread.state = .detached }
    #expect(scene.alarms == [.of(.routerDetached, 1)])
    #expect(scene.alert(.routerDetached, 1)?.facts.since == since)
    scene.publish(.offline, 1) { $0.offlineReason = .unreachable }
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
    scene.publish(.heartbeat, 1) { $0.thread.state = .router }
    #expect(scene.alarms == [])
  }

  @Test("A disabled Thread interface counts as offline, and what it names as its network does not") func disabled() {
    var scene = Self.scene()
    scene.publish(.heartbeat, 1) { $0.thread = .init(state: .disabled, network: 2) }
    #expect(scene.router(1)?.isOnline == false && scene.router(1)?.offlineReason == .stopped)
    #expect(scene.verdict(of: 1) == .match)
    scene.publish(.heartbeat, 1)
    #expect(scene.router(1)?.isOnline == true && scene.router(1)?.threadState == nil)
    scene.publish(.offline, 1) { $0.offlineReason = .stopped }
    #expect(scene.router(1)?.threadState == .disabled)
  }

  @Test("A router whose Thread is off is on no network, whoever says that it is off") func stopped() {
    enum Way: CaseIterable { case state, offline, record, recordOfSilent }
    for way in Way.allCases {
      var scene = HomeScene()
      scene.announce(9, .of(1))
      if way == .record {
        scene.ask(.storeCredentials(1, .of(1)), by: .program(of: "x"))
        scene.see(.of(1, on: 2))
      } else {
        scene.announce(1, .of(1)) { $0.thread = .init(state: .leader, network: 2) }
      }
      #expect(scene.router(1)?.currentNetwork == 2, "\(way)")
      switch way {
      case .state: scene.publish(.heartbeat, 1) { $0.thread = .init(state: .disabled, network: 2) }
      case .offline: scene.publish(.offline, 1) { $0.offlineReason = .stopped }
      case .record: scene.see(.of(1, on: 2) { $0.isThreadActive = false })
      case .recordOfSilent:
        scene.publish(.offline, 1)
        scene.see(.of(1, on: 2) { $0.isThreadActive = false })
      }
      #expect(scene.router(1)?.currentNetwork == nil, "\(way)")
      #expect(scene.router(1)?.partition == nil, "\(way)")
    }
  }

  @Test("A new router has no network yet: it is not stopped, and not back when it has its first one") func new() throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.announce(1) { $0.thread.state = .disabled }
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.message == .offline(.noNetwork))
    let announced = try #require(
      scene.announce(1, .of(1)) { $0.thread = .init(state: .router, network: 1) }.routerEvents.first)
    #expect(announced.types == [.online, .datasetStored] && announced.isFirstNetwork)
    #expect(scene.alarms == [])

    scene.see(.of(5, on: nil, at: nil) { $0.isThreadActive = false })
    let seen = try #require(scene.see(.of(5, on: 1)).routerEvents.first)
    #expect(seen.types == .online && seen.isFirstNetwork && seen.network == .init(1, "net-1"))

    scene.publish(.offline, 1) { $0.offlineReason = .stopped }
    scene.see(.of(5, on: 1) { $0.isThreadActive = false })
    #expect(scene.alarms.contains(.of(.borderRouterOffline, 1)))
    #expect(scene.alarms.contains(.of(.borderRouterOffline, 5)))
    scene.publish(.heartbeat, 1) { $0.thread = .init(state: .router, network: 1) }
    #expect(scene.output.routerEvents.map(\.isFirstNetwork) == [false])
    #expect(scene.see(.of(5, on: 1)).routerEvents.map(\.isFirstNetwork) == [false])
  }

  @Test("A router that is only seen is on no network while its Thread is off") func seenStopped() {
    var scene = HomeScene()
    scene.see(.of(1))
    #expect(scene.router(1)?.network == 1)
    scene.see(.of(1) { $0.isThreadActive = false })
    #expect(scene.router(1)?.network == nil && scene.home.networks.isEmpty)
    scene.see(.of(1))
    #expect(scene.router(1)?.network == 1)
  }

  @Test("A router that loses its network stays, with its credentials; the alert says who is left there")
  func lostNetwork() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1)) { $0.thread = .init(state: .leader, network: 1) }
    scene.announce(2, .of(1)) { $0.thread = .init(state: .router, network: 1) }
    let output = scene.publish(.offline, 1) { $0.offlineReason = .noNetwork }
    #expect(output.secrets.isEmpty && output.types.isEmpty)
    let router = try #require(scene.router(1))
    #expect(router.isPresent && router.dataset == .of(1) && router.credential == .stored)
    #expect(router.threadState == .disabled && router.currentNetwork == nil)
    #expect(scene.verdict(of: 1) == .mismatch([]) && scene.preferred == .of(1))
    func message() -> AlertFacts.Message? { scene.alert(.borderRouterOffline, 1)?.facts.message }
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
    #expect(message() == .lostNetwork(isLast: false))
    scene.publish(.offline, 2)
    #expect(message() == .lostNetwork(isLast: true))
    scene.publish(.heartbeat, 2)
    #expect(message() == .lostNetwork(isLast: false))
    // Its agent starts again: an announcement says no more than that Thread is off.
    scene.announce(1) { $0.thread.state = .disabled }
    #expect(message() == .lostNetwork(isLast: false))
    scene.publish(.heartbeat, 1) { $0.thread = .init(state: .leader, network: 1) }
    #expect(scene.alarms == [] && scene.verdict(of: 1) == .match)
  }

  @Test(
    "A router without a network that says so again is silent when that ends, as is its alert's sentence",
    arguments: [nil, .of(1)] as [DatasetSummary?]) func silentWithoutNetwork(_ had: DatasetSummary?) throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.announce(1, had) { $0.thread.state = had == nil ? .disabled : .leader }
    func report() { scene.publish(.offline, 1) { $0.offlineReason = .noNetwork } }
    func message() -> AlertFacts.Message? { scene.alert(.borderRouterOffline, 1)?.facts.message }
    let reported: AlertFacts.Message = had == nil ? .offline(.noNetwork) : .lostNetwork(isLast: false)
    report()
    for _ in 0..<3 {
      scene.pass(seconds: 300)
      report()
      #expect(message() == reported && scene.router(1)?.isReached == true)
    }
    let last = scene.now
    #expect(scene.due() == 301)
    scene.pass(seconds: 301)
    #expect(scene.router(1)?.offlineReason == .silent && scene.router(1)?.isReached == false)
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
    #expect(message() == .silentWithoutNetwork && scene.verdict(of: 1) == .mismatch([]))
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.since == last)
    // Its agent starts again: an announcement says no more than that Thread is off.
    scene.announce(1) { $0.thread.state = .disabled }
    #expect(message() == reported)
    scene.pass(seconds: 301)
    #expect(message() == .silentWithoutNetwork)
    scene.announce(1, .of(1)) { $0.thread = .init(state: .router, network: 1) }
    #expect(scene.output.types.contains(.online) && scene.alarms == [])
  }

  @Test("A router that says once that it has no network, and sends no heartbeats, is not silent") func saysItOnce() {
    var scene = Self.scene()
    scene.publish(.offline, 1) { $0.offlineReason = .noNetwork }
    scene.pass(seconds: 100_000)
    #expect(scene.router(1)?.offlineReason == .noNetwork)
  }

  @Test("A new router without a network is listed, and one alert says so") func noNetwork() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.announce(1) { $0.thread.state = .disabled }
    scene.publish(.offline, 1) { $0.offlineReason = .noNetwork }
    #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
    #expect(scene.alert(.borderRouterOffline, 1)?.facts.message == .offline(.noNetwork))
    #expect(scene.router(1)?.network == nil && scene.router(1)?.credential == .missing)
    scene.announce(1, .of(1)) { $0.thread = .init(state: .leader, network: 1) }
    #expect(scene.alarms == [])
  }

  @Test("An offline router shows no role and no partition, but that its Thread is off") func shownOffline() {
    var scene = HomeScene()
    scene.announce(1, .of(1)) { $0.thread = .init(state: .leader, network: 1) }
    scene.see(.of(1))
    func shown() -> [String] {
      let router = scene.router(1)
      return [router?.shownThreadState.map { "\($0)" } ?? "-", router?.shownPartition.map { "\($0)" } ?? "-"]
    }
    #expect(shown() == ["leader", "7"])
    scene.publish(.offline, 1) { $0.offlineReason = .unreachable }
    #expect(shown() == ["-", "-"] && scene.router(1)?.shownThreadStateSince == nil)
    scene.publish(.heartbeat, 1)
    #expect(shown() == ["leader", "7"])
    scene.publish(.offline, 1) { $0.offlineReason = .stopped }
    #expect(shown() == ["disabled", "-"] && scene.router(1)?.shownThreadStateSince != nil)
  }

  @Test("Another login of the team may speak for the router, one of another team may not") func team() {
    var scene = HomeScene { $0.team = { $0 == "two" ? "otbr" : $0 } }
    scene.announce(1, .of(1))
    for kind in [RouterMessage.Kind.heartbeat, .offline, .announce, .leave] {
      let output = scene.publish(kind, 1, from: "other") { $0.dataset = .of(2) }
      #expect(output.rejection == .notAuthorized(1) && scene.router(1)?.dataset == .of(1))
      #expect(scene.publish(kind, 1, from: "two").rejection == nil)
    }
    #expect(scene.router(1)?.owner == "otbr" && scene.router(1)?.isPresent == false)
    // Nor after it left.
    #expect(scene.announce(1, .of(2), from: "other").rejection == .notAuthorized(1))
    #expect(scene.router(1)?.dataset == nil)
  }
}

/// The Wi-Fi of access points that routers are in or beside.
@Suite struct SSIDTests {
  private static func scene() -> HomeScene {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1)) { $0.accessPoint = "ap" }
    return scene
  }

  @Test(
    "A name is a change where it differs from the one before, and the first one is remembered",
    arguments: [
      (String?.none, String?.none, String?.none), (nil, "old", "old"), (nil, "new", nil), ("old", nil, "old"),
      ("old", "other", "other"), ("old", "new", "old"), ("new", "old", nil), ("ne\u{301}w", nil, "ne\u{301}w"),
    ]) func change(_ remembered: String?, _ said: String?, _ previous: String?)
  {
    var scene = Self.scene()
    if let remembered { scene.publish(.ssid, 1) { $0.ssid = remembered } }
    let output = scene.publish(.ssid, 1) {
      $0.ssid = "new"
      $0.previousSSID = said
    }
    #expect(scene.router(1)?.ssid == "new")
    #expect(output.types == (previous == nil ? [] : .ssidChanged))
    guard let previous, let event = output.routerEvents.first else { return }
    #expect(event.ssid == "new" && event.previousSSID == previous && event.check == .match)
    #expect(event.router == 1 && event.user == nil)
  }

  @Test("It counts of the router's own team, and of logins that the settings name; of no other") func whoReports() {
    var scene = Self.scene()
    scene.announce(5, from: "otbr")
    scene.rules.team = { $0 == "ap-watch" ? "otbr" : $0 }
    for (user, isBelieved) in [("otbr", true), ("ap-watch", true), ("hall", false)] {
      for agent: UInt64 in [1, 5] {
        let output = scene.publish(.ssid, agent, from: ExactName(user)) { $0.ssid = user }
        #expect(output.rejection == (isBelieved ? nil : .mayNotReportSSID))
        #expect((scene.router(agent)?.ssid == user) == isBelieved)
      }
    }
    scene.rules.settings.ssidReporters = ["hall"]
    scene.publish(.ssid, 1, from: "hall") { $0.ssid = "hall" }
    #expect(scene.router(1)?.ssid == "hall")
    scene.announce(6, .of(1), from: "other") { $0.accessPoint = "ap" }
    var message = RouterMessage(.ssid, .accessPoint("ap"))
    message.ssid = "all"
    scene.handle(.message(message, from: "hall"))
    #expect(scene.router(1)?.ssid == "all" && scene.router(6)?.ssid == "all")
  }

  @Test("A change says whether the router is on the preferred network") func check() {
    var scene = Self.scene()
    scene.rules.settings.ssidReporters = ["watcher"]
    scene.announce(2, .of(2))
    let output = scene.publish(.ssid, 2, from: "watcher") {
      $0.ssid = "a"
      $0.previousSSID = "b"
    }
    #expect(output.routerEvents.first?.check == .mismatch([.extendedPANID, .networkName]))
    #expect(scene.router(2)?.user == "otbr", "a watcher becomes owner of nothing")
  }

  @Test("An access point stands for the routers of the sender's team that named it, and no others") func accessPoint() {
    var scene = Self.scene()
    scene.announce(2, .of(1)) { $0.accessPoint = "ap" }
    scene.announce(3, .of(1), from: "other") { $0.accessPoint = "ap" }
    scene.announce(4, .of(1)) { $0.accessPoint = "another" }
    func report(_ name: ExactName, from user: ExactName = "otbr") -> HomeOutput {
      var message = RouterMessage(.ssid, .accessPoint(name))
      message.ssid = "new"
      message.previousSSID = "old"
      return scene.handle(.message(message, from: user))
    }
    #expect(report("none").rejection == .unknownAccessPoint)
    #expect(report("ap", from: "third").rejection == .unknownAccessPoint)
    let output = report("ap")
    #expect(output.types(of: 1) == .ssidChanged && output.types(of: 2) == .ssidChanged)
    #expect(output.types(of: 3) == [] && output.types(of: 4) == [])
    for agent: UInt64 in [1, 2] { scene.publish(.leave, agent) }
    #expect(report("ap").rejection == .unknownAccessPoint)
  }

  @Test("Sixteen routers may be behind an access point, with one more none is touched") func most() {
    var scene = HomeScene()
    var message = RouterMessage(.ssid, .accessPoint("ap"))
    message.ssid = "new"
    scene.announce(1...16, .of(1)) { $0.accessPoint = "ap" }
    #expect(scene.handle(.message(message, from: "otbr")).rejection == nil)
    scene.announce(17, .of(1)) { $0.accessPoint = "ap" }
    message.ssid = "newer"
    #expect(scene.handle(.message(message, from: "otbr")).rejection == .tooManyBehindAccessPoint(16))
    #expect(scene.router(1)?.ssid == "new")
    // A team with too many keeps others from nothing.
    scene.rules.settings.ssidReporters = ["watcher"]
    for team: ExactName in ["a", "z"] {
      scene.announce(team == "a" ? 101 : 102, .of(1), from: team) { $0.accessPoint = "ap" }
    }
    #expect(scene.handle(.message(message, from: "watcher")).rejection == nil)
    #expect(scene.router(101)?.ssid == "newer" && scene.router(102)?.ssid == "newer")
    #expect(scene.router(1)?.ssid == "new")
  }
}
