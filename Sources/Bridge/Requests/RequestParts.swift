// SPDX-License-Identifier: Apache-2.0

import CredentialService

/// The parts that requests need beside the store, put together at the root.
package struct RequestParts: Sendable {
  /// Nil: the ledger of consent, where people decide.
  package var gate: (any ConsentGate & Sendable)?
  package var sealer: any AnswerSealer = NobodyIsEnrolled()
  package var opener: any RequestOpener = NobodyIsEnrolled()

  package init() {}
}
