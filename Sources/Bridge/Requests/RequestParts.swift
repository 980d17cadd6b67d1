// SPDX-License-Identifier: Apache-2.0

import CredentialService

/// The parts that requests need beside the store, put together at the root.
package struct RequestParts: Sendable {
  /// Nil: the ledger of consent, where people decide.
  package var gate: (any ConsentGate & Sendable)?
  package var sealer: any AnswerSealer = NobodyIsEnrolled()
  package var opener: any RequestOpener = NobodyIsEnrolled()
  /// Whether anybody waits on a connection for this consent, who would be told. Nobody is told what
  /// nobody waits for, so it is not noted as told either.
  package var isAwaited: @Sendable (_ consent: String) -> Bool = { _ in false }
  /// The transactions of those who wait on connections for this consent.
  package var transactions: @Sendable (_ consent: String) -> [String] = { _ in [] }

  package init() {}

  /// Has these callers looked at.
  mutating func reach(_ callers: WaitingCallers) {
    isAwaited = { callers.isAwaited($0) }
    transactions = { callers.transactions(of: $0) }
  }
}
