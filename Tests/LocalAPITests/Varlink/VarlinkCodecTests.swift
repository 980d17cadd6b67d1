import Testing

@testable import LocalAPI

@Suite("Calls") struct VarlinkCallTests {
  private static let malformedTexts = [
    "", " ", "x", "[]", "null", "\"a.B\"", "{}", "{", "{\"method\":\"a.B\"", "{\"method\":\"a.B\"} x",
    "{\"method\":\"a.B\"}{}", "{\"method\":7}", "{\"method\":null}", "{\"method\":\"a.B\",\"parameters\":[]}",
    "{\"method\":\"a.B\",\"parameters\":\"x\"}", "{\"method\":\"a.B\",\"more\":1}",
    "{\"method\":\"a.B\",\"more\":\"true\"}", "{\"method\":\"a.B\",\"more\":true,\"oneway\":true}",
    "{\"method\":\"a.B\",\"upgrade\":true,\"oneway\":true}", "{method:\"a.B\"}", "{'method':'a.B'}",
    "{\"method\":\"a.B\",,}", "{\"method\":\"a.B\",\"x\":NaN}", "{\"method\":\"a\nB\"}",
    "{\"method\":\"a.B\",\"x\":" + String(repeating: "[", count: 32) + String(repeating: "]", count: 32) + "}",
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

  @Test("What is no call is refused", arguments: malformedTexts.map { Array($0.utf8) } + malformedBytes) func refused(
    message: [UInt8]
  ) {
    do {
      _ = try VarlinkCall(reading: message)
      Issue.record("read: \(String(decoding: message, as: UTF8.self))")
    } catch { #expect(error.reason == .malformed) }
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
      ("{\"method\":\"a.B\",\"x\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[\"}", "a", "B", .single),
      ("{\"method\":\"Bare\"}", "", "Bare", .single), ("{\"method\":\"a.\"}", "a", "", .single),
      ("{\"method\":\"\\u0061.B\"}", "a", "B", .single),
    ]) func read(text: String, interface: String, name: String, kind: VarlinkCall.Kind) throws
  {
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
    ]) func invalidParameter(parameters: String, field: String) throws
  {
    let text = "{\"method\":\"a.B\",\"parameters\":\(parameters)}"
    let call = try VarlinkCall(reading: Array(text.utf8))
    #expect(throws: VarlinkError.invalidParameter(field)) { try call.parameters(Wanted.self) }
  }

  @Test("Parameters come back as they were sent, and unknown ones are ignored") func parameters() throws {
    let wanted = Wanted(homeName: "a/ü\u{0}\"", subject: .init(networkName: "n"), counts: [1])
    let sent = try VarlinkCall.encode("a.B", wanted, .more)
    #expect(!sent.contains(0))
    let call = try VarlinkCall(reading: sent)
    #expect(call.kind == .more)
    #expect(try call.parameters(Wanted.self) == wanted)
    let other = "{\"method\":\"a.B\",\"parameters\":{\"home_name\":\"a\",\"new\":[1]}}"
    #expect(try VarlinkCall(reading: Array(other.utf8)).parameters(Wanted.self) == Wanted(homeName: "a"))
    let none = try VarlinkCall(reading: Array("{\"method\":\"a.B\"}".utf8))
    #expect(try none.parameters(VarlinkNothing.self) == VarlinkNothing())
  }
}

@Suite("Messages in a stream of bytes") struct VarlinkFramesTests {
  @Test("They are the same however the bytes are portioned", arguments: [1, 2, 3, 7, 100]) func portions(size: Int)
    throws
  {
    let bytes = Array("{}\u{0}{\"a\":1}\u{0}\u{0}rest".utf8)
    var frames = VarlinkFrames(limit: 7)
    var found: [String] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      frames.append(bytes[start..<min(start + size, bytes.count)])
      while let message = try frames.next() { found.append(String(decoding: message, as: UTF8.self)) }
    }
    #expect(found == ["{}", "{\"a\":1}", ""])
    frames.append([0])
    #expect(try frames.next() == Array("rest".utf8))
    #expect(try frames.next() == nil)
  }

  @Test("One of as many bytes as the limit is read, a larger one is refused before its end") func limit() throws {
    let ten = [UInt8](repeating: 1, count: 10)
    var frames = VarlinkFrames(limit: 10)
    frames.append(ten + [0])
    #expect(try frames.next() == ten)
    frames.append(ten)
    #expect(try frames.next() == nil)
    for rest: [UInt8] in [[1], [1, 0]] {
      var copy = frames
      copy.append(rest)
      let error = #expect(throws: SocketError.self) { try copy.next() }
      #expect(error?.reason == .tooLarge)
    }
  }
}

@Suite("Replies") struct VarlinkReplyTests {
  private struct Value: Codable, Equatable { var shownName: String? }

  private func read(_ text: String) throws -> VarlinkReply<Value> { try VarlinkReply<Value>(reading: Array(text.utf8)) }

  @Test("They come back as they were sent") func encoded() throws {
    for continues in [false, true] {
      let sent = try VarlinkReply(parameters: Value(shownName: "a"), continues: continues).encoded()
      let text = String(decoding: sent, as: UTF8.self)
      #expect(text == (continues ? "{\"continues\":true," : "{") + "\"parameters\":{\"shown_name\":\"a\"}}")
      let reply = try read(text)
      #expect(reply.parameters == Value(shownName: "a"))
      #expect(reply.continues == continues)
    }
    #expect(try read("{}").parameters == Value())
    #expect(try read("{\"parameters\":null,\"error\":null,\"x\":1}").parameters == Value())
  }

  @Test("An error is thrown with its parameters") func errors() throws {
    let sent = VarlinkError.invalidParameter("a").encoded()
    #expect(
      String(decoding: sent, as: UTF8.self)
        == "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"a\"}}")
    #expect(throws: VarlinkError.invalidParameter("a")) { try VarlinkReply<Value>(reading: sent) }
    #expect(throws: VarlinkError("a.B", ["c": "d"])) { try read("{\"error\":\"a.B\",\"parameters\":{\"c\":\"d\"}}") }
    #expect(throws: VarlinkError("a.B")) { try read("{\"error\":\"a.B\"}") }
  }

  @Test(
    "What is no reply of this type is malformed",
    arguments: [
      "", "[]", "{\"parameters\":7}", "{\"parameters\":{\"shown_name\":7}}", "{\"error\":7}", "{\"continues\":1}", "{",
    ]) func malformed(text: String)
  {
    let error = #expect(throws: SocketError.self) { try read(text) }
    #expect(error?.reason == .malformed)
  }
}
