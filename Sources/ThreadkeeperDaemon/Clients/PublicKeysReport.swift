// SPDX-License-Identifier: Apache-2.0

import SealedEnvelope

/// What is public of a client's or the daemon's keys.
package struct PublicKeysReport: Codable, Sendable {
  package var line: String
  package var fingerprint: String
  package var keyFile: String?

  package init(_ keys: PublicIdentity, keyFile: String? = nil) {
    line = keys.line
    fingerprint = keys.fingerprint
    self.keyFile = keyFile
  }
}
