// SPDX-License-Identifier: Apache-2.0

/// An operational dataset: all that a device must know to be on a Thread network.
///
/// ```
/// | type (1 byte) | length (1 byte) | value | type | length | value | …   at most 254 bytes
/// ```
///
/// A value of this type always has a sound structure, sound lengths and sound values; it may still
/// be incomplete, see ``kind`` and ``requireComplete()``. TLVs of unknown types are kept, and
/// ``bytes`` are byte for byte what was decoded, in the order in which it came.
///
/// `==` compares bytes. Whether two datasets describe the same network is another question, which
/// ``relation(to:)`` answers.
///
/// It holds the network's secrets. A description shows the number of bytes and nothing else.
///
/// Thread specification: chapter "Mesh Commissioning Protocol", Active and Pending Operational
/// Dataset.
public struct OperationalDataset: Sendable, Hashable {
  /// The most bytes that a dataset may have: 254.
  public static let maximumLength = 254

  /// The dataset, byte for byte as it was decoded or made, 0 to 254 bytes. Holds secrets.
  public let bytes: [UInt8]

  /// Decodes and checks structure, lengths and ranges. Completeness is not asked for.
  ///
  /// - Parameter bytes: TLVs, at most 254 bytes.
  /// - Throws: ``DatasetError`` with the code `too_long`, `truncated`, `duplicate_tlv`,
  ///   `bad_length` or `bad_value`: the first of these, in this order, that holds anywhere.
  public init(bytes: [UInt8]) throws(DatasetError) {
    try Self.validate(bytes)
    self.bytes = bytes
  }

  /// For bytes that are known to be sound.
  init(unchecked bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Decodes hexadecimal text.
  ///
  /// - Parameter hex: two digits for each byte, in upper or lower case. White space around it is
  ///   ignored, within it is an error.
  /// - Throws: ``DatasetError`` with the code `not_hex`, or what ``init(bytes:)`` throws.
  public init(hex: String) throws(DatasetError) {
    let bytes: [UInt8]
    do {
      bytes = try Hexadecimal.bytes(of: Hexadecimal.trimmed(hex))
    } catch {
      throw DatasetError(error)
    }
    try self.init(bytes: bytes)
  }

  /// The dataset as lower-case hexadecimal text. Holds secrets.
  public var hex: String { Hexadecimal.encode(bytes) }

  /// The value of the TLV of one type. The bytes were checked, so a length never leads outside.
  func value(of type: TLVType) -> ArraySlice<UInt8>? {
    var offset = 0
    while offset + 1 < bytes.count {
      let start = offset + 2
      let end = start + Int(bytes[offset + 1])
      if bytes[offset] == type.rawValue { return bytes[start..<end] }
      offset = end
    }
    return nil
  }
}

extension OperationalDataset: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// For instance `<dataset, 111 bytes>`.
  public var description: String { "<dataset, \(bytes.count) bytes>" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Without children, so that `dump` shows no byte.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
