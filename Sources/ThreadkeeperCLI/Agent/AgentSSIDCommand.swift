// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import ThreadDataset
import ThreadkeeperDaemon

#if canImport(Glibc)
import Glibc
#endif

/// `threadkeeper agent ssid`
struct AgentSSIDCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ssid",
    abstract: "Publish the SSID of a router's access point, until stopped.",
    discussion: """
      Looks at one source, and publishes an `ssid` event at the start and at each change. With the daemon's \
      line it is sealed and signed. A hidden or empty SSID is none, and publishes nothing. Logs go to \
      standard error. SIGTERM and SIGINT stop it.

      Examples:
        threadkeeper agent ssid --networkmanager --router a1b2c3d4e5f60718 \\
          --username hub --dry-run
        threadkeeper agent ssid --iw wlan0 --router a1b2c3d4e5f60718 --username hub \\
          --host broker.local --password-file /etc/hub.password
        threadkeeper agent ssid --hostapd /etc/hostapd/hostapd.conf \\
          --access-point hall --username hub --daemon "$DAEMON_LINE" \\
          --key /etc/threadkeeper/router.key
        threadkeeper agent ssid \\
          --command 'ssh hall uci get wireless.@wifi-iface[0].ssid' \\
          --interval 60 --access-point hall --username hub
      """)

  @OptionGroup(title: "Source") var source: SSIDSourceOptions

  @Option(help: ArgumentHelp("The border agent id of the router.", valueName: "id"))
  var router: String?

  @Option(
    help: ArgumentHelp(
      "In place of --router: the access point that routers of the login's team have announced.",
      valueName: "name"))
  var accessPoint: String?

  @Option(help: ArgumentHelp("Look this often, 1 to 3600.", valueName: "seconds"))
  var interval = 10

  @Option(help: ArgumentHelp("For a program that is run, 1 to 60.", valueName: "seconds"))
  var timeout = 5

  @Flag(help: "Look once, print what would be published, and end.")
  var dryRun = false

  @OptionGroup var login: AgentLoginOptions

  func validate() throws {
    try login.broker.requireLogin()
    _ = try subject()
    for (name, value, range) in [("interval", interval, 1...3_600), ("timeout", timeout, 1...60)]
    where !range.contains(value) {
      throw ValidationError(
        "--\(name) is \(range.lowerBound) to \(range.upperBound) seconds, not \(value).")
    }
  }

  func run() async throws {
    let configuration = try agentConfiguration()
    try AgentService.check([configuration])
    if let tool = configuration.source.tool, !Self.isInstalled(tool) {
      throw CommandFailure(
        .unavailable, "\(tool) is not installed, or not in PATH",
        remedy: "Install it, or name another source.")
    }
    if dryRun { return try await preview(configuration) }
    try await AgentService.run([configuration])
  }

  private func preview(_ configuration: SSIDConfiguration) async throws {
    switch try await configuration.look() {
    case .ssid(let ssid):
      try StandardStream.output.write(configuration.summary(of: ssid).printable + "\n")
    case .none:
      throw CommandFailure(.unavailable, "there is no SSID: not connected, or hidden")
    case .trouble(.unreadable(let file, let code)):
      throw CommandFailure(
        code == EACCES ? .notPermitted : .noInput,
        "\(SSIDTrouble.unreadable(file: file, code: code))")
    case .trouble(let trouble): throw CommandFailure(.unavailable, "\(trouble)")
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

  private func agentConfiguration() throws -> SSIDConfiguration {
    var configuration = SSIDConfiguration(
      try login.login(), source: try source.source(), subject: try subject())
    configuration.interval = .seconds(interval)
    configuration.timeout = .seconds(timeout)
    return configuration
  }

  /// As execvp(3) looks for it.
  private static func isInstalled(_ tool: String) -> Bool {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
    return path.split(separator: ":", omittingEmptySubsequences: false)
      .contains { access($0.isEmpty ? tool : "\($0)/\(tool)", X_OK) == 0 }
  }
}

/// Where an SSID comes from: exactly one source.
struct SSIDSourceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Run this with /bin/sh at each look; the first line that it prints is the SSID.",
      valueName: "command"))
  var command: String?

  @Flag(
    help: ArgumentHelp("Ask NetworkManager, with nmcli, for the Wi-Fi that is active on INTERFACE.")
  )
  var networkmanager = false

  @Argument(
    help: ArgumentHelp(
      "Of --networkmanager; the first that is active unless given.", valueName: "interface"))
  var interface: String?

  @Option(
    help: ArgumentHelp("Ask the kernel, with iw, for this interface.", valueName: "interface"))
  var iw: String?

  @Option(
    help: ArgumentHelp("Follow this configuration file of hostapd.", valueName: "file"))
  var hostapd: String?

  @Option(
    help: ArgumentHelp(
      "Of --hostapd: the interface of the BSS; the first BSS unless given.", valueName: "interface")
  )
  var bss: String?

  func validate() throws { _ = try source() }

  func source() throws -> SSIDSource {
    let sources: [SSIDSource?] = [
      command.map { .command($0) }, networkmanager ? .networkManager(interface: interface) : nil,
      iw.map { .iw(interface: $0) }, hostapd.map { .hostapd(file: $0, bss: bss) },
    ]
    let named = sources.compactMap(\.self)
    guard named.count == 1, let source = named.first else {
      throw ValidationError("Give one of --command, --networkmanager, --iw and --hostapd.")
    }
    guard interface == nil || networkmanager else {
      throw ValidationError("An interface without an option belongs to --networkmanager.")
    }
    guard bss == nil || hostapd != nil else { throw ValidationError("--bss needs --hostapd.") }
    guard command != "", hostapd != "" else {
      throw ValidationError("--command and --hostapd can't be empty.")
    }
    for name in [interface, iw].compactMap(\.self) where !SSIDSource.isInterface(name) {
      throw ValidationError("\(name) can't be the name of an interface.")
    }
    return source
  }
}
