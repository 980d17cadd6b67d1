import ArgumentParser
import FoundationEssentials
import Glibc
import Settings
import ThreadkeeperSupport

extension CommandConfiguration {
  /// What every command says of itself.
  package init(
    _ name: String, _ abstract: String, _ discussion: String = "", subcommands: [any ParsableCommand.Type] = [],
    defaultSubcommand: (any ParsableCommand.Type)? = nil
  ) {
    self.init(
      commandName: name, abstract: abstract, discussion: discussion, subcommands: subcommands,
      defaultSubcommand: defaultSubcommand)
  }
}

/// What a command that asks the daemon, or opens the store, has in common with all others: which settings it works
/// with, and how it prints what it got. A command says what is to be done, and what a person reads of the reply.
package struct CommandOptions: ParsableArguments {
  @OptionGroup package var settings: SettingsOptions
  @OptionGroup package var output: OutputOptions

  package init() {}

  /// The daemon of these settings.
  ///
  /// - Throws: as `SettingsOptions.loadOfStore`.
  func daemon() throws -> DaemonClient { DaemonClient(settings: try settings.loadOfStore()) }

  /// Gets a reply, and prints it.
  ///
  /// - Parameter text: of the reply, where JSON is not asked for.
  @discardableResult func show<Reply: Encodable>(_ reply: (DaemonClient) async throws -> Reply, text: (Reply) -> String)
    async throws -> Reply
  {
    let reply = try await reply(daemon())
    try output.show(reply, text: text(reply))
    return reply
  }

  /// Has an operation done, and prints its reply.
  @discardableResult func perform<Performed: Operation>(
    _ operation: (DaemonClient) throws -> Performed, text: (Performed.Reply) -> String
  ) async throws -> Performed.Reply { try await show({ try await $0.perform(operation($0)) }, text: text) }

  /// Prints a list as a table.
  ///
  /// - Parameters:
  ///   - columns: of the table, and those that it has only where there is something in them.
  ///   - none: a sentence for a list without rows of which the daemon does not say why.
  func list<Listed: ListOperation>(
    _ operation: (DaemonClient) throws -> Listed, _ columns: Table.Columns<Listed.Row>,
    ifAny others: Table.Columns<Listed.Row> = [:], none: String = ""
  ) async throws {
    let daemon = try daemon()
    let list = try await daemon.list(operation(daemon))
    try output.show(list.rows, text: Table(list.rows, columns, ifAny: others).text(none: (list.note ?? none) + "\n"))
    try CommandFailure.check(unreadable: list.unreadable)
  }
}

/// Which settings a command works with; the same for every command that needs some.
package struct SettingsOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The configuration file.",
      discussion: "Without it: $THREADKEEPER_CONFIG, ~/.config/threadkeeper/threadkeeper.yaml, "
        + "/etc/threadkeeper/threadkeeper.yaml; without any of them, defaults.", valueName: "file")) var config: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where the store and its key lie unless the configuration says otherwise.", valueName: "directory"))
  var stateDirectory: String?

  package init() {}

  /// Names the same settings in another command, for a shell. What a variable names is named, too: sudo and another
  /// terminal have no such variable.
  func words(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> [String] {
    [
      ("--config", config ?? environment["THREADKEEPER_CONFIG"]),
      ("--state-directory", stateDirectory ?? environment["THREADKEEPER_STATE_DIRECTORY"]),
    ].flatMap { option, value in value.map { $0.isEmpty ? [] : [option, $0.quoted] } ?? [] }
  }

  /// Reads the settings, with everything that is wrong with them.
  ///
  /// - Parameter variables: set beside those that are.
  package func read(assuming variables: [String: String] = [:]) -> SettingsResult {
    SettingsLoader.load(
      file: config, environment: ProcessInfo.processInfo.environment.merging(variables) { $1 },
      stateDirectory: stateDirectory)
  }

  /// Loads the settings as if some variables were set, and prints nothing of what would be wrong without them.
  ///
  /// - Throws: as `load`.
  func load(assuming variables: [String: String]) throws -> Settings {
    try read(assuming: variables).settings ?? load()
  }

  /// Loads the settings, and prints what is wrong with them.
  ///
  /// - Throws: `CommandFailure` with status 78 when they cannot be used.
  package func load() throws -> Settings {
    guard FleetHome.target == nil else { throw FleetHome.notForOne }
    return try read().usable()
  }
}

extension SettingsResult {
  /// Prints what is wrong with the settings.
  ///
  /// - Throws: `CommandFailure` with status 78 when they cannot be used.
  func usable(printing isPrinted: (SettingsProblem) -> Bool = { _ in true }) throws -> Settings {
    for problem in problems where isPrinted(problem) { try StandardStream.error.write("\(problem)\n") }
    guard let settings else {
      throw CommandFailure(
        .configuration, "the configuration cannot be used",
        remedy: "fix what is listed above; `threadkeeper check-config` checks it again")
    }
    return settings
  }
}

