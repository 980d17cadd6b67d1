/// An Extended PAN ID: 8 bytes that are not all zero, the identity of a Thread network.
///
/// Thread specification: Extended PAN ID TLV.
public struct ExtendedPANID: Sendable, Hashable {
  @usableFromInline let value: UInt64

  /// - Parameter bytes: 8 bytes; `nil` for any other number, and where all are zero.
  @inlinable public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 8 else { return nil }
    value = UInt64(bigEndianBytes: bytes)
    if value == 0 { return nil }
  }

  /// - Parameter hex: 16 hexadecimal digits in upper or lower case, not all 0; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// For a compact form.
  package var number: UInt64 { value }

  package init(number: UInt64) { value = number }

  /// For tables in memory.
  public func _rawHashValue(seed: Int) -> Int { TableHash.mix(value, 0, seed: seed) }

  /// The 8 bytes as on the wire.
  public var bytes: [UInt8] { value.bigEndianBytes }
}

extension ExtendedPANID: CustomStringConvertible {
  /// 16 hexadecimal digits in lower case.
  public var description: String { Hexadecimal.encode(bytes) }
}

/// The identity of a border router: 8 bytes (the MAC extended address, `xa` in its announcement)
/// or 16 bytes (`id` in its announcement).
///
/// 16 bytes of which the last eight are zero are the 8 bytes in a longer form: they become the 8. Zeros alone are what
/// has no identity yet, and none.
///
/// Thread specification: Border Agent ID TLV, and the service instance `_meshcop._udp`.
public struct BorderAgentID: Sendable, Hashable {
  @usableFromInline let high: UInt64
  /// 0: the id has 8 bytes.
  @usableFromInline let low: UInt64

  /// - Parameter bytes: 8 or 16 bytes; `nil` for any other number, and where all are zero.
  @inlinable public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 8 || bytes.count == 16 else { return nil }
    high = UInt64(bigEndianBytes: bytes.prefix(8))
    low = bytes.count == 16 ? UInt64(bigEndianBytes: bytes.suffix(8)) : 0
    if isZero { return nil }
  }

  /// Of what has no identity yet.
  @inlinable package var isZero: Bool { high == 0 && low == 0 }

  /// For a compact form.
  package var numbers: (high: UInt64, low: UInt64) { (high, low) }

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// For tables in memory.
  public func _rawHashValue(seed: Int) -> Int { TableHash.mix(high, low, seed: seed) }

  /// 8 or 16 bytes.
  public var bytes: [UInt8] { high.bigEndianBytes + (low == 0 ? [] : low.bigEndianBytes) }

  /// - Parameter hex: 16 or 32 hexadecimal digits in upper or lower case, not all 0; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }
}

extension BorderAgentID: CustomStringConvertible {
  /// 16 or 32 hexadecimal digits in lower case.
  public var description: String { Hexadecimal.encode(bytes) }
}

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
  public var ipv6Text: String { value.prefixText }
}

extension UInt64 {
  /// The first half of IPv6 addresses as the text of a prefix.
  package var prefixText: String {
    var groups = stride(from: 48, through: 0, by: -16).map { UInt16(truncatingIfNeeded: self >> $0) }
    while groups.last == 0 { groups.removeLast() }
    return groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
  }
}

extension MeshLocalPrefix: CustomStringConvertible {
  /// 16 hexadecimal digits in lower case.
  public var description: String { Hexadecimal.encode(bytes) }
}
