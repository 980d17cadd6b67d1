// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Reads one value, all of it, and white space around it.
  mutating func readTree() throws(JSONFlaw) -> JSONTree {
    skipSpace()
    let tree = try tree(level: 1)
    try end()
    return tree
  }

  /// - Parameter level: of the value, if it is an object or an array.
  private mutating func tree(level: Int) throws(JSONFlaw) -> JSONTree {
    switch next {
    case UInt8(ascii: "{"): return try objectTree(level: level)
    case UInt8(ascii: "["): return try arrayTree(level: level)
    default: break
    }
    switch try value(level: level) {
    case .string(let string): return .string(string.text)
    case .number(let number):
      return .number(
        String(decoding: number.bytes, as: UTF8.self), unsigned: number.unsigned)
    case .bool(let bool): return .bool(bool)
    case .null, .nested: return .null
    }
  }

  private mutating func objectTree(level: Int) throws(JSONFlaw) -> JSONTree {
    try enter(level)
    var members: [[UInt8]: JSONTree] = [:]
    guard !take(UInt8(ascii: "}")) else { return .object(members) }
    repeat {
      skipSpace()
      let name = try string().text.map { Array($0.utf8) }
      skipSpace()
      try need(UInt8(ascii: ":"))
      skipSpace()
      let value = try tree(level: level + 1)
      if let name, members[name] ?? .null == .null { members[name] = value }
      skipSpace()
    } while take(UInt8(ascii: ","))
    try need(UInt8(ascii: "}"))
    return .object(members)
  }

  private mutating func arrayTree(level: Int) throws(JSONFlaw) -> JSONTree {
    try enter(level)
    var elements: [JSONTree] = []
    guard !take(UInt8(ascii: "]")) else { return .array(elements) }
    repeat {
      skipSpace()
      elements.append(try tree(level: level + 1))
      skipSpace()
    } while take(UInt8(ascii: ","))
    try need(UInt8(ascii: "]"))
    return .array(elements)
  }
}
