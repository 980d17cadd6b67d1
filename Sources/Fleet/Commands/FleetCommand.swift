#if Fleet
import ArgumentParser
import Glibc
import Settings
import Threadkeeper

/// `threadkeeper fleet`
struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "fleet", "Look after thousands of homes, in shards on PostgreSQL.",
    """
    `store.url` names the database. `threadkeeper run` is a node then, and commands that ask a \
    daemon take `--home SHARD/NAME` and ask the node that has the shard.

    Examples:
      threadkeeper fleet init --shards 64
      threadkeeper fleet homes add 17/smith
      threadkeeper fleet status
      threadkeeper routers --home 17/smith
    """,
    subcommands: [
      FleetInitCommand.self, FleetStatusCommand.self, FleetHomesCommand.self, FleetDrainCommand.self,
      FleetDoctorCommand.self, FleetAcceptCommand.self,
    ])
}

/// `threadkeeper fleet init`
struct FleetInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "init", "Make what is missing of the fleet: schema, shards and their keys.",
    """
    Can be run again at any time: what is there stays, and no key is ever replaced. The key of a \
    new shard is sealed by `fleet.seal_command`, and tried with `fleet.unseal_command` at once.

    Examples:
      threadkeeper fleet init --name north --shards 64
      threadkeeper fleet init --print-sql | sudo -u postgres psql -v ON_ERROR_STOP=1 threadkeeper
    """)

  @Option(help: "How many shards there are to be; 16 in a new fleet.") var shards: Int?
  @Option(help: "What a new fleet is called, in client ids at the broker; `fleet` without it.") var name: String?
  @Flag(help: "Print schema, roles, grants and views for an administrator; connect to nothing.") var printSQL = false
  @OptionGroup var options: CommandOptions

  func validate() throws {
    guard shards.map(HomeAddress.shards.contains) != false else {
      throw ValidationError("--shards is from 1 to \(HomeAddress.shards.upperBound).")
    }
    guard name.map({ (try? HomeAddress("1/\($0)")) != nil }) != false else {
      throw ValidationError("--name has 1 to 32 small letters, digits, `-`, `_`.")
    }
  }

  func run() throws {
    if printSQL { return try StandardStream.output.write(FleetInit.script) }
    let settings = try options.settings.load()
    let report = try WaitingLine.during { show throws(CommandFailure) in
      try FleetInit(settings, FleetDatabase(settings)).run(shards: shards, name: name, progress: show)
    }
    try options.output.show(
      report, text: "The fleet `\(report.fleet)` has \(report.shards) shards, \(report.keysMade) of them new.\n")
  }
}

extension SettingsOptions {
  /// The settings with their fleet, which this program can work with.
  func loadFleet() throws -> (settings: Settings, database: FleetDatabase) {
    let settings = try load()
    let database = try FleetDatabase(settings)
    _ = try database.fleet()
    return (settings, database)
  }
}

extension WaitingLine {
  /// Shows what is waited for, until the work has ended.
  static func during<R>(_ work: (_ show: (String) -> Void) throws(CommandFailure) -> R) throws(CommandFailure) -> R {
    let line = WaitingLine()
    defer { line.end() }
    return try work(line.show)
  }
}

/// `threadkeeper fleet status`
struct FleetStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "status", "Show shards, who has them, and nodes.",
    """
    LEASE is the time since its last renewal. WAITING are messages that the broker has not taken yet.

    Examples:
      threadkeeper fleet status
      threadkeeper fleet status --json | jq '.shards[] | select(.node == null) | .shard'
    """)

  @OptionGroup var options: CommandOptions

  func run() throws {
    let status = try FleetStatus(FleetDatabase(options.settings.load()))
    try options.output.show(status, text: status.text)
  }
}

