// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit

/// A store on a disk that can fail, with one item that is always at hand and one that a passphrase guards.
package struct GuardedStore {
  package static let passphrase = KeySlotSecret.passphrase(
    SecretBytes(copying: Array("correct horse".utf8)))

  package let disk = FaultyDisk()
  package let store: TemporaryStore
  package var keychain: Keychain { store.keychain }

  package init() throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    options.vfs = disk.name
    options.auditor = "a test"
    store = try TemporaryStore(options: options)
    try keychain.database.write { [keychain = store.keychain] tx in
      for accessible in [Accessibility.afterFirstUnlock, .whenUnlocked] {
        _ = try keychain.add(
          NewItem(
            .genericPassword,
            attributes: [.account: .string("\(accessible)"), .accessGroup: .string("own")],
            secret: SecretBytes(copying: Array("secret".utf8)), accessible: accessible), in: tx)
      }
    }
    try keychain.addKeySlot(Self.passphrase)
  }
}
