// SPDX-License-Identifier: Apache-2.0

/// The TLVs of bytes whose structure was checked, in their order, without copying a value.
struct TLVSequence: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func next() -> (type: UInt8, value: ArraySlice<UInt8>)? {
    guard offset + 1 < bytes.count else { return nil }
    let start = offset + 2
    let end = Swift.min(start + Int(bytes[offset + 1]), bytes.count)
    defer { offset = end }
    return (bytes[offset], bytes[start..<end])
  }
}
