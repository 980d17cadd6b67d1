// SPDX-License-Identifier: Apache-2.0

/// A string as it is written, between its quotes.
package struct JSONString {
  let bytes: UnsafeBufferPointer<UInt8>
  let isASCII: Bool
  let hasEscapes: Bool

  /// Nil when it has half of a surrogate pair (RFC 8259, section 8.2), or is not UTF-8.
  package var text: String? {
    guard hasEscapes else {
      // ASCII needs no check, and is decoded much faster.
      return isASCII
        ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }
    return unescaped().flatMap { String(validating: $0, as: UTF8.self) }
  }

  package static func ~= (name: StaticString, string: JSONString) -> Bool {
    guard !string.hasEscapes else { return string.text == name.description }
    guard string.bytes.count == name.utf8CodeUnitCount else { return false }
    return string.bytes.indices.allSatisfy { string.bytes[$0] == name.utf8Start[$0] }
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
    guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
      let second = codeUnit(&rest), UTF16.isTrailSurrogate(second)
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
package struct JSONNumber {
  let bytes: UnsafeBufferPointer<UInt8>

  /// Nil unless it is a whole number from 0 to 2^64-1. With a fraction or an exponent (`1.0`, `1e2`) it is below
  /// 2^53, where a `Double` is exact.
  package var unsigned: UInt64? {
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
    guard let value = Double(String(decoding: bytes, as: UTF8.self)), value < 0x1p53 else {
      return nil
    }
    return UInt64(exactly: value)
  }
}
