/// Bytes as hexadecimal text, two digits each.
package enum Hexadecimal {
  /// Why text is not hexadecimal.
  enum NotHexadecimal: Error {
    /// The character at this place, counted in bytes of UTF-8 from 0, is no digit.
    case strangeCharacter(position: Int)
    /// All are digits, but they are so many.
    case oddCount(Int)

    /// Where the text stops making sense.
    var position: Int {
      switch self {
      case .strangeCharacter(let position): position
      case .oddCount(let count): count
      }
    }
  }

  /// Lower-case text of bytes.
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    bytes.withContiguousStorageIfAvailable(text(of:)) ?? Array(bytes).withUnsafeBufferPointer(text(of:))
  }

  /// The bytes of text in upper or lower case; `nil` when it has anything else than pairs of digits.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? { try? bytes(of: text) }

  /// The same of text as UTF-8.
  package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? { try? parse(text).get() }

  /// The number that the 16 digits from `offset` on are; nil where one of them is none, or they are fewer.
  package static func number(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt64? {
    guard offset + 16 <= text.count, let high = fourBytes(text, at: offset), let low = fourBytes(text, at: offset + 8)
    else { return nil }
    return UInt64(high) << 32 | UInt64(low)
  }

  /// The bytes of text in upper or lower case.
  static func bytes(of text: some StringProtocol) throws(NotHexadecimal) -> [UInt8] {
    let outcome = text.utf8.withContiguousStorageIfAvailable(parse) ?? Array(text.utf8).withUnsafeBufferPointer(parse)
    return try outcome.get()
  }

  /// Text without the white space of ASCII around it.
  static func trimmed(_ text: String) -> Substring {
    let isSpace = { (character: UInt8) in character == 0x20 || (0x09...0x0D).contains(character) }
    let utf8 = text.utf8
    guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return Substring(utf8[first...last])
  }

  private static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      for (index, byte) in bytes.enumerated() {
        text[index * 2] = character(byte >> 4)
        text[index * 2 + 1] = character(byte & 0x0F)
      }
      return bytes.count * 2
    }
  }

  private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Result<[UInt8], NotHexadecimal> {
    var strange: Int?
    // With a capacity of 0, Swift would write to the array without elements that all threads share.
    let bytes = [UInt8](unsafeUninitializedCapacity: max(1, text.count / 2)) { bytes, count in
      while count + 4 <= text.count / 2, let four = fourBytes(text, at: count * 2) {
        UnsafeMutableRawBufferPointer(bytes).storeBytes(of: four.bigEndian, toByteOffset: count, as: UInt32.self)
        count += 4
      }
      while count < text.count / 2 {
        let high = digit(text[count * 2])
        let low = digit(text[count * 2 + 1])
        // A digit is at most 0x0F, and what is no digit is 0xFF.
        guard high | low <= 0x0F else {
          strange = count * 2 + (high <= 0x0F ? 1 : 0)
          return
        }
        bytes[count] = high << 4 | low
        count += 1
      }
    }
    if let strange { return .failure(.strangeCharacter(position: strange)) }
    if text.count.isMultiple(of: 2) { return .success(bytes) }
    let last = text.count - 1
    return .failure(digit(text[last]) <= 0x0F ? .oddCount(text.count) : .strangeCharacter(position: last))
  }

  /// The bytes that the eight digits from `offset` on are, the first one highest; nil where one is none.
  private static func fourBytes(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt32? {
    func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }
    let digits = UInt64(bigEndian: UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    // A decimal digit is 3 and its value; a letter is 4 or 6, and its value less 9.
    let letters = (digits >> 6) & each(1)
    var values = (digits & each(0x0F)) &+ letters &* 9
    guard digits & (each(0xF0) &- letters &* 0x20) == each(0x30) &+ letters &* 0x10, values & each(0x10) == 0,
      (values &+ each(6)) & each(0x10) == letters &* 0x10
    else { return nil }
    // Pairs of digits, then of bytes, move together.
    values = (values | values >> 4) & 0x00FF_00FF_00FF_00FF
    values = (values | values >> 8) & 0x0000_FFFF_0000_FFFF
    return UInt32(truncatingIfNeeded: values | values >> 16)
  }

  private static func character(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x61 - 10 + digit }

  /// 0 to 15, or 0xFF for what is no digit.
  private static func digit(_ character: UInt8) -> UInt8 {
    let decimal = character &- 0x30
    if decimal < 10 { return decimal }
    let letter = (character | 0x20) &- 0x61
    return letter < 6 ? letter + 10 : 0xFF
  }
}
