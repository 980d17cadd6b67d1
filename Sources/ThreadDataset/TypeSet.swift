// SPDX-License-Identifier: Apache-2.0

/// A set of type bytes: 256 bits, no allocation.
struct TypeSet {
  private var bits: SIMD4<UInt64> = .zero

  /// Puts `type` into the set. `false` when it was there already.
  mutating func insert(_ type: UInt8) -> Bool {
    let word = Int(type >> 6)
    let bit: UInt64 = 1 << UInt64(type & 63)
    defer { bits[word] |= bit }
    return bits[word] & bit == 0
  }

  func contains(_ type: TLVType) -> Bool {
    bits[Int(type.rawValue >> 6)] & (1 << UInt64(type.rawValue & 63)) != 0
  }
}
