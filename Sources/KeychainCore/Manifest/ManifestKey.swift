// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The manifest key, ready for its two uses. No key serves two primitives, so each use has a subkey
/// (`crypto_kdf`, context "tk-mani1"): number 1 seals the row, number 2 keys the hashes of the sum.
struct ManifestKey {
  let id: KeyID
  let seal: GuardedKey
  let sum: GuardedKey

  init(_ id: KeyID, _ key: GuardedKey, in arena: KeyArena) throws {
    self.id = id
    seal = try Self.subkey(1, of: key, in: arena)
    sum = try Self.subkey(2, of: key, in: arena)
  }

  private static func subkey(
    _ number: UInt64, of key: GuardedKey, in arena: KeyArena
  ) throws -> GuardedKey {
    try arena.key { memory in
      try key.withUnsafeBytes { key in
        try KeyDerivation.derive(number, context: "tk-mani1", from: key, into: memory)
      }
    }
  }
}
