// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LocalAPI

@Suite("Calls")
struct VarlinkCallTests {
  private static let malformedTexts = [
    "", " ", "x", "[]", "null", "\"a.B\"", "{}", "{", "{\"method\":\"a.B\"",
    "{\"method\":\"a.B\"} x", "{\"method\":\"a.B\"}{}", "{\"method\":7}",
    "{\"method\":null}", "{\"method\":\"a.B\",\"parameters\":[]}",
    "{\"method\":\"a.B\",\"parameters\":\"x\"}", "{\"method\":\"a.B\",\"more\":1}",
    "{\"method\":\"a.B\",\"more\":\"true\"}", "{\"method\":\"a.B\",\"more\":true,\"oneway\":true}",
    "{\"method\":\"a.B\",\"upgrade\":true,\"oneway\":true}", "{method:\"a.B\"}",
    "{'method':'a.B'}", "{\"method\":\"a.B\",,}",
    "{\"method\":\"a.B\",\"x\":NaN}", "{\"method\":\"a\nB\"}",
    "\u{feff}{\"method\":\"a.B\"}",
    "{\"method\":\"a.B\",\"x\":" + String(repeating: "[", count: 32)
      + String(repeating: "]", count: 32) + "}",
  ]

  private static let malformedBytes: [[UInt8]] = [
    Array("{\"method\":\"a.".utf8) + [0xff] + Array("\"}".utf8),
    // An overlong form, a surrogate, and a sequence that ends too early.
    Array("{\"method\":\"a.".utf8) + [0xc0, 0xae] + Array("\"}".utf8),
    Array("{\"method\":\"a.".utf8) + [0xed, 0xa0, 0x80] + Array("\"}".utf8),
    Array("{\"method\":\"a.".utf8) + [0xe2, 0x82] + Array("\"}".utf8),
    // UTF-16, with and without its mark.
    Array("{\"method\":\"a.B\"}".utf16).flatMap { [UInt8(truncatingIfNeeded: $0), 0] },
    [0xff, 0xfe] + Array("{}".utf16).flatMap { [UInt8(truncatingIfNeeded: $0), 0] },
  ]

  @Test(
    "What is no call is refused",
    arguments: malformedTexts.map { Array($0.utf8) } + malformedBytes)
  func refused(message: [UInt8]) {
    do {
      _ = try VarlinkCall(reading: message)
      Issue.record("read: \(String(decoding: message, as: UTF8.self))")
    } catch {
      #expect(error.reason == .malformed)
    }
  }

  @Test(
    "What is one is read, whatever else is in it",
    arguments: [
      ("{\"method\":\"a.B\"}", "a", "B", VarlinkCall.Kind.single),
      (" {\"method\" : \"a.b.c.D\"}\n", "a.b.c", "D", .single),
      ("{\"method\":\"a.B\",\"parameters\":null,\"more\":false}", "a", "B", .single),
      ("{\"method\":\"a.B\",\"parameters\":{},\"more\":true}", "a", "B", .more),
      ("{\"oneway\":true,\"method\":\"a.B\"}", "a", "B", .oneway),
      ("{\"upgrade\":true,\"method\":\"a.B\"}", "a", "B", .upgrade),
      ("{\"method\":\"a.B\",\"x\":{\"y\":[1,{}]},\"more\":null}", "a", "B", .single),
      (
        "{\"method\":\"a.B\",\"x\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[\"}", "a", "B",
        .single
      ),
      ("{\"method\":\"Bare\"}", "", "Bare", .single), ("{\"method\":\"a.\"}", "a", "", .single),
      ("{\"method\":\"\\u0061.B\"}", "a", "B", .single),
    ])
  func read(text: String, interface: String, name: String, kind: VarlinkCall.Kind) throws {
    let call = try VarlinkCall(reading: Array(text.utf8))
    #expect(call.interface == interface)
    #expect(call.name == name)
    #expect(call.kind == kind)
  }

  struct Wanted: Codable, Equatable {
    struct Subject: Codable, Equatable { var networkName: String }
    var homeName: String
    var subject: Subject?
    var counts: [Int]?
  }

  @Test(
    "A parameter that is missing or of another type is named as on the wire",
    arguments: [
      ("{}", "home_name"), ("null", "home_name"), ("{\"home_name\":7}", "home_name"),
      ("{\"home_name\":null}", "home_name"), ("{\"homeName\":\"a\",\"subject\":3}", "subject"),
      ("{\"home_name\":\"a\",\"subject\":{}}", "subject.network_name"),
      ("{\"home_name\":\"a\",\"subject\":{\"network_name\":false}}", "subject.network_name"),
      ("{\"home_name\":\"a\",\"counts\":{}}", "counts"),
    ])
  func invalidParameter(parameters: String, field: String) throws {
    let text = "{\"method\":\"a.B\",\"parameters\":\(parameters)}"
    let call = try VarlinkCall(reading: Array(text.utf8))
    #expect(throws: VarlinkError.invalidParameter(field)) { try call.parameters(Wanted.self) }
  }

  @Test("Parameters come back as they were sent, and unknown ones are ignored")
  func parameters() throws {
    let wanted = Wanted(homeName: "a/ü\u{0}\"", subject: .init(networkName: "n"), counts: [1])
    let sent = try VarlinkCall.encode("a.B", wanted, .more)
    #expect(!sent.contains(0))
    let call = try VarlinkCall(reading: sent)
    #expect(call.kind == .more)
    #expect(try call.parameters(Wanted.self) == wanted)
    let other = "{\"method\":\"a.B\",\"parameters\":{\"home_name\":\"a\",\"new\":[1]}}"
    #expect(
      try VarlinkCall(reading: Array(other.utf8)).parameters(Wanted.self)
        == Wanted(homeName: "a"))
    let none = try VarlinkCall(reading: Array("{\"method\":\"a.B\"}".utf8))
    #expect(try none.parameters(VarlinkNothing.self) == VarlinkNothing())
  }
}
