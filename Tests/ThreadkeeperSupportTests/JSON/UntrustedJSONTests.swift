import Foundation
import TestKit
import Testing
import ThreadkeeperSupport

@Suite("JSON from untrusted peers") struct UntrustedJSONTests {
  private static let depth = 8
  private static let sound =
    #" {"a":[1,-0,0.5,1e9,-2E+3,1.5e-3,[],{}],"b":{"c":"\"\\\/\b\f\n\r\t\u00fFé"},"d":[true,false,null]} "#

  private func flaw(_ text: String) -> JSONFlaw? { flaw(Array(text.utf8)) }

  private func flaw(_ bytes: [UInt8]) -> JSONFlaw? {
    do throws(JSONFlaw) {
      try UntrustedJSON.check(bytes, depth: Self.depth)
      return nil
    } catch { return error }
  }

  private func value(_ name: String, _ text: String) -> String? {
    UntrustedJSON.value(of: name, in: Array(text.utf8), depth: Self.depth).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("Valid JSON has no flaw", arguments: [sound, "0", "-1", "\"\"", "null", "[]", "{}", " [ ] ", #"["\ud83d"]"#])
  func noFlaw(text: String) { #expect(flaw(text) == nil) }

  @Test("JSON that is cut off is flawed at its end") func cutOff() {
    let bytes = Array(Self.sound.utf8)
    // Inside of the character é it is no UTF-8.
    let inside = bytes.firstIndex(of: 0xA9) ?? 0
    for count in 0..<bytes.count - 1 {
      let expected =
        count == inside ? JSONFlaw(reason: .notUTF8, offset: count - 1) : JSONFlaw(reason: .syntax, offset: count)
      #expect(flaw(Array(bytes.prefix(count))) == expected, "\(count)")
    }
  }

  @Test(
    "A flaw of syntax has its offset",
    arguments: [
      ("01", 1), ("1.", 2), ("1.e", 2), ("1e", 2), ("1e+", 3), ("--1", 1), ("+1", 0), (".5", 0), ("[1,]", 3),
      ("[,1]", 1), ("[1 2]", 3), (#"{"a":1,}"#, 7), (#"{"a" 1}"#, 5), (#"{"a":}"#, 5), ("{1:2}", 1), ("nul", 3),
      ("nulL", 3), ("True", 0), (#""\a""#, 2), (#""\u00g0""#, 5), ("\"\t\"", 1), ("[1]]", 3), ("'a'", 0),
      ("{}\u{0}", 2), ("\"\u{0}\"", 1), ("", 0),
    ]) func syntax(text: String, offset: Int)
  { #expect(flaw(text) == JSONFlaw(reason: .syntax, offset: offset)) }

  @Test("Nesting beyond the limit is found at its bracket; brackets in strings don't count") func depth() {
    #expect(flaw(#"[[[[[[[["[[[[{{\"[["]]]]]]]]"#) == nil)
    #expect(flaw(#"[[[[[[[[[]]]]]]]]]"#) == JSONFlaw(reason: .tooDeep, offset: 8))
    #expect(flaw(#"{"a":[[[[[[{"b":{}}]]]]]]}"#) == JSONFlaw(reason: .tooDeep, offset: 16))
    #expect(flaw(String(repeating: "[", count: 1_000_000)) == JSONFlaw(reason: .tooDeep, offset: 8))
  }

  @Test("Bytes that are not UTF-8 are found where they are") func notUTF8() {
    #expect(flaw(Array("{\"a\":\"é".utf8) + [0xC3, 0x28]) == .init(reason: .notUTF8, offset: 8))
    #expect(flaw(Array(#"["x"]"#.utf8) + [0xFF]) == .init(reason: .notUTF8, offset: 5))
    #expect(flaw(Array(#"[""#.utf8) + [0xC3, 0x28] + Array(#""]"#.utf8))?.offset == 2)
  }

  @Test("A text ends at its quote, and is flawed at a control character, however long it is", arguments: 0..<20)
  func ends(count: Int) {
    for plain in ["~", "!", "#", "[", "]", "\u{7F}"].map({ String(repeating: $0, count: count) }) {
      for text in ["\"\(plain)\"", "\"\(plain)\\\"\(plain)\"", "\"\(plain)é\(plain)\""] {
        #expect(value("a", #"{"a":\#(text),"b":1}"#) == text)
      }
      for control in ["\u{0}", "\n", "\u{1F}"] {
        #expect(flaw("\"\(plain)\(control)~~~~~~~~\"") == JSONFlaw(reason: .syntax, offset: count + 1))
      }
      #expect(flaw(Array("\"\(plain)".utf8) + [0xC3] + Array("~~~~~~~~\"".utf8))?.reason == .notUTF8)
    }
  }

  @Test("A byte order mark is skipped only where it is allowed") func byteOrderMark() throws {
    let text = Array("\u{FEFF}{}".utf8)
    #expect(flaw(text) == JSONFlaw(reason: .syntax, offset: 0))
    #expect(try UntrustedJSON.check(text, depth: 1, skipsByteOrderMark: true))
  }

  @Test("UTF-16 is refused") func utf16() {
    #expect(flaw(Array(Data("{}".data(using: .utf16LittleEndian) ?? Data()))) != nil)
    #expect(flaw(Array(Data("{}".data(using: .utf16) ?? Data()))) != nil)
  }

  @Test(
    "The value of a member of the outermost object",
    arguments: [
      (#"{"a":1}"#, "1"), (#"{ "a" : 1 }"#, "1"), (#"{"b":[1,{"a":2}],"a":"x,}\""}"#, #""x,}\"""#),
      (#"{"a":{"a":{"b":[]}},"c":3}"#, #"{"a":{"b":[]}}"#), (#"{"\u0061":1}"#, "1"),
      ("{\"c\":\"a\",\n\"a\"\t:\n[ 1 , 2 ]\n}", "[ 1 , 2 ]"),
    ]) func value(text: String, expected: String)
  { #expect(value("a", text) == expected) }

  @Test(
    "There is no value without a member, with two of them, or without an object",
    arguments: [
      "{}", #"{"b":"a"}"#, #"{"b":{"a":1}}"#, #"[{"a":1}]"#, #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#,
      #"{"b":"\"a\":1"}"#, #"{"a":1"#, #"{"a":1}x"#, "",
    ]) func noValue(text: String)
  { #expect(value("a", text) == nil) }

  @Test("Members come in order, with their values") func members() throws {
    var seen: [String] = []
    let text = #"{"s":"x\u00e9\ud83d\ude00\n","n":12,"t":true,"f":false,"0":null,"o":{"x":1},"a":[]}"#
    let isObject = try UntrustedJSON.readMembers(of: Array(text.utf8), depth: Self.depth) { member in
      let value =
        switch member.value {
        case .string(let string): string.text ?? "no text"
        case .number(let number): number.unsigned.map { "\($0)" } ?? "no number"
        case .bool(let bool): "\(bool)"
        case .null: "null"
        case .nested: String(decoding: member.source, as: UTF8.self)
        }
      seen.append("\(member.name.text ?? "")=\(value)")
    }
    #expect(isObject)
    #expect(seen == ["s=xé😀\n", "n=12", "t=true", "f=false", "0=null", #"o={"x":1}"#, "a=[]"])
  }

  @Test(
    "Half of a surrogate pair is no text",
    arguments: [#"\ud83d"#, #"\ud83dx"#, #"\ud83d\n"#, #"\ude00"#, #"\ud83d\ud83d"#, #"\ud83d\u0041"#]) func surrogates(
      escapes: String
    ) throws
  {
    var texts: [String?] = []
    _ = try UntrustedJSON.readMembers(of: Array(#"{"a":"\#(escapes)"}"#.utf8), depth: 1) { member in
      if case .string(let string) = member.value { texts.append(string.text) }
    }
    #expect(texts == [nil])
  }

  @Test(
    "Numbers from 0 to 2^64-1 are read when they are whole",
    arguments: [
      ("0", 0), ("-0", 0), ("18446744073709551615", .max), ("18446744073709551616", nil),
      ("99999999999999999999999", nil), ("1.0", 1), ("1e2", 100), ("100e-2", 1), ("1.5", nil), ("-1", nil),
      ("1e999", nil), ("1e30", nil), ("9007199254740991.0", 9_007_199_254_740_991), ("9007199254740993.0", nil),
      ("9007199254740993", 9_007_199_254_740_993),
    ] as [(String, UInt64?)]) func numbers(text: String, expected: UInt64?) throws
  {
    var values: [UInt64?] = []
    _ = try UntrustedJSON.readMembers(of: Array(#"{"a":\#(text)}"#.utf8), depth: 1) { member in
      if case .number(let number) = member.value { values.append(number.unsigned) }
    }
    #expect(values == [expected])
  }

  @Test("What passes the check is JSON for Foundation's parser, too", arguments: 1...4) func agreesWithFoundation(
    seed: UInt64
  ) {
    var generator = SeededGenerator(seed: seed)
    let pieces = Array(#"{}[]:,"\a1 -0.e"#.utf8) + Array(#"":tu"#.utf8) + [0, 0xC3, 0xA9]
    var passed = 0
    for _ in 0..<20_000 {
      var bytes = Array(Self.sound.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: bytes.indices, using: &generator)
        bytes[index] = pieces.randomElement(using: &generator) ?? 0
      }
      guard bytes != Array(Self.sound.utf8), flaw(bytes) == nil else { continue }
      passed += 1
      let parsed = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      #expect(parsed != nil, "\(String(decoding: bytes, as: UTF8.self))")
    }
    // Otherwise nothing was compared.
    #expect(passed > 1_000)
  }
}
