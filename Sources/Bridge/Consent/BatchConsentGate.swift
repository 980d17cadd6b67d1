// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import CredentialService
import SQLiteDatabase
import ThreadRequests

/// Asks the ledger, and tells the broker and the log what it says. Lives as long as its batch.
struct BatchConsentGate: ConsentGate {
  let batch: BatchApplier

  func judge(_ question: ConsentQuestion, _ tx: WriteTransaction) throws -> ConsentVerdict {
    let request = ConsentRequest(question)
    do {
      switch try batch.consents.ask(request, now: batch.now.milliseconds, tx) {
      case .granted(let grant):
        batch.granted = GrantedDisclosure(request: request, grant: grant.id)
        return .granted
      case .pending(let pending, let isNew):
        if isNew { try batch.tell(pending) }
        return .pending(id: pending.id.description)
      }
    } catch let refusal as ConsentRefusal {
      return .refused(AnswerFailure(refusal))
    }
  }

  func settle(_ decision: ConsentDecision, _ tx: WriteTransaction) throws -> [SettledConsent] {
    let approver = try approver(decision)
    do {
      try checkHome(decision, tx)
      let ended =
        decision.approves
        ? try batch.approve(
          decision.id, decision.scope == .always ? .always : .once, by: approver)
        : try batch.deny(decision.id, by: approver)
      return ended.settled(batch.now)
    } catch let refusal as ConsentRefusal {
      throw AnswerFailure(refusal)
    }
  }

  func waiting(_ context: RequestContext, _ tx: WriteTransaction) throws -> [WaitingQuestion] {
    let requester = ConsentRequester(.init(context.requester), team: context.team)
    return try batch.consents.pending(now: batch.now.milliseconds, tx)
      .filter { $0.requester.isSameParty(as: requester) && $0.subject.home == context.home }
      .map { question($0, isToldAll: context.isAdministrator) }
  }

  /// Before anything is looked up, so that nobody else learns which ids there are.
  private func approver(_ decision: ConsentDecision) throws -> ConsentApprover {
    switch decision.by {
    case .mqttUser(let name):
      guard batch.configuration.isApprover(name) else {
        throw AnswerFailure(
          .notAuthorized, "only users in `consent.approvers` decide over MQTT")
      }
      guard decision.isSigned || !batch.configuration.approversMustSign else {
        throw AnswerFailure(
          .notAuthorized, field: "sealed",
          "decisions must be sealed and signed with an enrolled key, unless "
            + "`consent.approvers_trust` says otherwise")
      }
      return .mqttUser(name, team: batch.configuration.team(name))
    case .systemUser(let number):
      guard decision.isAdministrator else {
        throw AnswerFailure(.notAuthorized, "only the daemon's own user and root decide here")
      }
      return .commandLine(user: number)
    }
  }

  /// Who speaks in one home does not decide in another.
  private func checkHome(_ decision: ConsentDecision, _ tx: ReadTransaction) throws {
    guard let home = decision.home else { return }
    let waiting = try batch.consents.pending(now: batch.now.milliseconds, tx)
    if let other = waiting.first(where: { $0.id.description == decision.id }),
      other.subject.home != home
    {
      throw AnswerFailure(
        .staleID, field: "id", "no request \(decision.id) waits for consent in this home")
    }
  }

  private func question(_ pending: PendingConsent, isToldAll: Bool) -> WaitingQuestion {
    let named =
      pending.subject.command == RequestCommand.getNetwork.rawValue
      ? pending.subject.onlyNetwork : nil
    let id = pending.id.description
    return WaitingQuestion(
      id: id, command: pending.subject.command, extendedPANID: named?.description,
      expiresAt: WireTime(milliseconds: pending.expires).description,
      transactions: pending.replies.compactMap(\.transaction)
        + batch.configuration.requests.transactions(id),
      reason: isToldAll ? batch.reason(of: pending) : nil)
  }
}

extension AnswerFailure {
  /// The codes are the same.
  init(_ refusal: ConsentRefusal) {
    let code = AnswerCode(rawValue: refusal.code.rawValue) ?? .conflict
    self.init(code, field: code == .staleID ? "id" : nil, refusal.message)
  }
}