extension FleetStatus {
  var text: String {
    func tenths(_ number: Double?, _ unit: String) -> String? { number.map { "\(($0 * 10).rounded() / 10) \(unit)" } }
    let shards = Table(
      shards,
      [
        "SHARD": { $0.shard }, "NODE": { $0.node }, "LEASE": { tenths($0.leaseAge, "s") }, "HOMES": { $0.homes },
        "ROUTERS": { $0.routers }, "ALERTS": { $0.alerts }, "WAITING": { $0.waiting },
        "COMMIT": { tenths($0.commitMs, "ms") }, "STATE": { $0.state },
      ])
    let nodes = Table(
      nodes,
      [
        "NODE": { $0.name }, "ADDRESS": { $0.address }, "VERSION": { $0.version },
        "SHARDS": { "\($0.shards) of \($0.capacity)" }, "SEEN": { tenths($0.seenAgo, "s ago") },
        "STATE": { $0.isSilent ? "silent" : $0.draining ? "draining" : nil },
      ])
    return "Fleet \(fleet.name)\n\n\(shards.text())\n\(nodes.text())"
      + (unclaimed.isEmpty ? "" : "\nNobody has these shards: \(String(ranges: unclaimed)).\n")
      + (rolledBack.isEmpty
        ? ""
        : "\nOlder in the database than the broker's anchor: \(String(ranges: rolledBack)). Where you have "
          + "restored the database, run `threadkeeper fleet accept SHARD`.\n")
  }
}

/// `threadkeeper fleet drain`
struct FleetDrainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "drain", "Take all shards from a node, for as long as it is drained.",
    """
    Other nodes take them, where they have room. A node that is stopped releases its shards by itself.

    Examples:
      threadkeeper fleet drain node-2
      threadkeeper fleet drain node-2 --undo
    """)

  private static let timeout = Duration.seconds(20)

  @Argument(help: "The node, as `threadkeeper fleet status` has it.") var node: String
  @Flag(help: "Let it have shards again.") var undo = false
  @OptionGroup var options: CommandOptions

  func run() async throws {
    let database = try options.settings.loadFleet().database
    try database.run("UPDATE threadkeeper.node SET draining = $2::bool WHERE name = $1", [node, "\(!undo)"])
    let line = WaitingLine()
    defer { line.end() }
    let deadline = ContinuousClock.now + Self.timeout
    while true {
      // A claim that was under way counts, too.
      if !undo { try await Task.sleep(for: .milliseconds(300)) }
      guard let found = try FleetStatus(database).nodes.first(where: { $0.name == node }) else {
        throw CommandFailure(.usage, "there is no node \(node)", remedy: "`threadkeeper fleet status` lists them")
      }
      if undo || found.shards == 0 {
        line.end()
        let words = undo ? "may have shards again" : "has no shard any more"
        return try options.output.show(found, text: "\(node) \(words).\n")
      }
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(
          .temporary, "\(node) has \(found.shards) shards still",
          remedy: "it is drained when they are released: `threadkeeper fleet status`")
      }
      line.show("Shards left: \(found.shards)")
    }
  }
}

/// `threadkeeper fleet accept`
struct FleetAcceptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "accept", "Take a shard as the database has it, which you have restored.",
    """
    The broker has an anchor of each shard, by which an older database is noticed. What was stored \
    and revoked since is lost. It is written into the shard's audit.

    Examples:
      threadkeeper fleet accept 17
      threadkeeper fleet accept 17 --yes --json
    """)

  @Argument(help: "The number of the shard.") var shard: Int
  @Flag(help: "Without a question.") var yes = false
  @OptionGroup var options: CommandOptions

  private struct Report: Encodable {
    let shard: Int
    let accepted: Bool
  }

  func run() async throws {
    let (settings, database) = try options.settings.loadFleet()
    if !yes {
      guard TerminalPrompt.isPossible else {
        throw CommandFailure(.usage, "there is no terminal to ask on", remedy: "say --yes")
      }
      let answer = try await TerminalPrompt.ask(
        "Give up what shard \(shard) had that the database does not have? [y/N] ")
      guard answer?.lowercased() == "y" else { throw CancellationError() }
    }
    let line = WaitingLine()
    defer { line.end() }
    let accepted = try await FleetAccept.run(
      shard: shard, by: OpenStore.actor(user: getuid()), settings, database, progress: line.show)
    line.end()
    try options.output.show(
      Report(shard: shard, accepted: accepted),
      text: accepted
        ? "Shard \(shard) is accepted; a node takes it within seconds.\n"
        : "Shard \(shard) is not rolled back: there is nothing to accept.\n")
  }
}

