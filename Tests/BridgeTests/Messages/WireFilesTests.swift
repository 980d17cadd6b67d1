import TestKit
import Testing
import ThreadDataset
import ThreadRequests
import Wire

@testable import Bridge
@testable import Broker
@testable import Home

private struct SchemaFile {
  let name: String
  let describer: WireDescriber
  let schema: String

  init(_ name: String, _ title: String, _ sample: some WireObject, about: String? = nil) {
    self.name = name
    describer = WireDescriber(sample)
    schema = WireDescriber.document(sample, title: title, about: about)
  }
}

/// What comes from the declarations of the messages: `make wire` writes it.
@Suite("The files that are made from the messages") struct WireFilesTests {
  private static let time = WireTime(milliseconds: 0)
  private static let files: [SchemaFile] = [
    SchemaFile(
      "router", "router/<border_agent_id>",
      RouterState(Router(BorderAgentID(high: 1, low: 0), at: time), .none, in: "home"),
      about: "The state of a border router."),
    SchemaFile(
      "network", "network/<ext_pan_id>", NetworkState(NetworkView(id: ExtendedPANID(number: 1)), in: "home"),
      about: "The state of a Thread network."),
    SchemaFile("alert", "alert/<fingerprint>", AlertState.sample, about: "An alert."),
    SchemaFile("alert-event", "bridge/event/alert", AlertState.sample(news: (.raised, nil))),
    SchemaFile("bridge-alerts", "bridge/alerts", AlertsState([:], in: "home", ways: .init(isOnlyHome: true))),
    SchemaFile("bridge-consent", "bridge/consent", ConsentState(waiting: [], asked: [])),
    SchemaFile("bridge-daemon", "bridge/daemon", BridgeDaemon(instance: "", process: 0, version: "")),
    SchemaFile("bridge-health", "bridge/health", BridgeHealth(status: DaemonStatus())),
    SchemaFile(
      "bridge-info", "bridge/info",
      BridgeInfo(
        settings: PublisherSettings(BaseTopics([])), own: HomeSettings(), name: "home", preferred: nil,
        protection: Home(rules: HomeRules { 1 }).protection, routers: 0, networks: 0)),
    SchemaFile("bridge-state", "bridge/state", BridgeState.sample),
    SchemaFile("availability", "router/<border_agent_id>/availability", RouterAvailability(state: .online)),
    SchemaFile("event", "bridge/event and router/<border_agent_id>/event", OutboundEvent(.routerOnline, at: time)),
    SchemaFile(
      "home-assistant-device", "<prefix>/device/threadkeeper/<object_id>/config",
      HomeAssistantDevice(device: .sample, version: "", availability: [], components: [:])),
  ]

  @Test("Each file says what its message declares") func agreement() throws {
    for file in Self.files { try expectSchema(file.name, file.schema) }
    for kind in RouterMessage.Kind.allCases { try expectSchema("\(kind.word)", ReceivedSchema.event(kind)) }
    try expectSchema("request", ReceivedSchema.requests())
  }

  @Test("What answers and messages of adoption have of other messages is what these declare") func shared() throws {
    let states = Self.files.filter { ["router", "network", "alert"].contains($0.name) }
    let envelope = (name: "", json: plain(ReceivedSchema.shared()))
    for (file, others) in [
      ("answer", states.map { (name: $0.name, json: plain($0.schema)) } + [envelope]), ("dataset-set", [envelope]),
    ] {
      let path = "docs/reference/schemas/\(file).json"
      try expectFile(path, has: JSONLayout.schema(document(path), with: others))
    }
  }

  private func expectSchema(_ name: String, _ schema: String) throws {
    try expectFile("docs/reference/schemas/\(name).json", has: JSONLayout.text(plain(schema)))
  }

  /// Code and links are for the pages.
  private func plain(_ schema: String) -> String {
    schema.replacing(#/\[([^\]"]*)\]\([^)"]*\)/#) { "\($0.1)" }.filter { $0 != "`" }
  }

  @Test("The AsyncAPI document has each event and request") func asyncAPI() throws {
    for (name, text) in [
      ("channels", AsyncAPIParts.channels()), ("operations", AsyncAPIParts.operations()),
      ("messages", AsyncAPIParts.messages()),
    ] { try expectPart(name, of: "docs/reference/asyncapi.yaml", has: text) }
  }

  @Test("The page about the protocol has the meaning of each field") func tables() throws {
    let tables = [
      ("event kinds", FieldTable.kinds()), ("fields of events", FieldTable.events()),
      ("credentials", FieldTable.fields(InboundEvent(.credentials))), ("programs", FieldTable.programs()),
      ("sightings", FieldTable.sightings()), ("requests", FieldTable.requests()),
    ]
    let files = Self.files.filter {
      ["alert", "bridge-consent", "bridge-health", "bridge-info", "network", "router"].contains($0.name)
    }
    for (name, text) in tables + files.map({ ($0.name, FieldTable.fields($0.describer)) }) {
      try expectPart(name, of: "docs/reference/mqtt-protocol.md", has: text)
    }
  }

  @Test("That page has every field of each message") func documented() throws {
    let page = try document("docs/reference/mqtt-protocol.md")
    for file in Self.files where file.name != "home-assistant-device" {
      for name in file.describer.fields.map(\.name) where name != "v" {
        let isThere = page.contains("`\(name)`") || page.contains("\"\(name)\":")
        #expect(isThere, "\(file.name): \(name)")
      }
    }
  }

  @Test("What is wrong with a field of an event, or other beside its envelope, is looked for") func orders() {
    for kind in RouterMessage.Kind.allCases {
      let order = kind == .credentials ? InboundEvent.orderOfStore : InboundEvent.order
      for field in WireDescriber(InboundEvent(kind)).fields {
        // Whole numbers are of another type where they are wrong, and the subject is looked at before.
        let isOrdered = field.use != .counts || field.type == "int" || field.name == "border_agent_id"
        #expect(isOrdered || order.contains(field.name), "\(kind): \(field.name)")
        let isCompared = InboundEvent.outside.contains { "\($0)" == field.name }
        #expect(
          isCompared || ["dataset", "http_status", "preferred", "writes"].contains(field.name), "\(kind): \(field.name)"
        )
      }
    }
  }

  @Test("Fields are in the order of their names' bytes, each once, and none holds a secret") func order() {
    for file in Self.files {
      var names = file.describer.fields.map(\.name)
      // The detail of an event comes after what all have in common.
      if let version = names.firstIndex(of: "v"), file.name == "event" {
        #expect(names[...version] == ["border_agent_id", "event_type", "ext_pan_id", "time", "user", "v"])
        names.removeFirst(version + 1)
      }
      for (name, next) in zip(names, names.dropFirst()) {
        let isBefore = name.utf8.lexicographicallyPrecedes(next.utf8)
        #expect(isBefore, "\(file.name): \(name), \(next)")
      }
      #expect(!file.describer.hasSecrets, "\(file.name)")
    }
  }
}
