// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import LogFormat
import Logging
import MosquittoClient
import SealedEnvelope
import ServiceLifecycle
import SodiumCrypto
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

  @Option(help: ArgumentHelp("The daemon's enrolment line: seal and sign.", valueName: "line"))
  var daemon: String?

  @OptionGroup var key: ClientKeyOption

  @Flag(help: "Look once, print what would be published, and end.")
  var dryRun = false

  @OptionGroup var broker: BrokerOptions

  func validate() throws {
    _ = try subject()
    for (name, value, range) in [("interval", interval, 1...3_600), ("timeout", timeout, 1...60)]
    where !range.contains(value) {
      throw ValidationError(
        "--\(name) is \(range.lowerBound) to \(range.upperBound) seconds, not \(value).")
    }
  }

  func run() async throws {
    let configuration = try agentConfiguration()
    do throws(MosquittoError) {
      try configuration.check()
    } catch {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
    if let tool = configuration.source.tool, !Self.isInstalled(tool) {
      throw CommandFailure(
        .unavailable, "\(tool) is not installed, or not in PATH",
        remedy: "Install it, or name another source.")
    }
    signal(SIGPIPE, SIG_IGN)
    if dryRun { return try await preview(configuration) }
    try? ProcessHardening.forbidCoreDumps()
    let logger = Logger(label: "threadkeeper.agent") { _ in TextLogHandler() }
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [.init(service: SSIDService(agent: SSIDAgent(configuration, logger: logger)))],
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: Logger(label: "threadkeeper.agent") { _ in SwiftLogNoOpLogHandler() }))
    do {
      try await group.run()
    } catch let error as MosquittoError {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
  }

  private func preview(_ configuration: SSIDConfiguration) async throws {
    let agent = SSIDAgent(
      configuration, logger: Logger(label: "threadkeeper.agent") { _ in SwiftLogNoOpLogHandler() })
    switch try await agent.look() {
    case .ssid(let ssid):
      try StandardStream.output.write(agent.summary(of: ssid).printable + "\n")
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
      source: try source.source(), subject: try subject(), base: broker.baseTopic,
      user: broker.username,
      broker: try broker.configuration(subscribingTo: "\(broker.baseTopic)/out"))
    configuration.interval = .seconds(interval)
    configuration.timeout = .seconds(timeout)
    configuration.brokerWords = { BrokerOptions.words($0) }
    if let daemon {
      configuration.keys = AgentKeys(
        own: try key.file().read(), daemon: try PublicIdentity.argument(daemon, whose: "--daemon"))
    }
    return configuration
  }

  /// As execvp(3) looks for it.
  private static func isInstalled(_ tool: String) -> Bool {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
    return path.split(separator: ":", omittingEmptySubsequences: false)
      .contains { access($0.isEmpty ? tool : "\($0)/\(tool)", X_OK) == 0 }
  }
}

/// An agent that a signal stops.
private struct SSIDService: Service {
  let agent: SSIDAgent

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await agent.run() }
  }
}
