// SPDX-License-Identifier: Apache-2.0

/// Reads JSON (RFC 8259) from untrusted peers: one pass, no copies, nesting limited before anything is read deeper.
///
/// The caller limits the size. Text that a typed decoder reads afterwards is checked here first, because such decoders
/// call themselves for each level and also take other encodings than UTF-8.
package enum UntrustedJSON {
  /// - Parameters:
  ///   - depth: the most objects and arrays within each other.
  ///   - skipsByteOrderMark: whether one may begin the text, as Windows editors write it (RFC 8259, section 8.1).
  /// - Returns: whether the outermost value is an object.
  @discardableResult
  package static func check(
    _ bytes: [UInt8], depth: Int, skipsByteOrderMark: Bool = false
  ) throws(JSONFlaw) -> Bool {
    try readMembers(of: bytes, depth: depth, skipsByteOrderMark: skipsByteOrderMark) { _ in }
  }

  /// Calls `body` for each member of the outermost object, in order. What it was called for counts only when this
  /// returns: a flaw may follow.
  ///
  /// - Parameters:
  ///   - depth: the most objects and arrays within each other.
  ///   - skipsByteOrderMark: whether one may begin the text, as Windows editors write it (RFC 8259, section 8.1).
  /// - Returns: false when the outermost value is not an object; `body` is not called then.
  package static func readMembers(
    of bytes: [UInt8], depth: Int, skipsByteOrderMark: Bool = false, _ body: (JSONMember) -> Void
  ) throws(JSONFlaw) -> Bool {
    try bytes.withUnsafeBufferPointer { bytes throws(JSONFlaw) in
      var reader = JSONReader(bytes, depth: depth, skipsByteOrderMark: skipsByteOrderMark)
      do throws(JSONFlaw) {
        return try reader.readDocument(body)
      } catch {
        // The encoding says more than the grammar, unless it is another one altogether.
        guard error.reason == .syntax, !bytes.contains(0) else { throw error }
        throw JSONUTF8.flaw(in: bytes) ?? error
      }
    }
  }

  /// The bytes of a member's value in the outermost object, without white space around them.
  ///
  /// - Returns: nil when there is no such member, or more than one, or when these bytes are not an object.
  package static func value(of name: String, in bytes: [UInt8], depth: Int) -> [UInt8]? {
    var values: [[UInt8]] = []
    let isObject = try? readMembers(of: bytes, depth: depth) { member in
      if member.name.text == name { values.append(Array(member.source)) }
    }
    return isObject == true && values.count == 1 ? values[0] : nil
  }
}

/// Why bytes are not JSON that may be read, and where.
package struct JSONFlaw: Error, Equatable {
  package enum Reason: Sendable {
    /// Not the grammar of RFC 8259.
    case syntax
    /// Objects and arrays are nested deeper than allowed.
    case tooDeep
    /// Not UTF-8 (RFC 8259, section 8.1).
    case notUTF8
  }

  package let reason: Reason
  /// Bytes from the start to the first one that can't be there, or to the end where more has to come.
  package let offset: Int

  package init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

enum JSONUTF8 {
  static func flaw(in bytes: UnsafeBufferPointer<UInt8>) -> JSONFlaw? {
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { offset += scalar.count }
    return JSONFlaw(reason: .notUTF8, offset: offset)
  }
}

/// A member of an object. Valid during the call that it is passed to.
package struct JSONMember {
  package enum Value {
    case string(JSONString)
    case number(JSONNumber)
    case bool(Bool)
    case null
    /// An object or an array.
    case nested
  }

  package let name: JSONString
  package let value: Value
  /// The bytes of the value, without white space around them.
  package let source: UnsafeBufferPointer<UInt8>
}
