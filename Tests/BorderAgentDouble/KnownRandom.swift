import Synchronization

/// Random bytes that are known before: those given, then those of a generator with a seed.
package final class KnownRandom: Sendable {
  private let state: Mutex<(given: ArraySlice<UInt8>, seed: UInt64)>

  package init(_ given: [UInt8] = [], seed: UInt64 = 1) { state = Mutex((given[...], seed)) }

  /// As a `RandomSource`.
  package func fill(_ memory: UnsafeMutableRawBufferPointer) {
    state.withLock { state in
      for index in memory.indices { memory[index] = state.given.popFirst() ?? Self.next(&state.seed) }
    }
  }

  /// SplitMix64.
  private static func next(_ seed: inout UInt64) -> UInt8 {
    seed &+= 0x9E37_79B9_7F4A_7C15
    var mixed = seed
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return UInt8(truncatingIfNeeded: mixed ^ (mixed >> 31))
  }
}
