import ArgumentParser
import Settings
import ThreadRequests

/// A home of a fleet, as commands name it: `17/smith`.
package struct HomeAddress: Hashable, CustomStringConvertible {
  package static let shards = 1...65_535

  package let shard: Int
  package let name: String

  package var description: String { "\(shard)/\(name)" }

  package init(shard: Int, name: String) { (self.shard, self.name) = (shard, name) }

  /// - Throws: `CommandFailure` with status 64.
  package init(_ text: String) throws(CommandFailure) {
    guard let parts = text.wholeMatch(of: /([0-9]{1,5})\/([a-z0-9_-]{1,32})/)?.output, let shard = Int(parts.1),
      Self.shards.contains(shard)
    else {
      throw CommandFailure(
        .usage, "`\(text)` is no home of a fleet",
        remedy: "write it as 17/smith: names have 1 to 32 small letters, digits, `-`, `_`")
    }
    self.init(shard: shard, name: String(parts.2))
  }
}

/// What a program that is built with fleets adds to the commands.
package struct FleetParts {
  @TaskLocal static var current: FleetParts?

  let commands: [CommandGroup]
  /// `run` where `store.url` is set.
  let runNode: @Sendable (Settings) async throws -> Void
  /// The settings of this host, by which the daemon of a home is asked.
  let settings: @Sendable (Settings, HomeAddress) throws -> Settings

  package init(
    commands: [CommandGroup], runNode: @escaping @Sendable (Settings) async throws -> Void,
    settings: @escaping @Sendable (Settings, HomeAddress) throws -> Settings
  ) { (self.commands, self.runNode, self.settings) = (commands, runNode, settings) }

  static func built() throws(CommandFailure) -> FleetParts {
    if let current { return current }
    throw CommandFailure(
      .configuration, "`store.url` is set, and this program is built without fleets",
      remedy: "leave it out, or build with `make build FLEET=1`: see docs/guides/fleet.md")
  }
}

/// `--home SHARD/NAME`, which every command takes that asks a daemon: the node that has the shard is asked.
enum FleetHome {
  /// What the command is about; nil: no home of a fleet.
  @TaskLocal static var target: HomeAddress?

  /// - Parameter words: the arguments of this process.
  static func parse(_ words: [String]) async throws -> (home: HomeAddress?, command: any ParsableCommand) {
    guard FleetParts.current != nil else { return (nil, try await ThreadkeeperCommand.parsed(words)) }
    var words = words
    let place = words.firstIndex { $0 == "--home" || $0.hasPrefix("--home=") || $0 == "--" } ?? words.endIndex
    if let word = words[place...].first, word.hasPrefix("--home=") {
      words.replaceSubrange(place...place, with: ["--home", String(word.dropFirst(7))])
    }
    guard words[place...].first == "--home", words[place...].dropFirst().first?.contains("/") == true else {
      return (nil, try await ThreadkeeperCommand.parsed(words))
    }
    let home = try HomeAddress(words[place + 1])
    words[place + 1] = home.name
    if let command = try? await ThreadkeeperCommand.parsed(words) { return (home, command) }
    // Lists of everything have no such option.
    words.removeSubrange(place...place + 1)
    let command = try await ThreadkeeperCommand.parsed(words)
    guard !(command is DoctorCommand || command is CheckConfigCommand || command is SetupCommand) else {
      throw notForOne
    }
    return (home, command)
  }

  static let notForOne = CommandFailure(
    .usage, "this command is not about one home of a fleet", remedy: "leave `--home` out")

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
