// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadDataset

@Suite("Hexadecimal text")
struct HexadecimalTests {
  @Test("Every byte there and back, in both cases")
  func everyByte() {
    let bytes = Array(UInt8.min ... .max)
    let text = Hexadecimal.encode(bytes)
    #expect(text.count == 512)
    #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10"))
    #expect(text.hasSuffix("fdfeff"))
    #expect(Hexadecimal.decode(text) == bytes)
    #expect(Hexadecimal.decode(text.uppercased()) == bytes)
    #expect(Hexadecimal.decode(text.dropFirst(2)) == Array(bytes.dropFirst()))
  }

  @Test("Any sequence of bytes is encoded")
  func sequences() {
    #expect(Hexadecimal.encode([0xAB, 0x01][...]) == "ab01")
    #expect(Hexadecimal.encode(stride(from: 1, to: 4, by: 1).lazy.map { UInt8($0) }) == "010203")
    #expect(Hexadecimal.encode([]) == "")
  }

  @Test("Only digits are digits")
  func digits() {
    for byte in UInt8.min ... .max {
      let character = Character(UnicodeScalar(byte))
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
