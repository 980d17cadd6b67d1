// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import Testing

@Suite struct Base64Tests {
  // RFC 4648, section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func agreesWithTheStandard(_ plain: String, _ text: String) {
    #expect(Base64.encode(Array(plain.utf8)) == text)
    #expect(Base64.decode(text) == Array(plain.utf8))
    let unpadded = String(text.prefix { $0 != "=" })
    #expect(Base64.encode(Array(plain.utf8), .urlSafe) == unpadded)
    #expect(Base64.decode(unpadded, .urlSafe) == Array(plain.utf8))
  }

  @Test func theAlphabetsDiffer() {
    #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
    #expect(Base64.encode([0xFB, 0xFF], .urlSafe) == "-_8")
    #expect(Base64.decode("-_8=") == nil)
    #expect(Base64.decode("+/8", .urlSafe) == nil)
  }

  @Test(arguments: ["Zg", "Zg=", "Zh==", "Zg==\n", " Zg==", "Zg==Zg==", "Z===", "Zm9=", "ä"])
  func anyOtherTextIsRefused(_ text: String) {
    #expect(Base64.decode(text) == nil)
  }
}
