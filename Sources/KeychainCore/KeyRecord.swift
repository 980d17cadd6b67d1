// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// A key as it lies in the `keys` table: sealed by a subkey of its wrapper, which is one of the
/// root keys (`crypto_kdf`, subkey number = the purpose of what is wrapped, context "tk-wrap1").
/// Nothing is derived from a root but these, so every key can be renewed alone. For class keys of
/// this device only, the subkey is hashed once more, under the device key: it takes both.
enum KeyRecord {
  static func wrap(
    _ key: GuardedKey, id: KeyID, store: StoreID, by wrapperID: KeyID, wrapper: GuardedKey,
    device: GuardedKey? = nil
  ) throws -> [UInt8] {
    try withSubkey(of: wrapper, device, for: id) { subkey in
      try withScratchMemory(XChaCha20Poly1305.nonceLength) { nonce in
        RandomOctets.fill(nonce)
        return try key.withUnsafeBytes { octets in
          try SealedPart.seal(
            octets, at: place(id, store), by: wrapperID, key: subkey,
            nonce: UnsafeRawBufferPointer(nonce))
        }
      }
    }
  }

  static func unwrap(
    _ wrapped: UnsafeRawBufferPointer, id: KeyID, store: StoreID, wrapper: GuardedKey,
    device: GuardedKey? = nil, in arena: KeyArena
  ) throws -> GuardedKey {
    guard try SealedPart.plaintextCount(wrapped) == KeyArena.keyLength else {
      throw SodiumError.notAuthentic
    }
    return try withSubkey(of: wrapper, device, for: id) { subkey in
      try arena.key { memory in
        try SealedPart.open(wrapped, at: place(id, store), key: subkey, into: memory)
      }
    }
  }

  private static func place(_ id: KeyID, _ store: StoreID) -> SealedPart.Place {
    SealedPart.Place(
      role: .keyRecord, store: store, subject: ItemID(high: 0, low: UInt64(id.rawValue)))
  }

  private static func withSubkey<R>(
    of wrapper: GuardedKey, _ device: GuardedKey?, for id: KeyID,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    let length = KeyArena.keyLength
    return try withScratchMemory(2 * length) { memory in
      let subkey = UnsafeMutableRawBufferPointer(rebasing: memory[..<length])
      try wrapper.withUnsafeBytes { root in
        try KeyDerivation.derive(
          UInt64(id.purpose.rawValue), context: "tk-wrap1", from: root, into: subkey)
      }
      guard let device else { return try body(UnsafeRawBufferPointer(subkey)) }
      let both = UnsafeMutableRawBufferPointer(rebasing: memory[length...])
      try device.withUnsafeBytes { key in
        try BLAKE2b.hash(UnsafeRawBufferPointer(subkey), key: key, into: both)
      }
      return try body(UnsafeRawBufferPointer(both))
    }
  }
}
