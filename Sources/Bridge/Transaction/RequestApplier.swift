// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadRequests

/// Requests over MQTT, in the order in which they came among the events. Each is a step of its own: if it fails, the
/// rest of the batch is applied.
struct RequestApplier {
  let context: TransactionContext
  let effects: EffectApplier

  private var step: TransactionStep {
    TransactionStep(context: context, progress: effects.progress)
  }

  func apply(_ inbound: InboundRequest, _ origin: InboundMessage.Origin) throws {
    let requests = context.requests
    context.store.keychain.act(as: Requester.mqttUser(inbound.user).words, in: context.tx)
    var transaction = inbound.transaction
    do {
      // What was opened has come, whatever becomes of it: it is answered, and does not count again.
      let fields = try step.run { try requests.opened(inbound, in: origin.home) }
      transaction = fields.soundTransaction ?? transaction
      try step.run {
        let fulfilled = try requests.fulfil(inbound, fields, transaction, in: origin.home)
        try effects.apply(fulfilled.effects)
        if let failure = fulfilled.failure { throw failure }
      }
    } catch let failure as AnswerFailure {
      try effects.apply([requests.refusal(failure, of: inbound, transaction)])
    }
  }
}
