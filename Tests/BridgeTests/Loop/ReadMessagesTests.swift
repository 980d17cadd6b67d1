import Broker
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home

/// What messages of the broker are read as, or how they are refused, in files: each line has the topic below `in`, the
/// payload, ` -> ` and what it is read as.
@Suite("What messages are read as") struct ReadMessagesTests {
  private static let dataset = OperationalDataset.of(7)
  private static let partial = dataset.removing(.networkName)
  private static let names: KeyValuePairs = [dataset.hex: "DATASET", partial.hex: "PARTIAL"]
  private static let now = WireTime(milliseconds: LoopKit.clock0)

  private var reader: MessageReader
  private var limits: TokenBuckets
  private let daemon: Identity
  private var text = ""

  init() throws {
    let daemon = try Identity()
    var reading = IntakeReading(hashKey: LoopKit.hashKey)
    reading.identity = { daemon }
    reader = try MessageReader(["tk"], reading)
    limits = TokenBuckets(rate: reading.limits.eventsPerSecond, burst: reading.limits.eventsBurst)
    self.daemon = daemon
  }

  private mutating func add(_ topic: String, _ payload: [UInt8]) {
    let message = IncomingMessage(topic: "tk/in/\(topic)", payload: payload)
    let read =
      switch reader.read(message, &limits, at: Self.now) {
      case .event(let input, let dataset, _): Self.described(input, dataset)
      case .sealed: "sealed"
      case .request(let command, _): Self.described(message, command)
      case .rejected(let rejection, _): Self.described(rejection)
      case .dropped, .misplaced, .skipped: "nothing"
      }
    line(topic, payload, read)
  }

  private mutating func line(_ topic: String, _ payload: [UInt8], _ read: String) {
    let shown = MessageTemplate.line(Array("\(topic) ".utf8) + payload, Self.names)
    text += "\(shown) -> \(MessageTemplate.line(Array(read.utf8), Self.names))\n"
  }

  // MARK: Values as texts

  private static func described(_ rejection: Rejection) -> String {
    Described.refusal(rejection.code, rejection.field, rejection.tlv, rejection.offset, rejection.message)
  }

  private static func described(_ input: HomeInput, _ dataset: [UInt8]?) -> String {
    guard case .message(let message, let user) = input else { return "\(input)" }
    let order: String? =
      switch message.order {
      case .none: nil
      case .number(let number): "\(number)"
      case .identifier(let name): name.text.debugDescription
      }
    let subject =
      switch message.subject {
      case .router(let agent): "\(agent)"
      case .accessPoint(let name): name.text.debugDescription
      case .network(let network): "\(network)"
      case .agent(let name): name.text.debugDescription
      }
    let summary = message.dataset
    return Described.fields([
      "\(message.kind)": subject, "user": user.text, "order": order, "signed": message.signature?.number.description,
      "name": message.name?.debugDescription, "vendor": message.vendor?.debugDescription,
      "model": message.model?.debugDescription, "ext_address": message.extendedAddress.map { String($0, radix: 16) },
      "access_point": message.accessPoint?.debugDescription, "ssid": message.ssid?.debugDescription,
      "previous_ssid": message.previousSSID?.debugDescription, "dataset": dataset.map { "\($0.count) bytes" },
      "network": summary.map { "\($0.network) \($0.name.debugDescription)" },
      "seconds": summary?.activeSeconds?.description,
      "lacks": message.lacks.isEmpty ? nil : "\(message.lacks.map(\.name))",
      "thread": message.thread.state.map { "\($0.word)" }, "current": message.thread.network?.description,
      "partition": message.thread.partition?.description, "offline": message.offlineReason.map { "\($0.word)" },
      "http_status": message.httpStatus?.description, "adoption": message.adoptionFailure.map { "\($0.word)" },
      "border_agent": message.borderAgent?.description, "preferred": message.isPreferred ? "yes" : nil,
      "trouble": message.trouble?.debugDescription,
      "sees": message.kind == .sightings
        ? "\(message.sightings.map { "\($0.agents) \($0.network?.description ?? "-") \($0.name ?? "-")" })" : nil,
    ])
  }

  private static func described(_ message: IncomingMessage, _ command: String) -> String {
    let inbound = MQTTRequest(message, command: command, user: "phone", base: "tk")
    do throws(AnswerFailure) {
      let fields = try inbound.fields.get()
      guard let command = inbound.command else { return "no command" }
      if fields.sealed != nil { return "sealed" }
      return Described.request(try ThreadRequest(command, fields), token: fields.token)
    } catch {
      var refusal = Described.refusal(error)
      if case .topic(_, _, let transaction?) = inbound.reply {
        refusal += " transaction=\(transaction.debugDescription)"
      }
      return refusal
    }
  }

