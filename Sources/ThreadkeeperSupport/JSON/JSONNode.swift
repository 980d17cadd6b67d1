// SPDX-License-Identifier: Apache-2.0

/// What one value has encoded: an object, an array, or one scalar.
final class JSONNode {
  private enum Form {
    /// Nothing: a value that encodes nothing is an empty object, as Foundation has it.
    case none
    case single(JSONPart)
    case object([(name: String, part: JSONPart)])
    case array([JSONPart])
  }

  let text: JSONText
  private var form = Form.none

  init(_ text: JSONText) { self.text = text }

  /// Itself, or the scalar that it is.
  var part: JSONPart {
    if case .single(let part) = form { part } else { .node(self) }
  }

  var count: Int {
    if case .array(let parts) = form { parts.count } else { 0 }
  }

  func set(_ part: JSONPart) { form = .single(part) }

  func beginObject() {
    if case .object = form { return }
    var members: [(name: String, part: JSONPart)] = []
    members.reserveCapacity(24)
    form = .object(members)
  }

  func beginArray() {
    if case .array = form { return }
    form = .array([])
  }

  func add(_ part: JSONPart, as name: String) {
    guard case .object(var members) = form else { return }
    form = .none
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index].part = part
    } else {
      members.append((name, part))
    }
    form = .object(members)
  }

  func add(_ part: JSONPart) {
    guard case .array(var parts) = form else { return }
    form = .none
    parts.append(part)
    form = .array(parts)
  }

  func write(to bytes: inout [UInt8]) {
    switch form {
    case .none: bytes.append(contentsOf: "{}".utf8)
    case .single(let part): part.write(text, to: &bytes)
    case .object(var members):
      members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      var separator = UInt8(ascii: "{")
      for (name, part) in members {
        bytes.append(separator)
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        part.write(text, to: &bytes)
        separator = UInt8(ascii: ",")
      }
      if members.isEmpty { bytes.append(separator) }
      bytes.append(UInt8(ascii: "}"))
    case .array(let parts):
      var separator = UInt8(ascii: "[")
      for part in parts {
        bytes.append(separator)
        part.write(text, to: &bytes)
        separator = UInt8(ascii: ",")
      }
      if parts.isEmpty { bytes.append(separator) }
      bytes.append(UInt8(ascii: "]"))
    }
  }
}
