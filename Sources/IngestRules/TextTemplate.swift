// SPDX-License-Identifier: Apache-2.0

/// A text with parts of the topic, or the payload, in it: `Box {router}`.
package struct TextTemplate: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case text(String)
    case part(String)
    case payload
  }

  /// The name that stands for the whole payload as a text.
  static let payload = "payload"

  /// As it is written.
  package let text: String
  let pieces: [Piece]

  /// - Throws: `IngestFlaw` with what is wrong.
  package init(_ text: String) throws(IngestFlaw) {
    guard text.utf8.count <= IngestLimits.textBytes else {
      throw IngestFlaw("a text has at most \(IngestLimits.textBytes) bytes")
    }
    var pieces: [Piece] = []
    var rest = text.unicodeScalars[...]
    while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      let flaw = IngestFlaw("braces name a part of the topic, such as `{router}`, or `{payload}`")
      guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}") else { throw flaw }
      let name = String(rest[rest.index(after: brace)..<end])
      guard Self.isPartName(name) else { throw flaw }
      if brace > rest.startIndex { pieces.append(.text(String(rest[..<brace]))) }
      pieces.append(name == Self.payload ? .payload : .part(name))
      rest = rest[rest.index(after: end)...]
    }
    if !rest.isEmpty { pieces.append(.text(String(rest))) }
    self.text = text
    self.pieces = pieces
  }

  static func isPartName(_ name: String) -> Bool {
    (1...32).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        $0 == UInt8(ascii: "_") || ($0 | 0x20) &- UInt8(ascii: "a") < 26
          || $0 &- UInt8(ascii: "0") < 10
      }
  }

  /// The parts of the topic that it names.
  package var parts: [String] {
    pieces.compactMap { if case .part(let name) = $0 { name } else { nil } }
  }

  package var usesPayload: Bool { pieces.contains(.payload) }

  /// The text, where it is the same for every message.
  package var constant: String? {
    var text = ""
    for piece in pieces {
      guard case .text(let part) = piece else { return nil }
      text += part
    }
    return text
  }

  /// - Parameter parts: of the topic; the settings have checked that it has those.
  /// - Throws: `IngestFlaw` for a payload that is no text.
  func text(_ parts: [String: String], _ message: inout IngestPayload) throws(IngestFlaw) -> String
  {
    var text = ""
    for piece in pieces {
      switch piece {
      case .text(let part): text += part
      case .part(let name): text += parts[name] ?? ""
      case .payload: text += try message.text()
      }
    }
    return text
  }
}
