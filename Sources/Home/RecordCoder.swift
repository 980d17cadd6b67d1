import ThreadDataset

/// A record that this version cannot have written.
package struct RecordError: Error, Hashable {}

/// Writes values as bytes, or reads them back: the same code does both, so that the two cannot differ.
///
/// ```
/// number   LEB128, the low seven bits first          time           zigzag, then as a number
/// hash     8 bytes each, the low one first            id             the same, and a number for its second half
/// text     number of bytes, UTF-8                     list           number of elements, each
/// absent   0, or 1 and the value                      choice         a number, then what belongs to it
/// ```
struct RecordCoder {
  private(set) var bytes: [UInt8]
  private let isReading: Bool
  private var offset = 0

  /// For writing.
  init() {
    bytes = []
    isReading = false
    bytes.reserveCapacity(512)
  }

  /// For reading.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    isReading = true
  }

  var isAtEnd: Bool { offset == bytes.count }

  /// A value to be written; nil: it is read.
  mutating func callAsFunction<T: Recorded>(_ value: T?) throws(RecordError) -> T { try T.coded(&self, value) }

  /// One that may be absent.
  mutating func maybe<T: Recorded>(_ value: T?) throws(RecordError) -> T? {
    if !isReading {
      bytes.append(value == nil ? 0 : 1)
      return value == nil ? nil : try self(value)
    }
    let isThere = try byte(nil)
    guard isThere < 2 else { throw RecordError() }
    return isThere == 1 ? try self(nil) : nil
  }

  /// A field that is written as it is, or read.
  mutating func field<T: Recorded>(_ field: inout T) throws(RecordError) {
    if isReading { field = try self(nil) } else { _ = try self(field) }
  }

  mutating func field<T: Recorded>(_ field: inout T?) throws(RecordError) {
    if isReading { field = try maybe(nil) } else { _ = try maybe(field) }
  }

  mutating func byte(_ value: UInt8?) throws(RecordError) -> UInt8 {
    if let value {
      bytes.append(value)
      return value
    }
    guard isReading, offset < bytes.count else { throw RecordError() }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func number(_ value: UInt64?) throws(RecordError) -> UInt64 {
    if let value {
      var rest = value
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
      return value
    }
    var (read, shift): (UInt64, UInt64) = (0, 0)
    while true {
      let next = try byte(nil)
      guard shift < 63 || next < 2 else { throw RecordError() }
      read |= UInt64(next & 0x7F) << shift
      if next < 0x80 { return read }
      shift += 7
      guard shift < 64 else { throw RecordError() }
    }
  }

  mutating func append(_ text: String.UTF8View) { bytes.append(contentsOf: text) }

  var bytesLeft: Int { bytes.count - offset }

  /// 8 bytes, for what is spread over all of them.
  mutating func fixed(_ value: UInt64?) throws(RecordError) -> UInt64 {
    if let value {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
      return value
    }
    return try raw(8, nil).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func raw(_ count: Int, _ value: [UInt8]?) throws(RecordError) -> [UInt8] {
    if let value {
      bytes.append(contentsOf: value)
      return value
    }
    guard count <= bytes.count - offset else { throw RecordError() }
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }
}

/// A value that records are made of.
protocol Recorded {
  /// - Parameter value: to be written; nil: it is read.
  /// - Returns: the same value, or what was read.
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self
}

extension UnsignedInteger where Self: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    guard let read = Self(exactly: try coder.number(value.map { UInt64($0) })) else { throw RecordError() }
    return read
  }
}

extension UInt8: Recorded {}
extension UInt16: Recorded {}
extension UInt32: Recorded {}
extension UInt64: Recorded {}

extension Int: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Int?) throws(RecordError) -> Int {
    Int(truncatingIfNeeded: try coder.number(value.map { UInt64(bitPattern: Int64($0)) }))
  }
}

extension Bool: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Bool?) throws(RecordError) -> Bool {
    let read = try coder.byte(value.map { $0 ? 1 : 0 })
    guard read < 2 else { throw RecordError() }
    return read == 1
  }
}

extension String: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: String?) throws(RecordError) -> String {
    let count = try coder.number(value.map { UInt64($0.utf8.count) })
    if let value {
      coder.append(value.utf8)
      return value
    }
    guard count <= 1 << 20 else { throw RecordError() }
    let bytes = try coder.raw(Int(count), nil)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw RecordError() }
    return text
  }
}

extension Array: Recorded where Element: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: [Element]?) throws(RecordError) -> [Element] {
    let count = try coder.number(value.map { UInt64($0.count) })
    if let value {
      for value in value { _ = try coder(value) }
      return value
    }
    // Each takes a byte at least.
    guard count <= UInt64(coder.bytesLeft) else { throw RecordError() }
    var read: [Element] = []
    for _ in 0..<count { read.append(try coder(nil)) }
    return read
  }
}

extension RawRepresentable where RawValue == UInt8, Self: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    guard let read = Self(rawValue: try coder.byte(value?.rawValue)) else { throw RecordError() }
    return read
  }
}

extension OfflineReason: Recorded {}
extension ThreadState: Recorded {}
extension TLVType: Recorded {}
extension CredentialState: Recorded {}
extension RouterSource: Recorded {}
extension AdoptionState: Recorded {}
extension AlertName: Recorded {}
extension Alert.Phase: Recorded {}
extension AlertFacts.Trigger: Recorded {}
extension ConsentScope: Recorded {}
extension ConsentSubject.Command: Recorded {}
extension ConsentRecord.Outcome: Recorded {}
extension ConsentRecord.Obstacle: Recorded {}
extension EnrolledClient.Trust: Recorded {}

extension WireTime: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: WireTime?) throws(RecordError) -> WireTime {
    let folded = value.map { UInt64(bitPattern: $0.milliseconds << 1 ^ $0.milliseconds >> 63) }
    let read = try coder.number(folded)
    return WireTime(milliseconds: Int64(bitPattern: read >> 1) ^ -Int64(bitPattern: read & 1))
  }
}

extension ExactName: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    ExactName(try coder(value?.text))
  }
}

extension Hash128: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Hash128(high: try coder.fixed(value?.high), low: try coder.fixed(value?.low))
  }
}

extension ConsentID: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    ConsentID(try coder(value?.value))
  }
}

extension BorderAgentID: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let numbers = value?.numbers
    return BorderAgentID(high: try coder.fixed(numbers?.high), low: try coder.number(numbers?.low))
  }
}

extension ExtendedPANID: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    ExtendedPANID(number: try coder.fixed(value?.number))
  }
}

extension Timestamp: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let read = Timestamp(
      seconds: try coder(value?.seconds), ticks: try coder(value?.ticks),
      isAuthoritative: try coder(value?.isAuthoritative))
    guard let read else { throw RecordError() }
    return read
  }
}

extension DatasetDifferences: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    DatasetDifferences(rawValue: try coder(value?.rawValue))
  }
}

extension SequenceWindow: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    var window = SequenceWindow()
    window.high = try coder.maybe(value?.high)
    window.seen = try coder(value?.seen)
    window.identifiers = try coder(value?.identifiers)
    return window
  }
}
