// SPDX-License-Identifier: Apache-2.0

import CLibSodium

// Inlinable, like all of this module that lends bytes: a caller that is not compiled together with it
// would pay more for the closures than for the encryption.

/// Memory for the length of one call, on the stack where it is small, zeroed afterwards.
@inlinable
package func withScratchMemory<R>(
  _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> R
) rethrows -> R {
  try withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { memory in
    defer { zero(memory) }
    return try body(memory)
  }
}

@usableFromInline
func zero(_ memory: UnsafeMutableRawBufferPointer) {
  if let base = memory.baseAddress { sodium_memzero(base, memory.count) }
}

/// Zeroes what calls that have returned left on the stack of this thread, as far as they usually go: values such as
/// keys, which the compiler keeps there.
@inline(never)
package func wipeDeadStack() { sodium_stackzero(64 << 10) }

/// Zeroes bytes that held a secret.
package func wipe(_ bytes: inout [UInt8]) {
  bytes.withUnsafeMutableBytes { zero($0) }
}
