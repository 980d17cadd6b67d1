import ThreadDataset

/// A record that this version cannot have written.
package struct RecordError: Error, Hashable {}

/// Writes values as bytes, or reads them back: where a value is made of others the same code does both, so that the two
/// cannot differ.
///
/// ```
/// number   LEB128, the low seven bits first          time           milliseconds after the one before in the record
/// hash     8 bytes each, the low one first                           (the first: after 1970), zigzag, as a number
/// text     number of bytes, UTF-8                     id             8 bytes, and a number for its second half
/// yes, no  a bit, see below                           list           number of elements, each
/// absent   the bit 0, or 1 and then the value         choice         a number, then what belongs to it
/// ```
///
/// Bits fill a byte from the lowest one. It stands where its first bit is written; after the eighth another one begins.
struct RecordCoder: ~Copyable {
  /// What is read.
  private let source: [UInt8]
  /// What was written, and room for more. An array checks with each append whether it is shared.
  private var memory: UnsafeMutableRawBufferPointer
  private let isReading: Bool
  /// Where the next value is, or goes.
  private var offset = 0
  /// Where the byte of the last bit is.
  private var bitsAt = 0
  /// The next bit in it; 0: there is none.
  private var nextBit: UInt8 = 0
  /// The last time, in milliseconds.
  private var time: Int64 = 0

  /// For writing.
  init() {
    source = []
    memory = .allocate(byteCount: 512, alignment: 1)
    isReading = false
  }

  /// For reading.
  init(_ bytes: [UInt8]) {
    source = bytes
    memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    isReading = true
  }

  deinit { memory.deallocate() }

  // MARK: Both

  /// A value to be written; nil: it is read.
  mutating func callAsFunction<T: Recorded>(_ value: T?) throws(RecordError) -> T {
    guard let value else { return try T.read(from: &self) }
    value.write(to: &self)
    return value
  }

  /// One that may be absent.
  mutating func maybe<T: Recorded>(_ value: T?) throws(RecordError) -> T? {
    if isReading { return try T?.read(from: &self) }
    value.write(to: &self)
    return value
  }

  /// A field that is written as it is, or read.
  mutating func callAsFunction<T: Recorded>(_ field: inout T) throws(RecordError) {
    if isReading { field = try T.read(from: &self) } else { field.write(to: &self) }
  }

  // MARK: Writing

  /// What was written.
  var bytes: [UInt8] { Array(UnsafeRawBufferPointer(rebasing: memory[..<offset])) }

  /// Each write begins with this.
  @inline(__always) private mutating func makeRoom(for count: Int) {
    if memory.count - offset < count { grow(by: count) }
  }

