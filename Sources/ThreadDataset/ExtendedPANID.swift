// SPDX-License-Identifier: Apache-2.0

/// An Extended PAN ID: 8 bytes, the identity of a Thread network.
///
/// Thread specification: Extended PAN ID TLV.
public struct ExtendedPANID: Sendable, Hashable {
  @usableFromInline
  let value: UInt64

  /// - Parameter bytes: 8 bytes; `nil` for any other number.
  @inlinable
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 8 else { return nil }
    value = UInt64(bigEndianBytes: bytes)
  }

  /// - Parameter hex: 16 hexadecimal digits in upper or lower case; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// For a compact form.
  package var number: UInt64 { value }

  package init(number: UInt64) { value = number }

  /// The 8 bytes as on the wire.
  public var bytes: [UInt8] { value.bigEndianBytes }
}

extension ExtendedPANID: CustomStringConvertible {
  /// 16 hexadecimal digits in lower case.
  public var description: String { Hexadecimal.encode(bytes) }
}
