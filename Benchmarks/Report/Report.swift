import Foundation

/// All that was measured in one run, as a page in Markdown or as JSON.
struct Report: Encodable {
  struct Run: Encodable {
    /// `2026-01-31`, of UTC.
    let date: String
    let minutes: Double
    let loadBefore: Double
    let loadAfter: Double

    enum CodingKeys: String, CodingKey {
      case date, minutes
      case loadBefore = "load_before"
      case loadAfter = "load_after"
    }
  }

  let machine: Machine
  let versions: Versions
  let run: Run
  let size: Size
  let parts: [Part]

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// The figures with a goal, part by part.
  var goals: Table {
    var table = Table("what", .right("goal"), .right("measured"), "")
    for figure in parts.flatMap(\.figures) {
      guard let isReached = figure.isReached else { continue }
      table.add(figure.name, figure.goalText, figure.unit.text(figure.value), isReached ? "reached" : "**not reached**")
    }
    return table
  }

  /// `docs/reference/benchmarks.md`.
  var page: String {
    var blocks = [
      "# Benchmarks",
      """
      How fast threadkeeper is, how much memory it takes and how soon it is back after a crash, each beside what it is
      compared with. `make bench` measures all of it again and writes this page.
      """.unfolded,
      """
      The ratios compare with what ran in the same minutes on the same broker and disk, by turns. Values are the median
      of \(size.rounds == 1 ? "one round" : "\(size.rounds) rounds"). Processor time is what the kernel counts for the
      threads.
      """.unfolded, environment.text,
    ]
    if !goals.rows.isEmpty { blocks += ["## Goals", goals.text] }
    for part in parts {
      blocks += ["## \(part.title)", part.method.unfolded]
      if !part.table.rows.isEmpty { blocks.append(part.table.text) }
      blocks += part.missing.map(\.unfolded)
    }
    return blocks.map(\.folded).joined(separator: "\n\n") + "\n"
  }

  private var environment: Table {
    var table = Table("measured", "")
    let load = "\(run.loadBefore.formatted(1)) before, \(run.loadAfter.formatted(1)) after"
    table.add("date", "\(run.date), in \(run.minutes.formatted(0)) minutes")
    table.add("machine", "\(machine.processors) processors (\(machine.model)), \(machine.memory.formatted(0)) GB")
    table.add("load average", load)
    table.add("system", "\(machine.system), Linux \(machine.kernel), stores on \(machine.fileSystem)")
    if let fsync = parts.lazy.compactMap({ $0.figure(LatencyMeasurement.fsync) }).first {
      table.add("fsync of the disk", "median \(fsync.unit.text(fsync.value)), \(fsync.note)")
    }
    table.add("threadkeeper", "\(versions.threadkeeper), Swift \(versions.swift)")
    table.add(
      "libraries",
      "libmosquitto \(versions.libmosquitto), SQLite \(versions.sqlite), " + "libsodium \(versions.libsodium)")
    table.add(
      "broker",
      "Mosquitto \(versions.mosquitto) on the same machine, one for all, saves nothing, lets "
        + "\(Helper.window.grouped) messages be in flight")
    return table
  }
}

extension String {
  /// Without the line breaks of the source.
  fileprivate var unfolded: String { split(separator: "\n").map { String($0).trimmed }.joined(separator: " ") }

  /// In lines of at most 120 columns, if it is one line of text.
  fileprivate var folded: String {
    guard count > 120, !contains("\n") else { return self }
    var lines: [String] = []
    for word in split(separator: " ") {
      if let last = lines.last, last.count + word.count < 120 {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines.joined(separator: "\n")
  }
}
