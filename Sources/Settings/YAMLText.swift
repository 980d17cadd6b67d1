// SPDX-License-Identifier: Apache-2.0

/// The scalars of a YAML text by line and column, counted as libyaml counts them.
struct YAMLText {
  private var scalars: [Unicode.Scalar]
  private var disguised = 0

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
    // A byte order position is no column.
    if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
  }

  var string: String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  /// The first scalar that YAML 1.1 (section 5.1) does not allow in a stream.
  var firstForbidden: (TextPosition, Unicode.Scalar)? {
    guard let index = scalars.firstIndex(where: { !Self.isAllowed($0) }) else { return nil }
    var line = 1
    var column = 1
    for position in 0..<index {
      column += 1
      if endsLine(position) { (line, column) = (line + 1, 1) }
    }
    return (TextPosition(line: line, column: column), scalars[index])
  }

  func isTab(at position: TextPosition?) -> Bool {
    position.flatMap(index(of:)).map { scalars[$0] == "\t" } ?? false
  }

  /// Replaces the first character of the key at the place by one that no key has, another one
  /// each time. False when the key is not written in a way that allows it.
  mutating func disguiseKey(at position: TextPosition) -> Bool {
    guard var index = index(of: position) else { return false }
    let first = scalars[index]
    if first == "\"" || first == "'" {
      index += 1
      guard index < scalars.count, scalars[index] != first else { return false }
    }
    guard scalars[index].properties.isAlphabetic || scalars[index].properties.numericType != nil,
      let name = Unicode.Scalar(UInt32(0xE000 + disguised))
    else { return false }
    scalars[index] = name
    disguised += 1
    return true
  }

  private func index(of position: TextPosition) -> Int? {
    var line = 1
    var start = 0
    while line < position.line {
      guard let end = scalars.indices[start...].first(where: endsLine) else { return nil }
      start = end + 1
      line += 1
    }
    let index = start + position.column - 1
    return scalars.indices.contains(index) ? index : nil
  }

  private func endsLine(_ index: Int) -> Bool {
    switch scalars[index] {
    case "\r": index + 1 >= scalars.count || scalars[index + 1] != "\n"
    case "\n", "\u{85}", "\u{2028}", "\u{2029}": true
    default: false
    }
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD: true
    default: scalar.value >= 0x10000
    }
  }
}
