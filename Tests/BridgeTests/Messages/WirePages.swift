import TestKit
import ThreadDataset
import ThreadRequests
import Wire

@testable import Broker
@testable import Home

/// Tables of `docs/reference/mqtt-protocol.md`: fields of one meaning are one row.
enum FieldTable {
  private static func table(_ head: String, _ rows: [[String]]) -> String {
    let columns = head.count { $0 == "|" } - 1
    return
      (["", head, String(repeating: "|---", count: columns) + "|"] + rows.map { "| \($0.joined(separator: " | ")) |" }
      + [""]).joined(separator: "\n")
  }

  static func fields(_ message: some WireObject) -> String { fields(WireDescriber(message)) }

  static func fields(_ message: WireDescriber) -> String {
    // `v` is in all, and what only has to be of its type says nothing.
    let known = message.fields.filter { $0.name != "v" && $0.use != .typeOnly }
    var rows: [(meaning: String, names: [String])] = []
    for field in known {
      let words = field.type.hasPrefix("(") ? field.type.dropFirst().dropLast().split(separator: ", ") : []
      let listed = words.count > 6 || words.allSatisfy { field.meaning.contains("`\($0)`") } ? [] : words
      let values = listed.isEmpty ? "" : "\(listed.map { "`\($0)`" }.joined(separator: ", ")). "
      let meaning = values + field.meaning
      if let index = rows.firstIndex(where: { $0.meaning == meaning }) {
        rows[index].names.append(field.name)
      } else {
        rows.append((meaning, [field.name]))
      }
    }
    return table("| field | what |", rows.map { [code($0.names), $0.meaning] })
  }

  static func kinds() -> String {
    table("| event | means |", RouterMessage.Kind.allCases.map { ["`\($0.word)`", "\($0.about)"] })
  }

  /// Which event has which field.
  static func events() -> String {
    let kinds: [RouterMessage.Kind] = [.announce, .dataset, .heartbeat, .offline, .leave, .ssid]
    return merged(kinds.map { ($0.word.description, WireDescriber(InboundEvent($0))) }, all: kinds.count)
  }

  static func programs() -> String {
    let kinds: [RouterMessage.Kind] = [.heartbeat, .offline, .leave]
    let events = kinds.map { ($0.word.description, WireDescriber(InboundEvent($0, of: ""))) }
    return merged(events, all: kinds.count, without: ["border_agent_id"])
  }

  static func sightings() -> String {
    merged([("", WireDescriber(InboundEvent(.sightings)))], all: 1, without: ["agent", "id", "seq"])
  }

  private static func merged(_ messages: [(String, WireDescriber)], all: Int, without left: [String] = []) -> String {
    var rows: [(name: String, meaning: String, events: [String])] = []
    for (event, message) in messages {
      for field in message.fields where field.use != .typeOnly && !left.contains(field.name) {
        if let index = rows.firstIndex(where: { $0.name == field.name && $0.meaning == field.meaning }) {
          rows[index].events.append(event)
        } else {
          rows.append((field.name, field.meaning, [event]))
        }
      }
    }
    var lines: [(names: [String], events: [String], meaning: String)] = []
    for row in rows.sorted(by: { $0.name < $1.name }) {
      if let index = lines.firstIndex(where: { $0.meaning == row.meaning && $0.events == row.events }) {
        lines[index].names.append(row.name)
      } else {
        lines.append(([row.name], row.events, row.meaning))
      }
    }
    return table(
      "| field | in | what |",
      lines.map { [code($0.names), $0.events.count == all ? "all" : code($0.events), $0.meaning] })
  }

  static func requests() -> String {
    let fields = WireDescriber(RequestFields(on: .mqtt)).fields.map(\.name)
    let rows = RequestCommand.allCases.map { command in
      let own = command.parameters.filter { $0 != .transaction && fields.contains($0.rawValue) }
      let names = own.map { "`\($0.rawValue)`" + (command.needs($0) ? "" : "?") }
      let reply = command.reply.map { "`\($0.filter { $0 != "?" })`" + ($0.hasSuffix("?") ? "?" : "") }
      return [
        "`\(command.rawValue)`", names.joined(separator: ", "), reply.joined(separator: ", "), "\(command.about)",
      ]
    }
    return table("| command | fields | `data` | what |", rows)
  }

  private static func code(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }
}

/// Parts of `docs/reference/asyncapi.yaml`: each event and request, and where it is answered.
enum AsyncAPIParts {
  private static let events = RouterMessage.Kind.allCases.map { ("\($0.word)", "\($0.about)") }

