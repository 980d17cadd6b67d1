// SPDX-License-Identifier: Apache-2.0

/// What a program calls itself, made fit for a line that a person decides by: letters and digits of
/// ASCII, space, `.`, `_`, `-` and `+`. Without brackets nobody writes a second requester into it, and
/// without other scripts nobody turns the line around.
package struct ProgramName: Hashable, Sendable {
  /// Characters at most.
  package static let longest = 40

  package let text: String

  /// - Returns: nil where nothing of it is left.
  package init?(_ given: String) {
    let shown = given.unicodeScalars.prefix(Self.longest).map { scalar in
      Self.isPlain(scalar) ? Character(scalar) : "_"
    }
    text = String(shown)
    guard shown.contains(where: { $0.isLetter || $0.isNumber }) else { return nil }
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", " ", ".", "_", "-", "+": true
    default: false
    }
  }
}
