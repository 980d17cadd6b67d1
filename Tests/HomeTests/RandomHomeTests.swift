import Foundation
import Testing

@testable import Home

/// Whatever comes in, what is true of a home stays true.
@Suite struct RandomHomeTests {
  /// Of sixty lives, those that together reach most code of a home: more than 12,000 inputs of the first eight do.
  private static let seeds: [UInt64] = [2, 3, 12, 28, 36, 42, 47, 53]
  /// Of all lives together. `FUZZ_STEPS=1000000` takes minutes.
  private static let steps = ProcessInfo.processInfo.environment["FUZZ_STEPS"].flatMap(Int.init) ?? 4_000

  @Test(
    "After random inputs the home can be read back, alerts have their conditions, counts and secrets are right",
    arguments: seeds) func life(_ seed: UInt64) throws
  {
    var random = RandomHome(seed: seed)
    var scene = HomeScene {
      $0.settings.adoptTimeout = 300
      $0.settings.routersPerTeam = 4
      $0.settings.trusted = ["guest"]
    }
    var records = Records()
    var secrets = Secrets()
    for number in 1...max(1, Self.steps / Self.seeds.count) {
      scene.wait(seconds: random.pause())
      let input = random.input(for: scene.home, at: scene.now)
      let output = scene.handle(input)
      let changes = scene.home.takeChanges()
      try records.write(changes, of: scene.home)
      secrets.take(output, of: input, changes, scene.home)
      // Only where it is needed: it takes longer than the input.
      func context() -> Comment { "seed \(seed), input \(number): \(input)" }
      try #require(scene.missingAlerts.isEmpty, context())
      try #require(scene.wrongHomeAlerts == [], context())
      try #require(scene.countsAreRight && scene.waitsAreRight, context())
      try #require(secrets.areThose(of: scene.home), context())
      let preferred = scene.preferred
      try #require(preferred?.hasCredentials != true || preferred?.isComplete == true, context())
      guard number % 25 == 0 else { continue }
      let read = try records.home(scene.rules)
      try #require(read.looksTheSame(as: scene.home), context())
      // An order names the dataset that it is about, by its hashes; it is not published.
      let published = "\(output.events)\(output.audit)"
      try #require(!published.contains("\(DatasetSummary.Parameters.self)"), context())
      guard number % 250 == 0 else { continue }
      // Another process continues.
      scene.home = read
      scene.handle(.started)
      let late = scene.home.takeChanges()
      try records.write(late, of: scene.home)
      secrets.take(scene.output, of: .started, late, scene.home)
      try #require(scene.wrongHomeAlerts == [] && scene.missingAlerts.isEmpty, context())
    }
  }
}

/// What is sealed under which record: here the hash of the whole dataset stands for it.
private struct Secrets {
  private var sealed: [RecordKey: Hash128] = [:]

  mutating func take(_ output: HomeOutput, of input: HomeInput, _ changes: Home.Changes, _ home: Home) {
    for move in output.secrets {
      sealed[move.to] =
        switch move.from {
        case .nothing: nil
        case .input: input.dataset?.parameters?.whole
        case .record(let key): sealed[key]
        }
    }
    for key in changes.records where home.record(key) == nil { sealed[key] = nil }
  }

  /// Whether each dataset that a home knows is there, and nothing else.
  func areThose(of home: Home) -> Bool {
    var known: [RecordKey: Hash128] = [:]
    known[.home] = home.preferred?.dataset.parameters?.whole
    for former in home.former { known[.former(former.id)] = former.dataset.parameters?.whole }
    for router in home.routers { known[.router(router.agent)] = router.dataset?.parameters?.whole }
    for one in home.allShared { known[.shared(one.user, one.network)] = one.dataset.parameters?.whole }
    return known == sealed
  }
}

extension HomeInput {
  fileprivate var dataset: DatasetSummary? {
    switch self {
    case .message(let message, _): message.dataset
    case .reading(let result): if case .datasets(let active, _) = result.outcome { active } else { nil }
    case .request(.storeCredentials(_, let dataset), _): dataset
    case .request(.setPreferred(.dataset(let dataset)), _): dataset
    default: nil
    }
  }
}

/// What is on disk, in the order in which it was first written.
private struct Records {
  private var bytes: [RecordKey: (order: Int, bytes: [UInt8])] = [:]
  private var last = 0

  mutating func write(_ changes: Home.Changes, of home: Home) throws {
    for key in changes.records {
      guard let record = home.record(key) else {
        bytes[key] = nil
        continue
      }
      last += 1
      bytes[key] = (bytes[key]?.order ?? last, record)
    }
  }

  func home(_ rules: HomeRules) throws -> Home {
    var home = Home(rules: rules)
    for (key, record) in bytes.sorted(by: { $0.value.order < $1.value.order }) {
      #expect(try home.load(record.bytes) == key)
    }
    home.finishLoading()
    return home
  }
}

