// SPDX-License-Identifier: Apache-2.0

import Foundation

/// All figures of a run, as a table or as JSON.
struct Report: Encodable {
  let machine: Machine
  let atEnd: Machine
  let size: Size
  let figures: [Figure]

  enum CodingKeys: String, CodingKey {
    case machine
    case atEnd = "machine_at_end"
    case size, figures
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  func table() -> String {
    var rows = [["figure", "value", "goal", "", ""]]
    for figure in figures {
      rows.append([
        figure.name, value(figure.value, figure.unit), goal(figure),
        figure.isMet.map { $0 ? "met" : "MISSED" } ?? "", figure.note,
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return cells.joined(separator: "  ").trimmingCharacters(in: .whitespaces)
    }
    let missed = figures.filter { $0.isMet == false }.count
    lines.append("")
    lines.append(
      "\(missed == 0 ? "All goals are met" : "\(missed) goals are missed") on \(machine.processors) "
        + "processors (\(machine.model)); load \(machine.load.formatted(2)) before, "
        + "\(atEnd.load.formatted(2)) after; \(size.rounds) rounds of \(size.messages) messages.")
    return lines.joined(separator: "\n")
  }

  private func value(_ value: Double, _ unit: Figure.Unit) -> String {
    let number = value.formatted(unit.digits)
    return unit == .ratio ? number : "\(number) \(unit.rawValue)"
  }

  private func goal(_ figure: Figure) -> String {
    switch figure.goal {
    case .atLeast(let limit): "≥ \(value(limit, figure.unit))"
    case .atMost(let limit): "≤ \(value(limit, figure.unit))"
    case nil: ""
    }
  }
}
