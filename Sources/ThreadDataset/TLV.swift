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
