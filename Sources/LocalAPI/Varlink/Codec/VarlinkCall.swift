import Wire

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
    let form = try Form(message: message, else: "a message is no call")
    let kinds = [(form.more, Kind.more), (form.oneway, .oneway), (form.upgrade, .upgrade)].filter { $0.0 == true }
    guard kinds.count <= 1 else { throw SocketError(.malformed, "a call is more than one of more, oneway and upgrade") }
    kind = kinds.first?.1 ?? .single
    let dot = form.method.lastIndex(of: ".")
    interface = dot.map { String(form.method[..<$0]) } ?? ""
    name = dot.map { String(form.method[$0...].dropFirst()) } ?? form.method
    parameters = (form.parameters ?? .empty).bytes
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
    encode(method, WireBytes(try VarlinkJSON.encode(parameters)), kind)
  }

  /// As above.
  package static func encode(_ method: String, _ parameters: some WireValue, _ kind: Kind = .single) -> [UInt8] {
    var form = Form()
    (form.method, form.parameters) = (method, WireBytes(of: parameters))
    switch kind {
    case .single: break
    case .more: form.more = true
    case .oneway: form.oneway = true
    case .upgrade: form.upgrade = true
    }
    return form.json()
  }

  private struct Form: WireMessage {
    var method = ""
    var more: Bool?
    var oneway: Bool?
    var parameters: WireBytes?
    var upgrade: Bool?

    mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("method", &method)
      c.field("more", &more)
      c.field("oneway", &oneway)
      c.field("parameters", &parameters)
      c.field("upgrade", &upgrade)
    }
  }
}

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

extension VarlinkReply {
  private init(_ message: [UInt8], _ read: ([UInt8]) throws -> Parameters) throws {
    let otherwise = "a message is no reply to this call"
    let form = try ReplyForm(message: message, else: otherwise)
    let bytes = form.parameters ?? .empty
    if let name = form.error { throw VarlinkError(name, bytes) }
    do { self.init(parameters: try read(bytes.bytes), continues: form.continues ?? false) } catch {
      throw SocketError(.malformed, otherwise)
    }
  }

  private func encoded(_ bytes: WireBytes) -> [UInt8] {
    ReplyForm(continues: continues ? true : nil, parameters: bytes).json()
  }
}

extension VarlinkReply where Parameters: Decodable {
  /// - Throws: `VarlinkError` when the service answers with one; `malformed` when it is no reply of this type.
  package init(reading message: [UInt8]) throws {
    try self.init(message) { try VarlinkJSON.decode(Parameters.self, $0) }
  }
}

extension VarlinkReply where Parameters: Encodable {
  /// Without the byte that ends it.
  package func encoded() throws -> [UInt8] { encoded(WireBytes(try VarlinkJSON.encode(parameters))) }
}

extension VarlinkReply where Parameters: WireMessage {
  /// As above.
  package init(reading message: [UInt8]) throws { try self.init(message) { try Parameters(reading: $0) } }

  /// As above.
  package func encoded() -> [UInt8] { encoded(WireBytes(parameters.json())) }
}

extension VarlinkError {
  /// The reply, without the byte that ends it.
  package func encoded() -> [UInt8] { ReplyForm(error: name, parameters: parameters).json() }
}

private struct ReplyForm: WireMessage {
  var continues: Bool?
  var error: String?
  var parameters: WireBytes?

  mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("continues", &continues)
    c.field("error", &error)
    c.field("parameters", &parameters)
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

/// An error that a service answers with.
package struct VarlinkError: Error, Sendable, Equatable, CustomStringConvertible {
  /// With its interface: `org.varlink.service.MethodNotFound`.
  package let name: String
  package let parameters: WireBytes

  package init(_ name: String, _ parameters: WireBytes = .empty) {
    self.name = name
    self.parameters = parameters
  }

  package init(_ name: String, _ texts: [String: String]) { self.init(name, WireBytes(of: texts)) }

  package var description: String {
    parameters == .empty ? name : "\(name) \(String(decoding: parameters.bytes, as: UTF8.self))"
  }
}

/// The errors of org.varlink.service.
extension VarlinkError {
  package static func interfaceNotFound(_ interface: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InterfaceNotFound", ["interface": interface])
  }

  /// - Parameter method: its name without the interface.
  package static func methodNotFound(_ method: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotFound", ["method": method])
  }

  package static func methodNotImplemented(_ method: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotImplemented", ["method": method])
  }

  package static func invalidParameter(_ parameter: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InvalidParameter", ["parameter": parameter])
  }

  package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")

  package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
}
