/// A hash for tables in memory, at a tenth of the cost of `Hasher`: two multiplications for 16 bytes, as in wyhash.
///
/// Ids and names come from others. The keys are random numbers of this process that never leave it: so nobody can make
/// up values of which many have one hash. A type uses it in `_rawHashValue(seed:)`, which is what tables call.
package enum TableHash {
  /// One constant: at each use of one it is looked up whether it was made.
  private static let keys = (
    UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max) | 1
  )

  /// Of two numbers; of three, where one is the hash of the other two.
  ///
  /// - Parameter seed: of the table.
  package static func mix(_ a: UInt64, _ b: UInt64, seed: Int) -> Int {
    let (first, second, last) = keys
    let mixed = fold(a ^ first, b ^ second) ^ UInt64(truncatingIfNeeded: seed)
    return Int(truncatingIfNeeded: fold(mixed, last))
  }

  /// Of bytes, eight at a time.
  package static func mix(_ bytes: UnsafeRawBufferPointer, seed: Int) -> Int {
    let (first, second, _) = keys
    var (state, offset) = (UInt64(0), 0)
    while offset + 8 <= bytes.count {
      state = fold(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ first, state ^ second)
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = rest << 8 | UInt64(bytes[offset])
      offset += 1
    }
    // Bytes that end with zeros differ by their number.
    return mix(fold(rest ^ first, state ^ second), UInt64(bytes.count), seed: seed)
  }

  private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }
}
