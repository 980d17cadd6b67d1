// SPDX-License-Identifier: Apache-2.0

/// Bytes of an export, read from the front.
struct ExportBytes {
  /// There are fewer than the form asks for.
  struct End: Error {}

  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func take(_ count: Int) throws(End) -> ArraySlice<UInt8> {
    guard count >= 0, rest.count >= count else { throw End() }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func number<N: FixedWidthInteger & UnsignedInteger>() throws(End) -> N {
    try take(N.bitWidth / 8).reduce(0) { $0 << 8 | N($1) }
  }
}

extension [UInt8] {
  mutating func append(bigEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}
