// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// Where the encrypted store and what belongs to it lie. Three places apart from each other.
  package struct Store: Sendable, Equatable {
    /// Directory of the store.
    package var path: String
    /// File with the key that opens the store; never inside `path`.
    package var keyFile: String
    /// Directory for the anchor, which shows when the store was rolled back; never inside `path`.
    package var anchorPath: String
    /// A passphrase or a recovery code that opens the store, instead of the key file.
    package var passphrase: SecretText?
    /// After so many seconds without use, what is accessible "when unlocked" is locked. 0 = never.
    package var lockAfterSeconds: Int = 0

    package init(path: String, keyFile: String, anchorPath: String) {
      self.path = path
      self.keyFile = keyFile
      self.anchorPath = anchorPath
    }

    /// The places beside a store that nothing else was said about.
    package init(path: String) {
      self.init(path: path, keyFile: path + ".key", anchorPath: path + ".anchor")
    }
  }
}
