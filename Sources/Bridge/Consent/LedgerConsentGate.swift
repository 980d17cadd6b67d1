// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import SQLiteDatabase
import ThreadRequests

/// Asks the ledger of consent for one request, and collects what follows from that.
final class LedgerConsentGate: ConsentGate {
  private let consents: Consents
  private let configuration: BridgeConfiguration
  private let parts: RequestParts
  /// In order.
  private(set) var effects: [Effect] = []
  /// The grant by which the request is answered. For the audit, when the answer is made.
  private(set) var granted: GrantedDisclosure?

  init(_ consents: Consents, _ configuration: BridgeConfiguration, _ parts: RequestParts) {
    self.consents = consents
    self.parts = parts
    self.configuration = configuration
  }

  func judge(_ question: ConsentQuestion, _ tx: WriteTransaction) throws -> ConsentVerdict {
    let request = ConsentRequest(question)
    do {
      let (outcome, effects) = try consents.ask(request)
      self.effects += effects
      switch outcome {
      case .granted(let grant):
        granted = GrantedDisclosure(request: request, grant: grant.id)
        return .granted
      case .pending(let pending, _): return .pending(id: pending.id.description)
      }
    } catch let refusal as ConsentRefusal {
      return .refused(AnswerFailure(refusal))
    }
  }

  /// Those that are settled are answered with the other effects.
  func settle(_ decision: ConsentDecision, _ tx: WriteTransaction) throws {
    let approver = try approver(decision)
    do {
      try checkHome(decision)
      let ended = try consents.decide(
        decision.id, decision.approves ? decision.scope : nil, by: approver)
      effects.append(.ended(ended))
    } catch let refusal as ConsentRefusal {
      throw AnswerFailure(refusal)
    }
  }

  func requireDecider(_ decision: ConsentDecision) throws { _ = try approver(decision) }

  func waiting(_ context: RequestContext, _ tx: WriteTransaction) throws -> [WaitingQuestion] {
    let requester = ConsentRequester(context.requester, team: context.team)
    return try consents.pending()
      .filter { $0.requester.isSameParty(as: requester) && $0.subject.home == context.home }
      .map { question($0, namesNetworks: context.isAdministrator) }
  }

  /// Before anything is looked up, so that no other user learns which ids there are.
  private func approver(_ decision: ConsentDecision) throws -> ConsentApprover {
    switch decision.by {
    case .mqttUser(let name):
      let isApprover = configuration.isApprover(name)
      let isHomeAssistant = configuration.homeAssistant.decides(as: name)
      guard isApprover || isHomeAssistant else {
        throw AnswerFailure(
          .notAuthorized,
          "only users in `consent.approvers`, and the one in `home_assistant.login`, decide over MQTT"
        )
      }
      let isTrusted = isApprover && (decision.isSigned || !configuration.approversMustSign)
      guard isTrusted || isHomeAssistant else {
        throw AnswerFailure(
          .notAuthorized, field: "sealed",
          "decisions must be sealed and signed with an enrolled key, unless "
            + "`consent.approvers_trust` says otherwise")
      }
      if !isTrusted { try checkExtent(decision) }
      if isHomeAssistant, !decision.isSigned { try checkButton(decision) }
      return .mqttUser(name, team: configuration.team(name))
    case .systemUser(let number):
      guard decision.isAdministrator else {
        throw AnswerFailure(.notAuthorized, "only the daemon's own user and root decide here")
      }
      return .commandLine(user: number)
    }
  }

  /// Home Assistant decides as far as `home_assistant.consent` goes, and once. An id that does not wait is
  /// left to the ledger, which knows what became of it.
  private func checkExtent(_ decision: ConsentDecision) throws {
    guard !decision.approves || decision.scope == .once else {
      throw AnswerFailure(
        .notAuthorized, field: "scope", "through Home Assistant a request is approved once only")
    }
    let asked = try consents.pending().first { $0.id.description == decision.id }
    guard let asked, asked.subject.home == decision.home,
      !configuration.homeAssistant.covers(asked.subject)
    else { return }
    throw AnswerFailure(
      .notAuthorized, field: "id",
      "Home Assistant decides about adoptions only. Decide with `threadkeeper consent approve \(decision.id)`, or "
        + "set `home_assistant.consent: all`")
  }

  /// Who alters what a button publishes has a person decide about something else. So a token is needed, and nothing is
  /// decided by buttons for a minute after a device was altered.
  private func checkButton(_ decision: ConsentDecision) throws {
    // The ledger knows what became of another id.
    guard try consents.pending().contains(where: { $0.id.description == decision.id }) else {
      return
    }
    guard configuration.buttonTokens.isValid(decision.token, for: decision.id) else {
      throw AnswerFailure(
        .notAuthorized, field: "token",
        "this is not the token of the request in `bridge/consent`: press the button that is shown now"
      )
    }
    guard !parts.refusesButtons(consents.now) else {
      throw AnswerFailure(
        .notAuthorized,
        "another client has altered a device of threadkeeper in Home Assistant (`DiscoveryAltered`): decide in a "
          + "minute, or with `threadkeeper consent approve \(decision.id)`")
    }
  }

  /// A login of one home does not decide in another.
  private func checkHome(_ decision: ConsentDecision) throws {
    guard let home = decision.home else { return }
    let waiting = try consents.pending()
    if let other = waiting.first(where: { $0.id.description == decision.id }),
      other.subject.home != home
    {
      throw AnswerFailure(
        .staleID, field: "id", "no request \(decision.id) waits for consent in this home")
    }
  }

  private func question(_ pending: PendingConsent, namesNetworks: Bool) -> WaitingQuestion {
    let named =
      pending.subject.command == RequestCommand.getNetwork.rawValue
      ? pending.subject.onlyNetwork : nil
    let id = pending.id.description
    return WaitingQuestion(
      id: id, command: pending.subject.command, extendedPANID: named?.description,
      expiresAt: WireTime(milliseconds: pending.expires).description,
      transactions: pending.replies.compactMap(\.transaction)
        + parts.transactions(id),
      reason: namesNetworks ? pending.reason(namingHome: configuration.topics.homes.count > 1) : nil
    )
  }
}

extension AnswerFailure {
  /// The codes are the same.
  init(_ refusal: ConsentRefusal) {
    let code = AnswerCode(rawValue: refusal.code.rawValue) ?? .conflict
    self.init(code, field: code == .staleID ? "id" : nil, refusal.message)
  }
}
