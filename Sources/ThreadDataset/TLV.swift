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
  /// Extended PAN ID, 8 bytes that are not all zero: the identity of the network.
  case extendedPANID = 2
  /// Network Name, 1 to 16 bytes of UTF-8 without control characters.
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
  /// Thread Domain Name, 0 to 16 bytes of UTF-8 without control characters.
  case domainName = 59
  /// Wake-up Channel page and number, 3 bytes.
  case wakeUpChannel = 74

  /// What an active dataset has, in the order in which a missing one is reported.
  static let ofActiveDataset: [TLVType] = [
    .activeTimestamp, .channel, .channelMask, .extendedPANID, .meshLocalPrefix, .networkKey, .networkName, .panID,
    .pskc, .securityPolicy,
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
  static func name(of type: UInt8) -> String { TLVType(rawValue: type)?.name ?? "TLV \(type)" }
}

extension TLVType {
  /// What is wrong with one value: the code, and what was expected.
  struct Flaw {
    let code: DatasetError.Code
    let expected: String
  }

  /// How many bytes the value may have.
  var allowedLengths: ClosedRange<Int> {
    switch self {
    case .channel, .wakeUpChannel: 3...3
    case .panID: 2...2
    case .extendedPANID, .meshLocalPrefix, .activeTimestamp, .pendingTimestamp: 8...8
    case .networkName: 1...16
    case .pskc, .networkKey: 16...16
    case .securityPolicy: 3...OperationalDataset.maximumLength
    case .delayTimer: 4...4
    case .channelMask: 1...OperationalDataset.maximumLength
    case .domainName: 0...16
    }
  }

  /// Checks the length first, then the value. `nil` is a sound value.
  ///
  /// An expectation never repeats a byte of the value: it may be shown to anybody.
  func flaw(in value: ArraySlice<UInt8>) -> Flaw? {
    guard allowedLengths.contains(value.count) else { return Flaw(code: .badLength, expected: expectedLength) }
    return expectationFailed(by: value).map { Flaw(code: .badValue, expected: $0) }
  }

  private var expectedLength: String {
    let lengths = allowedLengths
    if lengths.count == 1 { return "\(lengths.lowerBound)" }
    if lengths.upperBound == OperationalDataset.maximumLength { return "\(lengths.lowerBound) or more" }
    return "\(lengths.lowerBound) to \(lengths.upperBound)"
  }

  /// What a value of sound length had to be and is not.
  private func expectationFailed(by value: ArraySlice<UInt8>) -> String? {
    switch self {
    case .channel, .wakeUpChannel: Channel(bytes: value).isAllowed ? nil : "channel 11 to 26 on page 0"
    case .panID: UInt16(bigEndianBytes: value) < 0xFFFF ? nil : "0x0000 to 0xFFFE"
    case .meshLocalPrefix: value.first == MeshLocalPrefix.firstByte ? nil : "a prefix that begins with 0xFD"
    case .networkName, .domainName: Self.isName(value) ? nil : "UTF-8 without control characters such as NUL"
    case .channelMask:
      if !ChannelMask.isSound(value) {
        "entries of page, length and mask; 4 bytes of mask on page 0"
      } else if ChannelMask(bytes: value)?.isAllowed != true {
        "channels 11 to 26 on page 0, channel 0 in the highest bit: 001fffe0 for all of them"
      } else {
        nil
      }
    case .extendedPANID: ExtendedPANID(bytes: value) == nil ? "bytes that are not all zero" : nil
    case .pskc, .networkKey, .securityPolicy, .activeTimestamp, .pendingTimestamp, .delayTimer: nil
    }
  }

  private static func isName(_ value: ArraySlice<UInt8>) -> Bool {
    // Most are ASCII, and looking at that is faster than making a text of it.
    if value.allSatisfy({ (0x20..<0x7F).contains($0) }) { return true }
    guard let text = String(validating: value, as: UTF8.self) else { return false }
    return !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}

/// One TLV of a dataset, as bytes.
///
/// ```
/// | type, 1 byte | length, 1 byte | value, length bytes |
/// ```
///
/// A description shows type and length only: a value may be a secret.
public struct TLV: Sendable, Hashable {
  /// The type byte.
  public let type: UInt8
  /// The value, 0 to 252 bytes in a dataset that is valid.
  public let value: [UInt8]

  /// - Parameters:
  ///   - type: the type byte.
  ///   - value: the value; whether it fits is checked when a dataset is made of it.
  public init(type: UInt8, value: [UInt8]) {
    self.type = type
    self.value = value
  }

  init(_ type: TLVType, _ value: [UInt8]) { self.init(type: type.rawValue, value: value) }
}

extension TLV: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// For instance `<TLV 170, 1 bytes>`.
  public var description: String { "<TLV \(type), \(value.count) bytes>" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Without children, so that `dump` shows no value.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The TLVs of bytes whose structure was checked, in their order, without copying a value.
struct TLVSequence: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> (type: UInt8, value: ArraySlice<UInt8>)? {
    guard offset + 1 < bytes.count else { return nil }
    let start = offset + 2
    let end = Swift.min(start + Int(bytes[offset + 1]), bytes.count)
    defer { offset = end }
    return (bytes[offset], bytes[start..<end])
  }
}

/// A set of type bytes: 256 bits, no allocation.
struct TypeSet {
  private var bits: SIMD4<UInt64> = .zero

  /// Puts `type` into the set. `false` when it was there already.
  mutating func insert(_ type: UInt8) -> Bool {
    let word = Int(type >> 6)
    let bit: UInt64 = 1 << UInt64(type & 63)
    defer { bits[word] |= bit }
    return bits[word] & bit == 0
  }

  func contains(_ type: TLVType) -> Bool { bits[Int(type.rawValue >> 6)] & (1 << UInt64(type.rawValue & 63)) != 0 }
}

extension FixedWidthInteger {
  /// The number whose bytes these are, the highest first. Bytes missing in front are zero.
  @inlinable init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = 0
    for byte in bytes { self = self << 8 | Self(truncatingIfNeeded: byte) }
  }

  /// The bytes of the number, the highest first.
  var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