extension Home {
  /// Equal in all but numbers and signs of life, which are saved with the next change.
  fileprivate func looksTheSame(as other: Home) -> Bool {
    var (a, b) = (self, other)
    guard a.routers.count == b.routers.count,
      a.routers.allSatisfy({ b.routers[$0.agent]?.looksTheSame(as: $0) == true })
    else { return false }
    for one in a.allShared + b.allShared {
      a.shared[one.network]?[one.user]?.order = SequenceWindow()
      b.shared[one.network]?[one.user]?.order = SequenceWindow()
      a.shared[one.network]?[one.user]?.reportedAt = one.createdAt
      b.shared[one.network]?[one.user]?.reportedAt = one.createdAt
    }
    for (user, named) in a.agents {
      for (name, one) in named {
        a.agents[user]?[name]?.order = SequenceWindow()
        b.agents[user]?[name]?.order = SequenceWindow()
        b.agents[user]?[name]?.reportedAt = one.reportedAt
        b.agents[user]?[name]?.workedAt = one.workedAt
      }
    }
    a.routers = RouterTable()
    b.routers = RouterTable()
    a.signers = [:]
    b.signers = [:]
    return a == b && a.movedTo == b.movedTo && a.isPreferredEmpty == b.isPreferredEmpty
      && a.routersWithAlerts == b.routersWithAlerts
  }
}

extension HomeScene {
  /// Alerts of routers whose conditions hold while they are not active, or the other way round.
  fileprivate var missingAlerts: [AlertKey] {
    var wrong: [AlertKey] = []
    for router in home.routers {
      let conditions = RouterAlerts(
        router: StoredRouter(router), check: PreferredCheck(router, preferred: home.preferred?.dataset),
        preferred: home.preferred?.dataset, trigger: .silence, lastSeen: now, currentName: nil,
        isExplainedByHome: home.isExplained(router), isAwayTogether: home.isAwayTogether(router),
        isAccepted: !home.verdict(of: router).isMismatch, hasOthers: false)
      let holding = Set(conditions.holding().map(\.name))
      for name in AlertName.ofRouters {
        let key = AlertKey(name, .router(router.agent))
        let holds = router.isPresent && holding.contains(name)
        if holds != home.isActive(key) { wrong.append(key) }
      }
    }
    for key in home.alerts.keys where home.isActive(key) {
      if case .router(let agent) = key.subject, home.routers[agent] == nil { wrong.append(key) }
    }
    return wrong
  }

  /// The same of alerts of the home.
  fileprivate var wrongHomeAlerts: [AlertKey] {
    var wrong: [AlertKey] = []
    func check(_ name: AlertName, _ holds: Bool) {
      if holds != home.isActive(AlertKey(name)) { wrong.append(AlertKey(name)) }
    }
    check(.noPreferredNetwork, home.preferred == nil && home.routers.contains(where: \.isPresent))
    check(.homeMoved, home.destination != nil)
    check(.preferredNetworkEmpty, home.isNobodyThere)
    check(.homeOffline, !home.goneTogether.isEmpty)
    let pending = home.routers.contains {
      $0.isPresent && $0.reading?.pending.map { $0.network == home.preferred?.dataset.network } == true
    }
    check(.networkChanges, pending)
    let claims = home.preferred.map { preferred in
      home.members(of: preferred.dataset).present.contains {
        preferred.dataset.hasCredentials && $0.dataset.relation(to: preferred.dataset) == .newer
          && !$0.dataset.hasKeys(of: preferred.dataset)
      }
    }
    check(.preferredKeyDisputed, claims == true)
    // Nothing is due for what is shared, and no question waits that is none.
    var settled = home
    settled.needs.sharedCheck = true
    settled.checkPreferredByShared()
    settled.checkShared()
    if settled.preferred != home.preferred { wrong.append(AlertKey(.preferredNetworkChanged)) }
    wrong += Set(home.alerts.keys).union(settled.alerts.keys).filter { home.isActive($0) != settled.isActive($0) }
    for question in home.questions
    where question.subject.command == .accept && home.waiting(question.id) != nil && settled.waiting(question.id) == nil
    { wrong.append(AlertKey(.homeAssistantDiffers)) }
    guard !home.discovery.needsSplitCheck else { return wrong }
    var copy = home
    copy.checkSplits()
    return wrong
      + Set(home.alerts.keys).union(copy.alerts.keys).filter {
        $0.name == .networkSplit && home.isActive($0) != copy.isActive($0)
      }
  }

  fileprivate var countsAreRight: Bool {
    var counted = RouterTable()
    for router in home.routers { counted.set(router, firstSeen: now) }
    let (a, b) = (counted, home.routers)
    return a.counts == b.counts && a.counts.seen <= Home.mostDiscovered
      && a.counts.ids.values.allSatisfy { $0 <= rules.settings.routersPerTeam }
  }

