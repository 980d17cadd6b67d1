// SPDX-License-Identifier: Apache-2.0

/// The scalars of a text, each with its place, counted as libyaml counts.
struct PositionedScalars: Sequence, IteratorProtocol {
  private var scalars: Substring.UnicodeScalarView
  private var position = TextPosition(line: 1, column: 1)

  init(_ text: String) {
    scalars = text[...].unicodeScalars
  }

  mutating func next() -> (position: TextPosition, scalar: Unicode.Scalar)? {
    guard let scalar = scalars.popFirst() else { return nil }
    defer {
      position.column += 1
      if endsLine(scalar) { position = TextPosition(line: position.line + 1, column: 1) }
    }
    return (position, scalar)
  }

  /// The line ends of YAML 1.1, section 5.4.
  private func endsLine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\r": scalars.first != "\n"
    case "\n", "\u{85}", "\u{2028}", "\u{2029}": true
    default: false
    }
  }
}
