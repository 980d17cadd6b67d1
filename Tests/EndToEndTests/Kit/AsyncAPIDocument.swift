import Foundation
import Settings

/// `docs/reference/asyncapi.yaml`: channels, what is published on them, and by whom.
struct AsyncAPIDocument: Sendable {
  struct Message: Sendable {
    let name: String
    /// A file of `schemas`, and the JSON pointer of a definition in it: `answer.json#/definitions/ping`.
    let schema: String
    /// Published as it is, and not as JSON.
    let isText: Bool
    let examples: [JSON]

    /// - Returns: nil for an example of text that is none.
    func payload(of example: JSON) throws -> [UInt8]? {
      isText ? example.text.map { Array($0.utf8) } : Array(try JSONEncoder().encode(example))
    }
  }

  struct Channel: Sendable {
    let name: String
    /// Nil: the publisher of what is answered has chosen it.
    let address: String?
    let messages: [Message]

    /// Levels of the address; a parameter is nil.
    var levels: [String?] { (address ?? "").split(separator: "/").map { $0.hasPrefix("{") ? nil : String($0) } }
  }

  struct Operation: Sendable {
    let name: String
    let isSent: Bool
    let channel: String
    let reply: String?
    let qos: Int64?
    let isRetained: Bool?
  }

  static let path = "docs/reference/asyncapi.yaml"
  static let schemas = "docs/reference/schemas"

  let root: JSON
  let channels: [Channel]
  let operations: [Operation]

  static let shared = Result { try AsyncAPIDocument(ProjectFiles.text(of: path)) }

  init(_ text: String) throws {
    root = JSON(try Self.read(text))
    let root = root
    channels = root.members("channels").map { name, channel in
      Channel(
        name: name, address: channel["address"]?.text,
        messages: channel.members("messages").map { name, message in
          let target = root.target(of: message) ?? message
          return Message(
            name: name, schema: (target["payload"]?["$ref"]?.text ?? "").replacing("./schemas/", with: ""),
            isText: target["contentType"]?.text == "text/plain",
            examples: (target["examples"]?.list ?? []).compactMap { $0["payload"] })
        })
    }
    operations = root.members("operations").map { name, operation in
      let binding = operation["bindings"]?["mqtt"]
      return Operation(
        name: name, isSent: operation["action"]?.text == "send", channel: operation["channel"]?.referenced ?? "",
        reply: operation["reply"]?["channel"]?.referenced, qos: binding?["qos"]?.number,
        isRetained: binding?["retain"].map { $0 == .bool(true) })
    }
  }

  private static func read(_ text: String) throws -> YAMLNode {
    guard let node = try YAMLNode.read(text) else { throw CocoaError(.fileReadCorruptFile) }
    return node
  }

  /// The channel of a topic, of which the one with the fewest parameters.
  ///
  /// - Parameters:
  ///   - base: the base topic of a home, which has any number of levels.
  func channel(of topic: String, below base: String) -> Channel? {
    guard topic.utf8.starts(with: "\(base)/".utf8) else { return nil }
    let levels = String(decoding: topic.utf8.dropFirst(base.utf8.count + 1), as: UTF8.self).split(
      separator: "/", omittingEmptySubsequences: false
    ).map(String.init)
    let found = channels.filter { channel in
      guard channel.address?.hasPrefix("{base}/") == true else { return false }
      let own = channel.levels.dropFirst()
      return own.count == levels.count && zip(own, levels).allSatisfy { $0 == nil || $0 == $1 }
    }.min { $0.levels.count { $0 == nil } < $1.levels.count { $0 == nil } }
    if let found { return found }
    // A Response Topic: anything of the login but `dataset`.
    guard levels.count > 2, levels[0] == "out", levels[2] != "dataset" else { return nil }
    return channels.first { $0.address == nil }
  }

  func channel(named name: String) -> Channel? { channels.first { $0.name == name } }

  /// The operation by which the daemon publishes there.
  func sending(_ channel: Channel) -> Operation? { operations.first { $0.isSent && $0.channel == channel.name } }
}

extension JSON {
  /// The members of an object, by their names.
  func members(_ key: String) -> [(key: String, value: JSON)] {
    guard case .object(let fields)? = self[key] else { return [] }
    return fields.sorted { $0.key < $1.key }
  }

  /// The last part of a reference.
  var referenced: String? { self["$ref"]?.text?.split(separator: "/").last.map(String.init) }

  /// What a reference within this document leads to; nil for what is none, and for one that leads nowhere.
  func target(of reference: JSON) -> JSON? {
    guard let text = reference["$ref"]?.text, text.hasPrefix("#/") else { return nil }
    return text.dropFirst(2).split(separator: "/").reduce(Optional(self)) { node, key in
      node?[String(key).replacing("~1", with: "/").replacing("~0", with: "~")]
    }
  }
}
