// SPDX-License-Identifier: Apache-2.0

/// An operational dataset: all that a device must know to be on a Thread network.
///
/// ```
/// | type (1 octet) | length (1 octet) | value | type | length | value | …   at most 254 octets
/// ```
///
/// A value of this type always has a sound structure, sound lengths and sound values; it may still
/// be incomplete, see ``kind`` and ``requireComplete()``. TLVs of unknown types are kept, and
/// ``octets`` are byte for byte what was decoded, in the order in which it came.
///
/// `==` compares octets. Whether two datasets describe the same network is another question, which
/// ``relation(to:)`` answers.
///
/// It holds the network's secrets. A description shows the number of octets and nothing else.
///
/// Thread specification: chapter "Mesh Commissioning Protocol", Active and Pending Operational
/// Dataset.
public struct OperationalDataset: Sendable, Hashable {
  /// The most octets that a dataset may have: 254.
  public static let maximumLength = 254

  /// The dataset, byte for byte as it was decoded or made, 0 to 254 octets. Holds secrets.
  public let octets: [UInt8]

  /// Decodes and checks structure, lengths and ranges. Completeness is not asked for.
  ///
  /// - Parameter octets: TLVs, at most 254 octets.
  /// - Throws: ``DatasetError`` with the code `too_long`, `truncated`, `duplicate_tlv`,
  ///   `bad_length` or `bad_value`: the first of these, in this order, that holds anywhere.
  public init(octets: [UInt8]) throws(DatasetError) {
    try Self.validate(octets)
    self.octets = octets
  }

  /// For octets that are known to be sound.
  init(unchecked octets: [UInt8]) {
    self.octets = octets
  }

  /// Decodes hexadecimal text.
  ///
  /// - Parameter hex: two digits for each octet, in upper or lower case. White space around it is
  ///   ignored, within it is an error.
  /// - Throws: ``DatasetError`` with the code `not_hex`, or what ``init(octets:)`` throws.
  public init(hex: String) throws(DatasetError) {
    let octets: [UInt8]
    do {
      octets = try Hexadecimal.octets(of: Hexadecimal.trimmed(hex))
    } catch {
      throw DatasetError(error)
    }
    try self.init(octets: octets)
  }

  /// The dataset as lower-case hexadecimal text. Holds secrets.
  public var hex: String { Hexadecimal.encode(octets) }

  /// The value of the TLV of one type. The octets were checked, so a length never leads outside.
  func value(of type: TLVType) -> ArraySlice<UInt8>? {
    var offset = 0
    while offset + 1 < octets.count {
      let start = offset + 2
      let end = start + Int(octets[offset + 1])
      if octets[offset] == type.rawValue { return octets[start..<end] }
      offset = end
    }
    return nil
  }
}

extension OperationalDataset: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// For instance `<dataset, 111 octets>`.
  public var description: String { "<dataset, \(octets.count) octets>" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Without children, so that `dump` shows no octet.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
