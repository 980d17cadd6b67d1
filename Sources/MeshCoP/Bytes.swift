/// Reads numbers and byte strings, without a copy: what is read may be secret. Where too few bytes are left, it returns
/// nil and stays where it is.
struct ByteReader<Bytes: RandomAccessCollection<UInt8>> where Bytes.SubSequence == Bytes {
  private(set) var rest: Bytes

  init(_ bytes: Bytes) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func bytes(_ count: Int) -> Bytes? {
    guard count >= 0, rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// A big-endian number of 1 to 8 bytes.
  mutating func number(_ count: Int) -> UInt64? { bytes(count)?.reduce(0) { $0 << 8 | UInt64($1) } }

  /// A length, and so many bytes.
  mutating func counted(by width: Int = 1) -> Bytes? {
    var reader = self
    guard let count = reader.number(width), let bytes = reader.bytes(Int(count)) else { return nil }
    self = reader
    return bytes
  }
}

/// The last `width` bytes of a number, the highest first.
func bigEndian(_ number: some BinaryInteger, _ width: Int) -> [UInt8] {
  (1...width).map { UInt8(truncatingIfNeeded: number >> (8 * (width - $0))) }
}
