// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Names that follow from the store's keys.
struct Pseudonym {
  let keys: KeyRing
  let changes: StoreChanges

  /// 32 hexadecimal digits that follow from the store's keys and a label, and that nobody computes without the keys.
  ///
  /// They stay the same over restarts, backups and key rotations: they come from the first audit key, which no
  /// rotation removes. It is the root of one subkey for this (`crypto_kdf`, context "tk-pseu1", number 1), which
  /// keys a BLAKE2b-128 of the label.
  ///
  /// - Parameter tx: a store of an early version has no audit key; a write transaction makes it.
  /// - Throws: `decode` when the key is damaged, or missing and `tx` cannot make it.
  func make(for label: String, in tx: ReadTransaction) throws(KeychainError) -> String {
    try KeychainError.wrap("deriving a pseudonym") {
      let first = KeyID(.audit, epoch: 1)
      if let tx = tx as? WriteTransaction, try KeyTable.newest(.audit, in: tx) == nil {
        _ = try keys.current(.audit, changes.ledger(tx), in: tx)
      }
      let root = try keys.key(first, in: tx)
      let subkey = try keys.arena.key { memory in
        try root.withUnsafeBytes { root in
          try KeyDerivation.derive(1, context: "tk-pseu1", from: root, into: memory)
        }
      }
      var output = [UInt8](repeating: 0, count: 16)
      try output.withUnsafeMutableBytes { output in
        try Array(label.utf8).withUnsafeBytes { label in
          try subkey.withUnsafeBytes { try BLAKE2b.hash(label, key: $0, into: output) }
        }
      }
      return output.hexadecimal
    }
  }
}
