/// What was measured of one kind: a section of the page.
struct Part: Encodable {
  let name: String
  let title: String
  /// How it was measured: whole sentences, one paragraph.
  let method: String
  let table: Table
  let figures: [Figure]
  /// What could not be compared with, and why. Whole sentences.
  var missing: [String] = []

  init(_ name: String, _ title: String, method: String, table: Table, figures: [Figure]) {
    self.name = name
    self.title = title
    self.method = method
    self.table = table
    self.figures = figures
  }

  /// A section whose table has a row for each figure.
  init(_ name: String, _ title: String, method: String, figures: [Figure]) {
    var table = Table("figure", .right("value"), "with it")
    for figure in figures { table.add(figure.name, figure.unit.text(figure.value), figure.note) }
    self.init(name, title, method: method, table: table, figures: figures)
  }

  func figure(_ name: String) -> Figure? { figures.first { $0.name == name } }
}
