import ArgumentParser
import BorderRouterAgent
import Glibc
import ThreadDataset

/// `threadkeeper agent ssid`
struct AgentSSIDCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "ssid", "Publish the SSID of a router's access point, until stopped.",
    """
    Looks at one source, and publishes an `ssid` event at the start and at each change. With the daemon's \
    line it is sealed and signed. A hidden or empty SSID is none, and publishes nothing. Logs go to \
    standard error. SIGTERM and SIGINT stop it.

    Examples:
      threadkeeper agent ssid --command 'cat /run/ssid' --router a1b2c3d4e5f60718 \\
        --username hub --host broker.local --password-file /etc/hub.password --dry-run
      threadkeeper agent ssid --hostapd /etc/hostapd/hostapd.conf \\
        --access-point hall --username hub --daemon "$DAEMON_LINE" \\
        --key /etc/threadkeeper/router.key
      threadkeeper agent ssid \\
        --command 'ssh hall uci get wireless.@wifi-iface[0].ssid' \\
        --interval 60 --access-point hall --username hub
    """)

  @Option(
    help: ArgumentHelp(
      "Run this with /bin/sh at each look; the first line that it prints is the SSID.", valueName: "command"))
  var command: String?

  @Option(help: ArgumentHelp("Follow this configuration file of hostapd.", valueName: "file")) var hostapd: String?

  @Option(
    help: ArgumentHelp("Of --hostapd: the interface of the BSS; the first BSS unless given.", valueName: "interface"))
  var bss: String?

  @Option(help: ArgumentHelp("The border agent id of the router.", valueName: "id")) var router: String?

  @Option(
    help: ArgumentHelp(
      "In place of --router: the access point that routers of the login's team have announced.", valueName: "name"))
  var accessPoint: String?

  @Option(help: ArgumentHelp("Look this often, 1 to 3600.", valueName: "seconds")) var interval = 10

  @Option(help: ArgumentHelp("For a command, 1 to 60.", valueName: "seconds")) var timeout = 5

  @OptionGroup var agent: AgentOptions

  func validate() throws {
    try agent.broker.requireLogin()
    _ = try (origin(), subject())
    try AgentOptions.check(("interval", interval, 1...3_600), ("timeout", timeout, 1...60))
  }

  func run() async throws {
    var configuration = SSIDConfiguration(try agent.login(), origin: try origin(), subject: try subject())
    configuration.interval = .seconds(interval)
    configuration.timeout = .seconds(timeout)
    do { try await agent.run([configuration], nothing: "there is no SSID: not connected, or hidden") } catch let trouble
      as SSIDTrouble
    {
      var status = ExitStatus.unavailable
      if case .unreadable(_, let code) = trouble { status = code == EACCES ? .notPermitted : .noInput }
      throw CommandFailure(status, "\(trouble)")
    }
  }

  private func origin() throws -> SSIDOrigin {
    guard command != "", hostapd != "" else { throw ValidationError("--command and --hostapd can't be empty.") }
    switch (command, hostapd) {
    case (let command?, nil) where bss == nil: return .command(command)
    case (nil, let file?): return .hostapd(file: file, bss: bss)
    case (_?, nil): throw ValidationError("--bss needs --hostapd.")
    default: throw ValidationError("Give one of --command and --hostapd.")
    }
  }

  private func subject() throws -> SSIDSubject {
    switch (router, accessPoint) {
    case (let router?, nil):
      guard let agent = BorderAgentID(hex: router) else {
        throw ValidationError("--router is a border agent id: 16 or 32 hex digits.")
      }
      return .router(agent)
    case (nil, let name?):
      guard (1...128).contains(name.count), name == name.printable else {
        throw ValidationError("--access-point is a name of 1 to 128 characters.")
      }
      return .accessPoint(name)
    default: throw ValidationError("Give one of --router and --access-point.")
    }
  }
}
