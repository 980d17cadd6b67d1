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
    // Before the dataset is opened: what is damaged of another team's is not for the requester to know.
    if let owner = try store.owner(of: agent, in: home, tx), !isOwn(owner) {
      throw AnswerFailure(
        .notAuthorized, field: "border_agent_id",
        OwnershipAdvice.message(agent, home: home))
    }
    let credential = try store.credential(of: agent, in: home, tx)
    let preferred = try preferredNetwork()
    guard
      isOwnerOnMachine
        || !Membership.isTooFarAhead(
          incoming, preferred: preferred, now: Int64(context.now.timeIntervalSince1970))
    else {
      throw AnswerFailure(
        .conflict, field: "dataset",
        "its active timestamp is more than a year ahead of the clock",
        help: "`threadkeeper preferred set` takes it, if it is the right one")
    }
    if credential == nil { try registry.makeRoom(for: agent, context: context) }
    let decided = StoreDecision.change(stored: credential?.dataset, incoming: incoming)
    // Over MQTT a request counts as an event does: it must not replace the preferred network's keys. Of a program on
    // this machine the kernel says whose it is.
    let change = try ReportedDataset(
      incoming, of: agent, in: home, team: context.team, change: decided,
      source: isOwnerOnMachine ? .owner : .broker
    ).save(over: credential, preferred: preferred, in: store, tx)
    try registry.stored(
      incoming, decided, of: agent, preferred: change, context: context)

    var data = AnswerData()
    data.change =
      switch decided {
      case .store: .stored
      case .keep: .unchanged
      default: .updated
      }
    data.preferred =
      PreferredCheck.answer(about: incoming, preferred: change?.to ?? preferred).answered
    return data
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
