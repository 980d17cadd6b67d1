// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension StoreSecret {
  /// Characters of a new passphrase, at least.
  private static let leastCharacters = 8

  /// Whether a key slot may be made of it; what opens a slot that is there may be anything.
  ///
  /// - Throws: `CommandFailure` with status 65: the passphrase is too short, or the path of the key file is relative,
  ///   and the daemon has another working directory than who asks.
  package func checkAsNew() throws(CommandFailure) {
    switch kind {
    case .passphrase where value.count < Self.leastCharacters:
      throw CommandFailure(
        .badInput, "a passphrase has at least \(Self.leastCharacters) characters",
        code: VarlinkError.invalidCode)
    case .keyFile where !value.hasPrefix("/"):
      throw CommandFailure(
        .badInput, "the path of a key file begins with /", code: VarlinkError.invalidCode)
    case .passphraseOrCode:
      throw CommandFailure(.usage, "a new key slot is of a passphrase or of a recovery code")
    case .keyFile, .passphrase, .systemdCredential, .recoveryCode: break
    }
  }
}
