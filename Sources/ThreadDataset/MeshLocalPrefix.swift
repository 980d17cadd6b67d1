// SPDX-License-Identifier: Apache-2.0

/// A Mesh-Local Prefix: the first 64 bits of the addresses within one mesh, beginning with 0xFD.
///
/// Thread specification: Network Mesh-Local Prefix TLV. RFC 4193: unique local addresses.
public struct MeshLocalPrefix: Sendable, Hashable {
  static let firstByte: UInt8 = 0xFD

  private let value: UInt64

  /// - Parameter bytes: 8 bytes, the first of them 0xFD; `nil` for anything else.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 8, bytes.first == Self.firstByte else { return nil }
    value = UInt64(bigEndianBytes: bytes)
  }

  /// - Parameter hex: 16 hexadecimal digits that begin with `fd`; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// The 8 bytes as on the wire.
  public var bytes: [UInt8] { value.bigEndianBytes }

  /// The prefix as IPv6 text, for instance `fdad:70bf:e5aa:15dd::/64`.
  ///
  /// RFC 5952: no leading zeros, lower case, and `::` for the longest run of zeros. The lower half
  /// is all zeros, so that run always begins with the zero groups at the end of the prefix.
  public var ipv6Text: String {
    var groups = stride(from: 48, through: 0, by: -16).map {
      UInt16(truncatingIfNeeded: value >> $0)
    }
    while groups.last == 0 { groups.removeLast() }
    return groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
  }
}

extension MeshLocalPrefix: CustomStringConvertible {
  /// 16 hexadecimal digits in lower case.
  public var description: String { Hexadecimal.encode(bytes) }
}
