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
