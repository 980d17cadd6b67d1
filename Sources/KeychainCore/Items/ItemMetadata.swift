// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// What the metadata part of an item says, before it is sealed:
///
///     accessibility 1 | secret version (LEB128) | attribute … | 0x80 00 … to a multiple of 128
///     attribute = tag 1 | length << 3 | kind (LEB128) | bytes
///
/// Kinds: 0 text (UTF-8), 1 data, 2 integer and 3 date (shortest big-endian two's complement),
/// 4 false, 5 true. Attributes are in the order of their tags.
struct ItemMetadata {
  static let block = 128

  var accessible: Accessibility
  /// The version of the item in which its secret was last written: binds the one to the other.
  var secretVersion: Int64
  var attributes: ItemAttributes

  /// Encoded and padded. The caller wipes it.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.block * 2)
    bytes.append(accessible.rawValue)
    Self.append(UInt64(bitPattern: secretVersion), to: &bytes)
    for (attribute, value) in attributes {
      bytes.append(attribute.rawValue)
      value.withCanonicalBytes { canonical in
        // A truth value is all in its kind.
        let count = value.kind >= 4 ? 0 : canonical.count
        Self.append(UInt64(count) << 3 | UInt64(value.kind), to: &bytes)
        bytes.append(contentsOf: canonical.prefix(count))
      }
    }
    let count = bytes.count
    bytes.append(0x80)
    bytes.append(
      contentsOf: repeatElement(0, count: Padding.paddedCount(count, block: Self.block) - count - 1)
    )
    return bytes
  }

  /// Reads what `encoded` wrote. Only authentic bytes come here, so an error means a defect or a
  /// store of a newer version.
  init(decoding padded: UnsafeRawBufferPointer) throws {
    // Not in constant time, unlike a secret's: what it says is about to be compared and printed.
    let end = padded.lastIndex { $0 != 0 }
    guard let count = end, padded[count] == 0x80 else { throw SodiumError.badPadding }
    var reader = Reader(bytes: UnsafeRawBufferPointer(rebasing: padded[..<count]))
    guard let accessible = Accessibility(rawValue: try reader.byte()) else {
      throw SodiumError.badPadding
    }
    self.accessible = accessible
    secretVersion = Int64(bitPattern: try reader.number())
    attributes = ItemAttributes(minimumCapacity: 12)
    while !reader.isAtEnd {
      let attribute = ItemAttribute(rawValue: try reader.byte())
      let head = try reader.number()
      let bytes = try reader.take(head >> 3)
      attributes[attribute] = try AttributeValue(kind: UInt8(head & 7), bytes)
    }
  }

  init(
    accessible: Accessibility, secretVersion: Int64, attributes: ItemAttributes
  ) {
    self.accessible = accessible
    self.secretVersion = secretVersion
    self.attributes = attributes
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() throws -> UInt8 {
      guard position < bytes.count else { throw SodiumError.badPadding }
      defer { position += 1 }
      return bytes[position]
    }

    mutating func number() throws -> UInt64 {
      var result: UInt64 = 0
      for shift in stride(from: 0, to: 64, by: 7) {
        let next = try byte()
        result |= UInt64(next & 0x7F) << UInt64(shift)
        if next < 0x80 { return result }
      }
      throw SodiumError.badPadding
    }

    mutating func take(_ count: UInt64) throws -> UnsafeRawBufferPointer {
      guard count <= UInt64(bytes.count - position) else { throw SodiumError.badPadding }
      defer { position += Int(count) }
      return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + Int(count))])
    }
  }
}

extension AttributeValue {
  fileprivate var kind: UInt8 {
    switch self {
    case .string: 0
    case .data: 1
    case .integer: 2
    case .date: 3
    case .bool(let value): value ? 5 : 4
    }
  }

  fileprivate init(kind: UInt8, _ bytes: UnsafeRawBufferPointer) throws {
    switch kind {
    case 0: self = .string(String(decoding: bytes, as: UTF8.self))
    case 1: self = .data(Array(bytes))
    case 2: self = .integer(try Self.number(bytes))
    case 3: self = .date(microseconds: try Self.number(bytes))
    case 4: self = .bool(false)
    case 5: self = .bool(true)
    default: throw SodiumError.badPadding
    }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    guard bytes.count <= 8 else { throw SodiumError.badPadding }
    var result: Int64 = bytes.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
    for byte in bytes { result = result << 8 | Int64(byte) }
    return result
  }
}
