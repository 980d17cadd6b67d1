import ThreadkeeperSupport

/// A call as it came, with its parameters still to be read.
package struct VarlinkCall: Sendable {
  package enum Kind: Sendable {
    /// One reply.
    case single
    /// Any number of replies (`more`).
    case more
    /// No reply, not even an error.
    case oneway
    /// The connection is to speak another protocol afterwards.
    case upgrade
  }

  package let interface: String
  package let name: String
  package let kind: Kind
  /// A JSON object.
  let parameters: [UInt8]

  package var method: String { "\(interface).\(name)" }

  /// - Throws: `malformed`. A connection that such a message came over is of no more use.
  package init(reading message: [UInt8]) throws(SocketError) {
    var (method, kinds, parameters) = (String?.none, [Kind](), Array("{}".utf8))
    var isCall = true
    try VarlinkJSON.readMembers(of: message) { member in
      func add(_ kind: Kind) {
        switch member.value {
        case .bool(let isSet): if isSet { kinds.append(kind) }
        case .null: break
        case .string, .number, .nested: isCall = false
        }
      }
      switch member.name {
      case "method": if case .string(let text) = member.value { method = text.text } else { isCall = false }
      case "parameters":
        switch member.value {
        case .nested where member.source.first == UInt8(ascii: "{"): parameters = Array(member.source)
        case .null: break
        default: isCall = false
        }
      case "more": add(.more)
      case "oneway": add(.oneway)
      case "upgrade": add(.upgrade)
      default: break
      }
    }
    guard isCall, let method else { throw SocketError(.malformed, "a message is no call") }
    guard kinds.count <= 1 else { throw SocketError(.malformed, "a call is more than one of more, oneway and upgrade") }
    kind = kinds.first ?? .single
    let dot = method.lastIndex(of: ".")
    interface = dot.map { String(method[..<$0]) } ?? ""
    name = dot.map { String(method[$0...].dropFirst()) } ?? method
    self.parameters = parameters
  }

  /// - Throws: `VarlinkError.invalidParameter` with the first field that is missing or of another type; what the type
  ///   itself throws.
  package func parameters<Value: Decodable>(_ type: Value.Type) throws -> Value {
    do { return try VarlinkJSON.decode(type, parameters) } catch let error as DecodingError {
      // An operation has its own ones within those of the call.
      throw VarlinkError.invalidParameter(VarlinkJSON.field(error, below: "parameters"))
    }
  }

  /// A call to send, without the byte that ends it.
  package static func encode(_ method: String, _ parameters: some Encodable, _ kind: Kind = .single) throws -> [UInt8] {
    try VarlinkJSON.encode(
      Sent(
        method: method, parameters: parameters, more: kind == .more ? true : nil, oneway: kind == .oneway ? true : nil,
        upgrade: kind == .upgrade ? true : nil))
  }

  fileprivate struct Sent<Value: Encodable>: Encodable {
    var method: String
    var parameters: Value
    var more: Bool?
    var oneway: Bool?
    var upgrade: Bool?
  }
}

extension VarlinkCall.Sent: VarlinkFieldNames where Value: VarlinkFieldNames {}

/// No parameters, or a reply without any: `{}`.
package struct VarlinkNothing: Codable, Sendable, Equatable {
  package init() {}

  package init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: NoKeys.self) }

  package func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: NoKeys.self) }

  private enum NoKeys: CodingKey {}
}

/// A reply to a call.
package struct VarlinkReply<Parameters> {
  package var parameters: Parameters
  /// Whether another one follows.
  package var continues: Bool
}

extension VarlinkReply: Sendable where Parameters: Sendable {}

