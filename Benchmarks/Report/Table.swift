/// A table in Markdown.
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
    let line = columns.map { $0.isRight ? "---:" : "---" }.joined(separator: "|")
    let lines = [columns.map(\.title)] + rows
    var text = lines.map { "| \($0.joined(separator: " | ")) |" }
    text.insert("|\(line)|", at: 1)
    return text.joined(separator: "\n")
  }
}
