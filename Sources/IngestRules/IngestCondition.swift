// SPDX-License-Identifier: Apache-2.0

import BoundedJSON

/// What has to be so for a rule to act: the payload, or a value of it, is one of some texts.
package struct IngestCondition: Sendable, Hashable {
  /// Any value but null.
  package static let anything = "*"
  /// The word for the whole payload.
  package static let wholePayload = "payload"

  /// Nil: the payload as a text.
  package let pointer: JSONPointer?
  package let values: [String]

  /// - Parameter source: `payload`, or a JSON pointer.
  /// - Throws: `IngestFlaw` with what is wrong with it.
  package init(_ source: String, values: [String]) throws(IngestFlaw) {
    guard source == Self.wholePayload || source.hasPrefix("/") else {
      throw IngestFlaw("expected `payload` or a JSON pointer such as `/state`")
    }
    pointer = source == Self.wholePayload ? nil : try JSONPointer(checking: source)
    self.values = values
  }

  /// What it looks at, as in the settings.
  package var source: String { pointer?.text ?? Self.wholePayload }

  /// - Throws: `IngestFlaw` for a payload that cannot be read: the condition is not met then.
  func isMet(_ message: inout IngestPayload) throws(IngestFlaw) -> Bool {
    guard let pointer else { return isOne(try message.text()) }
    switch try message.json()[pointer] {
    case nil, .null: return false
    case .string(let text): return text.map(isOne) ?? false
    case .number(let text, _): return isOne(text)
    case .bool(let value): return isOne(value ? "true" : "false")
    case .object, .array: return values.contains(Self.anything)
    }
  }

  private func isOne(_ text: String) -> Bool {
    values.contains { $0 == Self.anything || $0.utf8.elementsEqual(text.utf8) }
  }
}
