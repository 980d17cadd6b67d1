// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService

/// What requests need beside the store and the settings.
package struct RequestParts: Sendable {
  /// Nil: the ledger of consent, where people decide.
  package var gate: (any ConsentGate & Sendable)?
  package var sealer: any AnswerSealer = NoEnrolledClients()
  package var opener: any RequestOpener = NoEnrolledClients()
  /// Whether a caller waits on a connection for this consent. Where none does, nothing is given, and nothing is noted
  /// as given.
  package var isAwaited: @Sendable (_ consent: String) -> Bool = { _ in false }
  /// The transactions of the callers that wait on connections for this consent.
  package var transactions: @Sendable (_ consent: String) -> [String] = { _ in [] }

  /// Whether buttons in Home Assistant were altered a moment ago: what a person has pressed may say something else.
  package var refusesButtons: @Sendable (WireTime) -> Bool = { _ in false }

  package init() {}

  /// Connects the callers that wait.
  mutating func reach(_ callers: WaitingCallers) {
    isAwaited = { callers.isAwaited($0) }
    transactions = { callers.transactions(of: $0) }
  }
}
