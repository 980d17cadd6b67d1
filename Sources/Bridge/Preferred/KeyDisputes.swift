// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Members that report other keys than the preferred network has.
struct KeyDisputes {
  let store: ThreadCredentialStore
  let now: WireTime
  let tx: WriteTransaction

  /// Whether a router is a member that claims new keys for the preferred network. Then one alert of the
  /// home is about it, and none of the router.
  func isClaim(
    _ router: RouterRecord, _ dataset: OperationalDataset?, preferred: OperationalDataset?,
    in home: String
  ) throws -> Bool {
    guard let dataset, let preferred, dataset.relation(to: preferred) == .newer,
      !dataset.hasKeys(of: preferred)
    else { return false }
    return try store.readableCredential(of: router.agent, in: home, tx)?.followsPreferred == true
  }

  /// Brings the alert in line with what the members report. Where the other side has gone, the claim counts, and
  /// becomes the preferred network.
  func settle(
    in home: HomeRecord, preferred: OperationalDataset?, homeOption: String
  ) throws -> [Effect] {
    let members = try preferred.map { try store.members(of: $0, in: home.name, tx) }
    guard let preferred, let members,
      let dispute = KeyDispute(preferred: preferred, members: members)
    else { return [.alert(.preferredKeyDisputed, nil, home: home.id)] }
    for claimant in dispute.claimants {
      let router = try RouterLedger.find(claimant.agent, home: home.id, tx)
      guard router?.adoption == nil else { continue }
      let decision = PreferredDecision(
        preferred: preferred, reporter: claimant, isMember: true, change: .keep
      ) {
        members.besides(claimant.agent)
      }
      guard let cause = decision.cause else { continue }
      let former = try store.replacePreferredNetwork(
        of: home.name, to: claimant.dataset, tx)
      let change = PreferredChange(
        from: preferred, to: claimant.dataset, cause: cause, formerID: former)
      var event = EventRecord(time: now, types: .preferredChanged, home: home.id)
      event.router = claimant.agent
      event.network = claimant.dataset.extendedPANID
      event.detail.networkName = claimant.dataset.networkName
      event.detail.differs = claimant.dataset.essentialDifferences(from: preferred)
        .map(\.rawValue)
      return try [
        .preferred(
          change, by: router?.shownName ?? claimant.agent.description, home: home.id),
        .event(event),
      ] + settle(in: home, preferred: claimant.dataset, homeOption: homeOption)
    }
    let notice = DisputeNotice(
      dispute: dispute, preferred: preferred,
      claimants: try dispute.claimants.map { try name(of: $0.agent, in: home) },
      claimantName: try dispute.claimants.first.map {
        try RouterLedger.find($0.agent, home: home.id, tx)?.displayName ?? $0.agent.description
      },
      others: try dispute.others.map { try name(of: $0.agent, in: home) },
      damaged: try dispute.damaged.map {
        try $0.agent.map { try name(of: $0, in: home) } ?? "an unknown border router"
      }, departed: try dispute.departed.map { try name(of: $0, in: home) }, homeOption: homeOption)
    return [.alert(.preferredKeyDisputed, notice.facts, home: home.id)]
  }

  private func name(of agent: BorderAgentID, in home: HomeRecord) throws -> String {
    try RouterLedger.shownName(of: agent, home: home.id, tx)
  }
}
