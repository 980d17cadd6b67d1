/// An operational dataset: all that a device must know to be on a Thread network.
///
/// ```
/// | type (1 byte) | length (1 byte) | value | type | length | value | …   at most 254 bytes
/// ```
///
/// A value of this type always has a sound structure, sound lengths and sound values; it may still
/// be incomplete, see ``kind`` and ``requireComplete()``. TLVs of unknown types are kept, and
/// ``bytes`` are byte for byte what was decoded, in the order in which it came.
///
/// `==` compares bytes. Whether two datasets describe the same network is another question, which
/// ``relation(to:)`` answers.
///
/// It holds the network's secrets. A description shows the number of bytes and nothing else.
///
/// Thread specification: chapter "Mesh Commissioning Protocol", Active and Pending Operational
/// Dataset.
public struct OperationalDataset: Sendable, Hashable {
  /// The most bytes that a dataset may have: 254.
  public static let maximumLength = 254

  /// The dataset, byte for byte as it was decoded or made, 0 to 254 bytes. Holds secrets.
  public let bytes: [UInt8]

  /// Decodes and checks structure, lengths and ranges. Completeness is not asked for.
  ///
  /// - Parameter bytes: TLVs, at most 254 bytes.
  /// - Throws: ``DatasetError`` with the code `too_long`, `truncated`, `duplicate_tlv`,
  ///   `bad_length` or `bad_value`: the first of these, in this order, that holds anywhere.
  public init(bytes: [UInt8]) throws(DatasetError) {
    try Self.validate(bytes)
    self.bytes = bytes
  }

  /// For bytes that are known to be sound.
  init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  /// Decodes hexadecimal text.
  ///
  /// - Parameter hex: two digits for each byte, in upper or lower case. White space around it is
  ///   ignored, within it is an error.
  /// - Throws: ``DatasetError`` with the code `not_hex`, or what ``init(bytes:)`` throws.
  public init(hex: String) throws(DatasetError) {
    let bytes: [UInt8]
    do { bytes = try Hexadecimal.bytes(of: Hexadecimal.trimmed(hex)) } catch { throw DatasetError(error) }
    try self.init(bytes: bytes)
  }

  /// The dataset as lower-case hexadecimal text. Holds secrets.
  public var hex: String { Hexadecimal.encode(bytes) }

  /// The value of the TLV of one type. The bytes were checked, so a length never leads outside.
  func value(of type: TLVType) -> ArraySlice<UInt8>? {
    var offset = 0
    while offset + 1 < bytes.count {
      let start = offset + 2
      let end = start + Int(bytes[offset + 1])
      if bytes[offset] == type.rawValue { return bytes[start..<end] }
      offset = end
    }
    return nil
  }
}

