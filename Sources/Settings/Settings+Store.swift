// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// Where the encrypted store and what belongs to it lie. Three places apart from each other.
  package struct Store: Sendable, Equatable {
    /// Directory of the store.
    package var path: String
    /// File with the key that opens the store; never inside `path`.
    package var keyFile: String
    /// A passphrase or a recovery code that opens the store, instead of the key file.
    package var passphrase: SecretText?

    /// - Parameter keyFile: nil is the file beside the store.
    package init(path: String, keyFile: String? = nil) {
      self.path = path
      self.keyFile = keyFile ?? path + ".key"
    }

    /// Directory of the anchor, which shows when the store was rolled back.
    package var anchorPath: String { path + ".anchor" }
  }
}
