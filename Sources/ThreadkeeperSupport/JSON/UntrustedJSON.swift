// Public to be inlined across targets only; no product has it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Reads JSON (RFC 8259) from untrusted peers: one pass, no copies, nesting limited before anything is read deeper.
///
/// The caller limits the size. Text that a typed decoder reads afterwards is checked here first, because such decoders
/// call themselves for each level and also take other encodings than UTF-8.
public enum UntrustedJSON {
  /// - Parameters:
  ///   - depth: the most objects and arrays within each other.
  ///   - skipsByteOrderMark: whether one may begin the text, as Windows editors write it (RFC 8259, section 8.1).
  /// - Returns: whether the outermost value is an object.
  @discardableResult package static func check(_ bytes: [UInt8], depth: Int, skipsByteOrderMark: Bool = false)
    throws(JSONFlaw) -> Bool
  { try readMembers(of: bytes, depth: depth, skipsByteOrderMark: skipsByteOrderMark) { _ in } }

  /// Calls `body` for each member of the outermost object, in order. What it was called for counts only when this
  /// returns: a flaw may follow.
  ///
  /// - Parameters:
  ///   - depth: the most objects and arrays within each other.
  ///   - skipsByteOrderMark: whether one may begin the text, as Windows editors write it (RFC 8259, section 8.1).
  /// - Returns: false when the outermost value is not an object; `body` is not called then.
  package static func readMembers(
    of bytes: [UInt8], depth: Int, skipsByteOrderMark: Bool = false, _ body: (JSONMember) -> Void
  ) throws(JSONFlaw) -> Bool {
    try bytes.withUnsafeBufferPointer { bytes throws(JSONFlaw) in
      try readMembers(of: bytes, depth: depth, skipsByteOrderMark: skipsByteOrderMark, body)
    }
  }

  private static func readMembers(
    of bytes: UnsafeBufferPointer<UInt8>, depth: Int, skipsByteOrderMark: Bool, _ body: (JSONMember) -> Void
  ) throws(JSONFlaw) -> Bool {
    var reader = JSONReader(bytes, depth: depth, skipsByteOrderMark: skipsByteOrderMark)
    do throws(JSONFlaw) { return try reader.readDocument(body) } catch {
      // The encoding says more than the grammar, unless it is another one altogether.
      guard error.reason == .syntax, !bytes.contains(0) else { throw error }
      throw JSONUTF8.flaw(in: bytes) ?? error
    }
  }

  /// The members of the outermost object, valid as long as the bytes are.
  ///
  /// - Parameters: as above.
  /// - Returns: nil when the outermost value is not an object.
  public static func members(of bytes: UnsafeBufferPointer<UInt8>, depth: Int) throws(JSONFlaw) -> [JSONMember]? {
    var members: [JSONMember] = []
    // As many as most messages have.
    members.reserveCapacity(8)
    let isObject = try readMembers(of: bytes, depth: depth, skipsByteOrderMark: true) { members.append($0) }
    return isObject ? members : nil
  }

  /// The elements of an array, valid as long as the bytes are; their names are empty.
  ///
  /// - Returns: nil when the outermost value is not an array.
  public static func elements(of bytes: UnsafeBufferPointer<UInt8>, depth: Int) throws(JSONFlaw) -> [JSONMember]? {
    var reader = JSONReader(bytes, depth: depth, skipsByteOrderMark: false)
    var elements: [JSONMember] = []
    return try reader.readArray { elements.append($0) } ? elements : nil
  }

  /// The bytes of a member's value in the outermost object, without white space around them.
  ///
  /// - Returns: nil when there is no such member, or more than one, or when these bytes are not an object.
  package static func value(of name: String, in bytes: [UInt8], depth: Int) -> [UInt8]? {
    var values: [[UInt8]] = []
    let isObject = try? readMembers(of: bytes, depth: depth) { member in
      if member.name.text == name { values.append(Array(member.source)) }
    }
    return isObject == true && values.count == 1 ? values[0] : nil
  }
}

/// Why bytes are not JSON that may be read, and where.
public struct JSONFlaw: Error, Equatable {
  public enum Reason: Sendable {
    /// Not the grammar of RFC 8259.
    case syntax
    /// Objects and arrays are nested deeper than allowed.
    case tooDeep
    /// Not UTF-8 (RFC 8259, section 8.1).
    case notUTF8
  }

  public let reason: Reason
  /// Bytes from the start to the first one that can't be there, or to the end where more has to come.
  public let offset: Int

