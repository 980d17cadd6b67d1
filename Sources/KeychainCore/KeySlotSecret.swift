// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// What opens a key slot.
package enum KeySlotSecret: Sendable {
  /// A file with 32 random octets: one line of 64 hexadecimal digits, mode 0400. `Keychain.create`
  /// and `addKeySlot` make it when there is none.
  case keyFile(path: String)
  case passphrase(SecretBytes)

  /// The passphrase in the first line of a file that nobody else can read.
  package static func passphrase(inFile path: String) throws(KeychainError) -> KeySlotSecret {
    .passphrase(try PassphraseFile.read(path))
  }

  var kind: KeySlot.Kind {
    switch self {
    case .keyFile: .keyFile
    case .passphrase: .passphrase
    }
  }
}
