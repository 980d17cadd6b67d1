// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings

/// What a store is opened with, or a backup: the same, in the same order.
package enum StoreWays {
  /// What is tried next, from why nothing has opened it yet, and its slots.
  package typealias Further = (KeychainError, [KeySlot]) throws -> [KeySlotSecret]
  /// Asks a person, after the words that it gets; nil where there is no answer.
  package typealias Ask = (String) throws -> SecretText?

  /// Who names a passphrase means it: then nothing else is tried, and a wrong one is said.
  package static func first(_ settings: Settings) throws(KeychainError) -> [KeySlotSecret] {
    if let passphrase = settings.store.passphrase { return try StoreSecret.ways(passphrase) }
    return [.keyFile(path: settings.store.keyFile)]
  }

  /// - Parameter lacksAnswer: whether a passphrase or a recovery code would do, and nobody gave one.
  package static func failure(_ error: KeychainError, lacksAnswer: Bool) -> CommandFailure {
    guard lacksAnswer, error.status == .authFailed else { return CommandFailure(error) }
    return CommandFailure(
      .notPermitted, error.message,
      remedy: "or name a file with its passphrase or recovery code:"
        + " THREADKEEPER_STORE_PASSPHRASE_FILE")
  }

  /// What systemd hands over, then what a person at the terminal says.
  package static func further(
    _ settings: Settings, ask: @escaping Ask
  ) -> [Further] {
    guard settings.store.passphrase == nil else { return [] }
    return [
      { _, slots in
        slots.filter {
          $0.kind == .systemdCredential && SystemdCredential.path($0.label) != nil
        }.map { .systemdCredential(name: $0.label) }
      },
      { refusal, slots in
        guard slots.contains(where: { $0.kind == .passphrase || $0.kind == .recoveryCode }),
          let answer = try ask("\(refusal.message).\n")
        else { return [] }
        return try StoreSecret.ways(answer)
      },
    ]
  }
}
