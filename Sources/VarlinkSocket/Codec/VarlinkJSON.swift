// SPDX-License-Identifier: Apache-2.0

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
    if !(type is any VarlinkFieldNames.Type) {
      decoder.keyDecodingStrategy = .convertFromSnakeCase
    }
    return try decoder.decode(type, from: Data(message))
  }

  /// Refuses what no parser shall see.
  ///
  /// - Throws: `malformed` when it is no object by its first byte, not UTF-8, or nested too deep.
  static func check(_ message: [UInt8]) throws(SocketError) {
    let whitespace: Set<UInt8> = [0x09, 0x0a, 0x0d, 0x20]
    guard message.first(where: { !whitespace.contains($0) }) == UInt8(ascii: "{") else {
      throw SocketError(.malformed, "a message is no JSON object")
    }
    // A zero would be taken for UTF-16.
    guard !message.contains(0), String(validating: message, as: UTF8.self) != nil else {
      throw SocketError(.malformed, "a message is not in UTF-8")
    }
    guard nesting(of: message) <= depth else {
      throw SocketError(.malformed, "a message is nested deeper than \(depth)")
    }
  }

  private static func nesting(of message: [UInt8]) -> Int {
    var (level, most) = (0, 0)
    var (isInString, isEscaped) = (false, false)
    for byte in message {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isInString
      case UInt8(ascii: "\""): isInString.toggle()
      case _ where isInString: break
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        level += 1
        most = max(most, level)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): level -= 1
      default: break
      }
    }
    return most
  }

  /// The field that a decoder has stumbled over, as it is called on the wire: `subject.network_name`, `roots.0.kind`.
  static func field(_ error: DecodingError, below parent: String) -> String {
    let (path, last): ([any CodingKey], (any CodingKey)?) =
      switch error {
      case .keyNotFound(let key, let context): (context.codingPath, key)
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .dataCorrupted(let context):
        (context.codingPath, nil)
      @unknown default: ([], nil)
      }
    let keys = path + (last.map { [$0] } ?? [])
    return keys.drop { $0.stringValue == parent }
      .map { key in key.intValue.map { "\($0)" } ?? inSnakeCase(key.stringValue) }
      .joined(separator: ".")
  }

  private static func inSnakeCase(_ name: String) -> String {
    name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
  }
}
