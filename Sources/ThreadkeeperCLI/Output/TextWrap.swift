// SPDX-License-Identifier: Apache-2.0

/// Breaks text between words, and never inside a command, which stands between backticks.
enum TextWrap {
  /// Lines of at most `width` characters; longer ones only where a word or a command is longer.
  static func lines(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for unit in units(text) {
      if line.isEmpty {
        line = unit
      } else if line.count + 1 + unit.count <= width {
        line += " " + unit
      } else {
        lines.append(line)
        line = unit
      }
    }
    return lines + [line]
  }

  /// A paragraph whose further lines are indented.
  ///
  /// - Parameter indent: characters before each line but the first, and part of its width.
  static func paragraph(_ text: String, indent: Int, width: Int?) -> String {
    guard let width else { return text }
    return lines(text, width: max(20, width - indent))
      .joined(separator: "\n" + String(repeating: " ", count: indent))
  }

  /// What is not broken: words, commands with what touches them, and what stands in square brackets.
  static func units(_ text: String) -> [String] {
    var units: [String] = []
    var unit = ""
    var isInCommand = false
    var depth = 0
    for character in text {
      switch character {
      case "`": isInCommand.toggle()
      case "[": depth += 1
      case "]": depth = max(0, depth - 1)
      default: break
      }
      if character == " ", !isInCommand, depth == 0 {
        if !unit.isEmpty { units.append(unit) }
        unit = ""
      } else {
        unit.append(character)
      }
    }
    // What is opened and not closed is no command.
    guard !isInCommand, depth == 0 else { return text.split(separator: " ").map(String.init) }
    return unit.isEmpty ? units : units + [unit]
  }
}
