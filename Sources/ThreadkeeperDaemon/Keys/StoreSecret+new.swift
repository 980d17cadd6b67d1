// SPDX-License-Identifier: Apache-2.0

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
        .badInput, "a passphrase has at least \(Self.leastCharacters) characters")
    case .keyFile where !value.hasPrefix("/"):
      throw CommandFailure(.badInput, "the path of a key file begins with /")
    case .keyFile, .passphrase, .systemdCredential, .recoveryCode, .passphraseOrCode: break
    }
  }
}
