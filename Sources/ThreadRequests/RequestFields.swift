// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The fields of a request. Over MQTT they are a JSON object, in which fields that are not in `CodingKeys` are ignored.
package struct RequestFields: Codable, Hashable, Sendable {
  /// On the socket: the method says it. Over MQTT the topic does.
  package var command: String?
  /// On the socket: the home that it is about; the first one of the settings unless said.
  package var home: String?
  /// On the socket, by the daemon's own user and root: whatever team it belongs to.
  package var asAdministrator: Bool?
  /// Any text, which the answer repeats.
  package var transaction: String?
  package var borderAgentID: String?
  package var dataset: String?
  package var extendedPANID: String?
  /// Of a network, where it is not named by its id.
  package var networkName: String?
  /// Of a consent, or of a network that was preferred.
  package var id: String?
  /// `once` or `always`.
  package var scope: String?
  /// Of `preferred/get`: `write`.
  package var purpose: String?
  /// Of the button that was pressed, or of the list of requests that Home Assistant is asked.
  package var token: String?
  /// On the socket: what the program calls itself. Anybody can choose it, so people read it, and nothing
  /// is decided by it.
  package var program: String?
  /// Over MQTT: the envelope whose body holds these fields.
  package var sealed: SealedText?

  enum CodingKeys: String, CodingKey {
    case transaction
    case borderAgentID = "border_agent_id"
    case dataset
    case extendedPANID = "ext_pan_id"
    case networkName = "network_name"
    case id, scope, purpose, token, sealed
  }

  package init() {}

  /// - Throws: `AnswerFailure` with the code `invalid_payload` that names the field, where it is one.
  package init(json: [UInt8]) throws(AnswerFailure) {
    do {
      self = try JSONDecoder().decode(RequestFields.self, from: Data(json))
    } catch let error as DecodingError {
      throw AnswerFailure(error)
    } catch {
      throw AnswerFailure(.invalidPayload, "the payload is not a JSON object")
    }
  }

  /// The transaction of a payload whose other fields cannot be read, so that the refusal finds its
  /// way too.
  package static func transaction(of json: [UInt8]) -> String? {
    struct Only: Decodable {
      var transaction: String?
    }
    let only = try? JSONDecoder().decode(Only.self, from: Data(json))
    return only?.transaction.flatMap { ThreadRequest.isSound(transaction: $0) ? $0 : nil }
  }

  /// The transaction, where it is one that an answer can repeat.
  package var soundTransaction: String? {
    transaction.flatMap { ThreadRequest.isSound(transaction: $0) ? $0 : nil }
  }

  package var json: [UInt8] { RequestJSON.encode(self) }
}

extension RequestFields: CustomStringConvertible, CustomReflectable {
  /// Never the dataset.
  package var description: String { "request \(command ?? "")" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension AnswerFailure {
  /// Words for what the parser found. The parser's own text is not used: it may quote a value.
  fileprivate init(_ error: DecodingError) {
    let context =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .keyNotFound(_, let context), .dataCorrupted(let context):
        context
      @unknown default: DecodingError.Context(codingPath: [], debugDescription: "")
      }
    guard let field = context.codingPath.first?.stringValue else {
      self.init(.invalidPayload, "the payload is not a JSON object")
      return
    }
    let expected =
      switch field {
      case RequestFields.CodingKeys.sealed.stringValue: "an envelope"
      default: "a text"
      }
    self.init(.invalidPayload, field: field, "expected \(expected)")
  }
}

/// Keys sorted, so that equal values are equal bytes.
enum RequestJSON {
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Texts, whole numbers and booleans only, for which encoding is total.
    guard let data = try? encoder.encode(value) else { return Array("{}".utf8) }
    return Array(data)
  }
}

/// A sealed envelope as it travels in the field `sealed`: who made it, and what it holds, only its
/// recipient can tell.
package struct SealedText: Codable, Hashable, Sendable {
  package var v: Int
  package var typ: String
  package var alg: String
  /// Names the recipient's key.
  package var kid: String
  /// The ciphertext as base64.
  package var ct: String

  package init(v: Int, typ: String, alg: String, kid: String, ct: String) {
    self.v = v
    self.typ = typ
    self.alg = alg
    self.kid = kid
    self.ct = ct
  }
}

/// What a program calls itself, made fit for a line that a person decides by: letters and digits of
/// ASCII, space, `.`, `_`, `-` and `+`. Without brackets nobody writes a second requester into it, and
/// without other scripts nobody turns the line around.
package struct ProgramName: Hashable, Sendable {
  /// Characters at most.
  package static let longest = 40

  package let text: String

  /// - Returns: nil where nothing of it is left.
  package init?(_ given: String) {
    let shown = given.unicodeScalars.prefix(Self.longest).map { scalar in
      Self.isPlain(scalar) ? Character(scalar) : "_"
    }
    text = String(shown)
    guard shown.contains(where: { $0.isLetter || $0.isNumber }) else { return nil }
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", " ", ".", "_", "-", "+": true
    default: false
    }
  }
}
