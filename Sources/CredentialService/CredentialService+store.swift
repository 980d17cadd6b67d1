// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// `credentials/store` and `credentials/delete`.
extension CredentialService {
  func storeCredentials(_ request: ThreadRequest) throws -> AnswerData {
    guard let agent = request.agent, let incoming = request.dataset else {
      throw AnswerFailure(.invalidPayload, "expected `border_agent_id` and `dataset`")
    }
    if let owner = try store.owner(of: agent, in: home, tx), !isOwn(owner) {
      throw AnswerFailure(
        .notAuthorized, field: "border_agent_id",
        OwnershipAdvice.message(agent, team: context.team, home: home))
    }
    let preferred = try preferredNetwork()
    let credential = try store.credential(of: agent, in: home, tx)
    if credential == nil { try registry.makeRoom(for: agent, context: context) }
    let wasMember = credential.map { isMember($0, of: preferred) } ?? false
    let decided = StoreDecision.change(stored: credential?.dataset, incoming: incoming)
    let leads =
      isOwnerOnMachine
      || Membership.leads(
        stored: credential?.dataset, incoming: incoming, preferred: preferred)
    let change = try movePreferred(
      by: .init(agent: agent, team: context.team, dataset: incoming), decided,
      isMember: wasMember && leads, preferred: preferred)
    let follows = Membership.follows(
      wasMember: wasMember && Membership.stays(leads, dataset: incoming, preferred: preferred),
      dataset: incoming, preferred: change?.to ?? preferred)
    // A change of the preferred network may have marked it anew.
    if let credential = try change == nil
      ? credential : store.credential(of: agent, in: home, tx)
    {
      if decided.isStored {
        try store.update(credential, to: incoming, followsPreferred: follows, tx)
      } else if credential.followsPreferred != follows {
        try store.update(credential, followsPreferred: follows, tx)
      }
    } else {
      try store.add(
        incoming, of: agent, team: context.team, in: home, followsPreferred: follows, tx)
    }
    try registry.stored(
      incoming, decided, of: agent, preferred: change, context: context)

    var data = AnswerData()
    data.change =
      switch decided {
      case .store: .stored
      case .keep: .unchanged
      default: .updated
      }
    data.preferred = PreferredCheck(incoming, preferred: change?.to ?? preferred).answered
    return data
  }

  /// Over MQTT a request counts as an event does: it must not replace the preferred network's keys. A
  /// program on this machine is told apart by the kernel.
  private func movePreferred(
    by reporter: PreferredDecision.Member, _ change: DatasetDecision, isMember: Bool,
    preferred: OperationalDataset?
  ) throws -> PreferredChange? {
    let decision = try PreferredDecision(
      preferred: preferred,
      isForgotten: preferred == nil && store.isPreferredForgotten(in: home, tx),
      reporter: reporter, isMember: isMember, change: change,
      source: isOwnerOnMachine ? .owner : .broker
    ) {
      try preferred.map { try store.members(of: $0, in: home, tx).besides(reporter.agent) }
        ?? PreferredMembers()
    }
    guard let cause = decision.cause else { return nil }
    let former = try store.replacePreferredNetwork(
      of: home, to: reporter.dataset, keepsFormer: cause == .owner, tx)
    return PreferredChange(
      from: preferred, to: reporter.dataset, cause: cause, formerID: former)
  }

  /// Whether a program on this machine stores credentials, which may choose any network. Others were refused
  /// unless their team owns the router.
  private var isOwnerOnMachine: Bool {
    if case .systemUser = context.requester { true } else { false }
  }

  func deleteCredentials(_ request: ThreadRequest) throws -> AnswerData {
    guard let agent = request.agent else {
      throw AnswerFailure(.invalidPayload, field: "border_agent_id", "expected its id")
    }
    // A damaged dataset is no hindrance, so it is not opened.
    guard let team = try store.team(of: agent, in: home, tx) else {
      throw AnswerFailure(
        .notFound, field: "border_agent_id", "no credentials of \(agent) are stored")
    }
    guard context.isAdministrator || isOwn(team) else {
      throw AnswerFailure(
        .notAuthorized, field: "border_agent_id", "this border agent id belongs to another team")
    }
    // Looked for before anything is changed, because they may be damaged.
    _ = try store.formerOwner(of: agent, in: home, tx)
    _ = try preferredNetwork()
    _ = try store.delete(of: agent, in: home, tx)
    try registry.deleted(agent, context: context)
    var data = AnswerData()
    data.deleted = true
    return data
  }

  /// Whether a router belongs to the preferred network. Its stored mark alone may be that of an
  /// earlier one.
  func isMember(
    _ credential: ThreadCredential, of preferred: OperationalDataset?
  ) -> Bool {
    Membership.follows(
      wasMember: credential.followsPreferred, dataset: credential.dataset, preferred: preferred)
  }
}

extension PreferredCheck {
  var answered: AnswerData.Check {
    switch self {
    case .none: .none
    case .match: .match
    case .mismatch, .stale, .conflict: .mismatch
    }
  }
}
