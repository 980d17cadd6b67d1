// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import ThreadRequests

/// From a question of the service to a request of the ledger, and back when it is over: it may have
/// been asked by a process that is no more.
extension ConsentRequest {
  init(_ question: ConsentQuestion) {
    let context = question.context
    self.init(
      ConsentSubject(
        home: context.home, command: question.request.command.rawValue,
        networks: question.networks),
      by: ConsentRequester(
        context.requester, team: context.team, userName: context.userName,
        program: context.program, fingerprint: context.fingerprint),
      reply: ConsentReply(context.reply, transaction: question.request.transaction))
  }
}

extension EndedConsent {
  /// One for each answer that is owed.
  func settled(_ now: WireTime) -> [SettledConsent] {
    // A command of a later version is none that this one could fulfil.
    guard let command = RequestCommand(rawValue: record.subject.command) else { return [] }
    return replies.map { reply in
      var request = ThreadRequest(command)
      request.home = record.subject.home
      request.transaction = reply.transaction
      if command == .getNetwork { request.network = record.subject.onlyNetwork }
      var context = RequestContext(
        requester: record.requester.identity, team: record.requester.team,
        home: record.subject.home, reply: reply.address, now: now.date)
      context.fingerprint = record.requester.fingerprint
      context.userName = record.requester.userName
      context.program = record.requester.program
      return SettledConsent(
        id: record.id.description,
        question: ConsentQuestion(
          context: context, request: request, networks: record.subject.networks),
        refusal: refusal)
    }
  }

  private var refusal: AnswerFailure? {
    switch record.outcome {
    case .approved: nil
    case .denied: AnswerFailure(.consentDenied, "a person has refused it")
    case .expired, .revoked: AnswerFailure(.consentExpired, "nobody has decided in time")
    }
  }
}
