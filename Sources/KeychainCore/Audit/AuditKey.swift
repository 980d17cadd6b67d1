// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The audit key, ready for its two uses: a subkey each (`crypto_kdf`, context "tk-audi1"): number 1
/// seals the records, number 2 keys the hashes that link them.
struct AuditKey {
  static let linkLength = 32

  let id: KeyID
  private let seal: GuardedKey
  private let hash: GuardedKey

  init(_ id: KeyID, _ key: GuardedKey, in arena: KeyArena) throws {
    self.id = id
    seal = try Self.subkey(1, of: key, in: arena)
    hash = try Self.subkey(2, of: key, in: arena)
  }

  func seal(_ plaintext: [UInt8], number: Int64, store: StoreID) throws -> [UInt8] {
    try plaintext.withUnsafeBytes { plaintext in
      try seal.withUnsafeBytes { key in
        try SealedPart.seal(plaintext, at: Self.place(number, store), by: id, key: key)
      }
    }
  }

  func open(_ sealed: [UInt8], number: Int64, store: StoreID) throws -> [UInt8] {
    try sealed.withUnsafeBytes { sealed in
      let count = try SealedPart.plaintextCount(sealed)
      var plaintext = [UInt8](repeating: 0, count: count)
      try plaintext.withUnsafeMutableBytes { output in
        try seal.withUnsafeBytes { key in
          try SealedPart.open(sealed, at: Self.place(number, store), key: key, into: output)
        }
      }
      return plaintext
    }
  }

  /// What the next record says of a sealed one; zeros where there is none before.
  func link(to sealed: [UInt8]?) throws -> [UInt8] {
    var link = [UInt8](repeating: 0, count: Self.linkLength)
    guard let sealed else { return link }
    try link.withUnsafeMutableBytes { output in
      try sealed.withUnsafeBytes { sealed in
        try hash.withUnsafeBytes { try BLAKE2b.hash(sealed, key: $0, into: output) }
      }
    }
    return link
  }

  private static func place(_ number: Int64, _ store: StoreID) -> SealedPart.Place {
    SealedPart.Place(role: .audit, store: store, version: number)
  }

  private static func subkey(
    _ number: UInt64, of key: GuardedKey, in arena: KeyArena
  ) throws -> GuardedKey {
    try arena.key { memory in
      try key.withUnsafeBytes { key in
        try KeyDerivation.derive(number, context: "tk-audi1", from: key, into: memory)
      }
    }
  }
}
