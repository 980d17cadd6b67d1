// SPDX-License-Identifier: Apache-2.0

/// The identity of a border router: 8 octets (the MAC extended address, `xa` in its announcement)
/// or 16 octets (`id` in its announcement).
///
/// 16 octets of which the last eight are zero are the 8 octets in a longer form: they become the 8.
///
/// Thread specification: Border Agent ID TLV, and the service instance `_meshcop._udp`.
public struct BorderAgentID: Sendable, Hashable {
  /// 8 or 16 octets.
  public let octets: [UInt8]

  /// - Parameter octets: 8 or 16 octets; `nil` for any other number.
  @inlinable
  public init?(octets: some Collection<UInt8>) {
    switch octets.count {
    case 8:
      self.octets = Array(octets)
    case 16:
      let isAlias = octets.suffix(8).allSatisfy { $0 == 0 }
      self.octets = Array(isAlias ? octets.prefix(8) : octets.prefix(16))
    default:
      return nil
    }
  }

  /// - Parameter hex: 16 or 32 hexadecimal digits in upper or lower case; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let octets = Hexadecimal.decode(hex) else { return nil }
    self.init(octets: octets)
  }
}

extension BorderAgentID: CustomStringConvertible {
  /// 16 or 32 hexadecimal digits in lower case.
  public var description: String { Hexadecimal.encode(octets) }
}
