// SPDX-License-Identifier: Apache-2.0

/// The identity of a border router: 8 bytes (the MAC extended address, `xa` in its announcement)
/// or 16 bytes (`id` in its announcement).
///
/// 16 bytes of which the last eight are zero are the 8 bytes in a longer form: they become the 8.
///
/// Thread specification: Border Agent ID TLV, and the service instance `_meshcop._udp`.
public struct BorderAgentID: Sendable, Hashable {
  /// 8 or 16 bytes.
  public let bytes: [UInt8]

  /// - Parameter bytes: 8 or 16 bytes; `nil` for any other number.
  @inlinable
  public init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 8:
      self.bytes = Array(bytes)
    case 16:
      let isAlias = bytes.suffix(8).allSatisfy { $0 == 0 }
      self.bytes = Array(isAlias ? bytes.prefix(8) : bytes.prefix(16))
    default:
      return nil
    }
  }

  /// - Parameter hex: 16 or 32 hexadecimal digits in upper or lower case; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }
}

extension BorderAgentID: CustomStringConvertible {
  /// 16 or 32 hexadecimal digits in lower case.
  public var description: String { Hexadecimal.encode(bytes) }
}
