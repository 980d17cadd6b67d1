import Broker
import Foundation
import Home
import TestKit
import Testing
import ThreadDataset
import Wire

/// What is read of each event, and how one is refused that is not right: `ReadMessagesTests` of the Bridge; how JSON is
/// refused: `UntrustedJSONTests`.
@Suite("Events") struct InboundEventTests {
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
    let isOfRouter = kind != .sightings
    if !isOfRouter { (event.program, event.routers) = ("home_assistant", []) }
    let read = try InboundEvent(reading: event.json(), as: kind)
    #expect(read.agent == (isOfRouter ? event.agent : nil) && read.message.order == .number(.max))
    #expect(read.message.name == (isOfRouter ? "Attic" : nil))
    #expect(read.message.ssid == (kind == .credentials || !isOfRouter ? nil : event.message.ssid))
    #expect(read.message.offlineReason == event.message.offlineReason)
    let isOfDataset = kind == .announce || kind == .dataset || kind == .credentials
    #expect((read.dataset == event.dataset) == isOfDataset)
    let names = WireDescriber(event).fields.map(\.name)
    #expect(names == Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  @Test("A program reports itself by its name, a text that is not empty, beside no id of a router") func programs()
    throws
  {
    for kind in [RouterMessage.Kind.heartbeat, .offline, .leave] {
      let router = #"{"border_agent_id":"\#(Samples.agent)","agent":5}"#
      #expect(try Samples.decode(router, as: kind).subject != .agent("store"))
      for wrong in [#"{"agent":""}"#, #"{"agent":5}"#, #"{"agent":null}"#] {
        #expect(try Samples.rejection(of: wrong, as: kind).place == "missing_field border_agent_id")
      }
    }
    #expect(try Samples.decode(#"{"agent":"store"}"#, as: .offline).trouble == "")
    #expect(try Samples.decode(#"{"agent":"store","reason":"r"}"#, as: .heartbeat).trouble == "r")
    let router = #"{"border_agent_id":"\#(Samples.agent)","reason":"r"}"#
    #expect(try Samples.decode(router, as: .heartbeat).trouble == nil)
    let long = #"{"agent":"store","reason":"\#(String(repeating: "x", count: 513))"}"#
    for kind in [RouterMessage.Kind.heartbeat, .offline] {
      let rejection = try Samples.rejection(of: long, as: kind)
      #expect(rejection.place == "bad_field reason" && rejection.message.contains("512 characters"))
    }
  }

