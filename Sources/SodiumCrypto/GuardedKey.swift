// SPDX-License-Identifier: Apache-2.0

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
