import Broker
import Foundation
import Home
import TestKit
import Testing
import ThreadDataset
import Wire

@Suite("Sound events") struct InboundEventTests {
  @Test("An announcement with every field is read") func everything() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1)
    let text = """
      {"border_agent_id":"A1B2C3D4E5F60718","name":"Living room","vendor":"Acme","model":"BR-1",
       "ext_address":"0011223344556677","access_point":"ap-3","dataset":"\(dataset.hex)",
       "ssid":"attic","previous_ssid":"cellar","seq":42,"id":"ignored","time":"2026-11-21T04:36:00Z"}
      """
    let event = try Samples.decode(text)
    #expect(event.kind == .announce)
    #expect(event.subject == .router(try #require(BorderAgentID(hex: Samples.agent))))
    #expect(event.order == .number(42))
    #expect([event.name, event.vendor, event.model] == ["Living room", "Acme", "BR-1"])
    #expect(event.extendedAddress == 0x0011_2233_4455_6677)
    #expect(event.accessPoint == "ap-3")
    #expect(try Samples.event(Array(text.utf8), as: .announce).dataset?.bytes == dataset.bytes)
    #expect(event.ssid == "attic" && event.previousSSID == "cellar")
  }

  @Test(
    "What is written is read again, with each field once, in the order of their bytes",
    arguments: RouterMessage.Kind.allCases) func written(kind: RouterMessage.Kind) throws
  {
    var event = InboundEvent(kind)
    event.agent = BorderAgentID(high: 7, low: 0)
    event.dataset = WireDataset(try SampleNetwork.home.dataset(at: 1).bytes)
    event.sequence = .max
    event.message.name = "Attic"
    event.message.ssid = "w\"\n"
    event.message.offlineReason = kind == .offline ? .noNetwork : nil
    let read = try InboundEvent(reading: event.json(), as: kind)
    #expect(read.agent == event.agent && read.message.order == .number(.max))
    #expect(read.message.name == "Attic")
    #expect(read.message.ssid == (kind == .credentials ? nil : event.message.ssid))
    #expect(read.message.offlineReason == event.message.offlineReason)
    let isOfDataset = kind == .announce || kind == .dataset || kind == .credentials
    #expect((read.dataset == event.dataset) == isOfDataset)
    let names = WireDescriber(event).fields.map(\.name)
    #expect(names == Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  @Test("Only the border agent id is needed", arguments: RouterMessage.Kind.allCases) func least(
    kind: RouterMessage.Kind
  ) throws {
    let event = try Samples.decode(kind)
    #expect(event.kind == kind)
    #expect(event.order == .none)
    #expect(event.name == nil)
    #expect(event.lacks.isEmpty)
  }

  @Test("A program reports itself by three events, each with its name and without the id of a router") func programs()
    throws
  {
    let text = #"{"agent":"store","reason":"no token","seq":7,"ext_pan_id":"x"}"#
    for kind in [RouterMessage.Kind.heartbeat, .offline, .leave] {
      var expected = RouterMessage(kind, .agent("store"))
      expected.order = .number(7)
      if kind == .offline { expected.trouble = "no token" }
      #expect(try Samples.decode(text, as: kind) == expected)
      let router = #"{"border_agent_id":"\#(Samples.agent)","agent":5}"#
      #expect(try Samples.decode(router, as: kind).subject != .agent("store"))
      for wrong in [#"{"agent":""}"#, #"{"agent":5}"#, #"{"agent":null}"#] {
        #expect(try Samples.rejection(of: wrong, as: kind).place == "missing_field border_agent_id")
      }
    }
    #expect(try Samples.decode(#"{"agent":"store"}"#, as: .offline).trouble == "")
    for kind in [RouterMessage.Kind.announce, .dataset, .ssid] {
      #expect(try Samples.rejection(of: text, as: kind).place == "missing_field border_agent_id")
    }
    let long = String(repeating: "x", count: 513)
    #expect(
      try Samples.rejection(of: #"{"agent":"store","reason":"\#(long)"}"#, as: .offline).place == "bad_field reason")
  }

  @Test("Sixteen bytes are an id too, and the zero-padded form is the short one") func ids() throws {
    let long = "a1b2c3d4e5f607180102030405060708"
    let padded = Samples.agent + String(repeating: "0", count: 16)
    for (sent, read) in [(long, long), (padded, Samples.agent)] {
      let agent = try #require(BorderAgentID(hex: read))
      #expect(try Samples.decode(.announce, ["border_agent_id": sent]).subject == .router(agent))
    }
  }

  @Test("Fields that we do not know are a publisher's own business") func extraFields() throws {
    let event = try Samples.decode(
      """
      {"x":{"y":[1,2,{"z":null}]},"border_agent_id":"\(Samples.agent)","v":1,"time":17,"":true}
      """)
    #expect(event == RouterMessage(.announce, event.subject))
  }

  @Test("A null is the same as a field that is not there") func nulls() throws {
    let event = try Samples.decode(
      """
      {"border_agent_id":"\(Samples.agent)","name":null,"vendor":null,"model":null,"dataset":null,
       "ext_address":null,"access_point":null,"ssid":null,"previous_ssid":null,"seq":null,"id":null}
      """)
    #expect(event == RouterMessage(.announce, event.subject))
  }

  @Test(
    "Sequence numbers are all of 64 bits",
    arguments: [
      ("0", UInt64(0)), ("1", 1), ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775808", 1 << 63),
      ("18446744073709551615", .max),
    ]) func sequence(text: String, number: UInt64) throws
  {
    let event = try Samples.decode(#"{"border_agent_id":"\#(Samples.agent)","seq":\#(text)}"#)
    #expect(event.order == .number(number))
  }

  @Test("An id takes the place of a sequence number, and may be empty or odd") func identifiers() throws {
    for id in ["", "e-1", "a b", "安娜", #"\n\u0000"#] {
      let event = try Samples.decode(#"{"border_agent_id":"\#(Samples.agent)","id":"\#(id)"}"#)
      guard case .identifier = event.order else {
        Issue.record("no identifier: \(event.order)")
        continue
      }
    }
  }

  @Test("An SSID event may name the access point instead of the border router") func accessPoint() throws {
    let event = try Samples.decode(#"{"access_point":"ap-3","ssid":"attic","previous_ssid":"cellar"}"#, as: .ssid)
    #expect(event.subject == .accessPoint("ap-3"))
    #expect(event.ssid == "attic")
    let both = try Samples.decode(
      #"{"access_point":"ap-3","border_agent_id":"\#(Samples.agent)","ssid":"attic"}"#, as: .ssid)
    #expect(both.subject == .router(try #require(BorderAgentID(hex: Samples.agent))))
  }

  @Test(
    "A dataset in an event that has no use for one is not even looked at",
    arguments: [RouterMessage.Kind.leave, .heartbeat, .offline, .ssid]) func needlessDataset(kind: RouterMessage.Kind)
    throws
  {
    let payload = try Samples.payload(kind, ["dataset": "zz"])
    #expect(try Samples.event(payload, as: kind).dataset == nil)
  }

  @Test("Texts as long as the limit are taken, in characters of any width") func longestTexts() throws {
    for character in ["x", "é", "安", "👩"] {
      let text = String(repeating: character, count: InboundLimits.textCharacters)
      #expect(try Samples.decode(.announce, ["name": text]).name == text)
    }
  }

  @Test("White space and a byte order mark of UTF-8 do no harm") func whiteSpace() throws {
    let object = " \r\n\t{ \"border_agent_id\" : \"\(Samples.agent)\" }\n"
    for text in [object, "\u{FEFF}" + object] { #expect(try Samples.decode(text).name == nil) }
  }
}

/// Events as JSON, and how a refused one is looked at.
enum Samples {
  static let agent = "a1b2c3d4e5f60718"

  static func payload(_ fields: [String: Any]) throws -> [UInt8] {
    Array(try JSONSerialization.data(withJSONObject: fields))
  }

  /// A sound payload of a kind with some fields set otherwise.
  static func payload(_ kind: RouterMessage.Kind, _ changes: [String: Any] = [:]) throws -> [UInt8] {
    var fields: [String: Any] = ["border_agent_id": agent]
    if kind == .dataset || kind == .credentials { fields["dataset"] = try SampleNetwork.home.dataset(at: 1).hex }
    if kind == .ssid { fields["ssid"] = "attic" }
    return try payload(fields.merging(changes) { $1 })
  }

  static func decode(_ kind: RouterMessage.Kind, _ changes: [String: Any] = [:]) throws -> RouterMessage {
    try event(try payload(kind, changes), as: kind).message
  }

  static func decode(_ text: String, as kind: RouterMessage.Kind = .announce) throws(Rejection) -> RouterMessage {
    try event(Array(text.utf8), as: kind).message
  }

  /// With what its dataset lacks.
  static func event(_ payload: [UInt8], as kind: RouterMessage.Kind) throws(Rejection) -> InboundEvent {
    var event = try InboundEvent(reading: payload, as: kind)
    if !event.isSealed { try event.checkDataset() }
    return event
  }

  /// The rejection of a payload that must be refused.
  static func rejection(
    of payload: [UInt8], as kind: RouterMessage.Kind = .announce, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Rejection {
    try #require(
      #expect(throws: Rejection.self, sourceLocation: sourceLocation) { try event(payload, as: kind) },
      sourceLocation: sourceLocation)
  }

  static func rejection(
    of text: String, as kind: RouterMessage.Kind = .announce, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Rejection { try rejection(of: Array(text.utf8), as: kind, sourceLocation: sourceLocation) }

  /// That of a sound payload with some fields set otherwise.
  static func rejection(
    _ kind: RouterMessage.Kind, _ changes: [String: Any], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Rejection { try rejection(of: payload(kind, changes), as: kind, sourceLocation: sourceLocation) }

  /// Everything that a rejection can show to anybody.
  static func texts(of rejection: Rejection) -> String {
    var dumped = ""
    dump(rejection, to: &dumped)
    return "\(rejection) \(String(reflecting: rejection)) \(dumped)"
  }
}

extension Rejection {
  /// Its code, and the field that is to blame.
  var place: String { [code, field].compactMap { $0 }.joined(separator: " ") }
}
