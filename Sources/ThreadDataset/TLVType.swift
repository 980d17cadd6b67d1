// SPDX-License-Identifier: Apache-2.0

/// The types of operational dataset TLVs that this library understands.
///
/// The raw value is the TLV's type byte. Every other type is unknown: it is kept byte for byte.
///
/// Thread specification: chapter "Mesh Commissioning Protocol", network management TLVs.
public enum TLVType: UInt8, Sendable, Hashable, CaseIterable {
  /// Channel page and number, 3 bytes.
  case channel = 0
  /// PAN ID, 2 bytes.
  case panID = 1
  /// Extended PAN ID, 8 bytes: the identity of the network.
  case extendedPANID = 2
  /// Network Name, 1 to 16 bytes of UTF-8.
  case networkName = 3
  /// PSKc, 16 bytes, secret.
  case pskc = 4
  /// Network Key, 16 bytes, secret.
  case networkKey = 5
  /// Mesh-Local Prefix, 8 bytes, the first of them 0xFD.
  case meshLocalPrefix = 7
  /// Security Policy, 3 bytes or more.
  case securityPolicy = 12
  /// Active Timestamp, 8 bytes.
  case activeTimestamp = 14
  /// Pending Timestamp, 8 bytes; pending datasets only.
  case pendingTimestamp = 51
  /// Delay Timer in milliseconds, 4 bytes; pending datasets only.
  case delayTimer = 52
  /// Channel Mask, a list of entries with page, length and mask.
  case channelMask = 53
  /// Thread Domain Name, 0 to 16 bytes of UTF-8.
  case domainName = 59
  /// Wake-up Channel page and number, 3 bytes.
  case wakeUpChannel = 74

  /// What an active dataset has, in the order in which a missing one is reported.
  static let ofActiveDataset: [TLVType] = [
    .activeTimestamp, .channel, .channelMask, .extendedPANID, .meshLocalPrefix, .networkKey,
    .networkName, .panID, .pskc, .securityPolicy,
  ]

  /// What a pending dataset has besides.
  static let ofPendingDataset: [TLVType] = [.pendingTimestamp, .delayTimer]

  /// The name in the Thread specification, for people.
  public var name: String {
    switch self {
    case .channel: "Channel"
    case .panID: "PAN ID"
    case .extendedPANID: "Extended PAN ID"
    case .networkName: "Network Name"
    case .pskc: "PSKc"
    case .networkKey: "Network Key"
    case .meshLocalPrefix: "Mesh-Local Prefix"
    case .securityPolicy: "Security Policy"
    case .activeTimestamp: "Active Timestamp"
    case .pendingTimestamp: "Pending Timestamp"
    case .delayTimer: "Delay Timer"
    case .channelMask: "Channel Mask"
    case .domainName: "Thread Domain Name"
    case .wakeUpChannel: "Wake-up Channel"
    }
  }

  /// The name of any type byte, for people: `Channel`, `TLV 170`.
  static func name(of type: UInt8) -> String {
    TLVType(rawValue: type)?.name ?? "TLV \(type)"
  }
}
