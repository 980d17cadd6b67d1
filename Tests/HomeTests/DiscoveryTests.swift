import Testing

@testable import Home

/// What records on the local network change. Anybody there can publish one.
@Suite struct DiscoveryTests {
  private static let day = 86_400

  @Test("A router that is seen is listed with what its record says, without login or credentials") func found() throws {
    var scene = HomeScene()
    let output = scene.see(.of(1))
    #expect(output.types == .discovered && output.secrets.isEmpty)
    let router = try #require(scene.router(1))
    #expect(router.source == .mdns && router.isPresent && router.isOnline && router.isAdvertised)
    #expect(router.name == "seen 1" && router.vendor == "Acme" && router.threadVersion == "1.4.0")
    #expect(router.network == 1 && router.activeSeconds == 1 && router.partition == 7)
    #expect(router.user == nil && router.owner == nil && router.credential == .missing)
    #expect(scene.home.preferred == nil)
    #expect(scene.home.network(1)?.name == "net-1" && scene.looks == [1, 0])
    _ = scene.home.takeChanges()
    scene.wait(seconds: 60)
    #expect(scene.see(.of(1)) == HomeOutput() && scene.home.takeChanges().isEmpty)
  }

  @Test("A record changes neither credentials nor owner nor the preferred network") func nothingSecret() {
    var scene = HomeScene()
    scene.announce(1, .of(1)) {
      $0.name = "Mine"
      $0.vendor = "Me"
    }
    scene.see(.of(1, on: 2, at: 99) { $0.model = "BR-2" }, .of(2, on: 2, at: 99))
    let router = scene.router(1)
    #expect(router?.dataset == .of(1) && router?.owner == "otbr" && router?.source == .mqtt)
    #expect(router?.name == "Mine" && router?.vendor == "Me" && router?.model == "BR-2")
    #expect(router?.currentNetwork == nil && router?.partition == nil)
    #expect(scene.preferred == .of(1) && scene.verdict(of: 1) == .match)
    #expect(scene.router(2)?.owner == nil)
  }

  @Test("A record that has gone makes its router offline; it stays listed, and is back with its record") func gone() {
    var scene = HomeScene()
    scene.see(.of(1))
    #expect(scene.see(isComplete: false) == HomeOutput())
    scene.wait(seconds: 60)
    let seen = scene.now.adding(seconds: -20)
    scene.handle(.sightings(Sightings([], lastSeen: [1: seen])))
    #expect(scene.router(1)?.isPresent == true && scene.router(1)?.isOnline == false)
    #expect(scene.router(1)?.partition == nil && scene.home.routers.lastSeen(1) == seen)
    #expect(scene.see(.of(1)).types == .online)
  }

  @Test("Its off-mesh prefix, and that it shares by code, are what its record says now, of a router with a login, too")
  func offMeshPrefix() {
    var scene = HomeScene()
    scene.announce(2, .of(1))
    for (prefix, shares) in [(5, true), (6, false), (nil, nil)] as [(UInt64?, Bool?)] {
      scene.see(.of(1) { ($0.offMeshPrefix, $0.sharesByCode) = (prefix, shares) }, .of(2) { $0.offMeshPrefix = prefix })
      #expect(scene.router(1)?.offMeshPrefix == prefix && scene.router(2)?.offMeshPrefix == prefix)
      #expect(scene.router(1)?.sharesByCode == shares && scene.router(2)?.sharesByCode == nil)
    }
    scene.see(.of(1) { ($0.offMeshPrefix, $0.sharesByCode) = (5, true) })
    scene.see()
    #expect(scene.router(1)?.offMeshPrefix == nil && scene.router(1)?.sharesByCode == nil)
  }

  @Test("A router whose Thread interface is not active is offline because Thread is stopped") func stopped() {
    var scene = HomeScene()
    scene.see(.of(1) { $0.isThreadActive = false })
    #expect(scene.router(1)?.isOnline == false && scene.router(1)?.offlineReason == .stopped)
    scene.see(.of(1))
    #expect(scene.router(1)?.isOnline == true && scene.router(1)?.threadState == nil)
  }

