// SPDX-License-Identifier: Apache-2.0

/// Questions about single characters.
enum ASCII {
  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// What names are made of: letters, digits, `-`, `_`, `.`.
  static func isNameByte(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: ".")
  }

  /// What a URL has as it is (RFC 3986, 2.3).
  static func isTokenByte(_ byte: UInt8) -> Bool { isNameByte(byte) || byte == UInt8(ascii: "~") }

  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
