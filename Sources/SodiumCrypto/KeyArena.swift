// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// Guarded memory for long-lived keys of 32 bytes: locked into RAM where the limit allows it,
/// left out of core dumps, and with unreadable pages on both sides.
///
/// One `sodium_malloc` costs some 60 µs and four pages, so keys share a region.
package final class KeyArena: Sendable {
  /// The length of every key, in bytes.
  package static let keyLength = 32
  /// One page: sodium_malloc aligns the end of a region, so a whole page is aligned at both ends.
  private static let keysInRegion = 128

  private struct Regions {
    var bases: [UInt] = []
    var free: [UInt] = []
  }
  // Addresses as numbers, because a pointer is not Sendable; each is touched by its owner alone.
  private let regions = Locked(Regions())

  package init() {}

  deinit {
    // Every key holds its arena, so none is left.
    regions.withLock { regions in
      for base in regions.bases { sodium_free(UnsafeMutableRawPointer(bitPattern: base)) }
    }
  }

  /// A new key that `body` fills.
  package func key<E: Error>(
    initializing body: (UnsafeMutableRawBufferPointer) throws(E) -> Void
  ) throws -> GuardedKey {
    let key = try GuardedKey(arena: self, address: takeSlot())
    try key.initialize(body)
    return key
  }

  /// A new random key.
  package func randomKey() throws -> GuardedKey {
    try key { memory in
      if let base = memory.baseAddress { randombytes_buf(base, memory.count) }
    }
  }

  /// A copy of 32 bytes.
  package func key(copying bytes: UnsafeRawBufferPointer) throws -> GuardedKey {
    guard bytes.count == Self.keyLength else {
      throw SodiumError.wrongLength(expected: Self.keyLength, found: bytes.count)
    }
    return try key { $0.copyMemory(from: bytes) }
  }

  /// The subkey `number` of a key: see `KeyDerivation`.
  package func subkey(
    _ number: UInt64, context: StaticString, of key: GuardedKey
  ) throws -> GuardedKey {
    try self.key { memory in
      try key.withUnsafeBytes {
        try KeyDerivation.derive(number, context: context, from: $0, into: memory)
      }
    }
  }

  private func takeSlot() throws(SodiumError) -> UInt {
    // Without it sodium_malloc ends the process.
    try Sodium.initialize()
    let slot = regions.withLock { regions -> UInt? in
      if regions.free.isEmpty {
        guard let base = sodium_malloc(Self.keysInRegion * Self.keyLength) else { return nil }
        let address = UInt(bitPattern: base)
        regions.bases.append(address)
        regions.free = (0..<Self.keysInRegion).map { address + UInt($0 * Self.keyLength) }
      }
      return regions.free.popLast()
    }
    guard let slot else { throw .outOfMemory }
    return slot
  }

  func giveBack(_ address: UInt) {
    if let pointer = UnsafeMutableRawPointer(bitPattern: address) {
      sodium_memzero(pointer, Self.keyLength)
    }
    regions.withLock { $0.free.append(address) }
  }
}

/// One key of 32 bytes in a `KeyArena`: zeroed, and its place given back, when released.
package final class GuardedKey: KeyMaterial {
  private let arena: KeyArena
  @usableFromInline let address: UInt

  init(arena: KeyArena, address: UInt) {
    self.arena = arena
    self.address = address
  }

  deinit { arena.giveBack(address) }

  /// Fills the key. Only the arena calls this, before anyone else has the key.
  func initialize<E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Void
  ) throws(E) {
    try body(
      UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(bitPattern: address), count: KeyArena.keyLength))
  }

  @inlinable
  package func withUnsafeBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    // The place may be given to another key as soon as this one is released.
    defer { withExtendedLifetime(self) {} }
    return try body(
      UnsafeRawBufferPointer(
        start: UnsafeRawPointer(bitPattern: address), count: KeyArena.keyLength))
  }
}

extension GuardedKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<\(KeyArena.keyLength) bytes>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
