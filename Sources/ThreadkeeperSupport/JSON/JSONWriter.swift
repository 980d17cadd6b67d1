// SPDX-License-Identifier: Apache-2.0

/// Writes what is published as JSON (RFC 8259): the keys of an object in the order of their bytes, so that equal values
/// are equal bytes; no white space, and no escapes but those that the grammar asks for.
///
/// Foundation's encoder writes the same with `sortedKeys` and `withoutEscapingSlashes`, and takes several times as long.
package enum JSONWriter {
  /// - Throws: `EncodingError` for fractions, which nothing that is published has, and what the value throws.
  package static func bytes(of value: some Encodable) throws -> [UInt8] {
    let text = JSONText()
    let part = try text.part(of: value)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * text.bytes.count + 128)
    part.write(text, to: &bytes)
    return bytes
  }
}

/// The bytes of all texts and numbers of a document, one after another, before they have their places.
final class JSONText {
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  func part<T: Encodable>(of value: T) throws -> JSONPart {
    let node = JSONNode(self)
    try value.encode(to: JSONNodeEncoder(node: node))
    return node.part
  }

  func text(_ text: String) -> JSONPart {
    let start = bytes.count
    Self.append(text, to: &bytes)
    return .scalar(start..<bytes.count)
  }

  func number(_ number: some FixedWidthInteger) -> JSONPart {
    literal(number.description)
  }

  func literal(_ text: String) -> JSONPart {
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    return .scalar(start..<bytes.count)
  }

  /// A string with its quotes.
  static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { source in
      if source.contains(where: needsEscape) {
        for byte in source { appendEscaped(byte, to: &bytes) }
      } else {
        bytes.append(contentsOf: source)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 0x08: bytes.append(contentsOf: "\\b".utf8)
    case 0x09: bytes.append(contentsOf: "\\t".utf8)
    case 0x0A: bytes.append(contentsOf: "\\n".utf8)
    case 0x0C: bytes.append(contentsOf: "\\f".utf8)
    case 0x0D: bytes.append(contentsOf: "\\r".utf8)
    case 0..<0x20:
      bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8)
      bytes.append(contentsOf: String(byte, radix: 16).utf8)
    default: bytes.append(byte)
    }
  }
}

/// A value on its way into a document.
enum JSONPart {
  /// A text, a number or a word: its place in `JSONText`.
  case scalar(Range<Int>)
  case node(JSONNode)
  case null

  func write(_ text: JSONText, to bytes: inout [UInt8]) {
    switch self {
    case .scalar(let range): bytes.append(contentsOf: text.bytes[range])
    case .null: bytes.append(contentsOf: "null".utf8)
    case .node(let node): node.write(to: &bytes)
    }
  }
}
