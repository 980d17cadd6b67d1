// SPDX-License-Identifier: Apache-2.0

/// One TLV of a dataset, as bytes.
///
/// ```
/// | type, 1 byte | length, 1 byte | value, length bytes |
/// ```
///
/// A description shows type and length only: a value may be a secret.
public struct TLV: Sendable, Hashable {
  /// The type byte.
  public let type: UInt8
  /// The value, 0 to 252 bytes in a dataset that is valid.
  public let value: [UInt8]

  /// - Parameters:
  ///   - type: the type byte.
  ///   - value: the value; whether it fits is checked when a dataset is made of it.
  public init(type: UInt8, value: [UInt8]) {
    self.type = type
    self.value = value
  }

  init(_ type: TLVType, _ value: [UInt8]) {
    self.init(type: type.rawValue, value: value)
  }
}

extension TLV: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// For instance `<TLV 170, 1 bytes>`.
  public var description: String { "<TLV \(type), \(value.count) bytes>" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Without children, so that `dump` shows no value.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

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

extension FixedWidthInteger {
  /// The number whose bytes these are, the highest first. Bytes missing in front are zero.
  @inlinable
  init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = 0
    for byte in bytes {
      self = self << 8 | Self(truncatingIfNeeded: byte)
    }
  }

  /// The bytes of the number, the highest first.
  var bigEndianBytes: [UInt8] {
    withUnsafeBytes(of: bigEndian) { Array($0) }
  }
}
