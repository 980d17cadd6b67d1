// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import ThreadDataset

@testable import Home

/// Whatever comes in, what is true of a home stays true.
@Suite struct RandomHomeTests {
  private static let seeds: UInt64 = 8
  /// Of all seeds together. `FUZZ_STEPS=1000000` takes minutes.
  private static let steps =
    ProcessInfo.processInfo.environment["FUZZ_STEPS"].flatMap(Int.init) ?? 12_000

  @Test(
    "After random inputs the home can be read back, alerts have their conditions, counts and secrets are right",
    arguments: 1...seeds)
  func life(_ seed: UInt64) throws {
    var random = RandomHome(seed: seed)
    var scene = HomeScene {
      $0.adoptTimeout = 300
      $0.routersPerTeam = 4
      $0.trustsShared = { $0 == "guest" }
    }
    var records = Records()
    var secrets = Secrets()
    for number in 1...max(1, Self.steps / Int(Self.seeds)) {
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
      try #require(scene.countsAreRight, context())
      try #require(secrets.areThose(of: scene.home), context())
      guard number % 25 == 0 else { continue }
      let read = try records.home(scene.rules)
      try #require(read.looksTheSame(as: scene.home), context())
      // An order names the dataset that it is about, by its hashes; it is not published.
      let published = "\(output.events)\(output.audit)"
      try #require(!published.contains("\(DatasetSummary.Parameters.self)"), context())
      guard number % 500 == 0 else { continue }
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

  mutating func take(
    _ output: HomeOutput, of input: HomeInput, _ changes: Home.Changes, _ home: Home
  ) {
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
    for router in home.routers {
      known[.router(router.agent)] = router.dataset?.parameters?.whole
    }
    for one in home.allShared {
      known[.shared(one.user, one.network)] = one.dataset.parameters?.whole
    }
    return known == sealed
  }
}

extension HomeInput {
  fileprivate var dataset: DatasetSummary? {
    switch self {
    case .message(let message, _): message.dataset
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
    }
    a.routers = RouterTable()
    b.routers = RouterTable()
    a.signers = [:]
    b.signers = [:]
    return a == b && a.movedTo == b.movedTo
      && a.routersWithAlerts == b.routersWithAlerts
  }
}

extension HomeScene {
  /// Alerts of routers whose conditions hold while they are not active, or the other way round.
  fileprivate var missingAlerts: [AlertKey] {
    var wrong: [AlertKey] = []
    for router in home.routers {
      let conditions = RouterAlerts(
        router: router, check: PreferredCheck(router, preferred: home.preferred?.dataset),
        preferred: home.preferred?.dataset, trigger: .start, lastSeen: now, currentName: nil,
        isExplainedByHome: home.isExplained(router),
        isNetworkAccepted: home.isOnAcceptedNetwork(
          router, PreferredCheck(router, preferred: home.preferred?.dataset)))
      for name in AlertName.ofRouters {
        let key = AlertKey(name, .router(router.agent))
        let holds = router.isPresent && conditions.facts(name) != nil
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
    check(
      .noPreferredNetwork, home.preferred == nil && home.routers.contains(where: \.isPresent))
    check(.homeMoved, home.destination != nil)
    let claims = home.preferred.map { preferred in
      home.members(of: preferred.dataset).present.contains {
        preferred.dataset.hasCredentials && $0.dataset.relation(to: preferred.dataset) == .newer
          && !$0.dataset.hasKeys(of: preferred.dataset)
      }
    }
    check(.preferredKeyDisputed, claims == true)
    // Nothing is due for what is shared, and no question waits that is none.
    var settled = home
    settled.step.needsSharedCheck = true
    settled.settlePreferredByShared()
    settled.settleShared()
    if settled.preferred != home.preferred { wrong.append(AlertKey(.preferredNetworkChanged)) }
    wrong += Set(home.alerts.keys).union(settled.alerts.keys).filter {
      home.isActive($0) != settled.isActive($0)
    }
    for question in home.questions
    where question.subject.command == .accept && home.waiting(question.id) != nil
      && settled.waiting(question.id) == nil
    {
      wrong.append(AlertKey(.homeAssistantDiffers))
    }
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
    var (a, b) = (counted, home.routers)
    a.findShown()
    b.findShown()
    return a.counts == b.counts && a.counts.seen <= Home.mostDiscovered
      && a.counts.ids.values.allSatisfy { $0 <= rules.routersPerTeam }
  }
}
