// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset

/// What a router's events, and a change of what is stored of it, mean for its adoption.
extension Adoptions {
  /// Brings a router's adoption in line with what holds now.
  ///
  /// - Parameters:
  ///   - reported: what the router itself reports that it uses.
  ///   - isRaised: whether the alert of a router's mismatch fires; asked only where it has no adoption.
  func check(
    _ router: inout RouterRecord, _ check: PreferredCheck, reported: OperationalDataset?,
    preferred: OperationalDataset?, isRaised: (RouterRecord) throws -> Bool, isSSIDNew: Bool,
    in home: String
  ) throws -> [Effect] {
    let isEnabled = configuration.adoptTimeout != nil
    guard router.adoption != nil || isEnabled && check.isMismatch else { return [] }
    var machine = AdoptionMachine(nil, nil)
    var counting: Adoption?
    if router.adoption != nil {
      machine = try self.machine(of: router, in: home)
      counting = machine.record
      if router.adoption == .sent,
        try !machine.isAwaited(dataset(of: router.agent, in: home))
      {
        counting = nil
      }
    }
    var now: AdoptionSituation?
    if let reported, let preferred {
      let (user, key) = try sealer.addressee(of: router, counting, in: home)
      now = AdoptionSituation(preferred: preferred, reported: reported, user: user, key: key)
    }
    let found = AdoptionCheck(
      isEnabled: isEnabled, check: check, before: counting.map(AdoptionSituation.init),
      now: now, isRaised: try router.adoption == nil && isRaised(router), isSSIDNew: isSSIDNew)
    // The row of a router that was lost and made again has no state, while the sealed record may be there.
    if router.adoption == nil, AdoptionDecision(nil, found) == .begin {
      machine = try self.machine(of: router, in: home)
    }
    return try apply(machine.handle(.checked(found)), &machine, to: &router, in: home)
  }

  /// The alert of its mismatch was raised.
  func mismatchRaised(of agent: BorderAgentID, home: Int64) throws {
    guard var router = try RouterLedger.find(agent, home: home, tx), router.isAnnounced,
      router.adoption == nil
    else { return }
    var machine = AdoptionMachine(router.adoption, nil)
    _ = machine.handle(.mismatchRaised)
    router.adoption = machine.state
    try RouterLedger.update(router, tx)
  }

  /// Its router is gone, or another team's.
  func end(_ router: inout RouterRecord, in home: String) throws -> [Effect] {
    guard router.adoption != nil else { return [] }
    var machine = try machine(of: router, in: home)
    return try apply(machine.handle(.removed), &machine, to: &router, in: home)
  }

  /// Judges a reported dataset. It is compared with what is stored, like any other, whatever the result is.
  ///
  /// - Returns: nil where the report does not count.
  func judge(
    _ incoming: OperationalDataset?, failure: AdoptionState? = nil, of router: inout RouterRecord,
    preferred: OperationalDataset?, in home: String
  ) throws -> AdoptionReport? {
    guard let incoming, router.adoption?.mayBeConfirmed == true else { return nil }
    var machine = try machine(of: router, in: home)
    guard let record = machine.record else { return nil }
    let isAwaited =
      try router.adoption == .sent && machine.isAwaited(dataset(of: router.agent, in: home))
    let report = AdoptionReport(
      incoming, sent: record.preferred, preferred: preferred, before: record.reported,
      isAttached: router.isAttached(to: incoming.extendedPANID))
    guard machine.counts(report, isAwaited: isAwaited) else { return nil }
    // The order is sent again, and the change may end in time: only in the last minute that reason is final.
    let isEarly =
      failure == .pendingChange && report != .disagreement
      && record.deadline - now.milliseconds > 60_000
    let effects = machine.handle(
      .reported(report, isAwaited: isAwaited, failure: isEarly ? nil : failure))
    _ = try apply(effects, &machine, to: &router, in: home)
    return report
  }

  /// A router that is configured with what it was sent may report later, in a heartbeat, that it is attached.
  func judgeHeartbeat(
    of router: inout RouterRecord, preferred: OperationalDataset?, in home: String
  ) throws {
    guard router.adoption != nil, router.threadState != nil || router.currentNetwork != nil else {
      return
    }
    let dataset = try dataset(of: router.agent, in: home)
    _ = try judge(dataset, of: &router, preferred: preferred, in: home)
  }

  /// Notes what the router reports, once it is stored.
  ///
  /// - Parameter reported: what is stored for it now.
  func note(
    _ report: AdoptionReport?, of router: RouterRecord, reported: OperationalDataset?,
    in home: String
  ) throws {
    guard let report, report != .confirmed, let reported else { return }
    var machine = try machine(of: router, in: home)
    let effects = machine.handle(.stored(reported, after: report))
    _ = try perform(effects, &machine, of: router, in: home)
  }

  /// The login that it was to be sent to, for the alert about an adoption that has failed.
  func addressee(ofFailed router: RouterRecord, in home: String) throws -> String? {
    guard router.adoption?.hasFailed == true else { return nil }
    return try record(of: router.agent, in: home)?.user
  }

  private func apply(
    _ effects: [AdoptionEffect], _ machine: inout AdoptionMachine, to router: inout RouterRecord,
    in home: String
  ) throws -> [Effect] {
    let following = try perform(effects, &machine, of: router, in: home)
    router.adoption = machine.state
    return following
  }
}
