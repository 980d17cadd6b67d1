// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BridgeProtocol

@Suite("Where JSON stops being JSON")
struct JSONSyntaxTests {
  static let sound =
    #" {"a":[1,-0,0.5,1e9,-2E+3,1.5e-3,[],{}],"b":{"c":"\"\\\/\b\f\n\r\t\u00fFé"},"d":[true,false,null]} "#

  @Test(
    "Sound JSON has no flaw", arguments: [sound, "0", "-1", "\"\"", "null", "[]", "{}", " [ ] "])
  func noFlaw(text: String) {
    #expect(JSONSyntax.firstFlaw(in: Array(text.utf8)) == nil)
  }

  @Test("JSON that is cut off is flawed at its end")
  func cutOff() {
    let bytes = Array(Self.sound.utf8)
    for count in 0..<bytes.count - 1 {
      #expect(JSONSyntax.firstFlaw(in: Array(bytes.prefix(count))) == count, "\(count)")
    }
  }

  @Test(
    "Each flaw has its place",
    arguments: [
      ("01", 1), ("1.", 2), ("1.e", 2), ("1e", 2), ("1e+", 3), ("--1", 1), ("+1", 0), (".5", 0),
      ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), (#"{"a":1,}"#, 7), (#"{"a" 1}"#, 5), (#"{"a":}"#, 5),
      ("{1:2}", 1), ("nul", 3), ("nulL", 3), ("True", 0), (#""\a""#, 2), (#""\u00g0""#, 5),
      ("\"\t\"", 1), ("[1]]", 3), ("'a'", 0), ("\u{FEFF}1", 0),
    ])
  func flaw(text: String, offset: Int) {
    #expect(JSONSyntax.firstFlaw(in: Array(text.utf8)) == offset)
  }
}
