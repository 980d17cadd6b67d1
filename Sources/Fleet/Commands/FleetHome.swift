#if Fleet
import ArgumentParser
import Broker
import Fleet
import Glibc
import Settings
import ThreadRequests
import ThreadkeeperDaemon

/// `--home SHARD/NAME`, which every command takes that asks a daemon: the node that has the shard is asked.
enum FleetHome {
  /// What the command is about; nil: no home of a fleet.
  @TaskLocal static var target: HomeAddress?

  /// - Parameter words: the arguments of this process.
  static func parse(_ words: [String] = Array(CommandLine.arguments.dropFirst())) async throws -> (
    home: HomeAddress?, command: any ParsableCommand
  ) {
    var words = words
    let place = words.firstIndex { $0 == "--home" || $0.hasPrefix("--home=") || $0 == "--" } ?? words.endIndex
    if let word = words[place...].first, word.hasPrefix("--home=") {
      words.replaceSubrange(place...place, with: ["--home", String(word.dropFirst(7))])
    }
    guard words[place...].first == "--home", words[place...].dropFirst().first?.contains("/") == true else {
      return (nil, try await ThreadkeeperCommand.asyncParseAsRoot(words))
    }
    let home = try HomeAddress(words[place + 1])
    words[place + 1] = home.name
    if let command = try? await ThreadkeeperCommand.asyncParseAsRoot(words) { return (home, command) }
    // Lists of everything have no such option.
    words.removeSubrange(place...place + 1)
    let command = try await ThreadkeeperCommand.asyncParseAsRoot(words)
    guard !(command is DoctorCommand || command is CheckConfigCommand || command is SetupCommand) else {
      throw notForOne
    }
    return (home, command)
  }

  static let notForOne = CommandFailure(
    .usage, "this command is not about one home of a fleet", remedy: "leave `--home` out")

  /// The settings by which its daemon is asked. Where another host has it, this process becomes `ssh`.
  ///
  /// - Parameter settings: of this host.
  /// - Throws: `CommandFailure`: 64 where there is no such home, 69 where nobody has its shard.
  static func settings(_ settings: Settings, of home: HomeAddress) throws(CommandFailure) -> Settings {
    // Of `HOST:/DIRECTORY/varlink.sock`; commands that hold a shard have no address.
    struct Owner: Decodable { let host: String?, directory: String? }
    let owners: [Owner] = try FleetDatabase(settings).rows(
      """
      SELECT part[1] AS host, part[2] AS directory FROM threadkeeper.home h
      LEFT JOIN threadkeeper.lease l ON l.shard = h.shard AND l.until > now()
      LEFT JOIN regexp_match(l.address, '^(.+?):(/.*)/[^/]*$') a(part) ON true
      WHERE h.shard = $1::int AND h.name = $2
      """, ["\(home.shard)", home.name])
    guard let owner = owners.first else {
      throw CommandFailure(.usage, "there is no home \(home)", remedy: "`threadkeeper fleet homes list` lists them")
    }
    guard let host = owner.host, let directory = owner.directory else {
      throw CommandFailure(
        .unavailable, "no node has the shard \(home.shard) now, so nobody can answer for \(home)",
        remedy: "`threadkeeper fleet status` says why; `threadkeeper run` starts a node")
    }
    guard host == settings.fleet.address else { throw become(ssh: host) }
    var settings = settings
    settings.store.path = directory
    settings.homes = [.init(name: home.name, base: "\(settings.mqtt.baseTopic)/\(home)")]
    return settings
  }

  /// The same command there: its terminal, streams and exit status are those of this process.
  private static func become(ssh host: String) -> CommandFailure {
    guard HostName.isFit(host) else { return CommandFailure(.badInput, "the address of the node is no host: \(host)") }
    let isAtTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    // There it is that host, so that nobody is sent on without end.
    let command =
      ["THREADKEEPER_FLEET_ADDRESS=\(host)", "threadkeeper"] + CommandLine.arguments.dropFirst().map(\.quoted)
    let words = ["ssh"] + (isAtTerminal ? ["-t"] : []) + [host, command.joined(separator: " ")]
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    execvp("ssh", &pointers)
    return CommandFailure(
      .unavailable, "\(host) has the shard, and ssh cannot be started: \(String(cString: strerror(errno)))",
      remedy: "run the command on \(host)")
  }

  /// Of a list of the whole shard, what is of the home.
  static func own<Reply>(_ reply: Reply) -> Reply {
    guard let target, var list = reply as? any ListOfHomes else { return reply }
    list.keep(home: target.name)
    return list as? Reply ?? reply
  }

  /// For what a shard has in common: its daemon, its audit.
  static func noteShard() throws {
    guard let target else { return }
    try StandardStream.error.write("Of shard \(target.shard), with all of its homes:\n")
  }
}

private protocol ListOfHomes { mutating func keep(home: String) }

extension Rows: ListOfHomes {
  mutating func keep(home: String) {
    rows.removeAll { ($0 as? any RowOfHome).map { $0.home != home } ?? false }
    unreadable = unreadable?.filter { $0.key == home }
  }
}

extension ConsentReport.List: ListOfHomes {
  mutating func keep(home: String) { pending.removeAll { $0.request.home != home } }
}

extension ListGrants.Reply: ListOfHomes {
  mutating func keep(home: String) {
    grants.removeAll { $0.request.home != home }
    formerHomes = formerHomes?.filter { $0 == home }
    unreadable = unreadable?.filter { $0.key == home }
  }
}

extension ListDecisions.Reply: ListOfHomes {
  mutating func keep(home: String) { history.removeAll { $0.request.home != home } }
}

private protocol RowOfHome { var home: String { get } }

extension CredentialReport: RowOfHome {}
extension JSONValue: RowOfHome { fileprivate var home: String { text("home") } }
#endif
