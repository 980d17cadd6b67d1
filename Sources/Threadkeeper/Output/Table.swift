/// Rows with aligned columns, as plain text.
package struct Table {
  private static let gap = "  "
  /// No column becomes narrower.
  private static let least = 8

  private let header: [String]
  let rows: [[String]]

  /// - Parameter rows: with a cell for each column. Control characters are escaped.
  init(_ header: [String], _ rows: [[String]]) { (self.header, self.rows) = (header, rows.map { $0.map(\.printable) }) }

  /// What is in the cells of columns, by their headers; nil: the cell is empty.
  package typealias Columns<Row> = KeyValuePairs<String, (Row) -> (any CustomStringConvertible)?>

  /// - Parameter others: columns at the end that are left out where no row has anything in them.
  package init<Row>(_ rows: [Row], _ columns: Columns<Row>, ifAny others: Columns<Row> = [:]) {
    let columns = columns + others.filter { column in rows.contains { column.value($0) != nil } }
    self.init(columns.map(\.key), rows.map { row in columns.map { $0.value(row)?.description ?? "" } })
  }

  /// Lines with an end of line each; the header is bold where the style is on.
  ///
  /// - Parameter limit: columns of the terminal. Where a row has more, its widest cells take several lines, and no
  ///   character is lost; nil: a row is a line.
  package func text(style: TerminalStyle = TerminalStyle(of: .output), limit: Int? = StandardStream.output.columns)
    -> String
  {
    let natural = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
    let widths = Self.narrowed(natural, to: limit)
    let lines = row(header, widths).map(style.bold) + rows.flatMap { row($0, widths) }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The same for a table that has rows.
  package func text(none: String) -> String { rows.isEmpty ? none : text() }

  /// The widest columns become narrower, until all have room or are as narrow as a word of an id.
  private static func narrowed(_ natural: [Int], to limit: Int?) -> [Int] {
    var widths = natural
    guard let limit else { return widths }
    var over = widths.reduce(gap.count * (widths.count - 1), +) - limit
    while over > 0, let widest = widths.max(), widest > least, let column = widths.firstIndex(of: widest) {
      widths[column] -= 1
      over -= 1
    }
    return widths
  }

  /// The lines of one row.
  private func row(_ cells: [String], _ widths: [Int]) -> [String] {
    let columns = zip(cells, widths).map { Self.wrapped($0[...], $1) }
    return (0..<(columns.map(\.count).max() ?? 0)).map { index in
      line(columns.map { index < $0.count ? String($0[index]) : "" }, widths)
    }
  }

  /// Pieces of at most so many characters, between words where there are some.
  private static func wrapped(_ text: Substring, _ width: Int) -> [Substring] {
    guard text.count > width else { return [text] }
    let most = text.prefix(width + 1)
    let space = most.lastIndex(of: " ").flatMap { $0 > text.startIndex ? $0 : nil }
    let piece = space.map { text[..<$0] } ?? text.prefix(width)
    let rest = text[piece.endIndex...].drop { $0 == " " }
    return rest.isEmpty ? [piece] : [piece] + wrapped(rest, width)
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
