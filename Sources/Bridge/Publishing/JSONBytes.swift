// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadDataset

/// JSON straight into memory (RFC 8259), as everything that is published is written: the keys of an object in the order
/// of their bytes, because the code writes them so; no white space, and no escapes but those that the grammar asks for.
struct JSONBytes {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int = 1_024) { bytes.reserveCapacity(capacity) }

  // MARK: Parts

  mutating func raw(_ text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  mutating func raw(_ other: [UInt8]) { bytes.append(contentsOf: other) }

  mutating func raw(_ other: ArraySlice<UInt8>) { bytes.append(contentsOf: other) }

  /// A text without its quotes.
  mutating func escaped(_ text: String) {
    var text = text
    text.withUTF8 { source in
      var special = false
      for byte in source { special = special || byte < 0x20 || byte == 0x22 || byte == 0x5C }
      if special {
        for byte in source { escape(byte) }
      } else {
        bytes.append(contentsOf: source)
      }
    }
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x22, 0x5C:
      bytes.append(0x5C)
      bytes.append(byte)
    case 0x08: raw(#"\b"#)
    case 0x09: raw(#"\t"#)
    case 0x0A: raw(#"\n"#)
    case 0x0C: raw(#"\f"#)
    case 0x0D: raw(#"\r"#)
    case 0..<0x20:
      raw(#"\u00"#)
      bytes.append(0x30 + byte >> 4)
      bytes.append(Self.digit(byte & 15))
    default: bytes.append(byte)
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

  mutating func number(_ value: UInt64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var (start, rest) = (20, value)
      repeat {
        start -= 1
        digits[start] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      bytes.append(contentsOf: digits[start...])
    }
  }

  /// 16 hexadecimal digits in lower case.
  mutating func hex(_ value: UInt64) {
    hex(UInt32(truncatingIfNeeded: value >> 32))
    hex(UInt32(truncatingIfNeeded: value))
  }

  /// 8 digits, all at once: one in each byte of a word.
  mutating func hex(_ value: UInt32) {
    var digits = UInt64(value)
    digits = (digits << 16 | digits) & 0x0000_FFFF_0000_FFFF
    digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
    digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    digits += 0x3030_3030_3030_3030 + letters * 0x27
    withUnsafeBytes(of: digits.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func hex(_ agent: BorderAgentID) {
    let (high, low) = agent.numbers
    hex(high)
    if low != 0 { hex(low) }
  }

  private mutating func two(_ value: Int64) {
    bytes.append(0x30 + UInt8(truncatingIfNeeded: value / 10 % 10))
    bytes.append(0x30 + UInt8(truncatingIfNeeded: value % 10))
  }

  /// RFC 3339 in UTC, to the second. The date by arithmetic: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms",
  /// `civil_from_days`.
  mutating func time(_ time: WireTime) {
    let seconds = (time.milliseconds - (time.milliseconds < 0 ? 999 : 0)) / 1_000
    let days = (seconds - (seconds < 0 ? 86_399 : 0)) / 86_400
    let rest = seconds - days * 86_400
    let shifted = days + 719_468
    let era = (shifted - (shifted < 0 ? 146_096 : 0)) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    two(year / 100)
    two(year % 100)
    bytes.append(0x2D)
    two(month)
    bytes.append(0x2D)
    two(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    bytes.append(0x54)
    two(rest / 3_600)
    bytes.append(0x3A)
    two(rest / 60 % 60)
    bytes.append(0x3A)
    two(rest % 60)
    bytes.append(0x5A)
  }

  // MARK: Objects and lists

  mutating func open(_ bracket: StaticString = "{") { raw(bracket) }
  mutating func close(_ bracket: StaticString = "}") { raw(bracket) }

  /// Between two elements; nothing after a bracket.
  mutating func separate() {
    if let last = bytes.last, last != 0x7B, last != 0x5B { bytes.append(0x2C) }
  }

  /// - Parameter name: with its quotes and the colon.
  mutating func key(_ name: StaticString) {
    separate()
    raw(name)
  }

  mutating func text(_ text: String) {
    bytes.append(0x22)
    escaped(text)
    bytes.append(0x22)
  }

  // Members; what is nil is left out.

  mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    key(name)
    text(value)
  }

  /// A word that needs no escapes.
  mutating func member(_ name: StaticString, word: StaticString?) {
    guard let word else { return }
    key(name)
    bytes.append(0x22)
    raw(word)
    bytes.append(0x22)
  }

  mutating func member(_ name: StaticString, _ value: UInt64?) {
    guard let value else { return }
    key(name)
    number(value)
  }

  mutating func member(_ name: StaticString, _ value: Bool) {
    key(name)
    raw(value ? "true" : "false")
  }

  mutating func member(_ name: StaticString, _ value: WireTime?) {
    guard value != nil else { return }
    key(name)
    orNull(value)
  }

  mutating func orNull(_ value: WireTime?) {
    guard let value else { return raw("null") }
    bytes.append(0x22)
    time(value)
    bytes.append(0x22)
  }

  mutating func member(_ name: StaticString, hex value: UInt64?) {
    guard let value else { return }
    key(name)
    bytes.append(0x22)
    hex(value)
    bytes.append(0x22)
  }

  mutating func member(_ name: StaticString, _ value: ExtendedPANID?) {
    member(name, hex: value?.number)
  }

  mutating func member(_ name: StaticString, _ value: BorderAgentID?) {
    guard let value else { return }
    key(name)
    bytes.append(0x22)
    hex(value)
    bytes.append(0x22)
  }

  mutating func member(_ name: StaticString, list: [String]?) {
    guard let list else { return }
    key(name)
    open("[")
    for element in list {
      separate()
      text(element)
    }
    close("]")
  }
}
