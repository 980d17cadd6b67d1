import ThreadkeeperSupport
import Wire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The JSON of parameters and replies that are coded by their type: a property `networkName` is the field
/// `network_name`; unknown fields are ignored.
enum VarlinkJSON {
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ message: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(message))
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

extension WireMessage {
  /// A message as it has come.
  ///
  /// - Parameter problem: what is said of an object whose fields are others.
  /// - Throws: `malformed`, also when it is not JSON in UTF-8, or nested too deep.
  init(message: [UInt8], else problem: String) throws(SocketError) {
    do throws(WireProblem) { try self.init(reading: message) } catch {
      let text =
        switch error.reason {
        case .json(.syntax): "a message is not valid JSON at byte \(error.offset ?? 0)"
        case .json(.notUTF8): "a message is not UTF-8"
        case .json(.tooDeep): "a message is nested deeper than \(WireReader.nesting)"
        case .notAnObject: "a message is not a JSON object"
        default: problem
        }
      throw SocketError(.malformed, text)
    }
  }
}
