import Broker
import Foundation
import Testing
import ThreadDataset
import ThreadRequests

/// `docs/reference/asyncapi.yaml` and the schemas beside it.
@Suite("The AsyncAPI document") struct AsyncAPITests {
  private let document: AsyncAPIDocument
  private let schemas: [String: JSON]

  init() throws {
    document = try AsyncAPIDocument.shared.get()
    var schemas: [String: JSON] = [:]
    for path in try ProjectFiles.below(AsyncAPIDocument.schemas) {
      let name = path.split(separator: "/").last.map(String.init) ?? path
      schemas[name] = try #require(JSON(ProjectFiles.text(of: path)), "\(path) is no JSON")
    }
    self.schemas = schemas
  }

  /// Every value in a tree, with itself.
  private func all(_ value: JSON) -> [JSON] {
    switch value {
    case .object(let fields): [value] + fields.values.flatMap(all)
    case .list(let list): [value] + list.flatMap(all)
    default: [value]
    }
  }

  /// What the keys of these objects may be, by the specification of AsyncAPI 3.0.0.
  private func expect(
    _ objects: [(key: String, value: JSON)], have required: Set<String>, and optional: Set<String>,
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(!objects.isEmpty, sourceLocation: location)
    for (name, object) in objects {
      let keys = object.keys
      #expect(
        keys.isSuperset(of: required) && keys.isSubset(of: required.union(optional)), "\(name): \(keys.sorted())",
        sourceLocation: location)
    }
  }

  @Test("It has the form of AsyncAPI 3.0.0") func form() {
    let root = document.root
    #expect(root["asyncapi"] == "3.0.0")
    expect(
      [("root", root)], have: ["asyncapi", "info", "channels", "operations"],
      and: ["defaultContentType", "servers", "components"])
    expect([("info", root["info"] ?? .null)], have: ["title", "version"], and: ["description", "license"])
    expect(
      root.members("servers"), have: ["host", "protocol"],
      and: ["protocolVersion", "description", "variables", "security", "bindings"])
    expect(root.members("channels"), have: ["address", "messages"], and: ["description", "parameters"])
    expect(root.members("operations"), have: ["action", "channel"], and: ["summary", "bindings", "reply"])
    let components = root["components"] ?? .null
    expect(components.members("messages"), have: ["payload", "examples"], and: ["title", "contentType"])
    expect(components.members("parameters"), have: ["description"], and: ["default", "examples", "enum"])
    for (name, operation) in root.members("operations") {
      #expect(["send", "receive"].contains(operation["action"]?.text), "\(name)")
      let binding = operation["bindings"]?["mqtt"]
      #expect([0, 1].contains(binding?["qos"]?.number), "\(name)")
      #expect([.bool(true), .bool(false)].contains(binding?["retain"]), "\(name)")
      #expect(binding?["bindingVersion"] == "0.2.0", "\(name)")
    }
  }

  @Test("Every reference leads somewhere, and every parameter of an address is described") func references() throws {
    for object in all(document.root) {
      guard let reference = object["$ref"]?.text else { continue }
      #expect(reference.hasPrefix("./schemas/") || document.root.target(of: object) != nil, "\(reference)")
    }
    for (name, channel) in document.root.members("channels") {
      let places = (channel["address"]?.text ?? "").matches(of: #/\{([a-z_]+)\}/#).map { String($0.output.1) }
      #expect(Set(places) == Set(channel.members("parameters").map(\.key)), "\(name)")
    }
    for (name, operation) in document.root.members("operations") {
      guard let reply = operation["reply"] else { continue }
      let channel = try #require(reply["channel"].flatMap { document.root.target(of: $0) })
      for message in reply["messages"]?.list ?? [] {
        let text = try #require(message["$ref"]?.text)
        #expect(text.hasPrefix("\(reply["channel"]?["$ref"]?.text ?? "")/messages/"), "\(name)")
      }
      // The specification: an address of the reply, and a channel with one, exclude each other.
      #expect((reply["address"] == nil) == (channel["address"]?.text != nil), "\(name)")
    }
  }

  @Test("Every channel is sent, received or answered on, and every schema is used by a message") func usage() {
    let used = Set(document.operations.flatMap { [$0.channel, $0.reply ?? $0.channel] })
    #expect(used == Set(document.channels.map(\.name)))
    let referenced = Set(document.channels.flatMap(\.messages).map { $0.schema.prefix { $0 != "#" } }.map(String.init))
    // Nobody publishes an envelope alone: what is inside of one is not on the broker.
    #expect(referenced.union(["envelope.json"]) == Set(schemas.keys))
    let messages = Set(document.channels.flatMap(\.messages).map(\.name))
    #expect(messages.count == document.root["components"]?.members("messages").count)
  }

  @Test("Each schema needs no other file, and what has one name is the same in all of them") func definitions() {
    var known: [String: (file: String, definition: JSON)] = [:]
    // A request and its answer have the name of their command, each in its file.
    let commands = Set(RequestCommand.allCases.map { $0.rawValue.replacing("/", with: "_") })
    for (file, schema) in schemas {
      #expect(schema["$schema"] == "http://json-schema.org/draft-07/schema#", "\(file)")
      for object in all(schema) {
        guard let reference = object["$ref"]?.text else { continue }
        #expect(schema.target(of: object) != nil, "\(file): \(reference)")
        #expect(object.keys == ["$ref"], "\(file): draft-07 ignores what is beside \(reference)")
      }
      for (name, definition) in schema.members("definitions") where !commands.contains(name) {
        if let other = known[name] { #expect(other.definition == definition, "\(name) of \(file) and \(other.file)") }
        known[name] = (file, definition)
      }
    }
  }

  @Test("What the daemon publishes has no field that is not listed, whatever the object") func closed() throws {
    for message in document.channels.filter({ document.sending($0) != nil }).flatMap(\.messages) {
      let file = String(message.schema.prefix { $0 != "#" })
      let schema = try #require(schemas[file], "\(message.schema)")
      guard schema["type"] != "string" else { continue }
      for object in all(schema) where object["type"] == "object" && object["properties"] != nil {
        #expect(object["additionalProperties"] == .bool(false), "\(file): \(object.keys)")
      }
    }
  }

  @Test("Every message has an example, which its schema allows", .enabled(if: DebianTool.jsonSchema != nil))
  func examples() throws {
    let library = try #require(SchemaLibrary.shared)
    for channel in document.channels {
      for message in channel.messages {
        #expect(!message.examples.isEmpty, "\(message.name)")
        for example in message.examples {
          let payload = try #require(try message.payload(of: example), "\(message.name)")
          let problem = try library.problem(message.schema, payload)
          #expect(problem == nil, "\(message.name): \(problem.map { "\($0)" } ?? "")")
        }
      }
    }
  }

  @Test("The schema of answers has every code") func codes() throws {
    let failure = schemas["answer.json"]?["definitions"]?["failure"]
    let codes = try #require(failure?["properties"]?["code"]?["enum"]?.list).compactMap(\.text)
    #expect(
      Set(codes)
        == Set(
          Rejection.Code.allCases.map(\.rawValue) + EnvelopeRefusal.allCases.map(\.rawValue)
            + DatasetError.Code.allCases.map(\.rawValue) + AnswerCode.allCases.map(\.rawValue)))
  }
}
