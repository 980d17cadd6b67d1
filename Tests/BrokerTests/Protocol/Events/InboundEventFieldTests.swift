import Broker
import Home
import TestKit
import Testing
import Wire

@Suite("Fields that are wrong") struct InboundEventFieldTests {
  private static let texts = [
    "border_agent_id", "name", "vendor", "model", "ext_address", "access_point", "dataset", "ssid", "previous_ssid",
    "id", "ext_pan_id", "thread_state", "reason",
  ]

  private func payload(_ field: String, _ value: String) -> String {
    field == "border_agent_id"
      ? #"{"ssid":"attic","\#(field)":\#(value)}"# : #"{"border_agent_id":"\#(Samples.agent)","\#(field)":\#(value)}"#
  }

  @Test("A text of another type is named", arguments: texts) func wrongTypes(field: String) throws {
    for value in ["1", "1.5", "true", "false", "[]", "{}", #"["a"]"#, #"{"a":"b"}"#, "-0"] {
      for kind in RouterMessage.Kind.allCases {
        let rejection = try Samples.rejection(of: payload(field, value), as: kind)
        #expect(rejection.place == "wrong_type \(field)", "\(value)")
        #expect(rejection.message == "expected a text")
      }
    }
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

  @Test(
    "A sequence number of another type, or that is negative, broken or too large, is named",
    arguments: [
      #""42""#, "true", "[]", "{}", "[42]", #""""#, "-1", "1.5", "-0.5", "18446744073709551616", "1e20", "1e400",
      "-1e400",
    ]) func sequence(value: String) throws
  {
    let rejection = try Samples.rejection(of: payload("seq", value))
    #expect(rejection.place == "wrong_type seq")
    #expect(rejection.message == "expected a whole number from 0 to 2^64-1")
  }

  @Test(
    "A partition id of another type, or of more than 32 bits, is named",
    arguments: [#""42""#, "true", "{}", "-1", "1.5", "4294967296"]) func partition(value: String) throws
  {
    let rejection = try Samples.rejection(of: payload("partition_id", value))
    #expect(rejection.place == "wrong_type partition_id")
    #expect(rejection.message == "expected a whole number from 0 to 2^32-1")
  }

  @Test("A whole number may be written with a point: JSON knows no other numbers") func wholeNumberWithPoint() throws {
    #expect(try Samples.decode(payload("seq", "42.0")).order == .number(42))
  }

  @Test(
    "An id of a wrong length, of other characters or of zeros is named",
    arguments: [
      "", "a", "a1b2c3d4e5f6071", "a1b2c3d4e5f607", "a1b2c3d4e5f607180", "a1b2c3d4e5f6071800",
      "a1b2c3d4e5f60718a1b2c3d4e5f607", "a1b2c3d4e5f60718a1b2c3d4e5f6071800", "g1b2c3d4e5f60718", " a1b2c3d4e5f6071",
      "a1:b2:c3:d4:e5:f6", "0xa1b2c3d4e5f607", "a1b2c3d4e5f60718\n", "é1b2c3d4e5f60718", "0000000000000000",
      "00000000000000000000000000000000",
    ]) func badIDs(id: String) throws
  {
    for kind in RouterMessage.Kind.allCases {
      let rejection = try Samples.rejection(kind, ["border_agent_id": id])
      #expect(rejection.place == "bad_border_agent_id border_agent_id")
      #expect(rejection.message.contains("16 or 32 hex digits"))
      if id.count > 3 { #expect(!rejection.message.contains(id)) }
    }
  }

  @Test("Without an id nothing can be done; an access point is one in SSID events only") func missingID() throws {
    for kind in RouterMessage.Kind.allCases where kind != .credentials {
      for text in [
        "{}", #"{"border_agent_id":null}"#, #"{"Border_Agent_ID":"a1b2c3d4e5f60718"}"#,
        kind == .ssid ? "{}" : #"{"access_point":"a","ssid":"b"}"#,
      ] {
        let rejection = try Samples.rejection(of: text, as: kind)
        #expect(rejection.place == "missing_field border_agent_id", "\(kind): \(text)")
      }
    }
  }

  @Test("What a kind of event needs besides is named") func neededFields() throws {
    let id = #"{"border_agent_id":"\#(Samples.agent)"}"#
    #expect(try Samples.rejection(of: id, as: .dataset).place == "missing_field dataset")
    #expect(try Samples.rejection(of: id, as: .ssid).place == "missing_field ssid")
  }

  @Test(
    "A text that is too long is named and not repeated",
    arguments: ["name", "vendor", "model", "access_point", "ssid", "previous_ssid", "id"]) func longTexts(field: String)
    throws
  {
    for text in [
      String(repeating: "x", count: InboundLimits.textCharacters + 1), String(repeating: "x", count: 10_000),
      // One character by Swift's count, however many marks it carries.
      "x" + String(repeating: "\u{301}", count: 2_000),
    ] {
      let rejection = try Samples.rejection(.announce, [field: text])
      #expect(rejection.place == "bad_field \(field)")
      #expect(rejection.message.count < 200 && !rejection.message.contains("xx"))
    }
  }

  @Test("An envelope in an envelope is refused by name, not taken for an empty event") func sealed() throws {
    for value in [#"{"v":1,"typ":"sealed","ct":"c2VjcmV0"}"#, #""c2VjcmV0""#] {
      let body = Array(payload("sealed", value).utf8)
      let rejection = try #require(
        #expect(throws: Rejection.self) {
          try InboundEvent(reading: body, sealedIn: Array(#"{"sealed":{}}"#.utf8), as: .announce, sequence: 1)
        })
      #expect(rejection.place == "unsupported sealed")
      #expect(!Samples.texts(of: rejection).contains("c2VjcmV0"))
    }
  }

  @Test("Of two fields of one name the first that is not null counts") func duplicateKeys() throws {
    for (fields, name, number) in [
      (#""name":"a","name":"b","seq":1,"seq":2"#, "a", 1), (#""name":null,"name":"b","seq":null,"seq":2"#, "b", 2),
    ] as [(String, String, UInt64)] {
      let event = try Samples.decode(#"{"border_agent_id":"\#(Samples.agent)",\#(fields)}"#)
      #expect(event.name == name && event.order == .number(number))
    }
  }
}

@Suite("Where a router is, its Thread state, and why it is offline") struct InboundThreadReportTests {
  private static let reporting: [RouterMessage.Kind] = [.announce, .dataset, .heartbeat]

  @Test("announce, dataset and heartbeat carry network and Thread state", arguments: reporting) func reported(
    kind: RouterMessage.Kind
  ) throws {
    for state in ThreadState.allCases {
      let event = try Samples.decode(kind, ["ext_pan_id": "DEAD00BEEF00CAFE", "thread_state": state.word.description])
      #expect(event.thread.network?.description == "dead00beef00cafe")
      #expect(event.thread.state == state)
    }
    let plain = try Samples.decode(kind)
    #expect(plain.thread.network == nil && plain.thread.state == nil)
  }

  @Test(
    "An address, a network, a state or a reason that is none is rejected, and what may be is named",
    arguments: [
      (
        [.announce], "ext_address", "expected 16 hex digits (8 bytes)",
        ["", "00", "0011223344556677889", "00112233445566", "001122334455667z"]
      ),
      (
        reporting, "ext_pan_id", "expected 16 hex digits (8 bytes) that are not all 0",
        ["", "dead00beef00caf", "dead00beef00cafe0", "dead00beef00cafg", "0000000000000000"]
      ),
      (
        reporting, "thread_state", "expected one of disabled, detached, child, router, leader",
        ["", "Leader", "sleepy", String(repeating: "x", count: 10_000)]
      ),
      (
        [.offline], "reason", "expected one of stopped, unreachable, frozen, untrusted, no_network, failing",
        ["silent", "", "off"]
      ),
    ]) func bad(kinds: [RouterMessage.Kind], field: String, message: String, texts: [String]) throws
  {
    for kind in kinds {
      for text in texts {
        let rejection = try Samples.rejection(kind, [field: text])
        #expect(rejection.place == "bad_field \(field)" && rejection.message == message)
      }
    }
  }

  @Test("offline says why: stopped, unreachable, frozen, untrusted, no_network or failing") func reasons() throws {
    for reason in OfflineReason.reported {
      let event = try Samples.decode(.offline, ["reason": reason.word.description])
      #expect(event.offlineReason == reason)
    }
    #expect(try Samples.decode(.offline).offlineReason == nil)
    for (value, status) in [("500", UInt16?.some(500)), ("100", 100), ("99", nil), ("600", nil), (#""500""#, nil)] {
      let event = try Samples.decode(
        "{\"border_agent_id\":\"\(Samples.agent)\",\"http_status\":\(value)}", as: .offline)
      #expect(event.httpStatus == status, "\(value)")
    }
  }

  @Test("In events that they do not belong to, the fields are ignored") func ignored() throws {
    let fields = ["ext_pan_id": "?", "thread_state": "?", "reason": "?"]
    #expect(try Samples.decode(.leave, fields).thread.state == nil)
    #expect(try Samples.decode(.ssid, fields).thread.network == nil)
    #expect(try Samples.decode(.heartbeat, ["reason": "?"]).offlineReason == nil)
    let offline = try Samples.decode(.offline, ["thread_state": "?", "ext_pan_id": "?"])
    #expect(offline.thread.state == nil)
  }
}
