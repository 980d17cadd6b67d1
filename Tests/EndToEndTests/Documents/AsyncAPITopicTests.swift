import Broker
import Foundation
import Home
import Testing
import ThreadDataset
import ThreadRequests

/// The channels of `docs/reference/asyncapi.yaml` beside the topics that the code builds and reads.
@Suite("The topics of the AsyncAPI document") struct AsyncAPITopicTests {
  private let document: AsyncAPIDocument

  init() throws { document = try AsyncAPIDocument.shared.get() }

  /// Addresses with `+` for each parameter, which is not the base topic or the prefix of Home Assistant.
  private func addresses(sent: Bool) -> Set<String> {
    let channels = document.operations.filter { $0.isSent == sent }.flatMap {
      sent ? [$0.channel] : [$0.channel, $0.reply ?? $0.channel]
    }
    return Set(
      channels.compactMap { document.channel(named: $0)?.address }.map {
        $0.replacing(#/\{(?!base|prefix)[a-z_]+\}/#, with: "+")
      })
  }

  private func levels(_ text: Substring) -> String {
    String(text).replacing(#/\\\([^)]*\)/#, with: "+").replacing(#/^\+/#, with: "{base}")
  }

  @Test("Every topic that the code builds is a channel on which the daemon publishes, and no other is") func published()
    throws
  {
    let topic = OutboundTopic(base: "{base}")
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    let network = try #require(ExtendedPANID(hex: "1111111122222222"))
    let alert = AlertFingerprint(home: "home", name: .sessionLost, subject: "")
    let place = try #require(
      HomeAssistantPlace(
        home: "home", in: BaseTopics([.init(name: "home", base: "{base}")]), prefix: "{prefix}", version: "1"))
    let built = [
      topic.state, topic.info, topic.daemon, topic.health, topic.alerts, topic.consent, topic.event, topic.alertEvent,
      topic.router(agent), topic.availability(agent), topic.routerEvent(agent), topic.network(network),
      topic.alert(alert), topic.setDataset(of: "+"), topic.changeStore(of: "+"), topic.answer(to: "+", command: "?"),
      place.bridgeTopic, place.routerTopic(agent),
    ].map {
      $0.replacing("\(agent)", with: "+").replacing("\(network)", with: "+").replacing("\(alert)", with: "+").replacing(
        #/threadkeeper_[^\/]*/#, with: "+")
    }
    #expect(Set(built) == addresses(sent: true))

    // A builder that the list above does not have is in the source all the same.
    let source = try ProjectFiles.text(of: "Sources/Broker/Protocol/Topics/OutboundTopic.swift")
    let literals = source.matches(of: #/"(\\\(base\)\/(?:[^"\\]|\\\([^)]*\))*)"/#).map { levels($0.output.1) }
    let known = Set(built).union(["{base}/out/+/response/+", "{base}/out/+/"])
    #expect(literals.count == 16)
    #expect(Set(literals).subtracting(known).isEmpty, "\(Set(literals).subtracting(known))")
  }

  @Test("Every event and every request is a channel that the daemon receives, and no other is") func received() {
    let events = RouterMessage.Kind.allCases.map { "{base}/in/+/\($0.word)" }
    let requests = RequestCommand.allCases.map { "{base}/in/+/request/\($0.rawValue)" }
    let answers = RequestCommand.allCases.map { OutboundTopic(base: "{base}").answer(to: "+", command: $0.rawValue) }
    let others = [
      "{prefix}/status", "{base}/+/+/probe", "$SYS/broker/publish/messages/dropped", "zigbee2mqtt/bridge/info",
    ]
    #expect(Set(events + requests + answers + others) == addresses(sent: false))
  }

  @Test("A topic finds its own channel: a command, a Response Topic, and none below `dataset`") func found() {
    func name(_ topic: String) -> String? { document.channel(of: "house/\(topic)", below: "house")?.name }
    #expect(name("router/a1b2c3d4e5f60718") == "router")
    #expect(name("router/a1b2c3d4e5f60718/event") == "routerEvent")
    #expect(name("out/anna/response/credentials/list_active") == "credentialsListActiveAnswer")
    #expect(name("out/anna/response/unknown") == "unknownAnswer")
    #expect(name("out/anna/mine") == "answerElsewhere")
    #expect(name("out/anna/response/event/7") == "answerElsewhere")
    #expect(name("out/anna/dataset/set") == "datasetSet")
    #expect(name("out/anna/dataset/get") == nil)
    #expect(name("out/anna") == nil)
    #expect(name("in/anna/request/credentials/list") == "credentialsListRequest")
    #expect(name("in/anna/request/credentials") == nil)
    #expect(name("bridge/states") == nil)
    #expect(document.channel(of: "houses/bridge/state", below: "house") == nil)
  }

  @Test("The page about the protocol has every topic that the daemon publishes, and every command") func documented()
    throws
  {
    let page = try ProjectFiles.text(of: "docs/reference/mqtt-protocol.md")
    for channel in document.channels.filter({ document.sending($0) != nil }) {
      let address = (channel.address ?? "").replacing("{base}/", with: "").replacing("{", with: "<").replacing(
        "}", with: ">")
      guard channel.name != "unknownAnswer" else { continue }
      let isThere = page.contains("`\(address)`")
      #expect(isThere, "\(address)")
    }
    for command in RequestCommand.allCases {
      let isThere = page.contains("`\(command.rawValue)`")
      #expect(isThere, "\(command.rawValue)")
    }
  }
}

/// The schemas of what others publish beside the code that reads it.
@Suite("What the daemon accepts, and what the schemas allow", .enabled(if: DebianTool.jsonSchema != nil))
struct SchemaAgreementTests {
  private static let id = #""border_agent_id":"a1b2c3d4e5f60718""#
  private static let envelope =
    #"{"v":1,"typ":"sealed","alg":"x25519-xsalsa20-poly1305-seal","kid":"0123456789abcdef","ct":"AAAA"}"#

  private func isAllowed(_ schema: String, _ payload: [UInt8]) throws -> Bool {
    try #require(SchemaLibrary.shared).problem(schema, payload) == nil
  }

  /// Members of events that mean something in one kind and nothing in another, good and bad.
  private static let members = [
    "", #""name":"Hub""#, #""name":null"#, #""name":7"#, "\"model\":\"\(String(repeating: "x", count: 128))\"",
    "\"model\":\"\(String(repeating: "x", count: 129))\"", #""vendor":["x"]"#, #""ext_address":"00112233AABBCCDD""#,
    #""ext_address":"0011""#, #""ext_address":null"#, #""ext_pan_id":"1111111122222222""#, #""ext_pan_id":"11""#,
    #""ext_pan_id":null"#, #""thread_state":"leader""#, #""thread_state":"asleep""#, #""thread_state":null"#,
    #""partition_id":4294967295"#, #""partition_id":4294967296"#, #""partition_id":"1""#, #""partition_id":null"#,
    #""reason":"frozen""#, #""reason":"silent""#, #""reason":null"#, #""reason":1"#, #""seq":0"#,
    #""seq":18446744073709551615"#, #""seq":18446744073709551616"#, #""seq":-1"#, #""seq":1.5"#, #""seq":null"#,
    #""seq":"1""#, #""id":"one""#, #""id":1"#, #""dataset":null"#, #""dataset":"0""#, #""dataset":"xy""#,
    #""dataset":7"#, "\"dataset\":\"\(String(repeating: "00", count: 255))\"", #""ssid":"attic""#, #""ssid":null"#,
    #""previous_ssid":"cellar""#, #""access_point":"hall""#, #""agent":"store""#, #""agent":"""#, #""agent":7"#,
    #""agent":"ha","routers":[]"#, #""agent":"ha","routers":[{"ext_address":"00112233AABBCCDD","mine":1}]"#,
    #""agent":"ha","routers":[{"border_agent_id":"a1"}]"#, #""agent":"ha","routers":{}"#, #""routers":[]"#,
    #""agent":"ha","routers":[7]"#, #""agent":"ha","routers":null"#, #""agent":"store","reason":"no token""#,
    "\"agent\":\"store\",\"reason\":\"\(String(repeating: "x", count: 513))\"",
    "\"agent\":\"\(String(repeating: "x", count: 129))\"", #""agent":"store","name":7"#, #""mine":{"of":[1,2]}"#,
    "\"sealed\":\(envelope)", "\"sealed\":\(envelope),\"dataset\":\"00\"", "\"sealed\":\(envelope),\"name\":7",
    "\"sealed\":\(envelope),\"thread_state\":\"asleep\"",
  ]

  private static let ids = [
    id, "", #""border_agent_id":null"#, #""border_agent_id":7"#, #""border_agent_id":"""#,
    #""border_agent_id":"A1B2C3D4E5F607180000000000000000""#, #""border_agent_id":"a1b2""#,
  ]

  @Test("A plain or sealed event is allowed when the decoder accepts it, and only then") func events() throws {
    let dataset = try ThreadNetwork("home").hex()
    let members = Self.members + ["\"dataset\":\"\(dataset)\"", "\"dataset\":\"\(dataset)\",\"ssid\":\"x\""]
    var counts = [true: 0, false: 0]
    for kind in RouterMessage.Kind.allCases {
      for first in Self.ids {
        for second in members {
          let text = "{" + [first, second].filter { !$0.isEmpty }.joined(separator: ",") + "}"
          var event = try? InboundEvent(reading: Array(text.utf8), as: kind)
          if event?.isSealed == false, (try? event?.checkDataset()) == nil { event = nil }
          let isAccepted = event != nil
          counts[isAccepted, default: 0] += 1
          #expect(
            try isAllowed("\(kind.word).json", Array(text.utf8)) == isAccepted,
            "\(kind.word): \(text.prefix(200)), accepted: \(isAccepted)")
        }
      }
    }
    #expect(counts.values.allSatisfy { $0 > 200 }, "\(counts)")
  }

  @Test("Bad messages whose form is wrong are not allowed") func badMessages() throws {
    let codes: Set = ["wrong_type", "missing_field", "bad_field", "bad_border_agent_id", "invalid_utf8", "not_hex"]
    for bad in BadMessage.all where codes.contains(bad.code) {
      #expect(try !isAllowed("\(bad.kind).json", bad.payload), "\(bad.name)")
    }
  }

  @Test("A request is allowed when the decoder accepts it, and only then", arguments: RequestCommand.allCases)
  func requests(_ command: RequestCommand) throws {
    let dataset = "\"dataset\":\"\(try ThreadNetwork("home").hex())\""
    let members = [
      "", Self.id, dataset, "\(Self.id),\(dataset)", "\(Self.id),\"dataset\":\"0\"", #""border_agent_id":"a1""#,
      "\(Self.id),\"dataset\":7", #""ext_pan_id":"1111111122222222""#, #""ext_pan_id":"11""#, #""ext_pan_id":7"#,
      "\(Self.id),\"ext_pan_id\":\"1111111122222222\"", "\(dataset),\"ext_pan_id\":\"1111111122222222\"",
      #""network_name":"home""#, #""network_name":null"#, #""id":"c-0123456789abcdef""#, #""id":"""#,
      #""id":"x","scope":"once""#, #""id":"x","scope":"ever""#, #""id":"x","scope":null"#, #""id":7"#,
      #""transaction":"r-17""#, #""transaction":7"#, "\"transaction\":\"\(String(repeating: "x", count: 257))\"",
      #""sealed":null"#, #""sealed":7"#, "\"sealed\":\(Self.envelope)", #""sealed":{"v":1}"#, #""mine":[]"#,
      #""id":"x","mine":{}"#, #""v":"1""#, #""command":5"#, #""home":[]"#, #""program":{}"#, #""as_administrator":"x""#,
    ]
    for member in members {
      let payload = Array("{\(member)}".utf8)
      let isAccepted: Bool
      do {
        let fields = try RequestFields(json: payload)
        // What is in the envelope is looked at when it is open.
        if fields.sealed == nil { _ = try ThreadRequest(command, fields) }
        isAccepted = true
      } catch { isAccepted = false }
      let name = command.rawValue.replacing("/", with: "_")
      #expect(
        try isAllowed("request.json#/definitions/\(name)", payload) == isAccepted,
        "\(member.prefix(200)), accepted: \(isAccepted)")
    }
  }
}
