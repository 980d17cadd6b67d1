// SPDX-License-Identifier: Apache-2.0

/// One TLV of a dataset, as octets.
///
/// ```
/// | type, 1 octet | length, 1 octet | value, length octets |
/// ```
///
/// A description shows type and length only: a value may be a secret.
public struct TLV: Sendable, Hashable {
  /// The type octet.
  public let type: UInt8
  /// The value, 0 to 252 octets in a dataset that is valid.
  public let value: [UInt8]

  /// - Parameters:
  ///   - type: the type octet.
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
  /// For instance `<TLV 170, 1 octets>`.
  public var description: String { "<TLV \(type), \(value.count) octets>" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Without children, so that `dump` shows no value.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
