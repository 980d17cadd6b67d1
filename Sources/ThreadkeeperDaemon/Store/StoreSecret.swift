// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import SodiumCrypto

/// What opens a key slot, as it goes over the socket.
package struct StoreSecret: Codable, Sendable {
  package enum Kind: String, Codable, Sendable {
    case keyFile = "key_file"
    case passphrase
    case systemdCredential = "systemd_credential"
    case recoveryCode = "recovery_code"
    /// Typed by a person: the one or the other.
    case passphraseOrCode = "passphrase_or_code"
  }

  package var kind: Kind
  /// The passphrase or the code, the path, the name.
  package var value: String

  package init(kind: Kind, value: String) {
    self.kind = kind
    self.value = value
  }

  /// What it may be, the likeliest first.
  package func ways() throws(KeychainError) -> [KeySlotSecret] {
    switch kind {
    case .keyFile: [.keyFile(path: value)]
    case .passphrase: [.passphrase(SecretBytes(copying: Array(value.utf8)))]
    case .systemdCredential: [.systemdCredential(name: value)]
    case .recoveryCode: [.recoveryCode(try Self.code(value))]
    case .passphraseOrCode: try Self.ways(SecretText(value))
    }
  }

  /// Nobody has a passphrase with the check digits of a code, unless it is one.
  package static func ways(_ text: SecretText) throws(KeychainError) -> [KeySlotSecret] {
    let passphrase = KeySlotSecret.passphrase(SecretBytes(copying: Array(text.revealed.utf8)))
    do {
      return [.recoveryCode(try code(text.revealed)), passphrase]
    } catch {
      // Where it looks like one, what is wrong with it is the better answer.
      guard text.revealed.split(separator: "-").map(\.count) == Array(repeating: 5, count: 7) else {
        return [passphrase]
      }
      throw error
    }
  }

  private static func code(_ text: String) throws(KeychainError) -> RecoveryCode {
    try RecoveryCode(typed: text.utf8)
  }
}

extension StoreSecret: CustomStringConvertible, CustomReflectable {
  package var description: String { kind.rawValue }
  package var customMirror: Mirror { Mirror(self, children: ["kind": kind.rawValue]) }
}
