// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// A key as it lies in the `keys` table: sealed by a subkey of its wrapper, which is one of the
/// root keys (`crypto_kdf`, subkey number = the purpose of what is wrapped, context "tk-wrap1").
/// Nothing is derived from a root but these, so every key can be renewed alone.
///
/// For class keys of this device only, what is sealed like that is `device key id 16 | sealed part`
/// (`DeviceKey`), and the inner part is the key, sealed by the subkey hashed once more under the device
/// key: it takes both, and the wrong device key is told from a record that was altered. Records without
/// the id, whose one part is sealed by the hashed subkey, are read too.
///
/// Where the roots are renewed and the device key is not there, such a record is *carried*
/// (`KeyRecord+carry`): `device key id 16 | old subkey 32 | sealed part`, sealed by the new root.
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
    let count = try SealedPart.plaintextCount(wrapped)
    return try withSubkey(of: wrapper, for: id) { subkey in
      guard let device else { return try open(wrapped, id, store, key: subkey, in: arena) }
      guard count > KeyArena.keyLength else {
        return try DeviceKey.withSubkey(subkey, under: device) { both in
          try open(wrapped, id, store, key: both, in: arena)
        }
      }
      return try withScratchMemory(count) { memory in
        try SealedPart.open(wrapped, at: place(id, store), key: subkey, into: memory)
        let memory = UnsafeRawBufferPointer(memory)
        let isNamed = memory.prefix(DeviceKey.idLength).contains { $0 != 0 }
        guard try !isNamed || memory.starts(with: DeviceKey.id(of: device)) else {
          throw DeviceKey.isAnother()
        }
        let rest = memory.dropFirst(DeviceKey.idLength)
        let isCarried = count == carriedLength
        let inner = UnsafeRawBufferPointer(
          rebasing: isCarried ? rest.dropFirst(KeyArena.keyLength) : rest)
        let sealer =
          isCarried
          ? UnsafeRawBufferPointer(rebasing: rest.prefix(KeyArena.keyLength))
          : UnsafeRawBufferPointer(subkey)
        return try DeviceKey.withSubkey(sealer, under: device) { both in
          do {
            return try open(inner, id, store, key: both, in: arena)
          } catch is SodiumError where !isNamed {
            // Nobody has altered it, or what is around it had not opened.
            throw DeviceKey.isAnother()
          }
        }
      }
    }
  }

  static func place(_ id: KeyID, _ store: StoreID) -> SealedPart.Place {
    SealedPart.Place(
      role: .keyRecord, store: store, subject: ItemID(high: 0, low: UInt64(id.rawValue)))
  }

  static func seal(
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

  static func withSubkey<R>(
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

/// A record of a class for this device only, under other root keys, without its device key.
///
/// What the device key seals is sealed by a hash of the old root's subkey too. So the subkey goes along,
/// under the new root: `device key id 16 | old subkey 32 | sealed part`. The old roots open nothing of
/// such a record, because it is sealed by the new one; from the subkey nobody gets to the old root; and
/// still it takes the device key. Who has the old root, an older copy of the store and the device key has
/// had the class key all along, however it is wrapped now. That is why a carried key only reads: who adds
/// to its class makes the next key first (`KeyRing.current`).
extension KeyRecord {
  /// The bytes that a carried record seals.
  static let carriedLength =
    DeviceKey.idLength + KeyArena.keyLength + SealedPart.overhead + KeyArena.keyLength

  static func isCarried(_ wrapped: [UInt8]) -> Bool {
    wrapped.count == SealedPart.overhead + carriedLength
  }

  /// The same under the next root.
  static func carry(
    _ wrapped: [UInt8], id: KeyID, store: StoreID, from old: GuardedKey,
    to next: (id: KeyID, key: GuardedKey)
  ) throws -> [UInt8] {
    try withScratchMemory(carriedLength) { carried in
      try withSubkey(of: old, for: id) { subkey in
        try wrapped.withUnsafeBytes { try fill(carried, from: $0, id, store, subkey) }
      }
      return try withSubkey(of: next.key, for: id) { subkey in
        try seal(UnsafeRawBufferPointer(carried), id, store, by: next.id, key: subkey)
      }
    }
  }

  private static func fill(
    _ carried: UnsafeMutableRawBufferPointer, from wrapped: UnsafeRawBufferPointer, _ id: KeyID,
    _ store: StoreID, _ subkey: UnsafeRawBufferPointer
  ) throws {
    func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
      UnsafeMutableRawBufferPointer(rebasing: carried[offset..<(offset + bytes.count)])
        .copyMemory(from: bytes)
    }
    let part = DeviceKey.idLength + KeyArena.keyLength
    switch try SealedPart.plaintextCount(wrapped) {
    case carriedLength:
      // Carried before: the subkey is that of the root that it was made under.
      try SealedPart.open(wrapped, at: place(id, store), key: subkey, into: carried)
    case DeviceKey.idLength + SealedPart.overhead + KeyArena.keyLength:
      try withScratchMemory(carriedLength - KeyArena.keyLength) { memory in
        try SealedPart.open(wrapped, at: place(id, store), key: subkey, into: memory)
        put(UnsafeRawBufferPointer(rebasing: memory[..<DeviceKey.idLength]), at: 0)
        put(UnsafeRawBufferPointer(rebasing: memory[DeviceKey.idLength...]), at: part)
      }
      put(subkey, at: DeviceKey.idLength)
    case KeyArena.keyLength:
      // Without the id of its device key, which is zeros then.
      for place in 0..<DeviceKey.idLength { carried[place] = 0 }
      put(subkey, at: DeviceKey.idLength)
      put(wrapped, at: part)
    default: throw SodiumError.notAuthentic
    }
  }
}
