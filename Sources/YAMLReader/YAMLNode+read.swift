// SPDX-License-Identifier: Apache-2.0

extension YAMLNode {
  /// Reads a text with one YAML 1.1 document.
  ///
  /// - Parameter text: may begin with a byte order mark. Its length is the caller's to bound.
  /// - Returns: the root; nil when there is nothing but white space and comments.
  /// - Throws: `YAMLFailure` for what is not YAML, a second document, nesting past 64 levels, more
  ///   than 100,000 nodes.
  package static func read(_ text: String) throws(YAMLFailure) -> YAMLNode? {
    var text = text
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    if let (position, scalar) = PositionedScalars(text).first(where: { !isAllowed($0.scalar) }) {
      throw .forbidden(scalar, at: position)
    }
    var composer = try YAMLComposer(text)
    return try composer.document()
  }

  /// Characters that YAML 1.1 (section 5.1) allows in a stream.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD: true
    default: scalar.value >= 0x10000
    }
  }
}
