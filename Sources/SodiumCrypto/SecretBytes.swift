import CLibSodium
import Glibc

/// Bytes that must not be seen: zeroed when released, compared in constant time, and printed
/// only by their number.
///
/// Long-lived keys belong in a `KeyArena`; this is for what comes and goes.
// Unchecked because the compiler cannot know it: the memory is written before init returns and
// not again until deinit, when nobody else holds it.
@usableFromInline package final class SecretBytes: KeyMaterial, @unchecked Sendable {
  @usableFromInline let memory: UnsafeMutableRawBufferPointer
  /// The number of bytes.
  @usableFromInline package let count: Int

  /// Makes room for `capacity` bytes, lets `body` fill them and keeps the number it returns.
  @inlinable package init<E: Error>(capacity: Int, initializing body: (UnsafeMutableRawBufferPointer) throws(E) -> Int)
    throws(E)
  {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity, 1), alignment: 16)
    do {
      count = min(max(try body(.init(rebasing: memory[..<capacity])), 0), capacity)
      self.memory = memory
    } catch {
      Self.release(memory)
      throw error
    }
  }

  /// Copies `bytes`. The original stays where it is: zeroing that is the caller's part.
  @inlinable package convenience init(copying bytes: some Collection<UInt8>) {
    self.init(capacity: bytes.count) { memory in
      // At once where they lie together: otherwise each is a call.
      let copied: Void? = bytes.withContiguousStorageIfAvailable { memory.copyMemory(from: UnsafeRawBufferPointer($0)) }
      if copied == nil { memory.copyBytes(from: bytes) }
      return memory.count
    }
  }

  /// Bytes from the system's random source.
  package convenience init(random count: Int) {
    self.init(capacity: count) { memory in
      if let base = memory.baseAddress { randombytes_buf(base, memory.count) }
      return memory.count
    }
  }

  deinit { Self.release(memory) }

  @inlinable package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    // The memory is zeroed as soon as this is released.
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
  }

  @usableFromInline static func release(_ memory: UnsafeMutableRawBufferPointer) {
    zero(memory)
    memory.deallocate()
  }
}

extension SecretBytes: Equatable {
  /// Takes the same time whatever the bytes are; only the lengths show.
  @usableFromInline package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
    guard left.count == right.count else { return false }
    guard left.count > 0 else { return true }
    return left.withUnsafeBytes { first in
      right.withUnsafeBytes { second in
        guard let a = first.baseAddress, let b = second.baseAddress else { return false }
        return sodium_memcmp(a, b, first.count) == 0
      }
    }
  }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  @usableFromInline package var description: String { "<\(count) bytes>" }
  @usableFromInline package var debugDescription: String { description }
  @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Something that holds a key and lends its bytes for the length of a call.
package protocol KeyMaterial: Sendable {
  func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
}

// Inlinable, like all of this module that lends bytes: a caller that is not compiled together with it
// would pay more for the closures than for the encryption. A function of a `package` type is inlined elsewhere only where
// the type is `@usableFromInline`.

/// Memory for the length of one call, on the stack where it is small, zeroed afterwards.
@inlinable package func withScratchMemory<R>(_ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows
  -> R
{
  try withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { memory in
    defer { zero(memory) }
    return try body(memory)
  }
}

@usableFromInline func zero(_ memory: UnsafeMutableRawBufferPointer) {
  if let base = memory.baseAddress { sodium_memzero(base, memory.count) }
}

/// Zeroes what calls that have returned left on the stack of this thread, as far as they usually go: values such as
/// keys, which the compiler keeps there.
@inline(never) package func wipeDeadStack() { sodium_stackzero(deadStack) }

#if DEBUG
// Without optimization, single functions have frames of 50 KB.
private let deadStack = 512 << 10
#else
private let deadStack = 64 << 10
#endif

/// Zeroes bytes that held a secret.
package func wipe(_ bytes: inout [UInt8]) { bytes.withUnsafeMutableBytes { zero($0) } }

/// A value that one thread at a time may touch.
///
/// A POSIX mutex and not `Synchronization.Mutex`: the thread sanitizer knows the one, and takes
/// whatever the other guards for a race.
// Unchecked because the value is touched under the mutex only, and the mutex's memory never moves.
@usableFromInline package final class Locked<Value>: @unchecked Sendable {
  @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  // Unchecked: who holds the mutex is alone.
  @exclusivity(unchecked) @usableFromInline var value: Value

  package init(_ value: sending Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  // Inlinable, so that a caller in another module pays for no closure.
  @inlinable package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}

/// Guarded memory for long-lived keys of 32 bytes: locked into RAM where the limit allows it,
/// left out of core dumps, and with unreadable pages on both sides.
///
/// One `sodium_malloc` costs some 60 µs and four pages, so keys share a region.
@usableFromInline package final class KeyArena: Sendable {
  /// The length of every key, in bytes.
  @usableFromInline package static let keyLength = 32
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
    regions.withLock { regions in for base in regions.bases { sodium_free(UnsafeMutableRawPointer(bitPattern: base)) } }
  }

  /// A new key that `body` fills.
  package func key<E: Error>(initializing body: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws -> GuardedKey
  {
    let key = try GuardedKey(arena: self, address: takeSlot())
    try key.initialize(body)
    return key
  }

  /// A new random key.
  package func randomKey() throws -> GuardedKey {
    try key { memory in if let base = memory.baseAddress { randombytes_buf(base, memory.count) } }
  }

  /// A copy of 32 bytes.
  package func key(copying bytes: UnsafeRawBufferPointer) throws -> GuardedKey {
    guard bytes.count == Self.keyLength else {
      throw SodiumError.wrongLength(expected: Self.keyLength, found: bytes.count)
    }
    return try key { $0.copyMemory(from: bytes) }
  }

  /// The subkey `number` of a key: see `KeyDerivation`.
  package func subkey(_ number: UInt64, context: StaticString, of key: GuardedKey) throws -> GuardedKey {
    try self.key { memory in
      try key.withUnsafeBytes { try KeyDerivation.derive(number, context: context, from: $0, into: memory) }
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
    if let pointer = UnsafeMutableRawPointer(bitPattern: address) { sodium_memzero(pointer, Self.keyLength) }
    regions.withLock { $0.free.append(address) }
  }
}

/// One key of 32 bytes in a `KeyArena`: zeroed, and its place given back, when released.
@usableFromInline package final class GuardedKey: KeyMaterial {
  private let arena: KeyArena
  @usableFromInline let address: UInt

  init(arena: KeyArena, address: UInt) {
    self.arena = arena
    self.address = address
  }

  deinit { arena.giveBack(address) }

  /// Fills the key. Only the arena calls this, before anyone else has the key.
  func initialize<E: Error>(_ body: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
    try body(
      UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: KeyArena.keyLength))
  }

  @inlinable package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    // The place may be given to another key as soon as this one is released.
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: KeyArena.keyLength))
  }
}

extension GuardedKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  @usableFromInline package var description: String { "<\(KeyArena.keyLength) bytes>" }
  @usableFromInline package var debugDescription: String { description }
  @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}
