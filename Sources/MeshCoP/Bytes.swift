/// Takes bytes of others apart. Where too few are left, it takes none.
struct ByteReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: some Collection<UInt8>) { rest = ArraySlice(bytes) }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// A big-endian number of 1 to 8 bytes.
  mutating func number(_ count: Int) -> UInt64? { bytes(count)?.reduce(0) { $0 << 8 | UInt64($1) } }

  /// A length, and so many bytes.
  mutating func counted(by width: Int = 1) -> ArraySlice<UInt8>? {
    var reader = self
    guard let count = reader.number(width), let bytes = reader.bytes(Int(count)) else { return nil }
    self = reader
    return bytes
  }

  mutating func remainder() -> ArraySlice<UInt8> {
    defer { rest = [] }
    return rest
  }
}

/// The last `width` bytes of a number, the highest first.
func bigEndian(_ number: some BinaryInteger, _ width: Int) -> [UInt8] {
  (1...width).map { UInt8(truncatingIfNeeded: number >> (8 * (width - $0))) }
}
