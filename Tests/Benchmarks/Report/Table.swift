// SPDX-License-Identifier: Apache-2.0

/// A table in Markdown whose columns are as wide as they need to be, so that it can be read in a terminal too.
struct Table: Encodable {
  struct Column: Encodable, ExpressibleByStringLiteral {
    let title: String
    var isRight = false

    init(stringLiteral title: String) { self.title = title }

    /// For numbers.
    static func right(_ title: String) -> Column {
      var column = Column(stringLiteral: title)
      column.isRight = true
      return column
    }
  }

  let columns: [Column]
  private(set) var rows: [[String]] = []

  init(_ columns: Column...) { self.columns = columns }

  mutating func add(_ cells: String...) { rows.append(cells) }

  var text: String {
    let titles = columns.map(\.title)
    let widths = columns.indices.map { place in
      ([titles] + rows).map { $0[place].count }.max() ?? 0
    }
    let line = zip(columns, widths).map { column, width in
      String(repeating: "-", count: width + 1) + (column.isRight ? ":" : "-")
    }
    let head = [row(titles, widths), "|\(line.joined(separator: "|"))|"]
    return (head + rows.map { row($0, widths) }).joined(separator: "\n")
  }

  private func row(_ cells: [String], _ widths: [Int]) -> String {
    let padded = columns.indices.map { place in
      let space = String(repeating: " ", count: widths[place] - cells[place].count)
      return columns[place].isRight ? space + cells[place] : cells[place] + space
    }
    return "| \(padded.joined(separator: " | ")) |"
  }
}