/// `threadkeeper fleet homes`
struct FleetHomesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "homes", "List the homes of the fleet, add some, or move one into another shard.",
    """
    A home is called SHARD/NAME, and has the base topic `<mqtt.base_topic>/SHARD/NAME`.

    Examples:
      threadkeeper fleet homes add 17/smith 17/jones
      threadkeeper fleet homes list
      threadkeeper fleet homes move 17/smith 18
    """, subcommands: [FleetHomesListCommand.self, FleetHomesAddCommand.self, FleetHomesMoveCommand.self],
    defaultSubcommand: FleetHomesListCommand.self)
}

/// `threadkeeper fleet homes list`
struct FleetHomesListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "list", "List the homes, with the settings that they have of their own.",
    """
    Examples:
      threadkeeper fleet homes list --shard 17
      threadkeeper fleet homes list --json | jq -r '.[] | "\\(.shard)/\\(.name)"'
    """)

  @Option(help: "Of this shard only.") var shard: Int?
  @OptionGroup var options: CommandOptions

  func run() throws {
    let homes = try options.settings.loadFleet().database.homes(of: shard)
    let table = Table(
      homes,
      [
        "HOME": { "\($0.shard)/\($0.name)" },
        "SETTINGS": { $0.settings.values.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ") },
      ])
    try options.output.show(homes, text: table.text(none: "There is no home yet: `threadkeeper fleet homes add`.\n"))
  }
}

/// `threadkeeper fleet homes add`
struct FleetHomesAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "add", "Add homes to shards.",
    """
    They are served within seconds. One that is there gets the settings that are named. A home can \
    have its own \(HomeOverrides.names.listed).

    --file has lines as `17/smith alerts.hold=60`; `-` is standard input.

    Examples:
      threadkeeper fleet homes add 17/smith --set alerts.hold=60
      threadkeeper fleet homes add --file homes.txt
      seq 1 4000 | sed 's|^|17/home-|' | threadkeeper fleet homes add --file -
    """)

  /// A million homes.
  private static let longestFile = 128 << 20

  @Argument(help: "Homes, as SHARD/NAME.") var homes: [String] = []
  @Option(name: .customLong("set"), help: ArgumentHelp("A setting of all of them.", valueName: "key=value"))
  var assignments: [String] = []
  @Option(help: "A file with homes; `-` is standard input.", completion: .file()) var file: String?
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
        ? try StandardInput.read(limit: Self.longestFile) : try InputFile.read(file, limit: Self.longestFile)
      guard let bytes else { throw CommandFailure(.badInput, "\(file) is too long") }
      for line in bytes.split(separator: UInt8(ascii: "\n")) {
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        guard let name = words.first else { continue }
        rows.append(try Self.row(name, standard.merging(Self.values(words.dropFirst())) { $1 }))
      }
    }
    let database = try options.settings.loadFleet().database
    let added = try WaitingLine.during { show throws(CommandFailure) in
      try database.add(rows) { show("\($0) of \(rows.count) homes") }
    }
    try options.output.show(
      added, text: "Homes: \(added.added) added, \(added.changed) changed, \(added.unchanged) unchanged.\n")
  }

  private static func row(_ name: String, _ values: [String: String]) throws(CommandFailure) -> FleetHomes.Row {
    let home = try HomeAddress(name)
    return .init(home, settings: try HomeOverrides(values))
  }

  private static func values(_ words: ArraySlice<String>) throws(CommandFailure) -> [String: String] {
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
    "move", "Move a home into another shard, with all that is stored of it.",
    """
    For some seconds nobody serves the two shards, and messages of their other homes wait at the broker. The \
    home has another base topic then: messages to the old one are lost, so change its border routers at once. \
    It also has the daemon's keys of its new shard, which enrolled programs must be given, and people are asked \
    again about shared credentials that they have refused. If it is interrupted, run it again.

    Examples:
      threadkeeper fleet homes move 17/smith 18
    """)

  @Argument(help: "The home, as SHARD/NAME.") var home: String
  @Argument(help: "The number of its new shard.") var shard: Int
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
