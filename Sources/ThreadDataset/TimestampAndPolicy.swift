/// A timestamp of a dataset. It counts changes; it need not be a time of day.
///
/// ```
/// | seconds, 48 bits | ticks, 15 bits | authoritative, 1 bit |
/// ```
///
/// Order and equality are those of (seconds, ticks). The authoritative bit says only whether the
/// clock was good, and has no part in either.
///
/// Thread specification: Active Timestamp TLV and Pending Timestamp TLV.
public struct Timestamp: Sendable {
  /// Seconds since 1970-01-01, 48 bits. Many networks begin with 1 and count.
  public let seconds: UInt64
  /// 1/32768 of a second, 15 bits.
  public let ticks: UInt16
  /// Whether the time came from a source that knows it.
  public let isAuthoritative: Bool

  static let maximumSeconds: UInt64 = (1 << 48) - 1

  /// - Parameters:
  ///   - seconds: at most 2⁴⁸ − 1; `nil` is returned for more.
  ///   - ticks: at most 2¹⁵ − 1; `nil` is returned for more.
  ///   - isAuthoritative: whether the time came from a source that knows it.
  public init?(seconds: UInt64, ticks: UInt16 = 0, isAuthoritative: Bool = false) {
    guard seconds <= Self.maximumSeconds, ticks < 1 << 15 else { return nil }
    self.seconds = seconds
    self.ticks = ticks
    self.isAuthoritative = isAuthoritative
  }

  init(bytes: ArraySlice<UInt8>) {
    let value = UInt64(bigEndianBytes: bytes)
    seconds = value >> 16
    ticks = UInt16(truncatingIfNeeded: value >> 1) & 0x7FFF
    isAuthoritative = value & 1 == 1
  }

  private init(unchecked seconds: UInt64, like other: Timestamp) {
    self.seconds = seconds
    ticks = other.ticks
    isAuthoritative = other.isAuthoritative
  }

  /// The same timestamp, this many seconds later; the greatest one where there is no later one.
  public func later(bySeconds seconds: UInt64 = 1) -> Timestamp {
    let left = Self.maximumSeconds - self.seconds
    return Timestamp(unchecked: self.seconds + min(seconds, left), like: self)
  }

  var bytes: [UInt8] { (seconds << 16 | UInt64(ticks) << 1 | (isAuthoritative ? 1 : 0)).bigEndianBytes }

  private var order: UInt64 { seconds << 15 | UInt64(ticks) }
}

extension Timestamp: Comparable, Hashable {
  /// Equal (seconds, ticks).
  public static func == (left: Timestamp, right: Timestamp) -> Bool { left.order == right.order }
  /// Smaller (seconds, ticks).
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.order < right.order }
  /// Hashes (seconds, ticks).
  public func hash(into hasher: inout Hasher) { hasher.combine(order) }
}

extension Timestamp: CustomStringConvertible {
  /// For instance `1`, or `1 and 16384 ticks`.
  public var description: String { ticks == 0 ? "\(seconds)" : "\(seconds) and \(ticks) ticks" }
}

/// A Security Policy: how often keys rotate, and what the network allows.
///
/// ```
/// | rotation time, 2 bytes, hours | flags, 1 byte (Thread 1.1) or more |
///
///   flags[0]:  O N R C  B c a p      flags[1]:  L n – –  – v v v
/// ```
///
/// In lower case: the bit is 0 where the thing is allowed. `v` is the version threshold for routing.
///
/// Thread specification: Security Policy TLV.
public struct SecurityPolicy: Sendable, Hashable {
  /// Hours between two rotations of the keys.
  public let rotationTime: UInt16
  /// The flags as on the wire, 1 byte or more; usually 2.
  public let flags: [UInt8]

  /// - Parameters:
  ///   - rotationTime: hours between two rotations of the keys.
  ///   - flags: the flags as on the wire; `nil` is returned when there is none.
  public init?(rotationTime: UInt16, flags: [UInt8]) {
    guard !flags.isEmpty else { return nil }
    self.rotationTime = rotationTime
    self.flags = flags
  }

  init?(bytes: ArraySlice<UInt8>) {
    self.init(rotationTime: UInt16(bigEndianBytes: bytes.prefix(2)), flags: Array(bytes.dropFirst(2)))
  }

  var bytes: [UInt8] { rotationTime.bigEndianBytes + flags }

  /// O: the Network Key may be obtained by an authenticated commissioner.
  public var allowsObtainingNetworkKey: Bool { isSet(0x80) }
  /// N: native commissioning over the radio is allowed.
  public var allowsNativeCommissioning: Bool { isSet(0x40) }
  /// R: Thread 1.1 routers are allowed.
  public var allowsLegacyRouters: Bool { isSet(0x20) }
  /// C: an external commissioner is allowed.
  public var allowsExternalCommissioning: Bool { isSet(0x10) }
  /// B: legacy beacons are sent. Says nothing about which network it is.
  public var sendsLegacyBeacons: Bool { isSet(Self.legacyBeaconBit) }

  private func isSet(_ bit: UInt8) -> Bool { (flags.first ?? 0) & bit != 0 }

  private static let legacyBeaconBit: UInt8 = 0x08

  /// The bytes of the TLV without the legacy beacon bit: what has to be equal on one network.
  static func essentialBytes(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var essential = bytes
    let firstFlags = bytes.startIndex + 2
    if firstFlags < bytes.endIndex { essential[firstFlags] &= ~legacyBeaconBit }
    return essential
  }
}
