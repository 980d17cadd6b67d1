// SPDX-License-Identifier: Apache-2.0

/// The TLVs of octets whose structure was checked, in their order, without copying a value.
struct TLVSequence: Sequence, IteratorProtocol {
  private let octets: [UInt8]
  private var offset = 0

  init(_ octets: [UInt8]) {
    self.octets = octets
  }

  mutating func next() -> (type: UInt8, value: ArraySlice<UInt8>)? {
    guard offset + 1 < octets.count else { return nil }
    let start = offset + 2
    let end = Swift.min(start + Int(octets[offset + 1]), octets.count)
    defer { offset = end }
    return (octets[offset], octets[start..<end])
  }
}
