// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What an import names: one of these.
package struct ImportedName: Codable, Equatable, Sendable {
  /// An item that the store has with other contents.
  package var conflict: ImportConflict?
  /// An enrolled client that comes in.
  package var client: String?
  /// A consent "always" that comes in.
  package var consent: String?

  package init(conflict: ImportConflict? = nil, client: String? = nil, consent: String? = nil) {
    self.conflict = conflict
    self.client = client
    self.consent = consent
  }

  /// Bytes of its texts.
  var length: Int {
    let texts =
      [client, consent, conflict?.item].compactMap { $0 } + (conflict?.differs ?? [])
      + (conflict?.removes ?? [])
    return texts.reduce(64) { $0 + $1.utf8.count + 4 }
  }
}
