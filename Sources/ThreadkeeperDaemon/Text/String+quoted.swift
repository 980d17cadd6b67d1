// SPDX-License-Identifier: Apache-2.0

extension String {
  /// As one word of a shell.
  package var quoted: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: ":"):
          true
        default: false
        }
      }
    return isPlain ? self : "'" + replacing("'", with: #"'\''"#) + "'"
  }
}
