// SPDX-License-Identifier: Apache-2.0

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
  package func text(style: TerminalStyle = TerminalStyle(of: .output)) -> String {
    let widths = header.indices.map { column in
      ([header] + rows).map { $0[column].count }.max() ?? 0
    }
    let lines = [style.bold(line(header, widths))] + rows.map { line($0, widths) }
    return lines.map { $0 + "\n" }.joined()
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
