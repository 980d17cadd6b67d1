// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// A key as it lies in the `keys` table: sealed by a subkey of its wrapper, which is one of the
/// root keys (`crypto_kdf`, subkey number = the purpose of what is wrapped, context "tk-wrap1").
/// Nothing is derived from a root but these, so every key can be renewed alone.
///
/// For class keys of this device only, what is sealed like that is `device key id 16 | sealed part`
/// (`DeviceKey`), and the inner part is the key, sealed by the subkey hashed once more under the device
/// key: it takes both, and the wrong device key is told from a record that was altered.
enum KeyRecord {
  static func wrap(
    _ key: GuardedKey, id: KeyID, store: StoreID, by wrapperID: KeyID, wrapper: GuardedKey,
    device: GuardedKey? = nil
  ) throws -> [UInt8] {
    try withSubkey(of: wrapper, for: id) { subkey in
      guard let device else {
        return try key.withUnsafeBytes { try seal($0, id, store, by: wrapperID, key: subkey) }
      }
      let inner = try DeviceKey.withSubkey(subkey, under: device) { both in
        try key.withUnsafeBytes { try seal($0, id, store, by: .none, key: both) }
      }
      return try (DeviceKey.id(of: device) + inner).withUnsafeBytes {
        try seal($0, id, store, by: wrapperID, key: subkey)
      }
    }
  }

  /// - Throws: `notAvailable` when the key was wrapped with another device key.
  static func unwrap(
    _ wrapped: UnsafeRawBufferPointer, id: KeyID, store: StoreID, wrapper: GuardedKey,
    device: GuardedKey? = nil, in arena: KeyArena
  ) throws -> GuardedKey {
    try withSubkey(of: wrapper, for: id) { subkey in
      guard let device else { return try open(wrapped, id, store, key: subkey, in: arena) }
      return try withScratchMemory(SealedPart.plaintextCount(wrapped)) { memory in
        try SealedPart.open(wrapped, at: place(id, store), key: subkey, into: memory)
        guard try memory.starts(with: DeviceKey.id(of: device)) else {
          throw DeviceKey.isAnother()
        }
        let inner = UnsafeRawBufferPointer(rebasing: memory.dropFirst(DeviceKey.idLength))
        return try DeviceKey.withSubkey(subkey, under: device) { both in
          try open(inner, id, store, key: both, in: arena)
        }
      }
    }
  }

  private static func place(_ id: KeyID, _ store: StoreID) -> SealedPart.Place {
    SealedPart.Place(
      role: .keyRecord, store: store, subject: ItemID(high: 0, low: UInt64(id.rawValue)))
  }

  private static func seal(
    _ plaintext: UnsafeRawBufferPointer, _ id: KeyID, _ store: StoreID, by wrapperID: KeyID,
    key: UnsafeRawBufferPointer
  ) throws -> [UInt8] {
    try SealedPart.seal(plaintext, at: place(id, store), by: wrapperID, key: key)
  }

  private static func open(
    _ sealed: UnsafeRawBufferPointer, _ id: KeyID, _ store: StoreID, key: UnsafeRawBufferPointer,
    in arena: KeyArena
  ) throws -> GuardedKey {
    guard try SealedPart.plaintextCount(sealed) == KeyArena.keyLength else {
      throw SodiumError.notAuthentic
    }
    return try arena.key { memory in
      try SealedPart.open(sealed, at: place(id, store), key: key, into: memory)
    }
  }

  private static func withSubkey<R>(
    of wrapper: GuardedKey, for id: KeyID, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try withScratchMemory(KeyArena.keyLength) { subkey in
      try wrapper.withUnsafeBytes { root in
        try KeyDerivation.derive(
          UInt64(id.purpose.rawValue), context: "tk-wrap1", from: root, into: subkey)
      }
      return try body(UnsafeRawBufferPointer(subkey))
    }
  }
}
