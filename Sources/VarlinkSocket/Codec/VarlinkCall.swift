// SPDX-License-Identifier: Apache-2.0

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
  private let message: [UInt8]

  package var method: String { "\(interface).\(name)" }

  /// - Throws: `malformed`. A connection that such a message came over is of no more use.
  package init(reading message: [UInt8]) throws(SocketError) {
    try VarlinkJSON.check(message)
    let head: Head
    do {
      head = try VarlinkJSON.decode(Head.self, message)
    } catch {
      throw SocketError(.malformed, "a message is no call")
    }
    switch (head.more ?? false, head.oneway ?? false, head.upgrade ?? false) {
    case (false, false, false): kind = .single
    case (true, false, false): kind = .more
    case (false, true, false): kind = .oneway
    case (false, false, true): kind = .upgrade
    default: throw SocketError(.malformed, "a call is more than one of more, oneway and upgrade")
    }
    let dot = head.method.lastIndex(of: ".")
    interface = dot.map { String(head.method[..<$0]) } ?? ""
    name = dot.map { String(head.method[$0...].dropFirst()) } ?? head.method
    self.message = message
  }

  /// - Throws: `VarlinkError.invalidParameter` with the first field that is missing or of another type; what the type
  ///   itself throws.
  package func parameters<Value: Decodable>(_ type: Value.Type) throws -> Value {
    do {
      if let value = try VarlinkJSON.decode(Body<Value>.self, message).parameters { return value }
      return try VarlinkJSON.decode(type, Array("{}".utf8))
    } catch let error as DecodingError {
      throw VarlinkError.invalidParameter(VarlinkJSON.field(error, below: "parameters"))
    }
  }

  /// A call to send, without the byte that ends it.
  package static func encode(
    _ method: String, _ parameters: some Encodable, _ kind: Kind = .single
  ) throws -> [UInt8] {
    try VarlinkJSON.encode(
      Sent(
        method: method, parameters: parameters, more: kind == .more ? true : nil,
        oneway: kind == .oneway ? true : nil, upgrade: kind == .upgrade ? true : nil))
  }

  private struct Head: Decodable {
    var method: String
    var more: Bool?
    var oneway: Bool?
    var upgrade: Bool?

    enum CodingKeys: CodingKey { case method, parameters, more, oneway, upgrade }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      method = try fields.decode(String.self, forKey: .method)
      more = try fields.decodeIfPresent(Bool.self, forKey: .more)
      oneway = try fields.decodeIfPresent(Bool.self, forKey: .oneway)
      upgrade = try fields.decodeIfPresent(Bool.self, forKey: .upgrade)
      _ = try fields.decodeIfPresent(VarlinkNothing.self, forKey: .parameters)
    }
  }

  fileprivate struct Body<Value: Decodable>: Decodable {
    var parameters: Value?
  }

  fileprivate struct Sent<Value: Encodable>: Encodable {
    var method: String
    var parameters: Value
    var more: Bool?
    var oneway: Bool?
    var upgrade: Bool?
  }
}

extension VarlinkCall.Body: VarlinkFieldNames where Value: VarlinkFieldNames {}
extension VarlinkCall.Sent: VarlinkFieldNames where Value: VarlinkFieldNames {}

/// No parameters, or a reply without any: `{}`.
package struct VarlinkNothing: Codable, Sendable, Equatable {
  package init() {}

  package init(from decoder: any Decoder) throws {
    _ = try decoder.container(keyedBy: NoKeys.self)
  }

  package func encode(to encoder: any Encoder) throws {
    _ = encoder.container(keyedBy: NoKeys.self)
  }

  private enum NoKeys: CodingKey {}
}