extension OperationalDataset: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// For instance `<dataset, 111 bytes>`.
  public var description: String { "<dataset, \(bytes.count) bytes>" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Without children, so that `dump` shows no byte.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension OperationalDataset {
  /// Active Timestamp: says which of two datasets of one network is newer.
  public var activeTimestamp: Timestamp? { value(of: .activeTimestamp).map(Timestamp.init(bytes:)) }

  /// Pending Timestamp; in pending datasets only.
  public var pendingTimestamp: Timestamp? { value(of: .pendingTimestamp).map(Timestamp.init(bytes:)) }

  /// Delay Timer in milliseconds; in pending datasets only.
  public var delayTimer: UInt32? { value(of: .delayTimer).map(UInt32.init(bigEndianBytes:)) }

  /// Channel: 11 to 26 on page 0.
  public var channel: Channel? { value(of: .channel).map(Channel.init(bytes:)) }

  /// Wake-up Channel: 11 to 26 on page 0. Newer routers send it.
  public var wakeUpChannel: Channel? { value(of: .wakeUpChannel).map(Channel.init(bytes:)) }

  /// Channel Mask: the channels that the network may use.
  public var channelMask: ChannelMask? { value(of: .channelMask).flatMap(ChannelMask.init(bytes:)) }

  /// PAN ID, 0x0000 to 0xFFFE.
  public var panID: UInt16? { value(of: .panID).map(UInt16.init(bigEndianBytes:)) }

  /// Extended PAN ID: the identity of the network.
  public var extendedPANID: ExtendedPANID? { value(of: .extendedPANID).flatMap(ExtendedPANID.init(bytes:)) }

  /// Network Name, 1 to 16 bytes of UTF-8 without control characters. It came from outside: format characters turn the
  /// direction of what is written after it.
  public var networkName: String? { value(of: .networkName).map { String(decoding: $0, as: UTF8.self) } }

  /// Mesh-Local Prefix, 64 bits that begin with 0xFD.
  public var meshLocalPrefix: MeshLocalPrefix? { value(of: .meshLocalPrefix).flatMap(MeshLocalPrefix.init(bytes:)) }

  /// Network Key, secret.
  public var networkKey: NetworkKey? { value(of: .networkKey).flatMap(NetworkKey.init(bytes:)) }

  /// PSKc, the commissioner's pre-shared key, secret.
  public var pskc: PSKc? { value(of: .pskc).flatMap(PSKc.init(bytes:)) }

  /// Security Policy: key rotation, and what the network allows.
  public var securityPolicy: SecurityPolicy? { value(of: .securityPolicy).flatMap(SecurityPolicy.init(bytes:)) }

  /// Thread Domain Name, 0 to 16 bytes of UTF-8, as the Network Name.
  public var domainName: String? { value(of: .domainName).map { String(decoding: $0, as: UTF8.self) } }

  /// The TLVs of types that this library does not know, in their order.
  public var unknown: [TLV] {
    TLVSequence(bytes).compactMap { tlv in
      TLVType(rawValue: tlv.type) == nil ? TLV(type: tlv.type, value: Array(tlv.value)) : nil
    }
  }
}

/// A parameter that decides whether two datasets describe the same network.
///
/// The raw value is its name in alerts and in JSON.
public enum DatasetParameter: String, Sendable, Hashable, CaseIterable {
  /// Network Key.
  case networkKey = "network_key"
  /// Extended PAN ID.
  case extendedPANID = "ext_pan_id"
  /// PAN ID.
  case panID = "pan_id"
  /// Channel.
  case channel = "channel"
  /// Network Name.
  case networkName = "network_name"
  /// PSKc.
  case pskc = "pskc"
  /// Mesh-Local Prefix.
  case meshLocalPrefix = "mesh_local_prefix"
  /// Security Policy, but for its legacy beacon bit.
  case securityPolicy = "security_policy"
  /// Thread Domain Name.
  case domainName = "domain_name"

  /// The TLV that holds it.
  var type: TLVType {
    switch self {
    case .networkKey: .networkKey
    case .extendedPANID: .extendedPANID
    case .panID: .panID
    case .channel: .channel
    case .networkName: .networkName
    case .pskc: .pskc
    case .meshLocalPrefix: .meshLocalPrefix
    case .securityPolicy: .securityPolicy
    case .domainName: .domainName
    }
  }
}

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

extension OperationalDataset {
  /// Makes a dataset of values, in the order given.
  ///
  /// - Throws: ``DatasetError`` when a value is out of its range or occurs twice, or when all of
  ///   them together have more than 254 bytes. Completeness is not asked for.
  public init(_ components: [DatasetComponent]) throws(DatasetError) { try self.init(tlvs: components.map(\.tlv)) }

  /// Makes a dataset of values, in the order given. See ``init(_:)-([DatasetComponent])``.
  public init(_ components: DatasetComponent...) throws(DatasetError) { try self.init(components) }

  /// Makes a complete active dataset. What is not given is random, but for these: the Active Timestamp is 1, the
  /// Channel Mask has all channels of page 0, and the Security Policy is OpenThread's own.
  ///
  /// - Parameter random: has to be a secure one where the network is to be used.
  /// - Throws: ``DatasetError`` as ``init(_:)-([DatasetComponent])``.
  package init(completing components: [DatasetComponent], from random: inout some RandomNumberGenerator)
    throws(DatasetError)
  {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
    let others: [TLV] = [
      TLV(.activeTimestamp, [0, 0, 0, 0, 0, 1, 0, 0]),
      // Many radios send with less power on channel 26.
      TLV(.channel, Channel(number: .random(in: 11...25, using: &random)).bytes),
      TLV(.channelMask, ChannelMask(channels: Channel.numbersOfPage0).bytes), TLV(.extendedPANID, bytes(8)),
      TLV(.meshLocalPrefix, [MeshLocalPrefix.firstByte] + bytes(7)), TLV(.networkKey, bytes(16)),
      TLV(.networkName, Array("Thread-\(Hexadecimal.encode(bytes(2)))".utf8)),
      TLV(.panID, UInt16.random(in: 0..<0xFFFF, using: &random).bigEndianBytes), TLV(.pskc, bytes(16)),
      TLV(.securityPolicy, [0x02, 0xA0, 0xF7, 0xF8]),
    ]
    let given = components.map(\.tlv)
    try self.init(tlvs: given + others.filter { other in !given.contains { $0.type == other.type } })
  }

  /// The same dataset with other values: a component takes the place of the TLV of its type, or is
  /// added at the end. Everything else stays as and where it is, unknown TLVs too.
  ///
  /// - Throws: ``DatasetError`` as ``init(bytes:)``.
  public func replacing(_ components: DatasetComponent...) throws(DatasetError) -> OperationalDataset {
    var tlvs = self.tlvs
    for tlv in components.map(\.tlv) {
      if let index = tlvs.firstIndex(where: { $0.type == tlv.type }) { tlvs[index] = tlv } else { tlvs.append(tlv) }
    }
    return try OperationalDataset(tlvs: tlvs)
  }

  /// The same dataset without the TLVs of these types.
  public func removing(_ types: TLVType...) -> OperationalDataset {
    let removed = Set(types.map(\.rawValue))
    return OperationalDataset(unchecked: Self.encode(tlvs.filter { !removed.contains($0.type) }))
  }

  private var tlvs: [TLV] { TLVSequence(bytes).map { TLV(type: $0.type, value: Array($0.value)) } }

  private init(tlvs: [TLV]) throws(DatasetError) {
    // A longer value has no length byte. The whole would be too long anyway.
    if let tlv = tlvs.first(where: { $0.value.count > Self.maximumLength }) {
      throw .tooLong(count: tlv.value.count + 2)
    }
    try self.init(bytes: Self.encode(tlvs))
  }

  private static func encode(_ tlvs: [TLV]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(tlvs.reduce(0) { $0 + 2 + $1.value.count })
    for tlv in tlvs {
      bytes.append(tlv.type)
      bytes.append(UInt8(truncatingIfNeeded: tlv.value.count))
      bytes.append(contentsOf: tlv.value)
    }
    return bytes
  }
}
