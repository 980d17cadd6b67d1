// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import CredentialService
import ThreadRequests

/// Requests, in the order in which they came among the events, and the answers that settled questions owe. Each is a step
/// of its own: if it fails, the rest of the batch is applied.
extension BatchApplier {
  func apply(_ inbound: InboundRequest, _ origin: InboundMessage.Origin) throws {
    store.keychain.act(as: Requester.mqttUser(inbound.user).words, in: tx)
    var transaction = inbound.transaction
    do {
      // What was opened has come, whatever becomes of it: it is answered, and does not count again.
      let fields = try step { try requests.opened(inbound, in: origin.home) }
      transaction = fields.soundTransaction ?? transaction
      try step {
        let fulfilled = try requests.fulfil(inbound, fields, transaction, in: origin.home)
        try apply(fulfilled.effects)
        if let failure = fulfilled.failure { throw failure }
      }
    } catch let failure as AnswerFailure {
      try apply([requests.refusal(failure, of: inbound, transaction)])
    }
  }

  /// Answers those whose questions are settled.
  func answer(_ settled: [SettledConsent]) throws {
    // A question may owe several answers: it is given what was asked for when one of them is.
    var given: Set<String> = []
    var failed: [(id: String, obstacle: ConsentObstacle)] = []
    for one in settled {
      do {
        if let answers = try step({ try requests.fulfil(one) }) {
          try apply(answers)
          given.insert(one.id)
        } else {
          failed.append((one.id, .hungUp))
        }
      } catch let failure as AnswerFailure {
        try apply([requests.refusal(failure, of: one)])
        guard one.refusal == nil else { continue }
        failed.append((one.id, ConsentObstacle(code: failure.code, message: failure.message)))
      }
    }
    for (id, obstacle) in failed where given.insert(id).inserted {
      try apply(consents.noteNotGiven(id, obstacle))
    }
  }
}
