// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// Whatever comes in, what is true of a home stays true.
@Suite struct RandomHomeTests {
  @Test(
    "Random inputs: the home that is read back equals the one in memory, and its alerts have their conditions",
    arguments: 1...8)
  func life(_ seed: Int) throws {
    var random = RandomHome(seed: UInt64(seed))
    var scene = HomeScene {
      $0.adoptTimeout = 300
      $0.routersPerTeam = 4
    }
    var records = Records()
    for number in 1...1_500 {
      scene.wait(seconds: random.pause())
      let input = random.input(for: scene.home, at: scene.now)
      scene.handle(input)
      try records.write(scene.home.takeChanges(), of: scene.home)
      let context = Comment(rawValue: "seed \(seed), input \(number): \(input)")
      try #require(scene.missingAlerts.isEmpty, context)
      try #require(scene.wrongHomeAlerts == [], context)
      try #require(scene.countsAreRight, context)
      if number % 25 == 0 {
        let read = try records.home(scene.rules)
        try #require(read.looksTheSame(as: scene.home), context)
      }
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
