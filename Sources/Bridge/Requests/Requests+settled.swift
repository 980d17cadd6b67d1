// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import CredentialService
import ThreadRequests

/// Answers to requests that have waited for a person.
extension Requests {
  /// - Returns: nil where nobody is there any more to be told.
  /// - Throws: `AnswerFailure`, for who has asked.
  func fulfil(_ one: SettledConsent) throws -> [Effect]? {
    let context = context(of: one)
    let transaction = one.question.request.transaction
    try checkKey(context)
    // It only reads: nothing follows but the answer.
    let data = try service(
      context, LedgerConsentGate(consents, configuration),
      RequestRegistry(ownership, homes: homes)
    ).answer(to: one)
    let answers: [Effect]
    switch context.reply {
    case .topic: answers = try [answer(data, context, transaction)].compactMap { $0 }
    case .caller:
      // As late as can be: whoever has hung up while a person thought is told nothing.
      guard configuration.requests.isAwaited(one.id) else { return nil }
      let answer = ThreadAnswer(data, transaction: transaction)
      answers = [.answer(.caller(id: one.id, answer), isRefusal: false)]
    }
    try consents.noteDisclosure(of: data, by: one)
    return answers
  }

  func refusal(_ failure: AnswerFailure, of one: SettledConsent) -> Effect {
    let answer = ThreadAnswer(failure, transaction: one.question.request.transaction)
    switch one.question.context.reply {
    case .topic(let topic, let correlation):
      return .answer(publication(answer, on: topic, correlation), isRefusal: true)
    case .caller: return .answer(.caller(id: one.id, answer), isRefusal: true)
    }
  }

  private func context(of one: SettledConsent) -> RequestContext {
    var context = one.question.context
    context.now = now.date
    context.patience = Int(RequestReader.patience)
    return context
  }

  /// Whose key was revoked, or is another one than the person was shown, is told nothing.
  private func checkKey(_ context: RequestContext) throws {
    guard case .mqttUser(let user) = context.requester else { return }
    let key = try configuration.requests.sealer.fingerprint(of: user, in: context.home, tx)
    guard let key, key == context.fingerprint else {
      throw AnswerFailure(
        .notEnrolled, "the key that the answer was to be sealed to is not enrolled any more")
    }
  }
}