  // MARK: Events

  private static func template(_ kind: RouterMessage.Kind) -> MessageTemplate {
    let agent = #""a1b2c3d4e5f60718""#
    switch kind {
    case .announce:
      return MessageTemplate(
        [
          "border_agent_id": agent, "dataset": "\"\(dataset.hex)\"", "name": #""Attic""#, "vendor": #""Maker""#,
          "model": #""M1""#, "ext_address": #""0102030405060708""#, "access_point": #""ap""#,
          "ext_pan_id": #""0000000000000007""#, "thread_state": #""leader""#, "partition_id": "1",
          "reason": #""refused""#, "seq": "1", "id": #""e-1""#,
        ], needs: ["border_agent_id"])
    case .dataset:
      return MessageTemplate(
        [
          "border_agent_id": agent, "dataset": "\"\(dataset.hex)\"", "thread_state": #""router""#,
          "reason": #""no_answer""#, "id": #""e-1""#,
        ], needs: ["border_agent_id", "dataset"])
    case .heartbeat:
      return MessageTemplate(
        [
          "border_agent_id": agent, "ext_pan_id": #""0000000000000007""#, "thread_state": #""child""#,
          "partition_id": "1", "seq": "1",
        ], needs: ["border_agent_id"])
    case .offline:
      return MessageTemplate(
        ["border_agent_id": agent, "reason": #""failing""#, "http_status": "100", "seq": "1"],
        needs: ["border_agent_id"])
    case .leave:
      return MessageTemplate(["border_agent_id": agent, "agent": #""ssid""#, "seq": "1"], needs: ["border_agent_id"])
    case .ssid:
      return MessageTemplate(
        [
          "access_point": #""ap""#, "ssid": #""new""#, "previous_ssid": #""old""#, "border_agent_id": agent,
          "id": #""e-1""#,
        ], needs: ["access_point", "ssid"])
    case .credentials:
      return MessageTemplate(
        [
          "dataset": "\"\(dataset.hex)\"", "name": #""Home Assistant""#, "border_agent_id": agent, "preferred": "true",
          "seq": "1",
        ], needs: ["dataset"])
    case .sightings:
      let router =
        #"{"border_agent_id":\#(agent),"ext_address":"0102030405060708","ext_pan_id":"0000000000000007","name":"Attic"}"#
      return MessageTemplate(
        ["agent": #""home_assistant""#, "routers": "[\(router)]", "seq": "1"], needs: ["agent", "routers"])
    }
  }

  @Test("Events of each kind, right and wrong ones") mutating func events() throws {
    for kind in RouterMessage.Kind.allCases {
      let topic = "otbr/\(kind.word)"
      for payload in Self.template(kind).ofFields { add(topic, payload) }
      for payload in Self.template(kind).ofWhole { add(topic, payload) }
      func field(_ name: String, _ value: String) -> [UInt8] {
        let agent = name == "border_agent_id" ? "" : #""border_agent_id":"a1b2c3d4e5f60718","#
        return Array(#"{\#(agent)"\#(name)":"\#(value)"}"#.utf8)
      }
      for agent in [
        "A1B2C3D4E5F60718", "a1b2c3d4e5f60718a1b2c3d4e5f60718", "a1b2c3d4e5f6071", "0000000000000000",
        "a1b2c3d4e5f6071g", "0xa1b2c3d4e5f607",
      ] { add(topic, field("border_agent_id", agent)) }
      let words =
        ThreadState.allCases.map { ("thread_state", $0.word) } + OfflineReason.allCases.map { ("reason", $0.word) }
        + AdoptionState.allCases.map { ("reason", $0.word) }
      for (name, word) in words { add(topic, field(name, "\(word)")) }
      for hex in try [
        Self.partial.hex, Self.dataset.hex.uppercased(), "0", "00", "zz", "0e08", Self.dataset.hex + "ff00",
        Self.dataset.hex + "0300", Self.dataset.hex + String(repeating: "ff", count: 200),
        Self.dataset.replacing(.delayTimer(1)).hex, Self.dataset.removing(.extendedPANID).hex,
      ] { add(topic, field("dataset", hex)) }
      for name in ["agent", "sealed"] { add(topic, Array("{\"\(name)\":\"ssid\"}".utf8)) }
      add(topic, Array(#"{"agent":"ssid","reason":"no token","seq":7}"#.utf8))
      add(topic, Array(#"{"dataset":"00","sealed":{}}"#.utf8))
    }
    for topic in [
      "otbr", "otbr/", "/announce", "otbr/weather", "otbr/announce/x", "otbr/request/", "otbr/request", "otbr/probe",
      "\(String(repeating: "u", count: 257))/announce",
    ] { add(topic, Array("{}".utf8)) }
    try Golden.check(text, "events.txt")
    for kind in RouterMessage.Kind.allCases { #expect(text.contains(" -> \(kind.word)="), "no \(kind) is read") }
  }

  @Test("Events in envelopes, and what lies beside them") mutating func sealed() throws {
    let own = try Identity()
    let client = EnrolledClient(
      line: own.keys.line, fingerprint: own.keys.fingerprint, trust: .signed, at: Self.now, by: "")
    let body = #""border_agent_id":"a1b2c3d4e5f60718","name":"Attic""#
    for (inside, outside) in [
      (body, ""), (body, ",\(body)"), (body, #","name":"Cellar""#), (body, #","vendor":"x""#),
      (body, #","border_agent_id":"A1B2C3D4E5F60718""#), (body, #","seq":7"#), (body, #","seq":8"#),
      (body + #","seq":7"#, ""), (body + #","seq":8"#, ""), (body + #","sealed":{}"#, ""), (body, #","dataset":"00""#),
      ("", ""), (body + #","dataset":"\#(Self.dataset.hex)""#, ""),
    ] {
      let topic = "tk/in/otbr/announce"
      let envelope = try Envelope.seal(
        Array("{\(inside)}".utf8), to: daemon.keys, from: own,
        at: .init(topic: topic, order: .sequence(7), now: Self.now.unixSeconds)
      ).json()
      let payload = Array(#"{"sealed":\#(envelope.text)\#(outside)}"#.utf8)
      var read = "nothing"
      let message = IncomingMessage(topic: topic, payload: payload)
      switch reader.read(message, &limits, at: Self.now) {
      case .sealed(let sealed, let topic):
        do throws(Rejection) {
          let (input, dataset) = try reader.open(sealed, message, topic.user, client, at: Self.now)
          read = Self.described(input, dataset)
        } catch { read = Self.described(error) }
      case .rejected(let rejection, _): read = Self.described(rejection)
      default: break
      }
      line("otbr/announce", Array(#"{"sealed":{\#(inside)}\#(outside)}"#.utf8), read)
    }
    try Golden.check(text, "envelopes.txt")
    #expect(text.contains("signed=7"))
  }

  // MARK: Requests

  @Test("Requests of each kind, presses of buttons among them, right and wrong ones") mutating func requests() throws {
    let hex = Self.dataset.hex
    for command in RequestCommand.allCases {
      let template = MessageTemplate(command, dataset: hex, ["transaction": #""t-1""#, "sealed": #"{"v":1}"#])
      for payload in MessageTemplate(command, dataset: hex).ofFields + template.ofFields.prefix(2) {
        add("phone/request/\(command.rawValue)", payload)
      }
      #expect(text.contains(" -> \(command.rawValue)="), "no \(command) is read")
    }
    let ping = MessageTemplate([
      "transaction": #""t-1""#,
      "sealed": #"{"v":1,"typ":"sealed","alg":"x25519-xsalsa20-poly1305-seal","kid":"0a","ct":"AA=="}"#,
    ])
    for payload in ping.ofFields + ping.ofWhole { add("phone/request/ping", payload) }
    for (command, fields) in [
      ("preferred/set", #""id":"p-current","token":"0a""#), ("preferred/set", #""id":"p-1234abcd""#),
      ("preferred/set", #""network_name":"home""#), ("preferred/set", #""dataset":"\#(hex)""#),
      ("preferred/set", #""network_name":"home","id":"p-current""#), ("networks/forget", #""id":"p-1234abcd""#),
      ("networks/forget", #""id":"x""#), ("consent/approve", #""id":"c-00000000000000ff","scope":"once","token":"0a""#),
      ("preferred/check", #""dataset":"00""#), ("preferred/check", #""dataset":"\#(Self.partial.hex)""#),
      ("ping", #""transaction":"\#(String(repeating: "t", count: 256))""#),
      ("ping", #""transaction":"\#(String(repeating: "t", count: 257))""#), ("weather", ""), ("ping/x", ""),
      ("PING", ""),
    ] { add("ha/request/\(command)", Array("{\(fields)}".utf8)) }
    try Golden.check(text, "requests.txt")
  }
}
