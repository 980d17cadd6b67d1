// SPDX-License-Identifier: Apache-2.0

/// Checks names that come from the network.
enum CheckedText {
  /// The text at `pointer`, up to its NUL, when it is 1 to `limit` bytes of valid UTF-8 that can be shown: without
  /// control characters, line separators, and characters that change the direction of what follows. Nil otherwise.
  ///
  /// At most `limit` + 1 bytes are read.
  static func text(_ pointer: UnsafePointer<CChar>?, limit: Int) -> String? {
    guard let pointer else { return nil }
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      let byte = UInt8(bitPattern: pointer[bytes.count])
      guard byte != 0 else { return text(bytes) }
      bytes.append(byte)
    }
    return nil
  }

  private static func text(_ bytes: [UInt8]) -> String? {
    guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self),
      text.unicodeScalars.allSatisfy(isHarmless)
    else { return nil }
    return text
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: false
    // Joiners belong to names, in emoji and in some scripts. Overrides and isolates do not.
    case .format: !scalar.properties.isBidiControl
    default: true
    }
  }
}