  /// Whether the table finds each router for which the clock may have something to do.
  fileprivate var waitsAreRight: Bool {
    let routers = home.routers
    let waiting = Set(routers.waiting.map(\.agent))
    let silent = Set(routers.silent(since: now.adding(seconds: 1)).map(\.agent))
    return routers.allSatisfy { router in
      let waits = home.isAdoptionDue(of: router) || router.hasLeft || router.reading?.endsAt != nil
      let isAwaited = router.isPresent && router.isReached && router.beats
      return (!waits || waiting.contains(router.agent)) && silent.contains(router.agent) == isAwaited
    } && routers.longestSilent == silent.map { routers.lastSeen($0) }.min()
  }
}

/// Random lives of routers that are asked about, sent for, and report what they like.
@Suite struct AdoptionLifeTests {
  private static let agents: [UInt64] = [1, 3, 4]

  @Test("Whatever happens while routers are adopted, state, question, message and alert agree", arguments: 1...6)
  func life(_ seed: Int) throws {
    var random = RandomHome(seed: UInt64(seed))
    var scene = HomeScene.adopting()
    var approved = 0
    var seen: Set<AdoptionState> = []
    for step in 1...600 {
      act(&scene, &random, &approved)
      scene.live(Int.random(in: 0...2, using: &random))
      let context: Comment = "seed \(seed), step \(step)"
      for agent in Self.agents {
        guard let router = scene.router(agent) else { continue }
        let adoption = router.adoption
        if let state = adoption?.state { seen.insert(state) }
        #expect(isConsistent(router, scene), context)
        let alert = scene.alert(.adoptionFailed, agent)
        #expect((alert?.phase == .firing) == (adoption?.state.hasFailed == true && router.isPresent), context)
      }
      // What waits is what some router waits for.
      let awaited = Set(scene.home.routers.compactMap { $0.adoption?.terms?.consent })
      #expect(scene.waiting.allSatisfy { awaited.contains($0.id) }, context)
      // Nothing is given without an approval, and nothing twice by the same but for "always".
      let granted = scene.home.decisions.filter { $0.scope == .always }.map(\.grant)
      let once = scene.givenBy.filter { id in !granted.contains(id) }
      #expect(once.count <= approved && Set(once).count == once.count, context)
    }
    #expect(seen.contains(.asked) && seen.count > 3, "little happened: \(seen)")
  }

  private func isConsistent(_ router: Router, _ scene: HomeScene) -> Bool {
    guard let adoption = router.adoption else { return true }
    guard router.isPresent, let terms = adoption.terms else { return router.isPresent && !adoption.state.needsKey }
    switch adoption.state {
    case .due, .notEnrolled, .damagedKeys: return false
    // The tick that makes it expire has not come, or it waits.
    case .asked: return scene.home.questions.contains { $0.id == terms.consent }
    case .agreed: return terms.message == 0
    case .sent: return terms.message != 0 && terms.reported == router.dataset
    default: return true
    }
  }

  private func act(_ scene: inout HomeScene, _ random: inout RandomHome, _ approved: inout Int) {
    func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }
    func dataset() -> DatasetSummary { .of(pick([1, 1, 2, 2]), at: pick([1, 2, 5]), channel: pick([15, 15, 20])) }
    let agent = pick(Self.agents)
    let user = pick(["anna", "ben"] as [ExactName])
    switch Int.random(in: 0..<20, using: &random) {
    case 0...4:
      scene.announce(agent, dataset(), from: user) {
        $0.thread.state = pick([nil, .router, .detached])
        $0.adoptionFailure = pick([nil, nil, .refused, .pendingChange])
      }
    case 5: scene.announce(agent, from: user)
    case 6: scene.publish(.leave, agent, from: user)
    case 7: scene.publish(pick([.heartbeat, .offline]), agent, from: user)
    case 8: scene.publish(.ssid, agent, from: user) { $0.ssid = pick(["a", "b"]) }
    case 9...11:
      approved += scene.waiting.isEmpty ? 0 : 1
      scene.approve(pick([.once, .once, .once, .always]))
    case 12: scene.deny()
    case 13: scene.live(pick([30, 30, 130, 320]))
    case 14: scene.forgetDeliveries()
    case 15: scene.arrive()
    case 16: scene.store(dataset())
    case 17: scene.prefer(pick([.of(1, at: 5), .of(1, at: 5), .of(1, at: 5), dataset()]))
    case 18: if let grant = scene.home.grants.first { scene.decide(.revoke(grant: grant.id)) }
    default:
      scene.connection = pick([nil, 1, 2])
      switch pick([0, 1, 1, 2]) {
      case 0: scene.revoke("anna", forgets: true)
      case 1: scene.enroll("anna", fingerprint: pick(["one", "two"]))
      default: scene.decide(.askAgain(.number(agent)))
      }
    }
  }
}
