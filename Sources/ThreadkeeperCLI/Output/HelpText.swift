// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Help that is wrapped between words, with commands in one piece. The parser would break them too.
enum HelpText {
  /// Columns for which help and usage are wrapped.
  static let width = 80
  /// More than any paragraph has: what the parser has written so is in lines of its own making only.
  static let unwrapped = 100_000
  /// What an option's description is indented by.
  private static let labelColumn = 26

  /// - Parameter text: as the parser writes it for `unwrapped` columns.
  static func wrapped(_ text: String) -> String {
    var isExample = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let line = String(line)
      if line.hasSuffix("Examples:") || line.hasSuffix("Start with:") {
        isExample = true
      } else if !line.hasPrefix(" ") {
        isExample = false
      }
      // An example can be copied as it stands.
      if isExample || line.count <= width { return line }
      return wrapped(line: line)
    }.joined(separator: "\n")
  }

  private static func wrapped(line: String) -> String {
    let indent = line.prefix { $0 == " " }.count
    // The column of descriptions, unless the line is prose.
    let hasLabel = indent == 2 || indent >= labelColumn
    let label = hasLabel ? String(line.prefix(labelColumn)) : ""
    guard hasLabel, label.count == labelColumn, label.hasSuffix(" ") else {
      let further = line.uppercased().hasPrefix("USAGE:") ? 4 : indent
      let lines = TextWrap.lines(
        String(line.dropFirst(indent)), width: width - max(indent, further))
      let first = String(repeating: " ", count: indent) + lines[0]
      return ([first] + lines.dropFirst().map { String(repeating: " ", count: further) + $0 })
        .joined(separator: "\n")
    }
    let text = String(line.dropFirst(labelColumn))
    return label + TextWrap.paragraph(text, indent: labelColumn, width: width)
  }
}
