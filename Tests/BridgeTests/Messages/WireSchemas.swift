import ThreadRequests
import Wire

@testable import Broker
@testable import Home

/// Schemas of what others publish: they allow what the daemon reads.
enum ReceivedSchema {
  private static let limits =
    "What the daemon accepts: other fields are ignored, null counts as absent. At most 16,384 bytes, nested 8 deep."

  // MARK: Events

  static func event(_ kind: RouterMessage.Kind) -> String {
    let router = WireDescriber(InboundEvent(kind))
    let program = WireDescriber(InboundEvent(kind, of: ""))
    let needed: [String] =
      switch kind {
      case .announce, .heartbeat, .offline, .leave: ["border_agent_id"]
      case .dataset: ["border_agent_id", "dataset"]
      case .ssid: ["ssid"]
      case .credentials: ["dataset"]
      case .sightings: ["agent", "routers"]
      }
    var plain = counting(router, needed)
    switch kind {
    case .ssid: plain += #", "anyOf": [\#(given("border_agent_id")), \#(given("access_point"))]"#
    case .heartbeat, .offline, .leave:
      var other = counting(program, ["agent"])
      if kind == .leave {
        other = #""if": \#(given("ext_pan_id")), "then": {\#(counting(program, ["ext_pan_id"]))}, "else": {\#(other)}"#
      }
      plain = #""if": \#(given("border_agent_id")), "then": {\#(plain)}, "else": {\#(other)}"#
    case .announce, .dataset, .credentials, .sightings: break
    }
    // Also beside an envelope each is of its type.
    let typed = router.fields.filter { $0.use != .anyType && !["preferred", "routers", "writes"].contains($0.name) }.map
    { member($0.name, type(of: $0)) }
    let sealed =
      #""sealed": \#(reference("envelope")), "#
      + #""dataset": {"description": "Must not be in plaintext beside an envelope.", "type": "null"}"#
    return document(
      "in/<user>/\(kind.word)", "\(kind.about) \(limits)",
      #""type": "object", "properties": {\#(list(typed))}, "if": {"required": ["sealed"]}, "#
        + #""then": {"properties": {\#(sealed)}}, "else": {\#(plain)}"#, #""envelope": \#(envelope)"#)
  }

  private static func given(_ name: String) -> String {
    #"{"required": ["\#(name)"], "properties": {"\#(name)": {"type": "string"}}}"#
  }

  /// The fields that count.
  private static func counting(_ message: WireDescriber, _ needed: [String]) -> String {
    let members = message.fields.filter { $0.use != .typeOnly }.map { field in
      member(field.name, schema(of: field, in: message, isNeeded: needed.contains(field.name)))
    }
    return #""required": [\#(list(needed.map { "\"\($0)\"" }))], "properties": {\#(list(members))}"#
  }

  // MARK: Requests

  static func requests() -> String {
    let fields = WireDescriber(RequestFields(on: .mqtt))
    let any = fields.fields.map { field in
      switch field.name {
      case "sealed": member("sealed", #"{"anyOf": [\#(reference("envelope")), {"type": "null"}]}"#)
      case "transaction": member("transaction", #"{"type": ["string", "null"], "maxLength": 256}"#)
      default: member(field.name, type(of: field))
      }
    }
    let commands = RequestCommand.allCases.map { command in
      let name = command.rawValue.replacing("/", with: "_")
      let own = parameters(of: command, fields)
      let parts = [reference("fields")] + (own.map { [#"{\#(unlessSealed), "else": {\#($0)}}"#] } ?? [])
      return member(name, #"{"description": "\#(command.about)", "allOf": [\#(list(parts))]}"#)
    }
    return document(
      "in/<user>/request/<command>",
      "Each request has its own definition, named by its command with _ in place of /. \(limits)",
      #""allOf": [\#(reference("fields"))]"#,
      list(
        [#""envelope": \#(envelope)"#, member("fields", #"{"type": "object", "properties": {\#(list(any))}}"#)]
          + commands))
  }

  /// What others have in their files, too.
  static func shared() -> String { #"{"definitions": {"envelope": \#(envelope)}}"# }

  private static let unlessSealed = #""if": {"required": ["sealed"], "properties": {"sealed": {"type": "object"}}}"#

  /// What a command makes of its fields; nil: nothing.
  private static func parameters(of command: RequestCommand, _ fields: WireDescriber) -> String? {
    let own = fields.fields.filter { field in
      field.name != "transaction" && command.parameters.contains { $0.rawValue == field.name }
    }
    func one(_ name: String, without others: [String] = []) -> String {
      let field = own.first { $0.name == name }
      let value = field.map { member(name, named($0, in: fields)) } ?? ""
      return #"{"required": ["\#(name)"], "properties": {"#
        + list([value] + others.filter { $0 != name }.map { member($0, #"{"type": "null"}"#) }) + "}}"
    }
    switch command {
    case .setPreferred:
      let ways = ["ext_pan_id", "network_name", "id", "dataset"]
      let agent = own.first { $0.name == "border_agent_id" }.map { schema(of: $0, in: fields, isNeeded: false) } ?? ""
      let withAgent = #"{"if": \#(one("ext_pan_id")), "then": {"properties": {"border_agent_id": \#(agent)}}}"#
      return #""oneOf": [\#(list(ways.map { one($0, without: ways) }))], "allOf": [\#(withAgent)]"#
    case .forgetNetwork: return #""anyOf": [\#(list(["id", "ext_pan_id"].map { one($0) }))]"#
    default:
      guard !own.isEmpty else { return nil }
      let needed = command.parameters.filter { command.needs($0) }.map(\.rawValue)
      let members = own.map { field in
        field.name == "id"
          ? member("id", #"{"description": "Of the consent.", "type": "string", "minLength": 1, "maxLength": 64}"#)
          : member(field.name, schema(of: field, in: fields, isNeeded: needed.contains(field.name)))
      }
      return #""required": [\#(list(needed.map { "\"\($0)\"" }))], "properties": {\#(list(members))}"#
    }
  }

  private static func named(_ field: WireDescriber.Field, in message: WireDescriber) -> String {
    schema(of: field, in: message, isNeeded: true)
  }

  // MARK: Values

  /// What is read: digits in both cases, and null as absent.
  private static func schema(of field: WireDescriber.Field, in message: WireDescriber, isNeeded: Bool) -> String {
    let about = field.meaning.isEmpty ? "" : #""description": "\#(field.meaning)", "#
    // Of another type it counts as absent.
    if field.use == .anyType, !isNeeded { return "{\(about.dropLast(2))}" }
    var members = members(of: field, in: message).replacing("[0-9a-f]", with: "[0-9A-Fa-f]").replacing(
      #", "additionalProperties": false"#, with: "")
    // One without a name says nothing.
    if field.use == .anyType { members += #", "minLength": 1"# }
    return "{\(about)\(isNeeded ? members : nullable(members))}"
  }

  /// Without its description.
  private static func members(of field: WireDescriber.Field, in message: WireDescriber) -> String {
    let name = field.schema.firstMatch(of: #/^\{"\$ref": "#\/definitions\/([a-z_]+)"\}$/#)?.1
    let schema = message.definitions.first { $0.name == name.map(String.init) }?.schema ?? field.schema
    return String(schema.replacing(#/^\{("description": "[^"]*", )?/#, with: "").dropLast())
  }

  private static func type(of field: WireDescriber.Field) -> String {
    if field.type == "int" { return #"{"type": ["integer", "null"], "minimum": 0, "maximum": \#(most(field))}"# }
    return field.type == "bool" ? #"{"type": ["boolean", "null"]}"# : #"{"type": ["string", "null"]}"#
  }

  private static func most(_ field: WireDescriber.Field) -> String {
    field.name == "partition_id" ? "\(UInt32.max)" : "\(UInt64.max)"
  }

  private static func nullable(_ members: String) -> String {
    members.hasPrefix(#""enum""#)
      ? members.replacing("]", with: ", null]", maxReplacements: 1)
      : members.replacing(#/^"type": "([a-z]+)"/#) { #""type": ["\#($0.1)", "null"]"# }
  }

  private static let envelope: String = {
    let found = WireDescriber(RequestFields(on: .mqtt)).definitions.first { $0.name == "envelope" }
    return found?.schema ?? ""
  }()

  private static func reference(_ name: String) -> String { ##"{"$ref": "#/definitions/\##(name)"}"## }
  private static func member(_ name: String, _ schema: String) -> String { #""\#(name)": \#(schema)"# }
  private static func list(_ members: [String]) -> String { members.joined(separator: ", ") }

  private static func document(_ title: String, _ about: String, _ members: String, _ definitions: String) -> String {
    #"{"$schema": "http://json-schema.org/draft-07/schema#", "title": "\#(title)", "description": "\#(about)", "#
      + #"\#(members), "definitions": {\#(definitions)}}"#
  }
}
