// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Measures, prints a table, and ends with 0 whether the goals are met or not: a machine that is busy
/// with other things is no error.
struct MeasureCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "measure",
    abstract: "Measure all figures and print them beside their goals.",
    discussion: """
      Daemon and bare subscriber take turns on one private broker, so that what else the machine \
      does falls on both: the ratios hold on a busy machine too, the absolute numbers do not.
      So do the keychain, a table of SQLite and one of SQLCipher.
      """)

  @Flag(help: "Fewer and shorter rounds: half a minute, and rougher numbers.")
  var quick = false

  @Flag(help: "Print a JSON object instead of the table.")
  var json = false

  @Option(help: "How often each pair is measured. Default: 3, quick 1.")
  var rounds: Int?

  @Option(help: "Messages of one measurement. Default: 20000, quick 5000.")
  var messages: Int?

  @Flag(help: "Measure a million Thread credentials instead of a hundred thousand: some minutes.")
  var million = false

  @Option(help: "The SQLCipher to compare with; without it, it is left out.")
  var sqlcipher = "libsqlcipher.so.0"

  @Option(
    help:
      "Only these: live, backlog, latency, start, memory, page, keychain, scale, rotation. Default: all."
  )
  var only: [String] = []

  @Option(
    help: ArgumentHelp(
      "The `threadkeeper` to measure. Default: beside this one.", valueName: "file"))
  var daemon: String?

  @Option(
    help: ArgumentHelp(
      "Where stores are made; its disk is measured. Default: .build.", valueName: "directory"))
  var directory = ".build"

  func run() async throws {
    let workspace = try Workspace(in: directory, daemon: daemon)
    defer { workspace.remove() }
    let machine = Machine()
    Progress.say("\(machine.summary)")
    var figures: [Figure] = []
    let size = Size(
      rounds: rounds ?? (quick ? 1 : 3), messages: messages ?? (quick ? 5_000 : 20_000),
      events: quick ? 100 : 400, starts: quick ? 5 : 15)
    let ways = Delivery.allCases.filter { wants($0.rawValue) }
    if !ways.isEmpty {
      figures += try IntakeMeasurement(workspace: workspace, size: size, ways: ways).run()
    }
    if wants("latency") {
      figures += try await LatencyMeasurement(workspace: workspace, size: size).run()
    }
    if wants("start") || wants("memory") {
      figures += try IdleMeasurement(workspace: workspace, size: size).run()
    }
    if wants("page") {
      figures += try PageMeasurement(workspace: workspace, size: size).run()
    }
    if wants("keychain") {
      figures += try KeychainMeasurement(workspace: workspace, size: size, sqlcipher: sqlcipher)
        .run()
    }
    if wants("scale") {
      let routers = million ? 1_000_000 : quick ? 20_000 : 100_000
      figures += try ScaleMeasurement(workspace: workspace, routers: routers).run()
    }
    if wants("rotation") {
      figures += try RotationMeasurement(workspace: workspace, items: quick ? 10_000 : 100_000)
        .run()
    }
    let report = Report(machine: machine, atEnd: Machine(), size: size, figures: figures)
    print(json ? try report.json() : report.table())
  }

  private func wants(_ name: String) -> Bool { only.isEmpty || only.contains(name) }
}

/// How much is measured.
struct Size: Encodable {
  var rounds: Int
  var messages: Int
  var events: Int
  var starts: Int
}

/// Lines on standard error that say what is going on.
enum Progress {
  static func say(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }
}
