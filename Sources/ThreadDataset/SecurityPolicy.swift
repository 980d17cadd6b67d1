// SPDX-License-Identifier: Apache-2.0

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
    self.init(
      rotationTime: UInt16(bigEndianBytes: bytes.prefix(2)), flags: Array(bytes.dropFirst(2)))
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

  private func isSet(_ bit: UInt8) -> Bool {
    (flags.first ?? 0) & bit != 0
  }

  private static let legacyBeaconBit: UInt8 = 0x08

  /// The bytes of the TLV without the legacy beacon bit: what has to be equal on one network.
  static func essentialBytes(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var essential = bytes
    let firstFlags = bytes.startIndex + 2
    if firstFlags < bytes.endIndex { essential[firstFlags] &= ~legacyBeaconBit }
    return essential
  }
}
