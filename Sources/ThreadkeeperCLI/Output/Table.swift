// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// Rows with aligned columns, as plain text.
package struct Table: Sendable {
  private static let gap = "  "

  private let header: [String]
  private var rows: [[String]] = []

  /// - Parameter columns: the header; a row with fewer cells is filled up with empty ones.
  package init(columns: String...) {
    header = columns
  }

  /// Whether there is no row.
  package var isEmpty: Bool { rows.isEmpty }

  /// Adds a row. Control characters in it are escaped; cells without a column are left out.
  package mutating func add(_ cells: String...) {
    add(cells)
  }

  /// Adds a row. See `add(_:)`.
  package mutating func add(_ cells: [String]) {
    let missing = max(0, header.count - cells.count)
    rows.append(
      cells.prefix(header.count).map(\.printable) + Array(repeating: "", count: missing))
  }

  /// Lines with an end of line each; the header is bold where the style is on.
  ///
  /// - Parameter width: columns of the terminal: cells are wrapped between words so that rows fit, as
  ///   far as their longest words let them. Nil: each row is one line.
  package func text(
    style: TerminalStyle = TerminalStyle(of: .output), width: Int? = StandardStream.output.columns
  ) -> String {
    let widths = widths(fitting: width)
    let lines =
      lines(of: header, widths).map(style.bold) + rows.flatMap { self.lines(of: $0, widths) }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The width of each column: that of its longest cell, or less of the widest ones.
  private func widths(fitting width: Int?) -> [Int] {
    let cells = [header] + rows
    var widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    guard let width else { return widths }
    let least = header.indices.map { column in
      cells.flatMap { TextWrap.units($0[column]) }.map(\.count).max() ?? 0
    }
    let room = width - Self.gap.count * max(0, header.count - 1)
    while widths.reduce(0, +) > room {
      let wide = widths.indices.filter { widths[$0] > least[$0] }
      guard let widest = wide.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
    }
    return widths
  }

  private func lines(of cells: [String], _ widths: [Int]) -> [String] {
    let wrapped = zip(cells, widths).map { cell, width in
      cell.count <= width ? [cell] : TextWrap.lines(cell, width: width)
    }
    return (0..<(wrapped.map(\.count).max() ?? 0)).map { number in
      line(wrapped.map { number < $0.count ? $0[number] : "" }, widths)
    }
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (cell, width) in zip(cells, widths) {
      line += cell + String(repeating: " ", count: max(0, width - cell.count)) + Self.gap
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}

/// Breaks text between words, and never inside a command, which stands between backticks.
enum TextWrap {
  /// Columns for which prose is wrapped.
  static let width = 80

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
