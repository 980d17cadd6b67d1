import ThreadkeeperSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A type whose coding keys are the fields as they are on the wire, and so are those of the types within it.
package protocol VarlinkFieldNames {}

/// The JSON of messages. A property `networkName` is the field `network_name`, except of `VarlinkFieldNames`; unknown
/// fields are ignored.
enum VarlinkJSON {
  /// The most objects and arrays within each other.
  static let depth = 32

  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    if !(value is any VarlinkFieldNames) { encoder.keyEncodingStrategy = .convertToSnakeCase }
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ message: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    if !(type is any VarlinkFieldNames.Type) { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    return try decoder.decode(type, from: Data(message))
  }

  /// Checks a message before a decoder reads it, and calls `body` for each of its members.
  ///
  /// - Throws: `malformed` when it is not a JSON object in UTF-8, or nested too deep.
  static func readMembers(of message: [UInt8], _ body: (JSONMember) -> Void = { _ in }) throws(SocketError) {
    do throws(JSONFlaw) { if try UntrustedJSON.readMembers(of: message, depth: depth, body) { return } } catch {
      throw SocketError(.malformed, "a message is \(description(of: error))")
    }
    throw SocketError(.malformed, "a message is not a JSON object")
  }

  private static func description(of flaw: JSONFlaw) -> String {
    switch flaw.reason {
    case .syntax: "not valid JSON at byte \(flaw.offset)"
    case .notUTF8: "not UTF-8"
    case .tooDeep: "nested deeper than \(depth)"
    }
  }

  /// The field that a decoder has stumbled over, as it is called on the wire: `subject.network_name`, `roots.0.kind`.
  static func field(_ error: DecodingError, below parent: String) -> String {
    let (path, last): ([any CodingKey], (any CodingKey)?) =
      switch error {
      case .keyNotFound(let key, let context): (context.codingPath, key)
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
        (context.codingPath, nil)
      @unknown default: ([], nil)
      }
    let keys = path + (last.map { [$0] } ?? [])
    return keys.drop { $0.stringValue == parent }.map { key in
      key.intValue.map { "\($0)" } ?? inSnakeCase(key.stringValue)
    }.joined(separator: ".")
  }

  private static func inSnakeCase(_ name: String) -> String {
    name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
  }
}
