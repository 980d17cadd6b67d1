// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import ThreadDataset

/// A dataset that is reported of a border router, by an event or a request: here it becomes what is stored for the
/// router, and perhaps the preferred network of the home.
package struct ReportedDataset {
  package let agent: BorderAgentID
  package let home: String
  /// Whose credentials they are.
  package let team: String
  package let dataset: OperationalDataset
  /// What becomes of it in the router's own credentials.
  package let change: DatasetDecision
  package let source: PreferredDecision.Source

  package init(
    _ dataset: OperationalDataset, of agent: BorderAgentID, in home: String, team: String,
    change: DatasetDecision, source: PreferredDecision.Source = .broker
  ) {
    self.dataset = dataset
    self.agent = agent
    self.home = home
    self.team = team
    self.change = change
    self.source = source
  }

  /// Writes what follows from it.
  ///
  /// - Parameters:
  ///   - stored: the router's credentials so far.
  ///   - preferred: the preferred network so far.
  /// - Returns: how the preferred network has changed; nil where it has not.
  package func save(
    over stored: ThreadCredential?, preferred: OperationalDataset?, in store: ThreadCredentialStore,
    _ tx: WriteTransaction
  ) throws -> PreferredChange? {
    let wasMember = stored.map { $0.isMember(of: preferred) } ?? false
    let leads =
      source == .owner
      || Membership.leads(stored: stored?.dataset, incoming: dataset, preferred: preferred)
    let moved = try movePreferred(
      from: preferred, isMember: wasMember && leads, in: store, tx)
    // A change of the preferred network marks its members again.
    let current = moved == nil ? stored : try store.credential(of: agent, in: home, tx)
    let now = moved?.to ?? preferred
    let kept = change.isStored ? dataset : stored?.dataset ?? dataset
    let follows = Membership.follows(
      wasMember: wasMember && Membership.stays(leads, dataset: kept, preferred: now),
      dataset: kept, preferred: now)
    guard let current else {
      guard change.isStored else { return moved }
      try store.add(dataset, of: agent, team: team, in: home, followsPreferred: follows, tx)
      return moved
    }
    if change.isStored {
      try store.update(current, to: dataset, followsPreferred: follows, tx)
    } else if change == .keep, current.followsPreferred != follows {
      try store.update(current, followsPreferred: follows, tx)
    }
    return moved
  }

  private func movePreferred(
    from preferred: OperationalDataset?, isMember: Bool, in store: ThreadCredentialStore,
    _ tx: WriteTransaction
  ) throws -> PreferredChange? {
    let decision = try PreferredDecision(
      preferred: preferred,
      isForgotten: preferred == nil && store.isPreferredForgotten(in: home, tx),
      reporter: .init(agent: agent, team: team, dataset: dataset), isMember: isMember,
      change: change, source: source
    ) {
      try preferred.map { try others(on: $0, in: store, tx).besides(agent) } ?? PreferredMembers()
    }
    guard let cause = decision.cause else { return nil }
    let former = try store.replacePreferredNetwork(
      of: home, to: dataset, tx)
    return PreferredChange(from: preferred, to: dataset, cause: cause, formerID: former)
  }

  private func others(
    on preferred: OperationalDataset, in store: ThreadCredentialStore, _ tx: ReadTransaction
  ) throws -> PreferredMembers {
    guard !preferred.hasCredentials, let network = preferred.extendedPANID else {
      return try store.members(of: preferred, in: home, tx)
    }
    return PreferredMembers(
      try store.all(in: home, on: network, tx).readable.map {
        .init(agent: $0.agent, team: $0.team, dataset: $0.dataset)
      })
  }
}

extension ThreadCredential {
  /// Whether the router belongs to a preferred network. Its stored mark alone may be that of an earlier one.
  package func isMember(of preferred: OperationalDataset?) -> Bool {
    Membership.follows(wasMember: followsPreferred, dataset: dataset, preferred: preferred)
  }
}
