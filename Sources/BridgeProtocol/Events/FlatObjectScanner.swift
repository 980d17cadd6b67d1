// SPDX-License-Identifier: Apache-2.0

/// Reads one flat JSON object of texts without escapes and whole numbers, as routers really send it.
/// Foundation's parser needs several times as long.
///
/// It judges nothing: whatever is not of that form is left to the parser, so every refusal is the
/// parser's.
struct FlatObjectScanner {
  /// Bytes between two quotes.
  struct Text {
    let bytes: UnsafeBufferPointer<UInt8>
    let isASCII: Bool

    /// `nil` unless it is UTF-8.
    var string: String? {
      // Nothing to repair: the same, and much faster.
      if isASCII { return String(decoding: bytes, as: UTF8.self) }
      return String(validating: bytes, as: UTF8.self)
    }

    static func ~= (word: StaticString, text: Text) -> Bool {
      guard text.bytes.count == word.utf8CodeUnitCount else { return false }
      return text.bytes.indices.allSatisfy { text.bytes[$0] == word.utf8Start[$0] }
    }
  }

  enum Value {
    case text(Text)
    /// Without sign, fraction and exponent.
    case number(UInt64)
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private var offset = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  /// Calls `member` for each member; false from it ends the scan.
  ///
  /// - Returns: false when the parser is to decide.
  mutating func scan(_ member: (_ name: Text, Value) -> Bool) -> Bool {
    guard take(UInt8(ascii: "{")) else { return false }
    if take(UInt8(ascii: "}")) { return isAtEnd }
    repeat {
      guard let name = text(), take(UInt8(ascii: ":")), let value = value(), member(name, value)
      else { return false }
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "}")) && isAtEnd
  }

  private var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return offset == bytes.count
    }
  }

  private mutating func value() -> Value? {
    if let text = text() { return .text(text) }
    return number().map(Value.number)
  }

  /// `nil` also for an escape or a control character.
  private mutating func text() -> Text? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    let start = offset
    var seen: UInt8 = 0
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      if byte == UInt8(ascii: "\"") {
        return Text(
          bytes: UnsafeBufferPointer(rebasing: bytes[start..<offset - 1]), isASCII: seen < 0x80)
      }
      guard byte >= 0x20, byte != UInt8(ascii: "\\") else { return nil }
      seen |= byte
    }
    return nil
  }

  private mutating func number() -> UInt64? {
    let start = offset
    var value: UInt64 = 0
    while offset < bytes.count, bytes[offset] &- UInt8(ascii: "0") < 10 {
      value = value &* 10 &+ UInt64(bytes[offset] &- UInt8(ascii: "0"))
      offset += 1
    }
    // Nineteen digits always fit; a leading zero is none of JSON's numbers.
    let count = offset - start
    guard (1...19).contains(count), count == 1 || bytes[start] != UInt8(ascii: "0") else {
      return nil
    }
    return value
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard offset < bytes.count, bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  private mutating func skipSpace() {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }
}
