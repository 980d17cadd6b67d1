// SPDX-License-Identifier: Apache-2.0

/// The identity of a border router: 8 bytes (the MAC extended address, `xa` in its announcement)
/// or 16 bytes (`id` in its announcement).
///
/// 16 bytes of which the last eight are zero are the 8 bytes in a longer form: they become the 8.
///
/// Thread specification: Border Agent ID TLV, and the service instance `_meshcop._udp`.
public struct BorderAgentID: Sendable, Hashable {
  @usableFromInline
  let high: UInt64
  /// 0: the id has 8 bytes.
  @usableFromInline
  let low: UInt64

  /// - Parameter bytes: 8 or 16 bytes; `nil` for any other number.
  @inlinable
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 8 || bytes.count == 16 else { return nil }
    high = UInt64(bigEndianBytes: bytes.prefix(8))
    low = bytes.count == 16 ? UInt64(bigEndianBytes: bytes.suffix(8)) : 0
  }

  /// For a compact form.
  package var numbers: (high: UInt64, low: UInt64) { (high, low) }

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 8 or 16 bytes.
  public var bytes: [UInt8] { high.bigEndianBytes + (low == 0 ? [] : low.bigEndianBytes) }

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