  public init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

enum JSONUTF8 {
  static func flaw(in bytes: UnsafeBufferPointer<UInt8>) -> JSONFlaw? {
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { offset += scalar.count }
    return JSONFlaw(reason: .notUTF8, offset: offset)
  }
}

/// A member of an object. Valid during the call that it is passed to.
public struct JSONMember {
  public enum Value {
    case string(JSONString)
    case number(JSONNumber)
    case bool(Bool)
    case null
    /// An object or an array.
    case nested
  }

  public let name: JSONString
  public let value: Value
  /// The bytes of the value, without white space around them.
  public let source: UnsafeBufferPointer<UInt8>
}

/// The grammar of RFC 8259. Calls itself for each level, which is limited.
struct JSONReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let depth: Int
  private var offset = 0
  /// All bytes of strings, or-ed, eight beside each other: under 0x80 there is nothing to check as UTF-8.
  private var seen: UInt64 = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, depth: Int, skipsByteOrderMark: Bool) {
    self.bytes = bytes
    self.depth = depth
    if skipsByteOrderMark, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
  }

  /// Reads one value and white space around it.
  ///
  /// - Returns: whether it is an object, for whose members `body` was called.
  mutating func readDocument(_ body: (JSONMember) -> Void) throws(JSONFlaw) -> Bool {
    skipSpace()
    let isObject = next == UInt8(ascii: "{")
    if isObject { try object(level: 1, body) } else { _ = try value(level: 1) }
    try end()
    return isObject
  }

  /// - Returns: false for what is no array; `body` is not called then.
  mutating func readArray(_ body: (JSONMember) -> Void) throws(JSONFlaw) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: "[") else { return false }
    try array(level: 1, body)
    try end()
    return true
  }

  /// Nothing but white space is left, and all of it was UTF-8.
  private mutating func end() throws(JSONFlaw) {
    skipSpace()
    guard offset == bytes.count else { throw syntax }
    if !seen.isASCII, let flaw = JSONUTF8.flaw(in: bytes) { throw flaw }
  }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }
  private var syntax: JSONFlaw { JSONFlaw(reason: .syntax, offset: offset) }

  private func source(from start: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[start..<offset])
  }

  // MARK: Values

  /// - Parameter level: of the value, if it is an object or an array.
  private mutating func value(level: Int) throws(JSONFlaw) -> JSONMember.Value {
    switch next {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "{"):
      try object(level: level) { _ in }
      return .nested
    case UInt8(ascii: "["):
      try array(level: level) { _ in }
      return .nested
    case UInt8(ascii: "t"):
      try word("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try word("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try word("null")
      return .null
    default: return .number(try number())
    }
  }

  private mutating func object(level: Int, _ body: (JSONMember) -> Void) throws(JSONFlaw) {
    try enter(level)
    guard !take(UInt8(ascii: "}")) else { return }
    repeat {
      skipSpace()
      let name = try string()
      skipSpace()
      try need(UInt8(ascii: ":"))
      skipSpace()
      let start = offset
      let value = try value(level: level + 1)
      body(JSONMember(name: name, value: value, source: source(from: start)))
      skipSpace()
    } while take(UInt8(ascii: ","))
    try need(UInt8(ascii: "}"))
  }

  private mutating func array(level: Int, _ body: (JSONMember) -> Void) throws(JSONFlaw) {
    try enter(level)
    guard !take(UInt8(ascii: "]")) else { return }
    repeat {
      skipSpace()
      let start = offset
      let value = try value(level: level + 1)
      body(JSONMember(name: JSONString(), value: value, source: source(from: start)))
      skipSpace()
    } while take(UInt8(ascii: ","))
    try need(UInt8(ascii: "]"))
  }

  /// Past the bracket, and the white space behind it.
  private mutating func enter(_ level: Int) throws(JSONFlaw) {
    guard level <= depth else { throw JSONFlaw(reason: .tooDeep, offset: offset) }
    offset += 1
    skipSpace()
  }

  private mutating func string() throws(JSONFlaw) -> JSONString {
    try need(UInt8(ascii: "\""))
    let start = offset
    var (all, hasEscapes): (UInt64, Bool) = (0, false)
    while true {
      var end = offset
      while end + 8 <= bytes.count,
        case let word = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: end, as: UInt64.self),
        !word.hasEndOfText
      {
        all |= word
        end += 8
      }
      while end < bytes.count, case let byte = bytes[end], byte >= 0x20, byte != UInt8(ascii: "\""),
        byte != UInt8(ascii: "\\")
      {
        all |= UInt64(byte)
        end += 1
      }
      offset = end
      guard let byte = next, byte >= 0x20 else { throw syntax }
      offset += 1
      if byte == UInt8(ascii: "\"") {
        seen |= all
        return JSONString(
          bytes: UnsafeBufferPointer(rebasing: bytes[start..<end]), isASCII: all.isASCII, hasEscapes: hasEscapes)
      }
      hasEscapes = true
      try escape()
    }
  }

  private mutating func escape() throws(JSONFlaw) {
    guard let byte = next, "\"\\/bfnrtu".utf8.contains(byte) else { throw syntax }
    offset += 1
    guard byte == UInt8(ascii: "u") else { return }
    for _ in 0..<4 {
      guard let digit = next, Character(Unicode.Scalar(digit)).isHexDigit else { throw syntax }
      offset += 1
    }
  }

  private mutating func number() throws(JSONFlaw) -> JSONNumber {
    let start = offset
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) { try digits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    return JSONNumber(bytes: source(from: start))
  }

  // MARK: Bytes

  private mutating func digits() throws(JSONFlaw) {
    guard let first = next, isDigit(first) else { throw syntax }
    while let byte = next, isDigit(byte) { offset += 1 }
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  private mutating func word(_ word: StaticString) throws(JSONFlaw) {
    for index in 0..<word.utf8CodeUnitCount { try need(word.utf8Start[index]) }
  }

  private mutating func need(_ byte: UInt8) throws(JSONFlaw) { guard take(byte) else { throw syntax } }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    offset += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }
}

