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
    let wasMember = credential.map { isMember($0, of: preferred) } ?? false
    let decision = StoreDecision(
      stored: credential?.dataset, incoming: incoming, preferred: preferred, isMember: wasMember)

    var change: PreferredChange?
    if decision.preferred != .keep {
      try store.setPreferredNetwork(of: home, to: incoming, tx)
      change = PreferredChange(from: preferred, to: incoming)
    }
    let follows = Membership.follows(
      wasMember: wasMember, dataset: incoming, preferred: change?.to ?? preferred)
    if let credential {
      if decision.change.isStored {
        try store.update(credential, to: incoming, followsPreferred: follows, tx)
      } else if credential.followsPreferred != follows {
        try store.update(credential, followsPreferred: follows, tx)
      }
    } else {
      try store.add(
        incoming, of: agent, team: context.team, in: home, followsPreferred: follows, tx)
    }
    try registry.stored(
      incoming, decision.change, of: agent, preferred: change, context: context)

    var data = AnswerData()
    data.change =
      switch decision.change {
      case .store: .stored
      case .keep: .unchanged
      default: .updated
      }
    data.preferred = PreferredCheck(incoming, preferred: change?.to ?? preferred).answered
    return data
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
