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
  fileprivate(set) var bytes: [UInt8]
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

  /// A value to be written; nil: it is read.
  mutating func callAsFunction<T: Recorded>(_ value: T?) throws(RecordError) -> T { try T.coded(&self, value) }

  /// One that may be absent.
  mutating func maybe<T: Recorded>(_ value: T?) throws(RecordError) -> T? {
    try T?.coded(&self, isReading ? nil : .some(value))
  }

  /// A field that is written as it is, or read.
  mutating func callAsFunction<T: Recorded>(_ field: inout T) throws(RecordError) {
    if isReading { field = try self(nil) } else { _ = try self(field) }
  }

  /// All that is left to read.
  mutating func rest<each Part: Recorded>() throws(RecordError) -> (repeat each Part) {
    let rest = (repeat try self(nil) as each Part)
    try end()
    return rest
  }

  /// Nothing is left to read.
  func end() throws(RecordError) { guard bytesLeft == 0 else { throw RecordError() } }

  @inline(__always) mutating func byte(_ value: UInt8?) throws(RecordError) -> UInt8 {
    if let value {
      bytes.append(value)
      return value
    }
    guard isReading, offset < bytes.count else { throw RecordError() }
    defer { offset += 1 }
    return bytes[offset]
  }

  /// Reads a byte if it is this one.
  ///
  /// - Returns: whether it was.
  mutating func reads(_ expected: UInt8) -> Bool {
    guard isReading, offset < bytes.count, bytes[offset] == expected else { return false }
    offset += 1
    return true
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

  var bytesLeft: Int { bytes.count - offset }

  /// 8 bytes, for what is spread over all of them.
  mutating func fixed(_ value: UInt64?) throws(RecordError) -> UInt64 {
    if let value {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
      return value
    }
    return try read(8).withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
  }

  mutating func read(_ count: UInt64) throws(RecordError) -> ArraySlice<UInt8> {
    guard count <= UInt64(bytesLeft) else { throw RecordError() }
    defer { offset += Int(count) }
    return bytes[offset..<offset + Int(count)]
  }
}

/// A value that records are made of.
protocol Recorded: Sendable {
  /// - Parameter value: to be written; nil: it is read.
  /// - Returns: the same value, or what was read.
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self
}

/// How a value is written, or read where it is nil.
typealias RecordForm<Value> = @Sendable (inout RecordCoder, Value?) throws(RecordError) -> Value

protocol RecordedByForm: Recorded { static var form: RecordForm<Self> { get } }

extension RecordedByForm {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self { try form(&coder, value) }
}

/// An enumeration with values.
///
/// - Parameter plain: cases to which nothing belongs.
func choice<Value: Sendable & Equatable>(plain: [UInt8: Value] = [:], _ cases: RecordCase<Value>...) -> RecordForm<
  Value
> {
  { (coder, value) throws(RecordError) in
    guard let value else {
      let number = try coder.byte(nil)
      if let value = plain[number] { return value }
      guard let one = cases.first(where: { $0.number == number }) else { throw RecordError() }
      return try one.read(&coder)
    }
    if let number = plain.first(where: { $0.value == value })?.key {
      _ = try coder.byte(number)
    } else {
      for one in cases where try one.write(&coder, value) { break }
    }
    return value
  }
}

/// A case of an enumeration: its number, and what belongs to it.
struct RecordCase<Value: Sendable>: Sendable {
  fileprivate let number: UInt8
  fileprivate let read: @Sendable (inout RecordCoder) throws(RecordError) -> Value
  /// Writes nothing where the value is another case.
  fileprivate let write: @Sendable (inout RecordCoder, Value) throws(RecordError) -> Bool

  /// - Parameter parts: nil where the value is another case.
  init<each Part: Recorded>(
    _ number: UInt8, _ make: @escaping @Sendable (repeat each Part) -> Value,
    _ parts: @escaping @Sendable (Value) -> (repeat each Part)?
  ) {
    self.number = number
    read = { (coder) throws(RecordError) in make(repeat try coder(nil) as each Part) }
    write = { (coder, value) throws(RecordError) in
      guard let parts = parts(value) else { return false }
      _ = try coder.byte(number)
      _ = (repeat try coder(each parts))
      return true
    }
  }
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
  @inline(__always) static func coded(_ coder: inout RecordCoder, _ value: Bool?) throws(RecordError) -> Bool {
    let read = try coder.byte(value.map { $0 ? 1 : 0 })
    guard read < 2 else { throw RecordError() }
    return read == 1
  }
}

extension String: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: String?) throws(RecordError) -> String {
    let count = try coder.number(value.map { UInt64($0.utf8.count) })
    if let value {
      coder.bytes.append(contentsOf: value.utf8)
      return value
    }
    let read = try coder.read(count)
    if read.allSatisfy({ $0 < 0x80 }) { return String(decoding: read, as: UTF8.self) }
    guard let text = String(validating: read, as: UTF8.self) else { throw RecordError() }
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

extension Optional: Recorded where Wrapped: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    guard try coder(value.map { $0 != nil }) else { return nil }
    return try coder(value ?? nil) as Wrapped
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
extension ReadingProblem: Recorded {}
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
    try Self(coder(value?.text))
  }
}

extension Hash128: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    try Self(high: coder.fixed(value?.high), low: coder.fixed(value?.low))
  }
}

extension ConsentID: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in try Self(coder(value?.value)) }
}

extension BorderAgentID: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let numbers = value?.numbers
    return Self(high: try coder.fixed(numbers?.high), low: try coder.number(numbers?.low))
  }
}

extension ExtendedPANID: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    try Self(number: coder.fixed(value?.number))
  }
}

extension Timestamp: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let read = try Self(
      seconds: coder(value?.seconds), ticks: coder(value?.ticks), isAuthoritative: coder(value?.isAuthoritative))
    guard let read else { throw RecordError() }
    return read
  }
}

extension DatasetDifferences: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    try Self(rawValue: coder(value?.rawValue))
  }
}

extension SequenceWindow: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    try Self(high: coder.maybe(value?.high), seen: coder(value?.seen), identifiers: coder(value?.identifiers))
  }
}
