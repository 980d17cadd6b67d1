// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import ThreadRequests

/// Answers to requests that have waited for a person.
extension Requests {
  /// - Returns: nil where no caller waits for the answer any more.
  /// - Throws: `AnswerFailure`, for the requester.
  func fulfil(_ one: SettledConsent) throws -> [Effect]? {
    let context = context(of: one)
    let transaction = one.question.request.transaction
    try checkKey(context)
    // It only reads: nothing follows but the answer.
    let data = try service(
      context, LedgerConsentGate(consents, configuration, parts),
      RequestRegistry(ownership, homes: homes)
    ).answer(to: one)
    let answers: [Effect]
    switch context.reply {
    case .topic: answers = try [answer(data, context, transaction)].compactMap { $0 }
    case .caller:
      // As late as can be: a caller that has hung up meanwhile is given nothing.
      guard parts.isAwaited(one.id) else { return nil }
      let answer = ThreadAnswer(data, transaction: transaction)
      answers = [.answer(.caller(id: one.id, answer), isRefusal: false)]
    }
    try consents.noteDisclosure(of: data, by: one)
    return answers
  }

  func refusal(_ failure: AnswerFailure, of one: SettledConsent) -> Effect {
    let answer = ThreadAnswer(failure, transaction: one.question.request.transaction)
    switch one.question.context.reply {
    case .topic(let topic): return .answer(publication(answer, to: topic), isRefusal: true)
    case .caller: return .answer(.caller(id: one.id, answer), isRefusal: true)
    }
  }

  private func context(of one: SettledConsent) -> RequestContext {
    var context = one.question.context
    context.now = now.date
    context.timeout = Int(RequestReader.timeout)
    return context
  }

  /// A requester whose key was revoked, or is another one than the person was shown, is given nothing.
  private func checkKey(_ context: RequestContext) throws {
    guard case .mqttUser(let user) = context.requester else { return }
    let key = try parts.sealer.fingerprint(of: user, in: context.home, tx)
    guard let key, key == context.fingerprint else {
      throw AnswerFailure(
        .notEnrolled, "the key that the answer was to be sealed to is not enrolled any more")
    }
  }
}
