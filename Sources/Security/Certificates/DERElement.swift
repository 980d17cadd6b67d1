// SPDX-License-Identifier: Apache-2.0

/// One element of DER (X.690): `tag 1 | length 1…5 | contents`.
struct DERElement {
  let tag: UInt8
  let contents: ArraySlice<UInt8>
  /// With tag and length.
  let whole: ArraySlice<UInt8>

  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let sequence: UInt8 = 0x30
  /// The tag of a constructed element `[number]`.
  static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }

  /// The DER of a sequence of elements.
  static func sequence(of contents: ArraySlice<UInt8>) -> [UInt8] {
    guard contents.count >= 0x80 else {
      return [sequence, UInt8(contents.count)] + contents
    }
    let bytes = withUnsafeBytes(of: contents.count.bigEndian) { Array($0.drop { $0 == 0 }) }
    return [sequence, 0x80 | UInt8(bytes.count)] + bytes + contents
  }

  /// The elements that stand one after the other in `bytes`; nil unless they fill it exactly.
  static func all(in bytes: ArraySlice<UInt8>) -> [DERElement]? {
    var elements: [DERElement] = []
    var rest = bytes
    while !rest.isEmpty {
      guard let element = DERElement(first: rest) else { return nil }
      elements.append(element)
      rest = rest[element.whole.endIndex...]
    }
    return elements
  }

  /// The elements within this one.
  var children: [DERElement]? { Self.all(in: contents) }

  init?(first bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 2, let tag = bytes.first, tag & 0x1F != 0x1F else { return nil }
    var position = bytes.startIndex + 1
    var length = Int(bytes[position])
    position += 1
    if length >= 0x80 {
      let count = length & 0x7F
      guard (1...4).contains(count), bytes.endIndex - position >= count else { return nil }
      length = bytes[position..<(position + count)].reduce(0) { $0 << 8 | Int($1) }
      // The shortest form only.
      guard length >= 0x80, length >> (8 * (count - 1)) > 0 else { return nil }
      position += count
    }
    guard bytes.endIndex - position >= length else { return nil }
    self.tag = tag
    contents = bytes[position..<(position + length)]
    whole = bytes[bytes.startIndex..<(position + length)]
  }
}
