// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadDataset

@Suite("Hexadecimal text")
struct HexadecimalTests {
  @Test("Every octet there and back, in both cases")
  func everyOctet() {
    let octets = Array(UInt8.min ... .max)
    let text = Hexadecimal.encode(octets)
    #expect(text.count == 512)
    #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10"))
    #expect(text.hasSuffix("fdfeff"))
    #expect(Hexadecimal.decode(text) == octets)
    #expect(Hexadecimal.decode(text.uppercased()) == octets)
    #expect(Hexadecimal.decode(text.dropFirst(2)) == Array(octets.dropFirst()))
  }

  @Test("Any sequence of octets is encoded")
  func sequences() {
    #expect(Hexadecimal.encode([0xAB, 0x01][...]) == "ab01")
    #expect(Hexadecimal.encode(stride(from: 1, to: 4, by: 1).lazy.map { UInt8($0) }) == "010203")
    #expect(Hexadecimal.encode([]) == "")
  }

  @Test("Only digits are digits")
  func digits() {
    for octet in UInt8.min ... .max {
      let character = Character(UnicodeScalar(octet))
      let isDigit = "0123456789abcdefABCDEF".contains(character)
      #expect((Hexadecimal.decode("0\(character)") != nil) == isDigit)
      #expect((Hexadecimal.decode("\(character)0") != nil) == isDigit)
    }
    #expect(Hexadecimal.decode("") == [])
    #expect(Hexadecimal.decode("0") == nil)
    #expect(Hexadecimal.decode(" 00") == nil)
    #expect(Hexadecimal.decode("０0") == nil)
  }
}
