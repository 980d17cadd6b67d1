import Broker
import Home
import TestKit
import Testing
import ThreadDataset
import Wire

@Suite("Payloads that are no events") struct InboundEventShapeTests {
  @Test(
    "What is not JSON is refused with its place, and no word of it is repeated",
    arguments: [
      ("", 0), (" ", 1), ("{", 1), ("}", 0), ("{]", 1), (#"{"a""#, 4), (#"{"a":"#, 5), (#"{"a":1,"#, 7), ("{'a':1}", 1),
      ("{a:1}", 1), ("marker-7f", 0), (#"{"name":"marker-7f}"#, 19), (#"{"name":.5}"#, 8), (#"{"name":NaN}"#, 8),
      (#"{"name":tru}"#, 11), ("{} {}", 3), ("{}x", 2), (#"{"name":"\x"}"#, 10), (#"{"name":"\u12"}"#, 13),
      ("{\"name\":\"\n\"}", 9), ("{\"name\":\"\u{1}\"}", 9), ("// {}", 0), (#"{"a":1 "b":2}"#, 7), ("}}}}}}}}}}{", 0),
      ("\u{0}", 0), ("{\"border_agent_id\":\"a1b2c3d4e5f60718\"}\u{0}", 38), (#"["a","b":1]"#, 8),
      (#"{"a":{"b":[{"c":falsy}]}}"#, 20),
    ]) func notJSON(text: String, offset: Int) throws
  {
    let rejection = try Samples.rejection(of: text)
    #expect(rejection.place == "invalid_json" && rejection.offset == offset)
    #expect(rejection.message.contains("JSON object"))
    #expect(!Samples.texts(of: rejection).contains("marker-7f"))
  }

  @Test("An unpaired surrogate is refused, and its field is named") func unpairedSurrogate() throws {
    #expect(try Samples.rejection(of: #"{"name":"\ud800"}"#).place == "invalid_json name")
  }

  @Test("Of several fields of a wrong type the first in the payload is named") func severalWrongTypes() throws {
    #expect(try Samples.rejection(of: #"{"ssid":1,"name":2,"seq":"3"}"#).field == "ssid")
  }

  @Test(
    "JSON that is no object is refused as such", arguments: ["[]", "[{}]", "\"text\"", "1", "-0.5e3", "true", "null"])
  func noObject(text: String) throws {
    let rejection = try Samples.rejection(of: text)
    #expect(rejection.place == "wrong_type")
    #expect(rejection.message == "expected a JSON object")
  }

  @Test("JSON in UTF-16 or UTF-32 is refused: the protocol speaks UTF-8") func otherEncodings() throws {
    let text = #"{"border_agent_id":"\#(Samples.agent)"}"#
    let wide: [UInt8] = text.utf8.flatMap { [$0, 0] }
    let wideBig: [UInt8] = text.utf8.flatMap { [0, $0] }
    let widest: [UInt8] = text.utf8.flatMap { [$0, 0, 0, 0] }
    for payload: [UInt8] in [wide, wideBig, widest, [0xFF, 0xFE] + wide, [0xFE, 0xFF] + wideBig] {
      let rejection = try Samples.rejection(of: payload)
      #expect(["invalid_json", "invalid_utf8"].contains(rejection.code))
    }
  }

  @Test("Invalid UTF-8 is refused with its place, in a name, a key, or anywhere") func invalidUTF8() throws {
    let broken: [[UInt8]] = [
      [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xE5, 0xAE],
    ]
    for bytes in broken {
      let inText = Array(#"{"name":"é"#.utf8) + bytes + Array(#""}"#.utf8)
      let rejection = try Samples.rejection(of: inText)
      #expect(rejection.code == "invalid_utf8" && rejection.offset == 11)
      #expect(try Samples.rejection(of: bytes).offset == 0)
      #expect(try Samples.rejection(of: Array("{\"".utf8) + bytes).offset == 2)
    }
  }

  @Test("A payload as large as the limit is read, one byte more is refused, and so is 1 MiB") func size() throws {
    let head = #"{"border_agent_id":"\#(Samples.agent)","x":""#
    let room = InboundLimits.payloadBytes - head.utf8.count - 2
    #expect(throws: Never.self) { try Samples.decode(head + String(repeating: "x", count: room) + #""}"#) }
    for count in [room + 1, 1 << 20] {
      let rejection = try Samples.rejection(of: head + String(repeating: "x", count: count) + #""}"#)
      #expect(rejection.code == "too_large")
      #expect(rejection.message.contains("\(InboundLimits.payloadBytes)"))
    }
    #expect(try Samples.rejection(of: [UInt8](repeating: 0xFF, count: 1 << 20)).code == "too_large")
  }

  @Test("Nesting is read up to the limit") func nesting() throws {
    let limit = InboundLimits.nesting
    func nested(_ depth: Int) -> String {
      #"{"border_agent_id":"\#(Samples.agent)","x":"# + String(repeating: "[", count: depth)
        + String(repeating: "]", count: depth) + "}"
    }
    #expect(throws: Never.self) { try Samples.decode(nested(limit - 1)) }
    for depth in [limit, limit + 1, 100, 6_000] {
      let rejection = try Samples.rejection(of: nested(depth))
      #expect(rejection.code == "too_deep" && rejection.offset == 42 + limit - 1)
    }
  }

  @Test("Nesting of 10,000 is refused without a parser", arguments: ["[", "{\"a\":", "[{\"a\":"]) func deepNesting(
    opening: String
  ) throws {
    let bytes = Array(String(repeating: opening, count: 10_000).utf8)
    let rejection = try Samples.rejection(of: Array(bytes.prefix(InboundLimits.payloadBytes)))
    #expect(rejection.code == "too_deep")
    if bytes.count > InboundLimits.payloadBytes { #expect(try Samples.rejection(of: bytes).code == "too_large") }
  }

  @Test("Brackets within texts are no nesting") func bracketsInTexts() throws {
    let name = String(repeating: "[{", count: 60)
    let event = try Samples.decode(#"{"border_agent_id":"\#(Samples.agent)","x":"\\\"[[[[[[[[[[","name":"\#(name)"}"#)
    #expect(event.name == name)
  }
}

@Suite("Rejections") struct RejectionTests {
  @Test("The codes stay as they are: automations are written for them") func codes() {
    #expect(
      Rejection.Code.allCases.map(\.rawValue) == [
        "invalid_topic", "unknown_event", "too_large", "too_deep", "invalid_utf8", "invalid_json", "wrong_type",
        "missing_field", "bad_field", "bad_border_agent_id", "bad_dataset", "incomplete_dataset", "unsupported",
        "not_authorized", "not_found", "out_of_order", "retained", "too_many_routers", "too_many_networks",
        "cannot_apply", "rate_limited", "not_sealed", "not_enrolled", "outside_differs", "damaged_enrolment",
      ])
    #expect(
      EnvelopeRefusal.allCases.map(\.rawValue) == [
        "too_large", "not_an_envelope", "unsupported_version", "unsupported_algorithm", "unknown_kid", "cannot_open",
        "unknown_issuer", "bad_signature", "wrong_audience", "wrong_topic", "expired", "not_yet_valid", "replayed",
      ])
  }

  @Test("No code of ours is one of the dataset's own") func disjoint() {
    let own = Set(Rejection.Code.allCases.map(\.rawValue))
    #expect(own.isDisjoint(with: DatasetError.Code.allCases.map(\.rawValue)))
  }

  @Test("A refused dataset keeps its code, TLV, place and words") func dataset() {
    let rejection = Rejection(DatasetError(code: .badLength, type: 5, offset: 50, message: "words"), field: "dataset")
    #expect(rejection.place == "bad_length dataset" && rejection.tlv == "Network Key")
    #expect(rejection.offset == 50 && rejection.message == "words")
  }
}