  @inline(never) private mutating func grow(by count: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: memory.count + max(memory.count, count), alignment: 1)
    larger.copyMemory(from: UnsafeRawBufferPointer(memory))
    memory.deallocate()
    memory = larger
  }

  mutating func write(byte: UInt8) {
    makeRoom(for: 1)
    memory[offset] = byte
    offset += 1
  }

  mutating func write(bit: Bool) {
    if nextBit == 0 {
      (bitsAt, nextBit) = (offset, 1)
      write(byte: 0)
    }
    if bit { memory[bitsAt] |= nextBit }
    nextBit <<= 1
  }

  mutating func write(number: UInt64) {
    makeRoom(for: 10)
    var (rest, end) = (number, offset)
    while rest >= 0x80 {
      memory[end] = UInt8(truncatingIfNeeded: rest) | 0x80
      rest >>= 7
      end += 1
    }
    memory[end] = UInt8(truncatingIfNeeded: rest)
    offset = end + 1
  }

  mutating func write(time now: Int64) {
    let passed = now &- time
    time = now
    write(number: UInt64(bitPattern: passed << 1 ^ passed >> 63))
  }

  /// 8 bytes, for what is spread over all of them.
  mutating func write(fixed number: UInt64) {
    makeRoom(for: 8)
    memory.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt64.self)
    offset += 8
  }

  mutating func write(text: String) {
    var text = text
    text.withUTF8 { text in
      write(number: UInt64(text.count))
      makeRoom(for: text.count)
      UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: UnsafeRawBufferPointer(text))
      offset += text.count
    }
  }

  // MARK: Reading

  mutating func readByte() throws(RecordError) -> UInt8 {
    guard offset < source.count else { throw RecordError() }
    defer { offset += 1 }
    return source[offset]
  }

  /// Reads a byte if it is this one.
  ///
  /// - Returns: whether it was.
  mutating func reads(_ expected: UInt8) -> Bool {
    guard offset < source.count, source[offset] == expected else { return false }
    offset += 1
    return true
  }

  mutating func readBit() throws(RecordError) -> Bool {
    if nextBit == 0 {
      (bitsAt, nextBit) = (offset, 1)
      _ = try readByte()
    }
    defer { nextBit <<= 1 }
    return source[bitsAt] & nextBit != 0
  }

  mutating func readNumber() throws(RecordError) -> UInt64 {
    var (read, shift): (UInt64, UInt64) = (0, 0)
    while true {
      let next = try readByte()
      guard shift < 63 || next < 2 else { throw RecordError() }
      read |= UInt64(next & 0x7F) << shift
      if next < 0x80 { return read }
      shift += 7
      guard shift < 64 else { throw RecordError() }
    }
  }

  mutating func readTime() throws(RecordError) -> Int64 {
    let passed = try readNumber()
    time &+= Int64(bitPattern: passed >> 1) ^ -Int64(bitPattern: passed & 1)
    return time
  }

  mutating func readFixed() throws(RecordError) -> UInt64 {
    try read(8).withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
  }

  mutating func read(_ count: UInt64) throws(RecordError) -> ArraySlice<UInt8> {
    guard count <= UInt64(bytesLeft) else { throw RecordError() }
    defer { offset += Int(count) }
    return source[offset..<offset + Int(count)]
  }

  var bytesLeft: Int { source.count - offset }

  /// All that is left to read.
  mutating func rest<each Part: Recorded>() throws(RecordError) -> (repeat each Part) {
    let rest = (repeat try self(nil) as each Part)
    try end()
    return rest
  }

  /// Nothing is left to read, nor a bit that nobody has written.
  func end() throws(RecordError) {
    guard bytesLeft == 0, nextBit == 0 || source[bitsAt] < nextBit else { throw RecordError() }
  }
}

/// A value that records are made of.
protocol Recorded: Sendable {
  func write(to coder: inout RecordCoder)
  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self
}

/// One that is made of fields.
protocol RecordedByFields: Recorded {
  /// To read them into.
  static var blank: Self { get }
  /// Writes or reads each.
  mutating func fields(_ coder: inout RecordCoder) throws(RecordError)
}

extension RecordedByFields {
  func write(to coder: inout RecordCoder) {
    var copy = self
    // Writing does not fail.
    try? copy.fields(&coder)
  }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    var read = blank
    try read.fields(&coder)
    return read
  }
}

/// How a value is written, or read where it is nil.
typealias RecordForm<Value> = @Sendable (inout RecordCoder, Value?) throws(RecordError) -> Value

/// One whose fields are not changed once it is made, or a choice.
protocol RecordedByForm: Recorded { static var form: RecordForm<Self> { get } }

extension RecordedByForm {
  func write(to coder: inout RecordCoder) { _ = try? Self.form(&coder, self) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self { try form(&coder, nil) }
}

/// An enumeration with values.
///
/// - Parameter plain: cases to which nothing belongs.
func choice<Value: Sendable & Equatable>(plain: [UInt8: Value] = [:], _ cases: RecordCase<Value>...) -> RecordForm<
  Value
> {
  { (coder, value) throws(RecordError) in
    guard let value else {
      let number = try coder.readByte()
      if let value = plain[number] { return value }
      guard let one = cases.first(where: { $0.number == number }) else { throw RecordError() }
      return try one.read(&coder)
    }
    if let number = plain.first(where: { $0.value == value })?.key {
      coder.write(byte: number)
    } else {
      for one in cases where one.write(&coder, value) { break }
    }
    return value
  }
}

/// A case of an enumeration: its number, and what belongs to it.
struct RecordCase<Value: Sendable>: Sendable {
  fileprivate let number: UInt8
  fileprivate let read: @Sendable (inout RecordCoder) throws(RecordError) -> Value
  /// Writes nothing where the value is another case.
  fileprivate let write: @Sendable (inout RecordCoder, Value) -> Bool

