// SPDX-License-Identifier: Apache-2.0

/// A text of somebody else's, made fit for a line of a question: nothing in it ends the line, moves
/// the cursor, turns the direction of the text or pushes the question off the screen.
package struct HarmlessText {
  package let text: String

  /// - Parameter longest: characters that are shown at most.
  package init(_ text: String, longest: Int = 200) {
    var shown = String.UnicodeScalarView()
    // Counted by scalars: a single character may be made of any number of them.
    for scalar in text.unicodeScalars {
      guard shown.count < longest else {
        shown.append("…")
        break
      }
      shown.append(Self.isHarmless(scalar) ? scalar : "\u{FFFD}")
    }
    self.text = String(shown)
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
      false
    // Of the invisible ones only the joiner, which some emoji need.
    case .format:
      scalar == "\u{200D}"
    default:
      true
    }
  }
}
