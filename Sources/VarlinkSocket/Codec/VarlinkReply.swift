// SPDX-License-Identifier: Apache-2.0

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
    try VarlinkJSON.check(message)
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
    } catch let error as VarlinkError {
      throw error
    } catch {
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
  package func encoded() -> [UInt8] {
    (try? VarlinkJSON.encode(SentError(error: name, parameters: parameters))) ?? []
  }
}

private struct Head: Decodable {
  var error: String?
  var continues: Bool?
}

private struct Body<Value: Decodable>: Decodable {
  var parameters: Value?
}

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
    values = try decoder.singleValueContainer().decode([String: Detail].self)
      .compactMapValues(\.value)
  }

  private struct Detail: Decodable {
    let value: VarlinkError.Value?

    init(from decoder: any Decoder) throws {
      let field = try decoder.singleValueContainer()
      value =
        (try? field.decode(String.self)).map { .string($0) }
        ?? (try? field.decode(Int.self)).map { .int($0) }
    }
  }
}