  /// `credentialsListActive` of `credentials/list_active`.
  private static func name(_ command: RequestCommand) -> String {
    let words = command.rawValue.split { "/_".contains($0) }
    return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  private static func channel(_ name: String, _ address: String, _ about: String?) -> String {
    let description = about.map { "    description: '\(plain($0))'\n" } ?? ""
    return """
        \(name):
          address: '{base}/\(address)'
      \(description)    messages: {\(name): {$ref: '#/components/messages/\(name)'}}
          parameters: *base_user
      """
  }

  static func channels() -> String {
    let requests = RequestCommand.allCases.flatMap { command in
      [
        channel("\(name(command))Request", "in/{user}/request/\(command.rawValue)", "\(command.about)"),
        channel("\(name(command))Answer", "out/{user}/response/\(command.rawValue)", nil),
      ]
    }
    return (events.map { channel($0.0, "in/{user}/\($0.0)", $0.1) } + requests).joined(separator: "\n")
  }

  static func operations() -> String {
    func operation(_ channel: String, _ reply: String) -> String {
      """
        receive\(channel.prefix(1).uppercased() + channel.dropFirst()):
          action: receive
          channel: {$ref: '#/channels/\(channel)'}
          bindings: *plain
          reply: \(reply)
      """
    }
    let requests = RequestCommand.allCases.map { command in
      let answer = "\(name(command))Answer"
      return operation(
        "\(name(command))Request",
        "{channel: {$ref: '#/channels/\(answer)'}, messages: [{$ref: '#/channels/\(answer)/messages/\(answer)'}]}")
    }
    let toEvent =
      "&toEvent {channel: {$ref: '#/channels/answerElsewhere'}, messages: [{$ref: '#/channels/answerElsewhere/messages/eventAnswer'}], "
      + "address: {location: $message.header#/responseTopic, description: Only where the publisher gave one.}}"
    let received = events.enumerated().map { operation($1.0, $0 == 0 ? toEvent : "*toEvent") }
    return (received + requests).joined(separator: "\n")
  }

  static func messages() -> String {
    func message(_ name: String, _ schema: String, _ examples: [String]) -> String {
      "    \(name):\n      payload: {$ref: ./schemas/\(schema)}\n      examples:\n"
        + examples.map { "      - {payload: \($0)}" }.joined(separator: "\n")
    }
    let sealed =
      #"{"sealed":{"alg":"x25519-xsalsa20-poly1305-seal","ct":"bm90IGEgcmVhbCBvbmU=","#
      + #""kid":"0123456789abcdef","typ":"sealed","v":1}}"#
    let requests = RequestCommand.allCases.map { command in
      let definition = command.rawValue.replacing("/", with: "_")
      return message("\(name(command))Request", "request.json#/definitions/\(definition)", examples(command))
    }
    return
      (RouterMessage.Kind.allCases.map { kind in
        let own = [InboundEvent(kind), InboundEvent(kind, of: "otbr http://192.0.2.7:8081")].enumerated().compactMap {
          index, event -> String? in
          guard index == 0 || [.heartbeat, .offline, .leave].contains(kind) else { return nil }
          return text(example(event))
        }
        return message("\(kind.word)", "\(kind.word).json", own + [sealed])
      } + requests).joined(separator: "\n")
  }

  private static let agent = BorderAgentID(hex: "a1b2c3d4e5f60718")
  private static let network = ExtendedPANID(hex: "1111111122222222")

  private static func example(_ event: InboundEvent) -> InboundEvent {
    var event = event
    event.sequence = 1
    let kind = event.message.kind
    guard kind != .sightings else {
      var router = SightedRouter()
      (router.agent, router.address, router.network) = (agent, WireHex(0x0011_2233_4455_6677), network)
      (router.name, router.networkName, router.vendor) = ("Living room", "home", "Example")
      (event.program, event.routers) = ("home_assistant http://192.0.2.7:8123", [router])
      return event
    }
    guard event.program == nil else {
      event.message.trouble = kind == .offline ? "it does not accept the token" : nil
      return event
    }
    event.agent = agent
    switch kind {
    case .announce, .dataset:
      (event.dataset, event.message.thread.network, event.message.thread.state) = (dataset, network, .leader)
      if kind == .announce { (event.message.name, event.message.vendor) = ("Living room", "Example") }
    case .heartbeat: (event.message.thread.network, event.message.thread.state) = (network, .router)
    case .offline: event.message.offlineReason = .unreachable
    case .ssid:
      event.sequence = nil
      (event.message.ssid, event.message.previousSSID) = ("attic", "cellar")
    case .credentials: (event.dataset, event.isPreferred, event.message.name) = (dataset, true, "Home Assistant")
    case .leave, .sightings: break
    }
    return event
  }

  private static let dataset = try? WireDataset(SampleNetwork.guest.dataset(at: 1).bytes)

  private static func examples(_ command: RequestCommand) -> [String] {
    func example(_ parameters: [RequestParameter]) -> String {
      var request = ThreadRequest(command)
      request.transaction = "r-17"
      for parameter in parameters {
        switch parameter {
        case .agent: request.agent = agent
        case .dataset: request.dataset = try? SampleNetwork.guest.dataset(at: 1)
        case .network: request.network = network
        case .networkName: request.networkName = "home"
        case .id:
          request.id =
            switch command {
            case .setPreferred: "p-current"
            case .forgetNetwork: "p-1234abcd"
            default: "c-0123456789abcdef"
            }
        case .scope: request.scope = .once
        case .administrator, .program, .purpose, .token, .transaction: break
        }
      }
      return text(request.fields(on: .mqtt))
    }
    switch command {
    case .setPreferred: return [[.network, .agent], [.networkName], [.id], [.dataset]].map(example)
    case .forgetNetwork: return [[.network], [.id]].map(example)
    default: return [example(command.parameters)]
    }
  }

  private static func text(_ message: some WireObject) -> String { String(decoding: message.json(), as: UTF8.self) }

  private static func plain(_ text: String) -> String {
    text.replacing("'", with: "''").replacing(#/\[([^\]]*)\]\([^)]*\)/#) { "\($0.1)" }
  }
}
