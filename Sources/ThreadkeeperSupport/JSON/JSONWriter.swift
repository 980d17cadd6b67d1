// Public to be inlined across targets only; no product has it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// JSON straight into memory (RFC 8259): no white space, and no escapes but those that the grammar asks for. Members
/// come in the order in which they are written.
///
/// What is small is inlinable, and all is public for that (see `WireObject`): each field of each message that is published
/// goes through it.
public struct JSONWriter {
  public var bytes: [UInt8] = []

  /// Bytes of a usual message. Of up to 1,000 glibc keeps blocks for each thread; a larger one takes ten times as long.
  public static let usualCapacity = 960

  /// - Parameter capacity: bytes for which there is room at first.
  public init(capacity: Int = usualCapacity) { bytes.reserveCapacity(capacity) }

  // MARK: Parts

  @inlinable public mutating func raw(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inlinable public mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  public mutating func raw(_ other: [UInt8]) { bytes.append(contentsOf: other) }

  /// A text without its quotes.
  public mutating func escaped(_ text: String) {
    var text = text
    text.withUTF8 { source in
      // Without a branch for each byte, so that the compiler looks at several at once.
      var special: UInt8 = 0
      for byte in source { special |= (byte < 0x20 ? 1 : 0) | (byte == 0x22 ? 1 : 0) | (byte == 0x5C ? 1 : 0) }
      if special != 0 { for byte in source { escape(byte) } } else { bytes.append(contentsOf: source) }
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

  public mutating func number(_ value: UInt64) {
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
  public mutating func hex(_ value: UInt64) {
    let (high, low) = (UInt32(truncatingIfNeeded: value >> 32), UInt32(truncatingIfNeeded: value))
    withUnsafeBytes(of: (Self.hex(high).bigEndian, Self.hex(low).bigEndian)) { bytes.append(contentsOf: $0) }
  }

  /// 8 digits, all at once: one in each byte of a word.
  private static func hex(_ value: UInt32) -> UInt64 {
    var digits = UInt64(value)
    digits = (digits << 16 | digits) & 0x0000_FFFF_0000_FFFF
    digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
    digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return digits + 0x3030_3030_3030_3030 + letters * 0x27
  }

  /// RFC 3339 in UTC, to the second, without quotes. The date by arithmetic: H. Hinnant, "chrono-Compatible Low-Level
  /// Date Algorithms", `civil_from_days`.
  ///
  /// - Parameter milliseconds: since 1970.
  public mutating func time(milliseconds: Int64) {
    let seconds = (milliseconds - (milliseconds < 0 ? 999 : 0)) / 1_000
    let days = (seconds - (seconds < 0 ? 86_399 : 0)) / 86_400
    let rest = seconds - days * 86_400
    let shifted = days + 719_468
    let era = (shifted - (shifted < 0 ? 146_096 : 0)) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { text in
      func put(_ value: Int64, at place: Int, then mark: UInt8) {
        text[place] = 0x30 + UInt8(truncatingIfNeeded: value / 10 % 10)
        text[place + 1] = 0x30 + UInt8(truncatingIfNeeded: value % 10)
        text[place + 2] = mark
      }
      // The mark of the century is overwritten.
      put(year / 100, at: 0, then: 0)
      put(year % 100, at: 2, then: 0x2D)
      put(month, at: 5, then: 0x2D)
      put(day, at: 8, then: 0x54)
      put(rest / 3_600, at: 11, then: 0x3A)
      put(rest / 60 % 60, at: 14, then: 0x3A)
      put(rest % 60, at: 17, then: 0x5A)
      bytes.append(contentsOf: UnsafeBufferPointer(text))
    }
  }

  // MARK: Objects and lists

  @inlinable public mutating func open(_ bracket: StaticString = "{") { raw(bracket) }

  @inlinable public mutating func close(_ bracket: StaticString = "}") { raw(bracket) }

  /// Between two elements; nothing after a bracket.
  @inlinable public mutating func separate() {
    if let last = bytes.last, last != 0x7B, last != 0x5B { bytes.append(0x2C) }
  }

  /// The name of a member, with what comes before and after it.
  ///
  /// - Parameter name: needs no escapes.
  public mutating func name(_ name: StaticString) {
    let (isFirst, count) = (bytes.last == 0x7B, name.utf8CodeUnitCount)
    // At once: appending byte after byte takes four times as long.
    bytes.append(addingCapacity: count + 4) { member in
      member.withUnsafeMutableBufferPointer { room, used in
        guard var end = room.baseAddress.map({ $0 + used }) else { return }
        if !isFirst {
          end.initialize(to: 0x2C)
          end += 1
        }
        end.initialize(to: 0x22)
        (end + 1).initialize(from: name.utf8Start, count: count)
        (end + count + 1).initialize(to: 0x22)
        (end + count + 2).initialize(to: 0x3A)
        used += count + (isFirst ? 3 : 4)
      }
    }
  }

  public mutating func text(_ text: String) {
    bytes.append(0x22)
    escaped(text)
    bytes.append(0x22)
  }

  /// A text that needs no escapes.
  @inlinable public mutating func word(_ word: StaticString) {
    bytes.append(0x22)
    raw(word)
    bytes.append(0x22)
  }
}
