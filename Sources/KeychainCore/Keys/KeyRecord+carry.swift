// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

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
