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
        let texts = try? VarlinkJSON.decode(Body<Texts>.self, message)
        throw VarlinkError(name, texts?.parameters?.texts ?? [:])
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

private struct Sent<Value: Encodable>: Encodable {
  var parameters: Value
  var continues: Bool?
}

private struct SentError: Encodable {
  var error: String
  var parameters: [String: String]
}

/// The parameters of an error that are texts; others are left out.
private struct Texts: Decodable {
  let texts: [String: String]

  init(from decoder: any Decoder) throws {
    texts = try decoder.singleValueContainer().decode([String: Text].self).compactMapValues(\.text)
  }

  private struct Text: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
      text = try? decoder.singleValueContainer().decode(String.self)
    }
  }
}
