// SPDX-License-Identifier: Apache-2.0

import SealedEnvelope
import Testing

@Suite struct JSONObjectTextTests {
  private func value(_ name: String, _ text: String) -> String? {
    JSONObjectText.value(of: name, in: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    (#"{"a":1}"#, "1"), (#"{ "a" : 1 }"#, "1"), (#"{"b":[1,{"a":2}],"a":"x,}\""}"#, #""x,}\"""#),
    (#"{"a":{"a":{"b":[]}},"c":3}"#, #"{"a":{"b":[]}}"#),
    ("{\"c\":\"a\",\n\"a\"\t:\n[ 1 , 2 ]\n}", "[ 1 , 2 ]"),
  ])
  func findsTheOutermostMember(_ text: String, _ expected: String) {
    #expect(value("a", text) == expected)
  }

  @Test(arguments: [
    "{}", #"{"b":"a"}"#, #"{"b":{"a":1}}"#, #"[{"a":1}]"#, #"{"a":1,"a":2}"#, #"{"\u0061":1}"#,
    #"{"b":"\"a\":1"}"#,
  ])
  func findsNothingElse(_ text: String) {
    #expect(value("a", text) == nil)
  }

  @Test func depthIsCountedOutsideOfTexts() {
    func isAtMost(_ depth: Int, _ text: String) -> Bool {
      JSONObjectText.isAtMost(depth, deep: Array(text.utf8))
    }
    #expect(isAtMost(2, #"{"a":[1,"[[[[",{}]}"#) == false)
    #expect(isAtMost(3, #"{"a":[1,"[[[[\"[",{}]}"#))
    #expect(!isAtMost(100, String(repeating: "[", count: 101)))
  }

  @Test func anyBytesCanBeLookedAt() {
    let pieces = Array(#"{}[]:,"\a1 "#.utf8) + [0, 0xFF]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...24)).map { _ in pieces.randomElement() ?? 0 }
      let value = JSONObjectText.value(of: "a", in: bytes)
      // Only what is an object has members that mean something.
      if JSONObjectText.isObject(bytes), let value { #expect(!value.isEmpty) }
    }
  }
}
