// SPDX-License-Identifier: Apache-2.0

/// One value to make a dataset of, or to put into one.
///
/// A description shows secrets as their length only, because their types do.
public enum DatasetComponent: Sendable, Hashable {
  /// Active Timestamp.
  case activeTimestamp(Timestamp)
  /// Pending Timestamp.
  case pendingTimestamp(Timestamp)
  /// Delay Timer in milliseconds.
  case delayTimer(UInt32)
  /// Channel: 11 to 26 on page 0.
  case channel(Channel)
  /// Wake-up Channel: 11 to 26 on page 0.
  case wakeUpChannel(Channel)
  /// Channel Mask.
  case channelMask(ChannelMask)
  /// PAN ID, 0x0000 to 0xFFFE.
  case panID(UInt16)
  /// Extended PAN ID.
  case extendedPANID(ExtendedPANID)
  /// Network Name, 1 to 16 bytes of UTF-8.
  case networkName(String)
  /// Mesh-Local Prefix.
  case meshLocalPrefix(MeshLocalPrefix)
  /// Network Key.
  case networkKey(NetworkKey)
  /// PSKc.
  case pskc(PSKc)
  /// Security Policy.
  case securityPolicy(SecurityPolicy)
  /// Thread Domain Name, 0 to 16 bytes of UTF-8.
  case domainName(String)
  /// Any other TLV.
  case other(TLV)

  var tlv: TLV {
    switch self {
    case .activeTimestamp(let timestamp): TLV(.activeTimestamp, timestamp.bytes)
    case .pendingTimestamp(let timestamp): TLV(.pendingTimestamp, timestamp.bytes)
    case .delayTimer(let milliseconds): TLV(.delayTimer, milliseconds.bigEndianBytes)
    case .channel(let channel): TLV(.channel, channel.bytes)
    case .wakeUpChannel(let channel): TLV(.wakeUpChannel, channel.bytes)
    case .channelMask(let mask): TLV(.channelMask, mask.bytes)
    case .panID(let panID): TLV(.panID, panID.bigEndianBytes)
    case .extendedPANID(let identity): TLV(.extendedPANID, identity.bytes)
    case .networkName(let name): TLV(.networkName, Array(name.utf8))
    case .meshLocalPrefix(let prefix): TLV(.meshLocalPrefix, prefix.bytes)
    case .networkKey(let key): TLV(.networkKey, key.bytes)
    case .pskc(let pskc): TLV(.pskc, pskc.bytes)
    case .securityPolicy(let policy): TLV(.securityPolicy, policy.bytes)
    case .domainName(let name): TLV(.domainName, Array(name.utf8))
    case .other(let tlv): tlv
    }
  }
}
