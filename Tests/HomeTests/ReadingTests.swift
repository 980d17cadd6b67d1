import Testing
import ThreadDataset

@testable import Home

/// Router 9 is on the local network alone. A row each for what the table of `Home+reading.swift` says.
@Suite("What follows from reading a border router itself") struct ReadingTests {
  private static let now = DatasetSummary.of(1, at: 5)
  private static let later = DatasetSummary.of(1, at: 6, channel: 20)

  /// With the PSKc of key 1.
  private static let rekeyed: DatasetSummary = {
    var dataset = DatasetSummary.of(1, key: 2, at: 6)
    dataset.parameters?.pskc = now.parameters?.pskc
    return dataset
  }()

  /// Router 1 of a login is on the preferred network, and by its record router 9 is.
  private static func scene() -> HomeScene {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, now)
    scene.see(.of(9, at: 5))
    return scene
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let read: DatasetSummary
    /// Of which the PSKc is.
    var network: UInt64 = 1
    var before: @Sendable (inout HomeScene) -> Void = { _ in }
    /// What is stored for it afterwards, and how that compares.
    let stored: DatasetSummary?
    let verdict: PreferredCheck
    var preferred = ReadingTests.now
    var problem: ReadingProblem?
    var alarms: Set<AlertKey> = []

    init(
      _ description: String, _ read: DatasetSummary, stored: DatasetSummary?, _ verdict: PreferredCheck,
      _ change: (inout Row) -> Void = { _ in }
    ) {
      (testDescription, self.read, self.stored, self.verdict) = (description, read, stored, verdict)
      change(&self)
    }
  }

  @Test(
    "A dataset",
    arguments: [
      Row("with the keys of the preferred network is stored", now, stored: now, .match),
      Row("that is older is stored, and its router is behind", now, stored: now, .stale(.channel)) {
        $0.before = { $0.prefer(later) }
        $0.preferred = later
        $0.alarms = [.of(.staleDataset, 1), .of(.staleDataset, 9), .of(.preferredNetworkChanged)]
      },
      Row("takes the place of a later one that was read before", now, stored: now, .stale(.channel)) {
        $0.before = { $0.read(9, later) }
        $0.preferred = later
        $0.alarms = [.of(.staleDataset, 1), .of(.staleDataset, 9), .of(.preferredNetworkChanged)]
      },
      Row("that is newer, with the same keys, is followed", later, stored: later, .match) {
        $0.preferred = later
        $0.alarms = [.of(.staleDataset, 1), .of(.preferredNetworkChanged)]
      },
      Row("with another network key is disputed", rekeyed, stored: rekeyed, .mismatch(.networkKey)) {
        $0.alarms = [.of(.preferredKeyDisputed)]
      }, Row("with another PSKc is not taken", .of(1, key: 2, at: 6), stored: nil, .match) { $0.problem = .invalid },
      Row("of another network is not taken", .of(2), stored: nil, .match) { $0.problem = .invalid },
      Row("that is not complete is not taken", .partial(1, at: 6), stored: nil, .match) { $0.problem = .invalid },
      Row("of the network that its router was on is not taken", now, stored: nil, .mismatch(.extendedPANID)) {
        $0.before = { $0.see(.of(9, on: 3)) }
        $0.alarms = [.of(.preferredNetworkMismatch, 9)]
      },
      Row(
        "of a network that is not preferred is stored", .of(2), stored: .of(2),
        .mismatch([.extendedPANID, .networkName])
      ) {
        $0.network = 2
        $0.before = { $0.see(.of(9, on: 2)) }
        $0.alarms = [.of(.preferredNetworkMismatch, 9)]
      },
      Row("that differs from what a login reports is left to the login", later, stored: now, .match) {
        $0.before = { $0.announce(9, now) }
      },
    ]) func dataset(_ row: Row)
  {
    var scene = Self.scene()
    row.before(&scene)
    scene.read(9, on: row.network, .datasets(row.read, pending: nil))
    let router = scene.router(9)
    #expect(router?.dataset == row.stored && scene.verdict(of: 9) == row.verdict)
    #expect(scene.preferred == row.preferred && scene.alarms == row.alarms)
    #expect(router?.reading?.problem == row.problem)
    #expect(router?.reading?.readAt == (row.read == row.stored ? scene.now : nil))
  }

  struct Code: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Router 9 is on the network of it.
    let read: DatasetSummary
    var on: UInt64?
    let before: @Sendable (inout HomeScene) -> Void
    let joined: JoinedNetwork?
    var isStored = true
  }

  @Test(
    "By a code, it is said what the network is for the home, and nothing is preferred by itself",
    arguments: [
      Code(testDescription: "none is preferred", read: .of(2), before: { _ in }, joined: .choice),
      Code(
        testDescription: "preferred by its id alone", read: .of(2), before: { $0.prefer(network: 2) },
        joined: .preferredByID),
      Code(testDescription: "known", read: .of(2), before: { $0.prefer(.of(2)) }, joined: .preferred),
      Code(
        testDescription: "newer", read: .of(2, at: 5, channel: 20), before: { $0.prefer(.of(2)) }, joined: .preferred),
      Code(
        testDescription: "with other keys", read: .of(2, key: 2), before: { $0.prefer(.of(2)) },
        joined: .disputed([.networkKey, .pskc])),
      Code(testDescription: "another one is preferred", read: .of(2), before: { $0.prefer(.of(1)) }, joined: .other),
      Code(
        testDescription: "a login reports other ones", read: .of(2), before: { $0.announce(9, .of(2, key: 3)) },
        joined: .notStored(owner: "otbr"), isStored: false),
      Code(
        testDescription: "a login reports the same", read: .of(2), before: { $0.announce(9, .of(2)) },
        joined: .preferred),
      Code(
        testDescription: "on another network by its record", read: .of(2), on: 3, before: { _ in },
        joined: .notStored(owner: nil), isStored: false),
      Code(
        testDescription: "dated too far ahead", read: .of(2, at: 3_000_000_000), before: { $0.prefer(.of(2)) },
        joined: .notStored(owner: nil), isStored: false),
      Code(testDescription: "not complete", read: .partial(2, at: 6), before: { _ in }, joined: nil, isStored: false),
    ]) func code(_ row: Code)
  {
    var scene = HomeScene()
    let network = row.on ?? 2
    scene.see(.of(9, on: network))
    row.before(&scene)
    let before = scene.preferred
    #expect(scene.join(9, on: network, row.read) == row.joined)
    #expect((scene.router(9)?.dataset == row.read) == row.isStored)
    #expect((scene.router(9)?.reading?.readAt == scene.now) == row.isStored)
    #expect(scene.preferred?.hasKeys(of: before ?? row.read) ?? true && scene.preferred?.network == before?.network)
    #expect(scene.output.audit.contains(.joined(2, by: 9)) == row.isStored)
  }

  @Test("A router whose code somebody here has used raises no alert about it") func openForCode() {
    var scene = Self.scene()
    scene.see(.of(9, at: 5) { $0.codePort = 1 })
    #expect(scene.alarms == [.of(.credentialSharingOpen, 9)])
    #expect(scene.join(9, on: 1, Self.now) == .preferred && scene.alarms == [])
  }

  @Test("What was read is stored for nobody, and again only where it has changed") func stored() {
    var scene = Self.scene()
    let move = [SecretMove(to: .router(9), from: .input)]
    #expect(scene.read(9, Self.now).secrets == move)
    #expect(scene.output.types == .datasetStored && scene.output.audit == [.credentialsStored(9, .store)])
    let router = scene.router(9)
    #expect(router?.credential == .stored && router?.followsPreferred == true && router?.source == .mdns)
    #expect(router?.owner == nil && router?.team == nil && router?.user == nil)
    scene.wait(seconds: 3_600)
    #expect(scene.read(9, Self.now) == HomeOutput())
    #expect(scene.router(9)?.reading?.readAt == scene.now)
  }

  @Test("A login whose router says the same has that noted, and nothing else") func confirmed() {
    var scene = Self.scene()
    scene.announce(9, Self.now)
    #expect(scene.read(9, Self.now) == HomeOutput())
    #expect(scene.router(9)?.reading?.readAt == scene.now && scene.router(9)?.owner == "otbr")
    scene.announce(9, Self.later)
    #expect(scene.router(9)?.reading?.readAt == nil)
  }

  enum End: CaseIterable { case announced, programStores, otherNetwork, removed, discoveryEnds }

  @Test("What was read gives way, and makes nobody a member who comes after it", arguments: End.allCases) func givesWay(
    _ end: End
  ) {
    var scene = Self.scene()
    scene.handle(.remove(1))
    scene.read(9, Self.now)
    let claim = DatasetSummary.of(1, key: 3, at: 9)
    switch end {
    case .announced: scene.announce(9, claim, from: "other")
    case .programStores: scene.ask(.storeCredentials(9, claim), by: .program(of: "other"))
    case .otherNetwork: scene.see(.of(9, on: 3))
    case .removed: scene.handle(.remove(9))
    case .discoveryEnds: scene.handle(.discoveryEnded)
    }
    #expect(scene.output.secrets.first == SecretMove(to: .router(9), from: .nothing))
    #expect(scene.preferred == Self.now && !scene.alarms.contains(.of(.preferredKeyDisputed)))
    let isClaimed = end == .announced || end == .programStores
    #expect(scene.router(9)?.dataset == (isClaimed ? claim : nil))
    #expect(scene.router(9)?.owner == (isClaimed ? "other" : nil) && scene.router(9)?.reading?.readAt == nil)
    #expect(scene.router(9)?.followsPreferred != true)
  }

  @Test("What was read of a router whose login reports no dataset gives way, too") func announced() {
    var scene = Self.scene()
    scene.announce(9) { $0.thread.network = .number(3) }
    scene.read(9, Self.now)
    #expect(scene.router(9)?.dataset == nil && scene.router(9)?.reading == nil, "it is on network 3")
    scene.announce(8)
    scene.see(.of(8), .of(9))
    scene.read(8, Self.now)
    #expect(scene.router(8)?.dataset == Self.now && scene.router(8)?.owner == nil)
    scene.see(.of(8, on: 3), .of(9))
    #expect(scene.router(8)?.dataset == nil && scene.router(8)?.reading?.readAt == nil)
  }

  @Test("A login cannot take a router off the list that it has not announced") func leaves() {
    var scene = Self.scene()
    scene.read(9, Self.now)
    let before = scene.router(9)
    #expect(scene.publish(.leave, 9, from: "other") { $0.order = .number(1) }.isDuplicate)
    #expect(scene.router(9) == before && scene.router(9)?.dataset == Self.now)
  }

  @Test("A dataset that is not complete takes the place of what was read, whichever comes first") func partial() {
    for isReadFirst in [true, false] {
      var scene = Self.scene()
      if isReadFirst { scene.read(9, Self.now) }
      scene.announce(9, .partial(1, at: 5), from: "other")
      scene.read(9, Self.now)
      #expect(scene.router(9)?.dataset == .partial(1, at: 5) && scene.router(9)?.owner == "other")
    }
  }

  @Test("Routers that were read confirm no key, and repeat no claim that a person has decided") func keys() {
    var scene = Self.scene()
    scene.see(.of(8), .of(9))
    for agent: UInt64 in [8, 9] { scene.read(agent, Self.rekeyed) }
    #expect(scene.preferred == Self.now && scene.alarms.contains(.of(.preferredKeyDisputed)))
    // What a person has decided is not asked again because the routers repeat it.
    scene.command(.setPreferred(.current))
    for agent: UInt64 in [8, 9] { scene.read(agent, Self.rekeyed) }
    #expect(!scene.alarms.contains(.of(.preferredKeyDisputed)))
  }

  @Test("A router that was read and has the current keys counts against others") func against() {
    var scene = Self.scene()
    scene.read(9, Self.now)
    scene.announce(1, Self.rekeyed)
    #expect(scene.preferred == Self.now && scene.alarms.contains(.of(.preferredKeyDisputed)))
    scene.read(9, Self.rekeyed)
    #expect(scene.preferred == Self.rekeyed)
  }

  @Test("Without a preferred network, or its credentials, none is chosen by reading") func choice() {
    for isNamed in [true, false] {
      var scene = HomeScene()
      if isNamed { scene.prefer(network: 1) }
      let before = scene.preferred
      scene.see(.of(8), .of(9))
      for agent: UInt64 in [8, 9] { scene.read(agent, .of(1)) }
      #expect(scene.preferred == before && scene.router(9)?.dataset == .of(1))
    }
  }

  @Test("A router that refuses the PSKc is a mismatch after three tries of two hours") func refused() {
    var scene = Self.scene()
    for (seconds, key, isMismatch) in [
      (0, 1, false), (60, 1, false), (60, 1, false), (7_079, 1, false), (1, 1, true), (1, 2, false), (7_200, 1, false),
      (3_600, 1, false), (3_600, 1, true),
    ] as [(Int, UInt64, Bool)] {
      scene.wait(seconds: seconds)
      scene.read(9, key: key, .refused)
      #expect(scene.verdict(of: 9) == (isMismatch ? .mismatch(.pskc) : .match), "after \(seconds) s")
      #expect(scene.alarms == (isMismatch ? [.of(.preferredNetworkMismatch, 9)] : []))
    }
    #expect(scene.alert(.preferredNetworkMismatch, 9)?.facts.message == .otherCredentials)
    #expect(scene.router(9)?.credential == .missing && scene.router(9)?.reading?.problem == .refused)
    // Silence says nothing.
    scene.read(9, .failed(.noAnswer))
    #expect(scene.verdict(of: 9) == .mismatch(.pskc) && scene.router(9)?.reading?.problem == .noAnswer)
    scene.read(9, Self.now)
    #expect(scene.verdict(of: 9) == .match && scene.alarms == [] && scene.router(9)?.reading?.problem == nil)
  }

  @Test("Refusals long ago, of another network, or of a router with a login are no mismatch") func notRefused() {
    func scene(_ change: (inout HomeScene, Int) -> Void) -> HomeScene {
      var scene = Self.scene()
      for number in 0..<3 {
        change(&scene, number)
        scene.wait(seconds: 3_600)
        scene.read(9, .refused)
      }
      return scene
    }
    for scene in [
      scene { if $1 == 2 { $0.wait(seconds: 90_000) } },
      scene {
        if $1 == 1 {
          $0.see(.of(9, on: 3))
          $0.see(.of(9, at: 5))
        }
      }, scene { if $1 == 0 { $0.announce(9, Self.now) } },
    ] { #expect(scene.verdict(of: 9) == .match && scene.router(9)?.reading?.problem == .refused) }
  }

  @Test("What is pending is known with what changes until it has landed or is withdrawn, and raises an alert")
  func pending() throws {
    var scene = Self.scene()
    func isPending() -> Bool {
      let isShown = scene.home.network(1)?.pending != nil
      #expect(isShown == (scene.router(9)?.reading?.pending != nil))
      #expect(scene.alarms == (isShown ? [.of(.networkChanges)] : []))
      return isShown
    }
    scene.read(9, .datasets(Self.now, pending: .init(Self.later, delay: 58_000)))
    let due = scene.now.adding(seconds: 58)
    let change = try #require(scene.home.network(1)?.pending)
    #expect(change.at == due && change.differs == .channel && change.channel == 20 && isPending())
    let facts = try #require(scene.alert(.networkChanges)?.facts)
    #expect(facts.message == .networkChanges(channel: 20, name: nil) && facts.since == due && facts.differs == .channel)
    scene.tick()
    // Another router that says the same a bit later changes nothing.
    scene.see(.of(8, at: 5), .of(9, at: 5))
    scene.read(8, .datasets(Self.now, pending: .init(Self.later, delay: 58_900)))
    #expect(scene.output.alerts == [:] && scene.router(8)?.reading?.pending?.at == due)
    scene.read(8, Self.now)
    #expect(scene.router(8)?.reading?.pending == nil && isPending())
    scene.tick()
    #expect(scene.due() == 116)
    scene.pass(seconds: 115)
    #expect(isPending())
    scene.pass(seconds: 1)
    #expect(!isPending() && scene.router(9)?.reading?.change == nil)
    scene.read(9, .datasets(Self.now, pending: .init(Self.later, delay: 900_000)))
    #expect(isPending())
    scene.read(9, .failed(.noAnswer))
    #expect(isPending())
    scene.read(9, Self.now)
    #expect(!isPending() && scene.router(9)?.reading?.change == nil)
    scene.read(9, .datasets(Self.now, pending: .init(Self.now, delay: 900_000)))
    #expect(!isPending())
  }

  @Test("A change of a network that is not preferred is shown, and is no alert") func pendingElsewhere() {
    var scene = Self.scene()
    scene.handle(.acceptNetwork(2, isAccepted: true))
    scene.see(.of(8, on: 2), .of(9, at: 5))
    _ = scene.home.takeChanges()
    scene.read(8, on: 2, .datasets(.of(2), pending: .init(.of(2, at: 2, channel: 20), delay: 58_000)))
    #expect(scene.home.network(2)?.pending?.channel == 20 && scene.home.network(1)?.pending == nil)
    #expect(scene.home.changes.networks.contains(2) && scene.alarms == [])
    scene.prefer(.of(2))
    #expect(scene.firing.contains(.of(.networkChanges)))
  }

  @Test("A change stays due in as many seconds when the clock is set") func pendingClock() {
    for jump: Int64 in [-86_400_000, 86_400_000] {
      var scene = Self.scene()
      scene.read(9, .datasets(Self.now, pending: .init(Self.later, delay: 58_000)))
      scene.now = WireTime(milliseconds: scene.now.milliseconds + jump)
      scene.handle(.clockJumped(by: jump))
      #expect(scene.router(9)?.reading?.pending?.at == scene.now.adding(seconds: 58))
    }
  }

  struct Landing: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var pending = ReadingTests.later
    var delay: UInt32 = 58_000
    /// After it was due by the clock of the daemon.
    var meanwhile: @Sendable (inout HomeScene) -> Void = { _ in }
    /// The seconds after which router 1 is behind for people; nil: never.
    let firesAfter: Int?
  }

  @Test(
    "What a change explains is held until it should have landed everywhere",
    arguments: [
      Landing(testDescription: "a router that does not follow", firesAfter: 58),
      Landing(
        testDescription: "after a restart, and without the router that was read",
        meanwhile: {
          $0.restart()
          $0.see()
        }, firesAfter: 58),
      Landing(testDescription: "a router that follows", meanwhile: { $0.announce(1, later) }, firesAfter: nil),
      Landing(testDescription: "a change of something else", pending: .of(1, at: 6, name: "next"), firesAfter: 0),
      Landing(testDescription: "a change in an hour", delay: 3_600_000, firesAfter: 0),
      Landing(
        testDescription: "a change that another one follows again and again",
        meanwhile: { scene in
          for _ in 0..<9 {
            scene.pass(seconds: 6)
            scene.read(9, .datasets(later, pending: .init(now, delay: 30_000)))
          }
        }, firesAfter: 37),
    ]) func held(_ row: Landing)
  {
    var scene = Self.scene()
    scene.see(.of(8, at: 5), .of(9, at: 5))
    scene.read(9, .datasets(Self.now, pending: .init(row.pending, delay: row.delay)))
    scene.pass(seconds: 60)
    scene.read(9, Self.later)
    let start = scene.now
    #expect(scene.preferred == Self.later && scene.alarms.isEmpty == (row.firesAfter != 0))
    row.meanwhile(&scene)
    func isFiring() -> Bool { scene.alarms.contains(.of(.staleDataset, 1)) }
    while scene.now < start.adding(seconds: 80) {
      let seconds = Int(scene.now.milliseconds - start.milliseconds) / 1_000
      #expect(isFiring() == (row.firesAfter.map { seconds >= $0 } ?? false), "after \(seconds) s")
      scene.tick()
    }
  }

  @Test("A change of the Extended PAN ID holds the mismatch of a router that has followed already") func heldElsewhere()
  {
    let next = DatasetSummary.of(2, at: 6)
    let moves: [(UInt64, (inout HomeScene) -> Void)] = [
      (1, { $0.announce(1, next) }), (8, { $0.see(.of(8, on: 2), .of(9, at: 5)) }),
    ]
    for (agent, move) in moves {
      var scene = Self.scene()
      scene.see(.of(8, at: 5), .of(9, at: 5))
      scene.read(9, .datasets(Self.now, pending: .init(next, delay: 58_000)))
      scene.pass(seconds: 60)
      move(&scene)
      for isFiring in [false, true] {
        #expect(scene.alarms.contains(.of(.preferredNetworkMismatch, agent)) == isFiring, "\(agent)")
        scene.pass(seconds: isFiring ? 1 : 59)
      }
    }
  }

  @Test(
    "What was read of a router stays when a login reports another network of it, and goes when that is seen here",
    arguments: [true, false]) func reportedElsewhere(isReported: Bool)
  {
    var scene = Self.scene()
    scene.see(.of(8, at: 5), .of(9, at: 5))
    scene.read(9, Self.now)
    #expect(scene.router(9)?.dataset != nil)
    scene.see(.of(8, at: 5), .of(9, on: 3) { $0.reporter = isReported ? "ha" : nil })
    #expect((scene.router(9)?.dataset != nil) == isReported && scene.output.secrets.isEmpty == isReported)
    #expect(scene.router(9)?.actualNetwork == 3)
  }

  @Test("The next change is announced while many routers still have the one before, which has landed") func next() {
    var scene = Self.scene()
    let agents = UInt64(20)...31
    scene.handle(.sightings(Sightings(agents.map { .of($0, at: 5) })))
    for agent in agents { scene.read(agent, .datasets(Self.now, pending: .init(Self.later, delay: 30_000))) }
    scene.pass(seconds: 30)
    for agent in agents { scene.read(agent, Self.later) }
    #expect(!scene.alarms.contains(.of(.networkChanges)))
    scene.read(20, .datasets(Self.later, pending: .init(Self.now, delay: 300_000)))
    #expect(scene.alarms.contains(.of(.networkChanges)) && scene.home.network(1)?.pending?.channel == 15)
  }

  @Test("A router that has itself another dataset than its login reports is an alert when it is read again")
  func contradicted() throws {
    var scene = Self.scene()
    scene.announce(9, Self.now)
    func isAlert() -> Bool { scene.alarms == [.of(.reportsDiffer, 9)] }
    func contradict(_ dataset: DatasetSummary = Self.later) {
      scene.read(9, dataset)
      scene.wait(seconds: 599)
      scene.read(9, dataset)
      #expect(scene.alarms == [])
      scene.wait(seconds: 1)
      scene.read(9, dataset)
      #expect(isAlert())
    }
    contradict()
    let facts = try #require(scene.alert(.reportsDiffer, 9)?.facts)
    #expect(facts.message == .reportsDiffer && facts.differs == .channel && facts.user == "otbr")
    #expect(scene.router(9)?.dataset == Self.now && scene.preferred == Self.now)
    // The same report again, or one that cannot be read, is no news.
    scene.announce(9, Self.now)
    scene.read(9, .failed(.noAnswer))
    #expect(isAlert())
    scene.read(9, Self.rekeyed)
    #expect(isAlert() && scene.alert(.reportsDiffer, 9)?.facts.differs == .networkKey)
    scene.read(9, Self.now)
    #expect(scene.alarms == [])
    contradict(.of(1, at: 4, channel: 20))
    scene.see()
    #expect(!scene.alarms.contains(.of(.reportsDiffer, 9)))
    scene.see(.of(9, at: 5))
    #expect(isAlert())
    #expect(scene.due() == 86_400)
    scene.pass(seconds: 86_400)
    #expect(scene.alarms == [] && scene.router(9)?.reading?.contradiction == nil)
    contradict()
    scene.announce(9, Self.later)
    #expect(!scene.alarms.contains(.of(.reportsDiffer, 9)) && scene.router(9)?.reading?.contradiction == nil)
  }

  @Test("A router that is read as its login reported it last contradicts nobody, whatever is stored") func restored() {
    var scene = Self.scene()
    scene.announce(9, Self.later)
    scene.announce(1, Self.later)
    scene.announce(9, Self.now)
    for _ in 0..<2 {
      scene.read(9, Self.now)
      scene.wait(seconds: 3_600)
    }
    #expect(scene.alarms == [.of(.staleDataset, 9), .of(.preferredNetworkChanged)])
  }

  @Test("A router is read by the preferred network's PSKc, else by that of the newest dataset") func credentials() {
    var scene = Self.scene()
    scene.announce(2, .of(1, key: 2, at: 9))
    scene.announce(3, .of(2, at: 2))
    scene.share(.of(2, key: 2, at: 3))
    let known = scene.home.credentialsToRead
    #expect(known[1]?.record == .home && known[1]?.pskc == Hash128(high: 2, low: 1))
    #expect(known[2]?.record == .shared("ha", 2) && known[2]?.pskc == Hash128(high: 2, low: 2))
    #expect(known.count == 2)
  }

  @Test("What was read of a router that moves to another id moves along, and nobody is asked for what is nobody's")
  func moved() {
    var scene = HomeScene()
    scene.share(.of(2))
    let place: (inout Advertisement) -> Void = { ($0.endpoint, $0.extendedAddress) = ("10.0.0.7, 49154", 7) }
    scene.see(.of(9, on: 2, place))
    scene.read(9, .of(2, at: 3))
    scene.ask(.getNetwork(2))
    #expect(scene.waiting.last?.subject.networks == [ConsentNetwork(.of(2), of: "ha")])
    scene.see(
      .of(7, 9, on: 2) {
        place(&$0)
        $0.name = "seen 9"
      })
    #expect(scene.output.secrets == [SecretMove(to: .router(7), from: .record(.router(9)))])
    #expect(scene.router(9) == nil && scene.router(7)?.dataset == .of(2, at: 3))
    // Not where its record names another network at the same time.
    scene.see(
      .of(6, 7, on: 3) {
        place(&$0)
        $0.name = "seen 9"
      })
    #expect(scene.output.secrets == [SecretMove(to: .router(7), from: .nothing)])
    #expect(scene.router(7) == nil && scene.router(6)?.dataset == nil && scene.router(6)?.network == 3)
  }
}
