// SPDX-License-Identifier: Apache-2.0

#if Fleet
import ArgumentParser
import Broker
import Fleet
import Glibc
import Settings
import ThreadkeeperDaemon

/// `--home SHARD/NAME`, which every command takes that asks a daemon: the node that has the shard is asked.
enum FleetHome {
  /// What the command is about; nil: no home of a fleet.
  @TaskLocal static var target: HomeAddress?

  /// - Parameter words: the arguments of this process.
  static func parse(
    _ words: [String] = Array(CommandLine.arguments.dropFirst())
  ) async throws -> (home: HomeAddress?, command: any ParsableCommand) {
    var words = words
    let place =
      words.firstIndex { $0 == "--home" || $0.hasPrefix("--home=") || $0 == "--" } ?? words.endIndex
    if let word = words[place...].first, word.hasPrefix("--home=") {
      words.replaceSubrange(place...place, with: ["--home", String(word.dropFirst(7))])
    }
    guard words[place...].first == "--home",
      words[place...].dropFirst().first?.contains("/") == true
    else { return (nil, try await ThreadkeeperCommand.asyncParseAsRoot(words)) }
    let home = try HomeAddress(words[place + 1])
    words[place + 1] = home.name
    if let command = try? await ThreadkeeperCommand.asyncParseAsRoot(words) {
      return (home, command)
    }
    // Lists of everything have no such option.
    words.removeSubrange(place...place + 1)
    let command = try await ThreadkeeperCommand.asyncParseAsRoot(words)
    guard !(command is DoctorCommand || command is CheckConfigCommand || command is SetupCommand)
    else { throw notForOne }
    return (home, command)
  }

  static let notForOne = CommandFailure(
    .usage, "this command is not about one home of a fleet", remedy: "leave `--home` out")

  /// The settings by which its daemon is asked. Where another host has it, this process becomes `ssh`.
  ///
  /// - Parameter settings: of this host.
  /// - Throws: `CommandFailure`: 64 where there is no such home, 69 where nobody has its shard.
  static func settings(_ settings: Settings, of home: HomeAddress) throws(CommandFailure)
    -> Settings
  {
    guard let place = try ShardOwner(of: home, in: FleetDatabase(settings)).place else {
      throw CommandFailure(
        .unavailable, "no node has the shard \(home.shard) now, so nobody can answer for \(home)",
        remedy: "`threadkeeper fleet status` says why; `threadkeeper run` starts a node")
    }
    guard place.host == settings.fleet.address else { throw become(ssh: place.host) }
    var settings = settings
    settings.store.path = place.directory
    settings.homes = [.init(name: home.name, baseTopic: "\(settings.mqtt.baseTopic)/\(home)")]
    return settings
  }

  /// The same command there: its terminal, streams and exit status are those of this process.
  private static func become(ssh host: String) -> CommandFailure {
    guard HostName.isFit(host) else {
      return CommandFailure(.badInput, "the address of the node is no host: \(host)")
    }
    let isAtTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    // There it is that host, so that nobody is sent on without end.
    let command =
      ["THREADKEEPER_FLEET_ADDRESS=\(host)", "threadkeeper"]
      + CommandLine.arguments.dropFirst().map(\.quoted)
    let words = ["ssh"] + (isAtTerminal ? ["-t"] : []) + [host, command.joined(separator: " ")]
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    execvp("ssh", &pointers)
    return CommandFailure(
      .unavailable,
      "\(host) has the shard, and ssh cannot be started: \(String(cString: strerror(errno)))",
      remedy: "run the command on \(host)")
  }

  /// Of a list of the whole shard, what is of the home.
  static func own<Row>(_ rows: [Row]) -> [Row] {
    guard let target else { return rows }
    return rows.filter { ($0 as? any RowOfHome).map { $0.home == target.name } ?? true }
  }
}

private protocol RowOfHome {
  var home: String { get }
}

extension AlertState: RowOfHome {}
extension CredentialReport: RowOfHome {}
extension NetworkState: RowOfHome {}
extension RouterState: RowOfHome {}
#endif