  @Test("The role of a router that is only seen is in its record; of another one its login says it") func role() {
    var scene = HomeScene()
    scene.announce(1, .of(1)) { $0.thread.state = .router }
    func look(_ role: ThreadState?) {
      scene.see(.of(1) { $0.role = .child }, .of(2) { $0.role = role }, .of(3) { $0.role = .leader })
    }
    look(.leader)
    #expect([1, 2].map { scene.router($0)?.shownThreadState } == [.router, .leader])
    let since = scene.now
    scene.wait(seconds: 60)
    look(.leader)
    #expect(scene.router(2)?.shownThreadStateSince == since)
    scene.pass(seconds: 60)
    #expect(scene.alarms.isEmpty, "two leaders are no split: one of the records may be old")
    look(.child)
    #expect(scene.router(2)?.shownThreadState == .child)
    look(nil)
    #expect(scene.router(2)?.shownThreadState == nil)
  }

  struct Link: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let agent: UInt64
    let address: UInt64?
    let record: Advertisement
  }

  @Test(
    "A router of a login and its record are one router, in whichever order they come",
    arguments: [
      Link(testDescription: "by the first id", agent: 1, address: nil, record: .of(1, 2)),
      Link(testDescription: "by another id", agent: 2, address: nil, record: .of(1, 2)),
      Link(
        testDescription: "by the address that it has announced", agent: 3, address: 5,
        record: .of(1) { $0.extendedAddress = 5 }),
    ], [false, true]) func sameRouter(_ link: Link, isSeenFirst: Bool)
  {
    var scene = HomeScene()
    if isSeenFirst { scene.see(link.record) }
    scene.announce(link.agent, .of(1)) { $0.extendedAddress = link.address }
    scene.see(link.record)
    #expect(scene.home.routers.map(\.agent) == [.number(link.agent)])
    let router = scene.router(link.agent)
    #expect(router?.source == .mqtt && router?.isAdvertised == true && router?.partition == 7)
    #expect(router?.user == "otbr" && scene.looks == [1, 0])
  }

  @Test("A record that names ids or the address of other routers takes nothing from them") func foreign() {
    var scene = HomeScene()
    scene.announce(2, .of(1))
    let real = [Advertisement.of(1) { $0.extendedAddress = 5 }, .of(2)]
    scene.handle(.sightings(Sightings(real)))
    for false1 in [Advertisement.of(9, on: 2) { $0.extendedAddress = 5 }, .of(9, 2, 1, on: 2)] {
      scene.handle(.sightings(Sightings([false1] + real)))
      #expect(scene.router(1)?.name == "seen 1" && scene.router(1)?.network == 1)
      #expect(scene.router(1)?.isOnline == true && scene.router(2)?.partition == 7)
    }
  }

  @Test("Two records of one router count once, the first one") func twice() {
    var scene = HomeScene()
    for _ in 1...2 {
      scene.see(.of(1) { $0.name = "a" }, .of(1) { $0.name = "b" })
      #expect(scene.looks == [1, 1] && scene.router(1)?.name == "a")
      #expect(scene.refusals == [.again(1)])
      #expect(scene.home.refusedSightings.first?.advertisement.name == "b")
    }
  }

  @Test("What a login reports of presence wins over the record, and a gone record is no sign") func presence() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.publish(.heartbeat, 1)
    let seen = scene.home.routers.lastSeen(1)
    scene.see(.of(1))
    scene.wait(seconds: 60)
    scene.see()
    #expect(scene.router(1)?.isOnline == true && scene.router(1)?.isAdvertised == false)
    #expect(scene.home.routers.lastSeen(1) == seen)
    scene.publish(.offline, 1)
    scene.see(.of(1))
    #expect(scene.router(1)?.isOnline == false)
  }

  @Test("Who was only seen can send nothing but an announcement") func onlySeen() {
    var scene = HomeScene()
    scene.see(.of(1))
    #expect(scene.publish(.heartbeat, 1).rejection == .unknownRouter)
    #expect(scene.publish(.leave, 1) { $0.order = .number(1) }.isDuplicate)
    #expect(scene.router(1)?.isPresent == true && scene.router(1)?.user == nil)
    #expect(scene.announce(1).types == .announced)
    // Its login says of no network that it is on it.
    scene.see(.of(1))
    #expect(scene.router(1)?.network == nil && scene.router(1)?.source == .mqtt)
  }

  @Test("A router that left over MQTT, or is announced in another home, stays off the list") func offTheList() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.publish(.leave, 1)
    #expect(scene.see(.of(1)) == HomeOutput() && scene.looks == [0, 1])
    #expect(scene.refusals == [.left])
    scene.rules.isAnnouncedElsewhere = { $0 == 2 }
    scene.see(.of(3, 2))
    #expect(scene.looks == [0, 1] && scene.home.networks.map(\.routers) == [0])
    #expect(scene.refusals == [.elsewhere])
  }

  @Test("A router whose credentials alone are stored is listed when it is seen, and where it is counts")
  func storedAlone() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    let requester = Requester.program(of: "otbr")
    scene.ask(.storeCredentials(1, .of(1)), by: requester)
    scene.see(.of(1))
    #expect(scene.router(1)?.isPresent == true && scene.router(1)?.credential == .stored)
    #expect(scene.router(1)?.owner == "otbr" && scene.verdict(of: 1) == .match)
    #expect(scene.alarms == [])
    scene.see(.of(1, on: 2))
    #expect(scene.verdict(of: 1) == .mismatch(.extendedPANID))
    scene.ask(.deleteCredentials(1), by: requester)
    scene.see(.of(1))
    #expect(scene.router(1)?.network == 1 && scene.router(1)?.credential == .shared)
    #expect(scene.verdict(of: 1) == .match && scene.alarms == [])
  }

  // MARK: What logins see

  private static func seen(_ agent: UInt64, by user: ExactName = "ha") -> Advertisement {
    .of(agent) { $0.reporter = user }
  }

  /// Router 1 was found here, router 2 only seen by login `ha`.
  private static func union() -> HomeScene {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.enroll("ha")
    scene.announce(9, .of(1))
    scene.see(.of(1), Self.seen(2))
    return scene
  }

  struct Source: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var list: [Advertisement] = []
    var isComplete = true
    var reporters: Set<ExactName> = []
    var awaited: Set<ExactName>? = []
    /// Of routers 1 and 2.
    let online: [Bool]

    var sightings: Sightings {
      var sightings = Sightings(list, isComplete: isComplete)
      (sightings.reporters, sightings.awaited) = (reporters, awaited)
      return sightings
    }
  }

  private static let sources = [
    Source(testDescription: "both have them", list: [.of(1), seen(2)], reporters: ["ha"], online: [true, true]),
    Source(testDescription: "the login has both", list: [seen(1), seen(2)], reporters: ["ha"], online: [true, true]),
    Source(testDescription: "the search has both", list: [.of(1), .of(2)], online: [true, true]),
    Source(testDescription: "the login is there without it", list: [.of(1)], reporters: ["ha"], online: [true, false]),
    Source(testDescription: "the login is silent", list: [.of(1)], awaited: ["ha"], online: [true, true]),
    Source(testDescription: "it is, after a start", list: [.of(1)], awaited: nil, online: [true, true]),
    Source(testDescription: "it is for too long", list: [.of(1)], online: [true, false]),
    Source(testDescription: "another one is silent", list: [.of(1)], awaited: ["b"], online: [true, false]),
    Source(testDescription: "the search is complete", awaited: ["ha"], online: [false, true]),
    Source(testDescription: "the search has begun", isComplete: false, reporters: ["ha"], online: [true, false]),
    Source(testDescription: "nobody has any", reporters: ["ha"], online: [false, false]),
  ]

  @Test("A router has gone when no source has it any longer: who saw it last is there without it", arguments: sources)
  func gone(_ source: Source) {
    var scene = Self.union()
    #expect(scene.router(1)?.reporter == nil && scene.router(2)?.reporter == "ha")
    scene.handle(.sightings(source.sightings))
    #expect([1, 2].map { scene.router($0)?.isOnline } == source.online)
    for one in source.list { #expect(scene.home.routers[one.agents[0]]?.reporter == one.reporter) }
    #expect(source.online.contains(false) || scene.alarms == [])
    scene.see(.of(1), Self.seen(2))
    #expect([1, 2].map { scene.router($0)?.isOnline } == [true, true])
  }

  @Test("A router that moves from one source to the other is no news") func otherSource() {
    var scene = Self.union()
    for list in [[Self.seen(1), .of(2)], [.of(1), Self.seen(2)]] {
      #expect(scene.handle(.sightings(Sightings(list))).types.isEmpty)
      #expect(scene.looks == [2, 0] && scene.alarms == [])
    }
  }

  @Test("What a login has seen goes at once when its keys are revoked, or its team has a border router")
  func notBelieved() {
    for isRevoked in [true, false] {
      var scene = Self.union()
      if isRevoked {
        scene.handle(.revoke("ha", forgets: false, by: .statusPage))
      } else {
        scene.announce(3, from: "ha")
      }
      let silent = Source(testDescription: "", list: [.of(1)], awaited: nil, online: [])
      scene.handle(.sightings(silent.sightings))
      #expect(scene.router(1)?.isOnline == true && scene.router(2)?.isOnline == false)
    }
  }

  @Test("A router that only a silent login saw is no alert that phones do not find it, nor one that all went")
  func silentLogin() {
    var scene = Self.union()
    scene.announce(2)
    scene.publish(.heartbeat, 2)
    let silent = Source(testDescription: "", list: [.of(1)], awaited: ["ha"], online: [])
    scene.handle(.sightings(silent.sightings))
    scene.publish(.heartbeat, 2)
    #expect(scene.router(2)?.isAdvertised == true && scene.alarms.allSatisfy { $0.name != .routerNotAdvertised })
    #expect(scene.alarms.allSatisfy { $0.name != .homeOffline })
  }

  // MARK: An id that an update adds

  /// Of router 1 before its update.
  private static let before = Advertisement.of(1) {
    ($0.name, $0.endpoint, $0.extendedAddress) = ("Hall", "hall.local, 49152", 1)
  }

  struct Update: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isSame: Bool
    let record: Advertisement

    init(_ description: String, isSame: Bool = false, _ change: (inout Advertisement) -> Void = { _ in }) {
      (testDescription, self.isSame) = (description, isSame)
      record = Advertisement.of(5, 1) {
        ($0.name, $0.endpoint) = (before.name, before.endpoint)
        $0.extendedAddress = before.extendedAddress
        change(&$0)
      }
    }
  }

  @Test(
    "A record with another id, and the same name, host, port and address, is the same router's",
    arguments: [
      Update("the same", isSame: true), Update("another name") { $0.name = "Hall (2)" },
      Update("another host or port") { $0.endpoint = "hall.local, 49153" },
      Update("another address") { $0.extendedAddress = 2 },
    ], [0, 7_200]) func update(_ update: Update, seconds: Int)
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.see(Self.before)
    let first = scene.router(1)?.firstSeenAt
    if seconds > 0 {
      scene.wait(seconds: seconds)
      scene.see()
      #expect(scene.alarms == [.of(.borderRouterOffline, 1)])
    }
    let output = scene.see(update.record)
    // At the same place, with other names for its radio or in its record, it was reset.
    let isReset = seconds > 0 && update.record.endpoint == Self.before.endpoint
    #expect((scene.router(1) == nil) == (update.isSame || isReset))
    #expect(scene.router(5)?.isPresent == true && scene.router(5)?.isOnline == true)
    #expect((scene.router(5)?.firstSeenAt == first) == (update.isSame || seconds == 0))
    guard update.isSame else { return }
    #expect(output.types.isEmpty && scene.router(5)?.isKnown == true && scene.alarms == [])
    #expect(scene.looks == [1, 0])
  }

  @Test("A router with an added id that is announced in another home does not move over") func updateElsewhere() {
    var scene = HomeScene { $0.isAnnouncedElsewhere = { $0 == 5 } }
    scene.see(Self.before)
    scene.see(
      .of(5, 1) {
        ($0.name, $0.endpoint) = (Self.before.name, Self.before.endpoint)
        $0.extendedAddress = Self.before.extendedAddress
      })
    #expect(scene.router(5) == nil && scene.looks == [0, 1])
  }

  // MARK: Limits

  @Test("At most 200 are listed, and those that are gone and were never members make room") func most() {
    var scene = HomeScene()
    scene.announce(9_999, .of(1))
    let many = (1...205).map { Advertisement.of(UInt64($0), on: $0 == 1 ? 1 : 2) }
    func see(_ list: some Sequence<Advertisement>) { scene.handle(.sightings(Sightings(Array(list)))) }
    see(many)
    #expect(scene.looks == [200, 5] && Set(scene.refusals) == [.tooMany])
    scene.wait(seconds: 3_600)
    see(many[2..<200])
    see(many[2..<201])
    #expect(scene.looks == [199, 0])
    // The member stays, offline.
    #expect(scene.router(1)?.isPresent == true && scene.router(2) == nil)
    see(many[2..<205])
    #expect(scene.looks == [199, 4])
  }

  @Test("A router that was read makes no room for others, and one of which nothing is stored does") func readStays() {
    var scene = HomeScene()
    scene.announce(9_999, .of(1))
    let many = (1...202).map { Advertisement.of(UInt64($0), on: 2) }
    func see(_ list: some Sequence<Advertisement>) { scene.handle(.sightings(Sightings(Array(list)))) }
    see(many[..<200])
    #expect(scene.join(1, on: 2, .of(2)) != nil)
    #expect(scene.router(1)?.dataset != nil)
    scene.wait(seconds: 3_600)
    see(many[2..<200])
    see(many[2...])
    #expect(scene.router(1)?.dataset != nil && scene.router(2) == nil)
    #expect(scene.looks == [199, 1])
  }

  @Test("At most 200 are new in an hour") func hour() {
    var scene = HomeScene()
    for start in [0, 100] as [UInt64] {
      scene.handle(.sightings(Sightings((1...100).map { .of(start + $0) })))
      scene.see()
    }
    scene.see(.of(1_000))
    #expect(scene.looks == [0, 1] && scene.refusals == [.tooMany])
    scene.wait(seconds: 3_599)
    scene.see(.of(1_000))
    #expect(scene.looks == [0, 1])
    scene.wait(seconds: 1)
    scene.see(.of(1_000))
    #expect(scene.looks == [1, 0])
  }

  @Test("Who was only seen is forgotten after 30 days") func forgotten() {
    var scene = HomeScene()
    scene.see(.of(1))
    scene.see()
    scene.wait(seconds: 30 * Self.day - 1)
    scene.see()
    #expect(scene.router(1)?.isPresent == true)
    scene.wait(seconds: 1)
    #expect(scene.see().types == .left)
    #expect(scene.router(1) == nil)
  }

  @Test("A removed router is off the list until it answers again: caches keep its record for a while") func removed() {
    var scene = HomeScene()
    scene.see(.of(1))
    scene.handle(.remove(1))
    for _ in 1...2 {
      scene.see(.of(1))
      #expect(scene.router(1) == nil && scene.looks == [0, 1] && scene.refusals == [.removed])
      scene.wait(seconds: 65)
    }
    scene.see(.of(1))
    #expect(scene.router(1)?.isPresent == true)
    // Gone from the caches, it has answered when it is there.
    scene.handle(.remove(1))
    scene.see()
    scene.see(.of(1))
    #expect(scene.router(1)?.isPresent == true)
  }

  @Test("When discovery ends, what it has brought goes, and other routers keep what they have") func end() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1))
    scene.announce(3, .of(1))
    scene.see(.of(1), .of(2), .of(3))
    scene.see(.of(1), .of(2))
    #expect(scene.alarms == [.of(.borderRouterOffline, 3)])
    let output = scene.handle(.discoveryEnded)
    #expect(output.types(of: 2) == .left && scene.router(2) == nil && scene.alarms == [])
    #expect(scene.router(1)?.isOnline == true && scene.router(1)?.isAdvertised == false)
    #expect(scene.router(1)?.partition == nil)
    // On again, all is looked at as for the first time.
    scene.wait(seconds: 10_000)
    scene.see(.of(2))
    #expect(scene.router(2)?.isKnown == true)
  }

  @Test("A router that left by MQTT stays off the list, also without numbers and credentials") func leftByLogin() {
    var scene = HomeScene()
    scene.announce(1)
    scene.see(.of(1))
    scene.publish(.leave, 1)
    scene.see(.of(1))
    #expect(scene.router(1)?.isPresent == false && scene.looks == [0, 1])
    // What only its record has shown leaves nothing behind.
    scene.see(.of(2))
    scene.handle(.discoveryEnded)
    #expect(scene.router(2) == nil)
  }
}
