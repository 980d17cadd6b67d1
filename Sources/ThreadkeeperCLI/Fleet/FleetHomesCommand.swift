// SPDX-License-Identifier: Apache-2.0

#if Fleet
import ArgumentParser
import Fleet
import Settings
import ThreadkeeperDaemon

/// `threadkeeper fleet homes`
struct FleetHomesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "homes",
    abstract: "List the homes of the fleet, add some, or move one into another shard.",
    discussion: """
      A home is called SHARD/NAME, and has the base topic `<mqtt.base_topic>/SHARD/NAME`.

      Examples:
        threadkeeper fleet homes add 17/smith 17/jones
        threadkeeper fleet homes list
        threadkeeper fleet homes move 17/smith 18
      """,
    subcommands: [
      FleetHomesListCommand.self, FleetHomesAddCommand.self, FleetHomesMoveCommand.self,
    ],
    defaultSubcommand: FleetHomesListCommand.self)
}

/// `threadkeeper fleet homes list`
struct FleetHomesListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the homes, with the settings that they have of their own.",
    discussion: """
      Examples:
        threadkeeper fleet homes list --shard 17
        threadkeeper fleet homes list --json | jq -r '.[] | "\\(.shard)/\\(.name)"'
      """)

  @Option(help: "Of this shard only.")
  var shard: Int?
  @OptionGroup var options: CommandOptions

  func run() throws {
    let homes = try options.settings.loadFleet().database.homes(of: shard)
    let table = Table(
      homes,
      [
        "HOME": { "\($0.shard)/\($0.name)" },
        "SETTINGS": {
          $0.settings.values.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
            .joined(separator: " ")
        },
      ])
    try options.output.show(
      homes, text: table.text(none: "There is no home yet: `threadkeeper fleet homes add`.\n"))
  }
}

/// `threadkeeper fleet homes add`
struct FleetHomesAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add homes to shards.",
    discussion: """
      They are served within seconds. One that is there gets the settings that are named. A home can \
      have its own \(HomeOverrides.names.joined(separator: ", ")).

      --file has lines as `17/smith alerts.hold=60`; `-` is standard input.

      Examples:
        threadkeeper fleet homes add 17/smith --set alerts.hold=60
        threadkeeper fleet homes add --file homes.txt
        seq 1 4000 | sed 's|^|17/home-|' | threadkeeper fleet homes add --file -
      """)

  /// A million homes.
  private static let longestFile = 128 << 20

  @Argument(help: "Homes, as SHARD/NAME.")
  var homes: [String] = []
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("A setting of all of them.", valueName: "key=value"))
  var assignments: [String] = []
  @Option(help: "A file with homes; `-` is standard input.", completion: .file())
  var file: String?
  @OptionGroup var options: CommandOptions

  func validate() throws {
    guard !homes.isEmpty || file != nil else { throw ValidationError("Name a home, or --file.") }
  }

  func run() throws {
    let standard = try Self.values(assignments[...])
    var rows = try homes.map { try Self.row($0, standard) }
    if let file {
      let bytes =
        file == "-"
        ? try StandardInput.read(limit: Self.longestFile)
        : try InputFile.read(file, limit: Self.longestFile)
      guard let bytes else { throw CommandFailure(.badInput, "\(file) is too long") }
      for line in bytes.split(separator: UInt8(ascii: "\n")) {
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
          .map(String.init)
        guard let name = words.first else { continue }
        rows.append(try Self.row(name, standard.merging(Self.values(words.dropFirst())) { $1 }))
      }
    }
    let database = try options.settings.loadFleet().database
    let added = try WaitingLine.during { show throws(CommandFailure) in
      try database.add(rows) { show("\($0) of \(rows.count) homes") }
    }
    try options.output.show(
      added,
      text: "Homes: \(added.added) added, \(added.changed) changed, \(added.unchanged) unchanged.\n"
    )
  }

  private static func row(
    _ name: String, _ values: [String: String]
  ) throws(CommandFailure) -> FleetHomes.Row {
    let home = try HomeAddress(name)
    return .init(home, settings: try HomeOverrides(values))
  }

  private static func values(
    _ words: ArraySlice<String>
  ) throws(CommandFailure) -> [String: String] {
    var values: [String: String] = [:]
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else {
        throw CommandFailure(.usage, "`\(word)` is no setting", remedy: "write: alerts.hold=60")
      }
      values[String(parts[0])] = String(parts[1])
    }
    return values
  }
}

/// `threadkeeper fleet homes move`
struct FleetHomesMoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move a home into another shard, with all that is stored of it.",
    discussion: """
      For some seconds nobody serves the two shards, and messages of their other homes wait at the broker. The \
      home has another base topic then: messages to the old one are lost, so change its border routers at once. \
      It also has the daemon's keys of its new shard, which enrolled programs must be given, and people are asked \
      again about shared credentials that they have refused. If it is interrupted, run it again.

      Examples:
        threadkeeper fleet homes move 17/smith 18
      """)

  @Argument(help: "The home, as SHARD/NAME.")
  var home: String
  @Argument(help: "The number of its new shard.")
  var shard: Int
  @OptionGroup var options: CommandOptions

  func run() throws {
    let (settings, database) = try options.settings.loadFleet()
    let report = try WaitingLine.during { show throws(CommandFailure) in
      try HomeMove(HomeAddress(home), to: shard, settings, database).run(progress: show)
    }
    try options.output.show(
      report,
      text: """
        The home is \(report.home) now, with \(report.records) records.
        Its base topic is \(report.baseTopic), and was \(report.formerBaseTopic): change it on its border \
        routers and in its programs, and give their logins the right to it.

        """)
  }
}
#endif