/// Eight bytes of a text.
extension UInt64 {
  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  fileprivate var isASCII: Bool { self & Self.highBits == 0 }

  /// Whether one of them is a quote, a backslash or a control character. In `(word - n) & ~word` the high bit of each
  /// byte below `n` is set; by the borrow, perhaps also that of a byte above such a one.
  fileprivate var hasEndOfText: Bool {
    func below(_ limit: UInt64, _ word: UInt64) -> UInt64 { (word &- Self.ones &* limit) & ~word }
    let quote = below(1, self ^ Self.ones &* UInt64(UInt8(ascii: "\"")))
    let backslash = below(1, self ^ Self.ones &* UInt64(UInt8(ascii: "\\")))
    return (below(0x20, self) | quote | backslash) & Self.highBits != 0
  }
}

/// A string as it is written, between its quotes.
public struct JSONString {
  public let bytes: UnsafeBufferPointer<UInt8>
  @usableFromInline let isASCII: Bool
  public let hasEscapes: Bool

  init(
    bytes: UnsafeBufferPointer<UInt8> = UnsafeBufferPointer(start: nil, count: 0), isASCII: Bool = true,
    hasEscapes: Bool = false
  ) { (self.bytes, self.isASCII, self.hasEscapes) = (bytes, isASCII, hasEscapes) }

  /// Nil when it has half of a surrogate pair (RFC 8259, section 8.2), or is not UTF-8.
  public var text: String? {
    guard hasEscapes else {
      // ASCII needs no check, and is decoded much faster.
      return isASCII ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }
    return unescaped().flatMap { String(validating: $0, as: UTF8.self) }
  }

  @inlinable public static func ~= (name: StaticString, string: JSONString) -> Bool {
    guard !string.hasEscapes else { return string.text == name.description }
    let count = name.utf8CodeUnitCount
    guard string.bytes.count == count else { return false }
    for index in 0..<count where string.bytes[index] != name.utf8Start[index] { return false }
    return true
  }

  private func unescaped() -> [UInt8]? {
    var result: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        result.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"):
        guard let scalar = Self.scalar(&rest) else { return nil }
        result += Array(String(scalar).utf8)
      // A quote, a slash or a backslash.
      case let character?: result.append(character)
      case nil: return nil
      }
    }
    return result
  }

  /// Reads what follows `\u`, with the second half of a surrogate pair.
  private static func scalar(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Unicode.Scalar? {
    guard let first = codeUnit(&rest) else { return nil }
    guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
    guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"), let second = codeUnit(&rest),
      UTF16.isTrailSurrogate(second)
    else { return nil }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private static func codeUnit(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> UInt16? {
    let digits = rest.prefix(4)
    rest = rest.dropFirst(4)
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}

/// A number as it is written.
public struct JSONNumber {
  let bytes: UnsafeBufferPointer<UInt8>

  /// Nil unless it is a whole number from 0 to 2^64-1. With a fraction or an exponent (`1.0`, `1e2`) it is below
  /// 2^53, where a `Double` is exact.
  public var unsigned: UInt64? {
    var value: UInt64 = 0
    for byte in bytes {
      let digit = byte &- UInt8(ascii: "0")
      guard digit < 10 else { return wholeDouble }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = product.addingReportingOverflow(UInt64(digit))
      guard !isTooLarge, !overflows else { return nil }
      value = sum
    }
    return value
  }

  private var wholeDouble: UInt64? {
    guard let value = Double(String(decoding: bytes, as: UTF8.self)), value < 0x1p53 else { return nil }
    return UInt64(exactly: value)
  }
}
