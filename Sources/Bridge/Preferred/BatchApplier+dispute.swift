// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore
import ThreadDataset

/// Members that report other keys than the preferred network has.
extension BatchApplier {
  /// Looks at the disputes of all homes in which one may have begun or ended.
  func lookAtKeyDisputes() throws {
    for home in servedHomes {
      guard try home.needsKeyLook || home.hasChangedRouters && isKeyDisputed(in: home) else {
        continue
      }
      let before = try preferredNetwork(of: home)
      try settleKeyDispute(in: home)
      if try preferredNetwork(of: home) != before { try recheckRouters(in: home, after: 0) }
    }
  }

  /// Whether a router is a member that claims new keys for the preferred network. Then one alert of the
  /// home says so, and none of the router.
  func claimsKeys(
    _ router: RouterRecord, _ dataset: OperationalDataset?, home: HomeContext
  ) throws -> Bool {
    guard let dataset, let preferred = try preferredNetwork(of: home),
      dataset.relation(to: preferred) == .newer, !dataset.hasKeys(of: preferred)
    else { return false }
    return try readableCredential(of: router.agent, home: home)?.followsPreferred == true
  }

  private func isKeyDisputed(in home: HomeContext) throws -> Bool {
    let fingerprint = AlertFingerprint(
      home: home.record.name, name: .preferredKeyDisputed, subject: "")
    guard let alert = try AlertLedger.find(fingerprint, tx) else { return false }
    return alert.phase != .resolved
  }

  /// Brings the alert in line with what the members report. Where the other side has gone, the claim counts.
  private func settleKeyDispute(in home: HomeContext) throws {
    guard let preferred = try preferredNetwork(of: home) else {
      return try keyDispute(nil, in: home)
    }
    let members = try store.members(of: preferred, in: home.record.name, tx)
    guard let dispute = KeyDispute(preferred: preferred, members: members) else {
      return try keyDispute(nil, in: home)
    }
    for claimant in dispute.claimants {
      let router = try RouterLedger.find(claimant.agent, home: home.record.id, tx)
      guard router?.adoption == nil else { continue }
      let decision = PreferredDecision(
        preferred: preferred, reporter: claimant, isMember: true, change: .keep
      ) {
        members.besides(claimant.agent)
      }
      guard let cause = decision.cause else { continue }
      let name = router?.displayName ?? claimant.agent.description
      try replacePreferred(with: claimant.dataset, cause, by: name, in: home)
      var record = EventRecord(time: now, types: .preferredChanged, home: home.record.id)
      record.router = claimant.agent
      record.network = claimant.dataset.extendedPANID
      record.detail.networkName = claimant.dataset.networkName
      try append(record)
      return try settleKeyDispute(in: home)
    }
    try keyDispute(dispute, in: home)
  }

  private func keyDispute(_ dispute: KeyDispute?, in home: HomeContext) throws {
    var wanted: AlertFacts?
    if let dispute, let preferred = try preferredNetwork(of: home) {
      let notice = try DisputeNotice(
        dispute: dispute, preferred: preferred,
        claimants: dispute.claimants.map { try displayName(of: $0.agent, home: home) },
        others: dispute.others.map { try displayName(of: $0.agent, home: home) },
        damaged: dispute.damaged.map {
          try $0.agent.map { try displayName(of: $0, home: home) } ?? "an unknown border router"
        },
        homeOption: homeOption(home))
      wanted = notice.facts
    }
    try setAlert(.preferredKeyDisputed, wanted, in: home)
  }
}