  /// - Parameter parts: nil where the value is another case.
  init<each Part: Recorded>(
    _ number: UInt8, _ make: @escaping @Sendable (repeat each Part) -> Value,
    _ parts: @escaping @Sendable (Value) -> (repeat each Part)?
  ) {
    self.number = number
    read = { (coder) throws(RecordError) in make(repeat try coder(nil) as each Part) }
    write = { coder, value in
      guard let parts = parts(value) else { return false }
      coder.write(byte: number)
      repeat (each parts).write(to: &coder)
      return true
    }
  }
}

extension UnsignedInteger where Self: Recorded {
  func write(to coder: inout RecordCoder) { coder.write(number: UInt64(self)) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    guard let read = Self(exactly: try coder.readNumber()) else { throw RecordError() }
    return read
  }
}

extension UInt8: Recorded {}
extension UInt16: Recorded {}
extension UInt32: Recorded {}
extension UInt64: Recorded {}

extension Int: Recorded {
  func write(to coder: inout RecordCoder) { coder.write(number: UInt64(bitPattern: Int64(self))) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Int {
    Int(truncatingIfNeeded: try coder.readNumber())
  }
}

extension Bool: Recorded {
  func write(to coder: inout RecordCoder) { coder.write(bit: self) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Bool { try coder.readBit() }
}

extension String: Recorded {
  func write(to coder: inout RecordCoder) { coder.write(text: self) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> String {
    let read = try coder.read(coder.readNumber())
    if read.allSatisfy({ $0 < 0x80 }) { return String(decoding: read, as: UTF8.self) }
    guard let text = String(validating: read, as: UTF8.self) else { throw RecordError() }
    return text
  }
}

extension Array: Recorded where Element: Recorded {
  func write(to coder: inout RecordCoder) {
    coder.write(number: UInt64(count))
    for element in self { element.write(to: &coder) }
  }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> [Element] {
    let count = try coder.readNumber()
    // Each takes a byte at least: there are no lists of bits alone, and what is all optional has something.
    guard count <= UInt64(coder.bytesLeft) else { throw RecordError() }
    var read: [Element] = []
    for _ in 0..<count { read.append(try Element.read(from: &coder)) }
    return read
  }
}

extension Optional: Recorded where Wrapped: Recorded {
  func write(to coder: inout RecordCoder) {
    coder.write(bit: self != nil)
    if let self { self.write(to: &coder) }
  }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    try coder.readBit() ? try Wrapped.read(from: &coder) : nil
  }
}

extension Boxed: Recorded where Value: Recorded {
  func write(to coder: inout RecordCoder) { wrappedValue.write(to: &coder) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    Self(wrappedValue: try Value?.read(from: &coder))
  }
}

extension RawRepresentable where RawValue == UInt8, Self: Recorded {
  func write(to coder: inout RecordCoder) { coder.write(byte: rawValue) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    guard let read = Self(rawValue: try coder.readByte()) else { throw RecordError() }
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
  func write(to coder: inout RecordCoder) { coder.write(time: milliseconds) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> WireTime {
    WireTime(milliseconds: try coder.readTime())
  }
}

extension ExactName: Recorded {
  func write(to coder: inout RecordCoder) { coder.write(text: text) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self { Self(try String.read(from: &coder)) }
}

extension Hash128: Recorded {
  func write(to coder: inout RecordCoder) {
    coder.write(fixed: high)
    coder.write(fixed: low)
  }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    try Self(high: coder.readFixed(), low: coder.readFixed())
  }
}

extension ConsentID: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in try Self(coder(value?.value)) }
}

extension BorderAgentID: Recorded {
  func write(to coder: inout RecordCoder) {
    let (high, low) = numbers
    coder.write(fixed: high)
    coder.write(number: low)
  }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    try Self(high: coder.readFixed(), low: coder.readNumber())
  }
}

extension ExtendedPANID: Recorded {
  func write(to coder: inout RecordCoder) { coder.write(fixed: number) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self { try Self(number: coder.readFixed()) }
}

extension Timestamp: Recorded {
  func write(to coder: inout RecordCoder) {
    seconds.write(to: &coder)
    ticks.write(to: &coder)
    isAuthoritative.write(to: &coder)
  }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    let read = try Self(seconds: coder(nil), ticks: coder(nil), isAuthoritative: coder(nil))
    guard let read else { throw RecordError() }
    return read
  }
}

extension DatasetDifferences: Recorded {
  func write(to coder: inout RecordCoder) { rawValue.write(to: &coder) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self { try Self(rawValue: coder(nil)) }
}

extension SequenceWindow: RecordedByFields {
  static var blank: Self { Self() }

  mutating func fields(_ coder: inout RecordCoder) throws(RecordError) {
    try coder(&high)
    try coder(&seen)
    try coder(&identifiers)
  }
}
