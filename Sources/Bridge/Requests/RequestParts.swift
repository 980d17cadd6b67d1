// SPDX-License-Identifier: Apache-2.0

import CredentialService

/// The parts that requests need beside the store, put together at the root.
package struct RequestParts: Sendable {
  package var gate: any ConsentGate = NobodyConsents()
  package var sealer: any AnswerSealer = NobodyIsEnrolled()
  package var opener: any RequestOpener = NobodyIsEnrolled()

  package init() {}
}