/// Which home is meant.
struct HomeOption: ParsableArguments {
  @Option(help: "The home; needed only where there is more than one.") var home: String?

  func name(_ daemon: DaemonClient) throws(CommandFailure) -> String { try daemon.settings.home(named: home) }
}

extension SettingsOptions {
  /// The settings for a command that needs a store, or asks the daemon that has it.
  ///
  /// - Parameter variables: as of `load`.
  /// - Throws: `CommandFailure`: 78 as `load` does; 77 when this user may not read them.
  func loadOfStore(assuming variables: [String: String] = [:]) throws -> Settings {
    if let home = FleetHome.target { return try FleetParts.built().settings(read().usable(), home) }
    let result = read(assuming: variables)
    // What is on a node's disk is no store of anybody.
    guard result.settings?.store.url == nil else {
      throw CommandFailure(
        .usage, "the settings are of a fleet, so the command needs a home",
        remedy: "name it: `--home SHARD/NAME`; `threadkeeper fleet homes list` lists them")
    }
    // They are those of somebody else's daemon.
    if result.settings == nil, result.isRefused, let file = result.file {
      if let settings = settingsOfMember(file) { return settings }
      throw CommandFailure(
        .notPermitted, "this user may not read all of the settings in \(file.printable)",
        remedy: "run it as root: `\(SameCommand.by())`")
    }
    return try ofStore(variables.isEmpty ? load() : load(assuming: variables))
  }

  /// Where nothing names a place and this user has no store, those of the machine's daemon.
  func ofStore(_ settings: Settings) -> Settings {
    guard usesDefaultStore(settings), !OpenStore.exists(settings) else { return settings }
    return serviceStore(settings) ?? settings
  }

  /// Whether neither the command line, a variable nor a file says where the store is.
  private func usesDefaultStore(_ settings: Settings) -> Bool {
    guard config == nil, stateDirectory == nil else { return false }
    let environment = ProcessInfo.processInfo.environment
    let names = ["THREADKEEPER_CONFIG", "THREADKEEPER_STATE_DIRECTORY", "THREADKEEPER_STORE_PATH"]
    guard names.allSatisfy({ environment[$0, default: ""].isEmpty }) else { return false }
    let directory = StateDirectory.path(
      given: nil, environment: environment, workingDirectory: "/", isRoot: geteuid() == 0)
    return directory.map { settings.store.path == $0 + "/store" } ?? false
  }

  /// For a member of the group of the machine's daemon, who may not read a secret of its settings: asking it takes
  /// none.
  private func settingsOfMember(_ file: String) -> Settings? {
    let environment = ProcessInfo.processInfo.environment
    let places = SystemPlaces(environment: environment)
    guard file == places.configuration, access(places.readersSocket, W_OK) == 0 else { return nil }
    let result = SettingsLoader.load(file: file, environment: environment, skipsRefusedSecrets: true)
    let settings = result.settings ?? SettingsLoader.load(text: "", as: file, environment: environment).settings
    return settings.flatMap(serviceStore)
  }

  /// The store of the machine's daemon, for who has none: members of its group may look.
  private func serviceStore(_ settings: Settings) -> Settings? {
    let directory = SystemPlaces(environment: ProcessInfo.processInfo.environment).stateDirectory
    guard geteuid() != 0, access(directory, F_OK) == 0 else { return nil }
    var settings = settings
    settings.stateDirectory = directory
    settings.store.path = directory + "/store"
    return settings
  }
}

/// `threadkeeper check-config`
struct CheckConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "check-config", "Check the configuration, and say everything that is wrong with it.",
    """
    Exits 0 when the configuration can be used, 78 otherwise.

    Examples:
      threadkeeper check-config
      threadkeeper check-config --config config/threadkeeper.yaml
      THREADKEEPER_MQTT_PORT=99999 threadkeeper check-config --json
    """)

  @OptionGroup var options: CommandOptions

  func run() throws {
    let report = ConfigReport(options.settings.read())
    try options.output.show(report, text: report.text)
    guard report.usable else { throw ExitCode(ExitStatus.configuration.rawValue) }
  }
}

/// What `check-config` answers.
struct ConfigReport: Encodable {
  let usable: Bool
  let file: String?
  let problems: [SettingsProblem]

  init(_ result: SettingsResult) {
    usable = result.settings != nil
    (file, problems) = (result.file, result.problems)
  }

  var text: String {
    let source = file.map { "The configuration in \($0)" } ?? "The default configuration"
    return (problems.map { "\($0)" } + ["\(source) \(usable ? "can be used." : "cannot be used.")"]).map { $0 + "\n" }
      .joined()
  }
}
