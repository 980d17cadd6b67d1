#if Fleet
import ArgumentParser
import Broker
import Glibc
import Settings
import Threadkeeper

extension FleetParts {
  package static var all: Self {
    .init(
      commands: [CommandGroup(name: "Fleet", subcommands: [FleetCommand.self])],
      runNode: { settings in
        let node = try FleetNode.start(settings, logger: .init(settings.log))
        // Never freed: to free a million routers would delay the end by seconds.
        _ = Unmanaged.passRetained(node)
        try await node.run()
      }, settings: { try settings($0, of: $1) })
  }

  /// The settings by which its daemon is asked. Where another host has it, this process becomes `ssh`.
  ///
  /// - Parameter settings: of this host.
  /// - Throws: `CommandFailure`: 64 where there is no such home, 69 where nobody has its shard.
  private static func settings(_ settings: Settings, of home: HomeAddress) throws(CommandFailure) -> Settings {
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
}
#endif