extension VarlinkReply where Parameters: Decodable {
  /// - Throws: `VarlinkError` when the service answers with one; `malformed` when it is no reply of this type.
  package init(reading message: [UInt8]) throws {
    try VarlinkJSON.readMembers(of: message)
    do {
      let head = try VarlinkJSON.decode(Head.self, message)
      if let name = head.error {
        let details = try? VarlinkJSON.decode(Body<Details>.self, message)
        throw VarlinkError(name, details?.parameters?.values ?? [:])
      }
      continues = head.continues ?? false
      parameters =
        try VarlinkJSON.decode(Body<Parameters>.self, message).parameters
        ?? VarlinkJSON.decode(Parameters.self, Array("{}".utf8))
    } catch let error as VarlinkError { throw error } catch {
      throw SocketError(.malformed, "a message is no reply to this call")
    }
  }
}

extension VarlinkReply where Parameters: Encodable {
  /// Without the byte that ends it.
  package func encoded() throws -> [UInt8] {
    try VarlinkJSON.encode(Sent(parameters: parameters, continues: continues ? true : nil))
  }
}

extension VarlinkError {
  /// The reply, without the byte that ends it.
  package func encoded() -> [UInt8] { (try? VarlinkJSON.encode(SentError(error: name, parameters: parameters))) ?? [] }
}

private struct Head: Decodable {
  var error: String?
  var continues: Bool?
}

private struct Body<Value: Decodable>: Decodable { var parameters: Value? }

extension Body: VarlinkFieldNames where Value: VarlinkFieldNames {}

private struct Sent<Value: Encodable>: Encodable {
  var parameters: Value
  var continues: Bool?
}

extension Sent: VarlinkFieldNames where Value: VarlinkFieldNames {}

private struct SentError: Encodable {
  var error: String
  var parameters: [String: VarlinkError.Value]
}

/// The parameters of an error that are texts or whole numbers; others are left out.
private struct Details: Decodable {
  let values: [String: VarlinkError.Value]

  init(from decoder: any Decoder) throws {
    values = try decoder.singleValueContainer().decode([String: Detail].self).compactMapValues(\.value)
  }

  private struct Detail: Decodable {
    let value: VarlinkError.Value?

    init(from decoder: any Decoder) throws {
      let field = try decoder.singleValueContainer()
      value = (try? field.decode(String.self)).map { .string($0) } ?? (try? field.decode(Int.self)).map { .int($0) }
    }
  }
}

/// Splits the bytes of one direction of a connection into messages (varlink.org):
///
/// ```
/// ┌──────────────────────────────┬──────┬──────────────────────────────┬──────┐
/// │ {"method":"org.example.Get"} │ 0x00 │ {"method":"org.example.Put", │ 0x00 │ …
/// │                              │      │  "parameters":{"id":7}}      │      │
/// └──────────────────────────────┴──────┴──────────────────────────────┴──────┘
///   one JSON object, UTF-8, at      1     the next one
///   most `limit` bytes
///
/// call    {"method": string, "parameters"?: object, "more"?: bool, "oneway"?: bool, "upgrade"?: bool}
/// reply   {"parameters"?: object, "continues"?: bool}
/// error   {"error": string, "parameters"?: object}
/// ```
package struct VarlinkFrames: Sendable {
  /// The most bytes of one message, without the one that ends it.
  package let limit: Int
  private var bytes: [UInt8] = []
  /// How many of them are known not to end a message.
  private var searched = 0

  package init(limit: Int) { self.limit = limit }

  package mutating func append(_ part: some Sequence<UInt8>) { bytes += part }

  /// Takes the oldest message, without the byte that ends it.
  ///
  /// - Returns: nil until all of it has come.
  /// - Throws: `tooLarge`. What follows cannot be read any more.
  package mutating func next() throws(SocketError) -> [UInt8]? {
    guard let end = bytes[searched...].firstIndex(of: 0) else {
      searched = bytes.count
      guard bytes.count <= limit else { throw Self.tooLarge(limit) }
      return nil
    }
    guard end <= limit else { throw Self.tooLarge(limit) }
    defer {
      // Not the same memory: a message may have had a secret, and the connection may stay.
      bytes = Array(bytes[(end + 1)...])
      searched = 0
    }
    return Array(bytes[..<end])
  }

  static func tooLarge(_ limit: Int) -> SocketError { SocketError(.tooLarge, "a message has more than \(limit) bytes") }
}
