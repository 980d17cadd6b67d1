// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import CredentialService
import ThreadRequests

/// Answers to requests that have waited for a person.
extension BatchApplier {
  /// Answers those whose questions are settled.
  func answer(_ settled: [SettledConsent]) throws {
    // A question may owe several answers: it is given what was asked for when one of them is.
    var given: Set<String> = []
    var failed: [(id: String, obstacle: ConsentObstacle)] = []
    for one in settled {
      do {
        if try step({ try fulfil(one) }) {
          given.insert(one.id)
        } else {
          failed.append((one.id, .hungUp))
        }
      } catch let failure as AnswerFailure {
        refuse(one, failure)
        guard one.refusal == nil else { continue }
        failed.append((one.id, ConsentObstacle(code: failure.code, message: failure.message)))
      }
    }
    for (id, obstacle) in failed where given.insert(id).inserted {
      try apply(consents.noteNotGiven(id, obstacle))
    }
  }

  /// - Returns: false where nobody is there any more to be told.
  private func fulfil(_ one: SettledConsent) throws -> Bool {
    let context = context(of: one)
    let transaction = one.question.request.transaction
    try checkKey(context)
    // It only reads: nothing follows but the answer.
    let data = try service(
      context, LedgerConsentGate(consents, configuration),
      RequestRegistry(ownership, homes: homeRecords)
    ).answer(to: one)
    switch context.reply {
    case .topic: try answer(data, context, transaction)
    case .caller:
      // As late as can be: whoever has hung up while a person thought is told nothing.
      guard configuration.requests.isAwaited(one.id) else { return false }
      outcome.answers.append(.caller(id: one.id, ThreadAnswer(data, transaction: transaction)))
      outcome.counts.requestsAnswered += 1
    }
    try consents.noteDisclosure(of: data, by: one)
    return true
  }

  private func refuse(_ one: SettledConsent, _ failure: AnswerFailure) {
    let answer = ThreadAnswer(failure, transaction: one.question.request.transaction)
    switch one.question.context.reply {
    case .topic(let topic, let correlation): publish(answer, on: topic, correlation)
    case .caller: outcome.answers.append(.caller(id: one.id, answer))
    }
    outcome.counts.requestsRefused += 1
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
