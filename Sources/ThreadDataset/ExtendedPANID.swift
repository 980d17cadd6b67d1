// SPDX-License-Identifier: Apache-2.0

/// An Extended PAN ID: 8 octets, the identity of a Thread network.
///
/// Thread specification: Extended PAN ID TLV.
public struct ExtendedPANID: Sendable, Hashable {
  @usableFromInline
  let value: UInt64

  /// - Parameter octets: 8 octets; `nil` for any other number.
  @inlinable
  public init?(octets: some Collection<UInt8>) {
    guard octets.count == 8 else { return nil }
    value = UInt64(bigEndianOctets: octets)
  }

  /// - Parameter hex: 16 hexadecimal digits in upper or lower case; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let octets = Hexadecimal.decode(hex) else { return nil }
    self.init(octets: octets)
  }

  /// The 8 octets as on the wire.
  public var octets: [UInt8] { value.bigEndianOctets }
}

extension ExtendedPANID: CustomStringConvertible {
  /// 16 hexadecimal digits in lower case.
  public var description: String { Hexadecimal.encode(octets) }
}
