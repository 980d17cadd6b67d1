// SPDX-License-Identifier: Apache-2.0

import YAMLReader

/// A small text file, read whole.
struct TextFile {
  /// A configuration of ten thousand users is some 200 KiB; more is a mistake in the path.
  static let largest = 1 << 20

  let text: String
  /// Whether every user of the machine may read it.
  let isReadableByOthers: Bool

  init(reading path: String) throws(FileFailure) {
    let file = try OpenFile(path)
    isReadableByOthers = file.isReadableByOthers
    let bytes = try file.content(upTo: Self.largest)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileFailure(reason: "is not UTF-8 text", position: Self.endOfText(in: bytes))
    }
    self.text = text
  }

  /// The text without the one line end that editors put after it.
  var value: String {
    var value = text.unicodeScalars[...]
    if value.last == "\n" {
      value.removeLast()
      if value.last == "\r" { value.removeLast() }
    }
    return String(value)
  }

  /// Where bytes cease to be UTF-8.
  private static func endOfText(in bytes: [UInt8]) -> TextPosition {
    var position = TextPosition(line: 1, column: 1)
    var parser = UTF8.ForwardParser()
    var source = bytes.makeIterator()
    while case .valid(let scalar) = parser.parseScalar(from: &source) {
      position.column += 1
      if scalar.first == UInt8(ascii: "\n") {
        position = TextPosition(line: position.line + 1, column: 1)
      }
    }
    return position
  }
}
