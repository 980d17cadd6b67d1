// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Whether what is reported of a router changes the preferred network of its home.
///
/// | the dataset that comes | what follows |
/// |---|---|
/// | no network is preferred, and no person has forgotten one | `establish` |
/// | of the network that is preferred by its Extended PAN ID alone, and a router of another team reports the same | `follow(.confirmed)` |
/// | of a router that is no member | `keep` |
/// | a program of the owning team stores it on this machine | `follow(.owner)` |
/// | another Extended PAN ID, or no later timestamp | `keep` |
/// | the same keys | `follow(.sameKeys)` |
/// | other keys, of the only member, no damaged credentials name the network, and no router that left had the current key | `follow(.onlyMember)` |
/// | other keys, which a second member reports too: of another team, where another team has members, damaged credentials or routers that left | `follow(.confirmed)` |
/// | other keys otherwise | `dispute` |
package enum PreferredDecision: Hashable, Sendable {
  /// A border router that belongs to the preferred network.
  package struct Member: Hashable, Sendable {
    package var agent: BorderAgentID
    package var team: String
    package var dataset: OperationalDataset

    package init(agent: BorderAgentID, team: String, dataset: OperationalDataset) {
      self.agent = agent
      self.team = team
      self.dataset = dataset
    }
  }

  /// Where the report comes from.
  package enum Source: Hashable, Sendable {
    /// The broker: an event, or a request.
    case broker
    /// A program on this machine, of the team that owns the router. Apple documents that a change under
    /// a Border Agent ID of the preferred network changes the preferred network.
    case owner
  }

  case keep
  /// The first network of the home becomes the preferred one.
  case establish
  case follow(PreferredCause)
  /// Nothing changes until another member confirms the new keys, or a person decides.
  case dispute

  /// Why the preferred network changes; nil where it does not.
  package var cause: PreferredCause? {
    switch self {
    case .keep, .dispute: nil
    case .establish: .first
    case .follow(let cause): cause
    }
  }

  /// - Parameters:
  ///   - isForgotten: a person has decided that no network is preferred.
  ///   - reporter: the router, with the dataset that is reported of it.
  ///   - change: what becomes of that dataset in the router's own credentials.
  ///   - others: all other members, or, of a network that is preferred by its Extended PAN ID alone, all others that
  ///     have credentials of it; asked for only when the keys differ.
  package init(
    preferred: OperationalDataset?, isForgotten: Bool = false, reporter: Member, isMember: Bool,
    change: DatasetDecision, source: Source = .broker, others: () throws -> PreferredMembers
  ) rethrows {
    let incoming = reporter.dataset
    guard change.isStored || change == .keep else {
      self = .keep
      return
    }
    guard let preferred else {
      self = isForgotten ? .keep : .establish
      return
    }
    guard preferred.hasCredentials else {
      self = try Self.confirmation(of: reporter, named: preferred, others)
      return
    }
    guard isMember else {
      self = .keep
      return
    }
    if source == .owner {
      self = change.isStored ? .follow(.owner) : .keep
      return
    }
    guard incoming.relation(to: preferred) == .newer else {
      self = .keep
      return
    }
    if incoming.hasKeys(of: preferred) {
      self = change.isStored ? .follow(.sameKeys) : .keep
      return
    }
    self = Self.confirmation(of: reporter, among: try others(), preferred: preferred)
  }

  /// Nobody has the keys yet that a report could be compared with.
  private static func confirmation(
    of reporter: Member, named preferred: OperationalDataset,
    _ others: () throws -> PreferredMembers
  ) rethrows -> PreferredDecision {
    guard reporter.dataset.extendedPANID == preferred.extendedPANID else { return .keep }
    let second = try others().readable.first {
      $0.dataset.essentialDifferences(from: reporter.dataset).isEmpty
        && !$0.team.utf8.elementsEqual(reporter.team.utf8)
    }
    return second.map { .follow(.confirmed(by: $0.agent)) } ?? .keep
  }

  private static func confirmation(
    of reporter: Member, among others: PreferredMembers, preferred: OperationalDataset
  ) -> PreferredDecision {
    // What is damaged may be the credentials of a member that uses the current keys.
    guard !others.isEmpty else { return .follow(.onlyMember) }
    func isOwn(_ other: Member) -> Bool { other.team.utf8.elementsEqual(reporter.team.utf8) }
    let isOneTeam = others.belong(to: reporter.team)
    let second = others.readable.first {
      $0.dataset.relation(to: preferred) == .newer
        && $0.dataset.essentialDifferences(from: reporter.dataset).isEmpty
        && (isOneTeam || !isOwn($0))
    }
    return second.map { .follow(.confirmed(by: $0.agent)) } ?? .dispute
  }
}
