// SPDX-License-Identifier: Apache-2.0

import CLibYAML

/// Why a text could not be read as YAML. Holds nothing of the text but single control characters:
/// what stands near the place may be a password.
package struct YAMLFailure: Error, Equatable {
  /// For a person; on one line.
  package let message: String
  package let position: TextPosition

  static func syntax(_ problem: String, at position: TextPosition) -> YAMLFailure {
    YAMLFailure(message: "not YAML: \(problem)", position: position)
  }

  static func limit(_ problem: String, at position: TextPosition) -> YAMLFailure {
    YAMLFailure(message: problem, position: position)
  }

  /// A character outside of YAML 1.1, section 5.1. libyaml's own message would not say which.
  static func forbidden(_ scalar: Unicode.Scalar, at position: TextPosition) -> YAMLFailure {
    let number = String(scalar.value, radix: 16, uppercase: true)
    return YAMLFailure(message: "YAML allows no character U+\(number) here", position: position)
  }

  /// What libyaml says. Its words are fixed ones, without a part of the text.
  init(_ parser: yaml_parser_t, of text: String) {
    guard parser.error != YAML_MEMORY_ERROR, let words = parser.problem else {
      self = .outOfMemory
      return
    }
    var problem = String(cString: words)
    let position = TextPosition(
      parser.error == YAML_READER_ERROR ? parser.mark : parser.problem_mark)
    if let context = parser.context {
      let line = TextPosition(parser.context_mark).line
      problem = "\(String(cString: context)) that starts on line \(line), \(problem)"
    }
    let found = PositionedScalars(text).first { $0.position == position }
    let hint = found?.scalar == "\t" ? " (a tab; YAML is indented with spaces)" : ""
    self = .syntax(problem + hint, at: position)
  }

  static var outOfMemory: YAMLFailure {
    YAMLFailure(message: "not enough memory to read it", position: .init(line: 1, column: 1))
  }

  private init(message: String, position: TextPosition) {
    self.message = message
    self.position = position
  }
}
