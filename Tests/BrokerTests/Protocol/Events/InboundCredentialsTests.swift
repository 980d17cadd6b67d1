import Broker
import Home
import TestKit
import Testing
import ThreadDataset
import Wire

@Suite("Credentials that are shared, as events") struct InboundCredentialsTests {
  private static let agent = "a1b2c3d4e5f60718"

  private func decode(_ fields: [String: Any]) throws -> RouterMessage {
    try Samples.event(try Samples.payload(fields), as: .credentials).message
  }

  private func sample(_ more: [String: Any] = [:]) throws -> [String: Any] {
    ["dataset": try SampleNetwork.home.dataset(at: 1).hex].merging(more) { $1 }
  }

  @Test("The dataset alone is enough, and names the network that it is about") func least() throws {
    let event = try decode(try sample())
    let dataset = try SampleNetwork.home.dataset(at: 1)
    #expect(event.subject == .network(try #require(dataset.extendedPANID)))
    let payload = try Samples.payload(try sample())
    #expect(try Samples.event(payload, as: .credentials).dataset?.bytes == dataset.bytes)
    #expect(event.order == .none && event.name == nil && event.borderAgent == nil)
    #expect(!event.isPreferred)
  }

  @Test("Every field is read, and those of other events count for nothing") func everything() throws {
    let event = try decode(
      try sample([
        "border_agent_id": Self.agent.uppercased(), "preferred": true, "name": "Home Assistant", "seq": 7,
        "vendor": "Acme", "ssid": "attic", "ext_address": "00", "thread_state": "asleep", "mine": ["of": [1, 2]],
      ]))
    #expect(event.borderAgent == BorderAgentID(hex: Self.agent))
    #expect(event.isPreferred && event.name == "Home Assistant" && event.order == .number(7))
    #expect(event.vendor == nil && event.ssid == nil && event.thread.state == nil)
    let nulls = #","border_agent_id":null,"preferred":null,"name":null,"seq":null,"id":null}"#
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try Samples.decode(#"{"dataset":"\#(hex)"\#(nulls)"#, as: .credentials) == decode(sample()))
  }

  @Test(
    "What is wrong is named",
    arguments: [
      (#""preferred":"yes""#, "wrong_type preferred"), (#""preferred":1"#, "wrong_type preferred"),
      (#""preferred":[]"#, "wrong_type preferred"), (#""border_agent_id":"a1""#, "bad_border_agent_id border_agent_id"),
      (#""border_agent_id":7"#, "wrong_type border_agent_id"), (#""name":7"#, "wrong_type name"),
      ("\"name\":\"\(String(repeating: "n", count: 129))\"", "bad_field name"), (#""seq":-1"#, "wrong_type seq"),
      (#""sealed":{}"#, "not_sealed dataset"),
    ]) func wrong(member: String, place: String) throws
  {
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    let rejection = try Samples.rejection(of: #"{"dataset":"\#(hex)",\#(member)}"#, as: .credentials)
    #expect(rejection.place == place)
    #expect(!Samples.texts(of: rejection).contains(hex))
  }

  @Test("Without a dataset there is nothing to share", arguments: ["{}", #"{"dataset":null}"#]) func missing(
    text: String
  ) throws { #expect(try Samples.rejection(of: text, as: .credentials).place == "missing_field dataset") }

  @Test("In other events a field `preferred` is the publisher's own") func elsewhere() throws {
    for value in ["true", "\"yes\"", "[1]"] {
      let event = try Samples.decode(#"{"border_agent_id":"\#(Self.agent)","preferred":\#(value)}"#)
      #expect(!event.isPreferred)
    }
  }

  @Test("What lies beside an envelope must not say otherwise", arguments: ["true", "1"]) func beside(value: String)
    throws
  {
    let payload = Array(#"{"sealed":{"v":1},"preferred":\#(value)}"#.utf8)
    #expect(try Samples.event(payload, as: .credentials).isSealed)
    func open(_ fields: [String: Any]) throws -> RouterMessage {
      try InboundEvent(reading: try Samples.payload(fields), sealedIn: payload, as: .credentials, sequence: 1).message
    }
    let other = try sample()
    let rejection = try #require(#expect(throws: Rejection.self) { try open(other) })
    #expect(rejection.place == "outside_differs preferred")
    if value == "true" { #expect(try open(try sample(["preferred": true])).isPreferred) }
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

  @Test("Who announces itself, or shares, with a dataset that is not complete is known, and what it lacks")
  func partial() throws {
    let vector = try #require(try DatasetVectors.all().first { $0.expect == "complete" })
    let whole = try OperationalDataset(hex: vector.hex)
    let partial = whole.removing(.pskc, .channelMask)
    for kind in [RouterMessage.Kind.announce, .credentials] {
      let payload = try Samples.payload(kind, ["dataset": partial.hex])
      let event = try Samples.event(payload, as: kind)
      #expect(event.dataset?.bytes == partial.bytes)
      #expect(event.message.lacks == [.channelMask, .pskc])
      #expect(try Samples.decode(kind, ["dataset": whole.hex]).lacks.isEmpty)
    }
    let nameless = whole.removing(.extendedPANID)
    #expect(try Samples.decode(.announce, ["dataset": nameless.hex]).lacks == [.extendedPANID])
    for (kind, dataset) in [
      (RouterMessage.Kind.dataset, partial), (.credentials, nameless), (.announce, try whole.replacing(.delayTimer(1))),
    ] {
      let rejection = try Samples.rejection(kind, ["dataset": dataset.hex])
      #expect(rejection.place == "missing_tlv dataset")
    }
  }

  @Test("An empty dataset is an incomplete one") func empty() throws {
    let rejection = try Samples.rejection(.dataset, ["dataset": ""])
    #expect(rejection.place == "missing_tlv dataset" && rejection.offset == 0)
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
