// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import CredentialService
import ThreadRequests

/// The answers that settled questions owe. Each is made in a step of its own.
struct SettledAnswers {
  let requests: Requests
  let step: TransactionStep

  func effects(of settled: [SettledConsent]) throws -> [Effect] {
    var effects: [Effect] = []
    // A question may owe several answers: it is given what was asked for when one of them is.
    var given: Set<String> = []
    var failed: [(id: String, obstacle: ConsentObstacle)] = []
    for one in settled {
      do {
        if let answers = try step.run({ try requests.fulfil(one) }) {
          effects += answers
          given.insert(one.id)
        } else {
          failed.append((one.id, .hungUp))
        }
      } catch let failure as AnswerFailure {
        effects.append(requests.refusal(failure, of: one))
        guard one.refusal == nil else { continue }
        failed.append((one.id, ConsentObstacle(code: failure.code, message: failure.message)))
      }
    }
    for (id, obstacle) in failed where given.insert(id).inserted {
      effects += try requests.consents.noteNotGiven(id, obstacle)
    }
    return effects
  }
}