  @Test("A store that has a network no more names it in `leave`, beside neither a router nor a program")
  func leftNetwork() throws {
    var event = InboundEvent(.leave)
    event.message.thread.network = ExtendedPANID(number: 7)
    let text = String(decoding: event.json(), as: UTF8.self)
    #expect(text == #"{"ext_pan_id":"0000000000000007"}"#)
    #expect(try Samples.decode(text, as: .leave).subject == .network(ExtendedPANID(number: 7)))
    #expect(
      try Samples.decode(#"{"agent":"store","ext_pan_id":"0000000000000007"}"#, as: .leave).subject == .agent("store"))
    for kind in [RouterMessage.Kind.heartbeat, .offline] {
      #expect(try Samples.rejection(of: text, as: kind).place == "missing_field border_agent_id")
    }
    #expect(try Samples.rejection(of: #"{"ext_pan_id":"00"}"#, as: .leave).place == "missing_field border_agent_id")
  }

  @Test("Sixteen bytes are an id too, and the zero-padded form is the short one") func ids() throws {
    let long = "a1b2c3d4e5f607180102030405060708"
    let padded = Samples.agent + String(repeating: "0", count: 16)
    for (sent, read) in [(long, long), (padded, Samples.agent)] {
      let agent = try #require(BorderAgentID(hex: read))
      #expect(try Samples.decode(.announce, ["border_agent_id": sent]).subject == .router(agent))
    }
  }

  @Test(
    "A text of the limit's length is taken, in characters of any width; one with marks without end is named, not repeated"
  ) func longestTexts() throws {
    for character in ["x", "é", "安", "👩"] {
      let text = String(repeating: character, count: InboundLimits.textCharacters)
      #expect(try Samples.decode(.announce, ["name": text]).name == text)
    }
    let rejection = try Samples.rejection(.announce, ["name": "xx" + String(repeating: "\u{301}", count: 2_000)])
    #expect(rejection.place == "bad_field name" && rejection.message.count < 200)
  }

  @Test("A text of another type is named, also in events that have no use for it") func wrongTypes() throws {
    for field in [
      "border_agent_id", "name", "vendor", "model", "ext_address", "access_point", "dataset", "ssid", "previous_ssid",
      "id", "ext_pan_id", "thread_state", "reason",
    ] {
      for kind in RouterMessage.Kind.allCases {
        let text = field == "border_agent_id" ? #"{"ssid":"attic""# : #"{"border_agent_id":"\#(Samples.agent)""#
        let rejection = try Samples.rejection(of: #"\#(text),"\#(field)":["a"]}"#, as: kind)
        #expect(rejection.place == "wrong_type \(field)" && rejection.message == "expected a text")
      }
    }
    #expect(try Samples.rejection(of: #"{"ssid":1,"name":2,"seq":"3"}"#).field == "ssid", "the first in the payload")
  }

  @Test("Without an id nothing can be done; an access point is one in SSID events only") func missingID() throws {
    for kind in RouterMessage.Kind.allCases where kind != .credentials {
      let text = kind == .ssid ? #"{"Border_Agent_ID":"a1b2c3d4e5f60718"}"# : #"{"access_point":"a","ssid":"b"}"#
      let field = kind == .sightings ? "agent" : "border_agent_id"
      #expect(try Samples.rejection(of: text, as: kind).place == "missing_field \(field)", "\(kind)")
    }
  }

  @Test("Border routers that a program sees are as records on the daemon's own network; what names none is left out")
  func sightings() throws {
    func read(_ routers: String) throws -> [Advertisement] {
      try Samples.decode(#"{"agent":"ha","routers":[\#(routers)]}"#, as: .sightings).sightings
    }
    let id = "a1b2c3d4e5f607180102030405060708"
    let whole =
      #"{"border_agent_id":"\#(id)","ext_address":"0011223344556677","ext_pan_id":"1111111122222222","#
      + #""model":"M1","name":"Attic","network_name":"home","thread_version":"1.4.0","vendor":"Maker","more":[{}]}"#
    let routers = try read(whole + #",{"name":"nobody"},{"ext_address":"0000000000000000"}"#)
    var expected = try #require(Advertisement(id: BorderAgentID(hex: id), extendedAddress: 0x0011_2233_4455_6677))
    (expected.name, expected.vendor, expected.model) = ("Attic", "Maker", "M1")
    (expected.network, expected.networkName) = (ExtendedPANID(hex: "1111111122222222"), "home")
    expected.threadVersion = "1.4.0"
    #expect(routers == [expected])
    #expect(routers.first?.agents.map(\.description) == [id, "a1b2c3d4e5f60718", "0011223344556677"])
    // It is built into OpenThread, and says nothing of a network. Nor does a text that no record can have.
    let odd =
      #"{"ext_address":"0011223344556677","ext_pan_id":"dead00beef00cafe","network_name":"x","name":"a\u202eb"}"#
    let other = try #require(try read(odd).first)
    #expect(other.network == nil && other.networkName == nil && other.name == nil)
    #expect(try read("").isEmpty)
  }

  @Test(
    "A list of border routers that is none, too long, or has one wrong field is refused as a whole",
    arguments: [
      ("7", "bad_field"), (#"["x"]"#, "bad_field"), (#"[{"ext_address":7}]"#, "bad_field"),
      (#"[{"border_agent_id":"a1"}]"#, "bad_field"), ("null", "missing_field"),
      ("[\(String(repeating: "{},", count: 200)){}]", "bad_field"),
      ("[{\"name\":\"\(String(repeating: "x", count: 129))\"}]", "bad_field"),
    ]) func wrongSightings(routers: String, code: String) throws
  {
    let rejection = try Samples.rejection(of: #"{"agent":"ha","routers":\#(routers)}"#, as: .sightings)
    #expect(rejection.place == "\(code) routers" && rejection.message.count < 200)
  }

  @Test("A status of HTTP has three digits") func httpStatus() throws {
    for (value, status) in [("100", UInt16?.some(100)), ("599", 599), ("99", nil), ("600", nil)] {
      let text = #"{"border_agent_id":"\#(Samples.agent)","http_status":\#(value)}"#
      #expect(try Samples.decode(text, as: .offline).httpStatus == status, "\(value)")
    }
  }

  @Test("In events that they do not belong to, fields are ignored, whatever they hold") func ignored() throws {
    let fields = ["ext_pan_id": "?", "thread_state": "?"]
    for (kind, more) in [
      (RouterMessage.Kind.leave, fields), (.ssid, fields), (.offline, fields), (.heartbeat, ["reason": "?"]),
    ] {
      let event = try Samples.decode(kind, more.merging(["preferred": "yes"]) { $1 })
      #expect(event.thread.state == nil && event.thread.network == nil && event.offlineReason == nil)
      #expect(!event.isPreferred)
    }
  }

  @Test("What lies beside an envelope must not say otherwise", arguments: ["true", "1"]) func beside(value: String)
    throws
  {
    let payload = Array(#"{"sealed":{"v":1},"preferred":\#(value)}"#.utf8)
    func open(_ fields: [String: Any]) throws -> RouterMessage {
      try InboundEvent(reading: Samples.payload(.credentials, fields), sealedIn: payload, as: .credentials, sequence: 1)
        .message
    }
    let rejection = try #require(#expect(throws: Rejection.self) { try open([:]) })
    #expect(rejection.place == "outside_differs preferred")
    if value == "true" { #expect(try open(["preferred": true]).isPreferred) }
  }

  @Test("Of every field that an event declares a wrong value is named, and what differs beside an envelope")
  func everyField() throws {
    let ofPrograms: [RouterMessage.Kind] = [.heartbeat, .offline, .leave]
    let kinds: [(RouterMessage.Kind, program: String?)] =
      RouterMessage.Kind.allCases.map { ($0, nil) } + ofPrograms.map { ($0, "backup") }
    var (declared, refused, compared): (Set<String>, Set<String>, Set<String>) = ([], [], [])
    for (kind, program) in kinds {
      for field in WireDescriber(InboundEvent(kind, of: program)).fields.map(\.name) {
        declared.insert(field)
        var members = program == nil ? ["border_agent_id": Samples.agent] : ["agent": "backup"]
        if kind == .credentials { members["dataset"] = try SampleNetwork.home.dataset(at: 1).hex }
        let inside = Self.json(members.filter { $0.key != field })
        members[field] = String(repeating: "x", count: InboundLimits.sentenceCharacters + 1)
        do throws(Rejection) { _ = try InboundEvent(reading: Self.json(members), as: kind) } catch {
          if error.field == field { refused.insert(field) }
        }
        members["sealed"] = ""
        do throws(Rejection) {
          _ = try InboundEvent(reading: inside, sealedIn: Self.json(members), as: kind, sequence: 1)
        } catch  where error.code == Rejection.Code.outsideDiffers.rawValue && error.field == field {
          compared.insert(field)
        } catch {}
      }
    }
    #expect(declared.subtracting(refused) == ["http_status"], "one that is no status counts for nothing")
    #expect(declared.subtracting(compared) == ["dataset"], "there is none beside an envelope")
  }

  private static func json(_ members: [String: String]) -> [UInt8] {
    Array("{\(members.map { #""\#($0)":"\#($1)""# }.joined(separator: ","))}".utf8)
  }
}

@Suite("Datasets in events") struct InboundDatasetTests {
  private static let kinds = [RouterMessage.Kind.announce, .dataset, .credentials]

  @Test("A malformed vector is refused with its code and place, and shows nothing", arguments: kinds) func malformed(
    kind: RouterMessage.Kind
  ) throws {
    for vector in try DatasetVectors.all() where !["complete", "pending"].contains(vector.expect) {
      if vector.expect == "missing_tlv", kind != .dataset, !vector.hex.isEmpty { continue }
      let rejection = try Samples.rejection(kind, ["dataset": vector.hex])
      let error = try #require(throws: DatasetError.self) { try OperationalDataset(hex: vector.hex).requireComplete() }
      #expect(rejection.place == "\(vector.expect) dataset", "\(vector.id)")
      #expect(rejection.offset == error.offset && rejection.tlv == error.tlvName)
      #expect(!rejection.message.isEmpty)
      expectNothing(of: vector.hex, in: rejection)
    }
  }

  @Test("A pending dataset is refused: it is not in effect yet", arguments: kinds) func pending(
    kind: RouterMessage.Kind
  ) throws {
    let vector = try #require(try DatasetVectors.all().first { $0.expect == "pending" })
    let rejection = try Samples.rejection(kind, ["dataset": vector.hex])
    #expect(rejection.place == "incomplete_dataset dataset")
    #expect(rejection.message.contains("pending"))
    expectNothing(of: vector.hex, in: rejection)
  }

  /// No eight digits of the payload in anything that a rejection shows.
  private func expectNothing(of hex: String, in rejection: Rejection) {
    func parts(_ text: String) -> Set<ArraySlice<UInt8>> {
      let bytes = Array(text.lowercased().utf8)
      return Set((0..<max(0, bytes.count - 7)).map { bytes[$0..<$0 + 8] })
    }
    let zeros = Array("00000000".utf8)[...]
    let shown = parts(Samples.texts(of: rejection)).intersection(parts(hex)).subtracting([zeros])
    #expect(shown.isEmpty)
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
