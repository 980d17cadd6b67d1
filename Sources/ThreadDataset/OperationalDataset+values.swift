// SPDX-License-Identifier: Apache-2.0

extension OperationalDataset {
  /// Active Timestamp: says which of two datasets of one network is newer.
  public var activeTimestamp: Timestamp? {
    value(of: .activeTimestamp).map(Timestamp.init(bytes:))
  }

  /// Pending Timestamp; in pending datasets only.
  public var pendingTimestamp: Timestamp? {
    value(of: .pendingTimestamp).map(Timestamp.init(bytes:))
  }

  /// Delay Timer in milliseconds; in pending datasets only.
  public var delayTimer: UInt32? {
    value(of: .delayTimer).map(UInt32.init(bigEndianBytes:))
  }

  /// Channel: 11 to 26 on page 0.
  public var channel: Channel? {
    value(of: .channel).map(Channel.init(bytes:))
  }

  /// Wake-up Channel: 11 to 26 on page 0. Newer routers send it.
  public var wakeUpChannel: Channel? {
    value(of: .wakeUpChannel).map(Channel.init(bytes:))
  }

  /// Channel Mask: the channels that the network may use.
  public var channelMask: ChannelMask? {
    value(of: .channelMask).flatMap(ChannelMask.init(bytes:))
  }

  /// PAN ID, 0x0000 to 0xFFFE.
  public var panID: UInt16? {
    value(of: .panID).map(UInt16.init(bigEndianBytes:))
  }

  /// Extended PAN ID: the identity of the network.
  public var extendedPANID: ExtendedPANID? {
    value(of: .extendedPANID).flatMap(ExtendedPANID.init(bytes:))
  }

  /// Network Name, 1 to 16 bytes of UTF-8. It came from outside and may hold control characters.
  public var networkName: String? {
    value(of: .networkName).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Mesh-Local Prefix, 64 bits that begin with 0xFD.
  public var meshLocalPrefix: MeshLocalPrefix? {
    value(of: .meshLocalPrefix).flatMap(MeshLocalPrefix.init(bytes:))
  }

  /// Network Key, secret.
  public var networkKey: NetworkKey? {
    value(of: .networkKey).flatMap(NetworkKey.init(bytes:))
  }

  /// PSKc, the commissioner's pre-shared key, secret.
  public var pskc: PSKc? {
    value(of: .pskc).flatMap(PSKc.init(bytes:))
  }

  /// Security Policy: key rotation, and what the network allows.
  public var securityPolicy: SecurityPolicy? {
    value(of: .securityPolicy).flatMap(SecurityPolicy.init(bytes:))
  }

  /// Thread Domain Name, 0 to 16 bytes of UTF-8. It came from outside and may hold control
  /// characters.
  public var domainName: String? {
    value(of: .domainName).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The TLVs of types that this library does not know, in their order.
  public var unknown: [TLV] {
    TLVSequence(bytes).compactMap { tlv in
      TLVType(rawValue: tlv.type) == nil ? TLV(type: tlv.type, value: Array(tlv.value)) : nil
    }
  }
}
