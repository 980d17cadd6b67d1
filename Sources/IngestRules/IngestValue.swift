// SPDX-License-Identifier: Apache-2.0

import BoundedJSON

/// Where a field of an event comes from.
package enum IngestValue: Sendable, Hashable {
  /// A value of the payload.
  case pointer(JSONPointer)
  case text(TextTemplate)

  /// - Parameter text: what begins with `/` is a pointer.
  /// - Throws: `IngestFlaw` with what is wrong.
  package init(_ text: String) throws(IngestFlaw) {
    if text.utf8.first == UInt8(ascii: "/") {
      self = .pointer(try JSONPointer(checking: text))
    } else if text.contains("{{") || text.hasPrefix("$.") || text.hasPrefix("value_json") {
      throw IngestFlaw("templates are not known here; write a JSON pointer such as `/wifi/ssid`")
    } else {
      self = .text(try TextTemplate(text))
    }
  }

  /// - Returns: nil when the payload has no such value, or null.
  /// - Throws: `IngestFlaw` for a value that is no text, and for a payload that cannot be read. It repeats nothing of it.
  func text(
    numbers: Bool, _ parts: [String: String], _ message: inout IngestPayload
  ) throws(IngestFlaw) -> String? {
    switch self {
    case .text(let template): return try template.text(parts, &message)
    case .pointer(let pointer):
      switch try message.json()[pointer] {
      case nil, .null: return nil
      case .string(let text?): return text
      case .string(nil): throw IngestFlaw("the text at `\(pointer.text)` has half of a character")
      case .number(_, unsigned: let number?) where numbers: return "\(number)"
      case .number, .bool, .object, .array:
        let expected = numbers ? "a whole number from 0 to 2^64-1" : "a text"
        throw IngestFlaw("expected \(expected) at `\(pointer.text)`")
      }
    }
  }

  /// The words for what is not there.
  var absence: String {
    switch self {
    case .pointer(let pointer): "there is nothing at `\(pointer.text)`"
    case .text: "there is nothing"
    }
  }
}

extension JSONPointer {
  /// - Throws: `IngestFlaw` for what is no pointer, or one that leads deeper than payloads are read.
  package init(checking text: String) throws(IngestFlaw) {
    guard text.utf8.count <= IngestLimits.textBytes, let pointer = JSONPointer(text) else {
      throw IngestFlaw(
        "expected a JSON pointer such as `/wifi/ssid`; in a name, `~0` stands for `~` and `~1` for `/`"
      )
    }
    guard pointer.tokens.count <= IngestPayload.depth else {
      throw IngestFlaw(
        "payloads are read \(IngestPayload.depth) levels deep; this pointer goes deeper")
    }
    self = pointer
  }
}
