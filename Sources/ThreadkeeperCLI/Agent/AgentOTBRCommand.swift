// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import BridgeProtocol
import LogFormat
import Logging
import MosquittoClient
import SealedEnvelope
import ServiceLifecycle
import SodiumCrypto
import ThreadkeeperDaemon

#if canImport(Glibc)
  import Glibc
#endif

/// `threadkeeper agent otbr`
struct AgentOTBRCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "otbr",
    abstract: "Publish for OpenThread Border Routers, until stopped.",
    discussion: """
      Asks each router over its REST interface and publishes its announcement, each change of its dataset, \
      network and Thread state, heartbeats, why it is offline, and that it has left. With the daemon's line \
      all of it is sealed and signed. Logs go to standard error. SIGTERM and SIGINT stop it cleanly: it \
      publishes that the routers are offline.

      Examples:
        threadkeeper agent otbr --username hub --dry-run
        threadkeeper agent otbr --username hub --name 'Living room' \\
          --host broker.local --password-file /etc/hub.password
        threadkeeper agent otbr --username hub --daemon "$DAEMON_LINE" \\
          --key /etc/threadkeeper/router.key --adopt
        threadkeeper agent otbr --username hub --name 'Living room' --name Attic \\
          http://127.0.0.1:8081 http://attic.local:8081
      """)

  @Argument(
    help: ArgumentHelp(
      "REST interfaces of routers; http://127.0.0.1:8081 unless given.", valueName: "url"))
  var urls: [String] = []

  @Option(
    help: ArgumentHelp(
      "What people call the router; repeat it for several, in the order of the URLs.",
      valueName: "text"))
  var name: [String] = []

  @Option(help: ArgumentHelp("The maker of the routers.", valueName: "text"))
  var vendor: String?

  @Option(help: ArgumentHelp("The model of the routers.", valueName: "text"))
  var model: String?

  @Option(help: ArgumentHelp("The daemon's enrolment line: seal and sign.", valueName: "line"))
  var daemon: String?

  @OptionGroup var key: ClientKeyOption

  @Flag(
    help: ArgumentHelp(
      "Take the datasets that a person agrees to give the router.",
      discussion: """
        Needs --daemon: only what that daemon has signed, for this router, counts. Only for a router on this \
        machine, because its REST interface has no encryption.
        """))
  var adopt = false

  @Flag(
    help: ArgumentHelp(
      "Show a code of 9 digits with which a phone gets the network's credentials.",
      discussion: "Only on a terminal, and only for routers that have credential sharing."))
  var credentialSharing = false

  @Flag(help: "Look once, print what would be published, without keys, and end.")
  var dryRun = false

  @OptionGroup var agent: AgentOptions
  @OptionGroup var broker: BrokerOptions

  func validate() throws {
    let addresses = try self.addresses()
    guard name.count <= addresses.count else {
      throw ValidationError("There are more names than routers.")
    }
    for text in name + [vendor, model].compactMap({ $0 })
    where text.count > InboundLimits.textCharacters {
      throw ValidationError(
        "--name, --vendor and --model have at most \(InboundLimits.textCharacters) characters.")
    }
    guard !adopt || daemon != nil else {
      throw ValidationError(
        "--adopt needs --daemon: without it, anybody could have sent a dataset.")
    }
    guard !adopt || addresses.allSatisfy(\.isLoopback) else {
      throw ValidationError(
        "--adopt is for a router on this machine, at 127.0.0.1, [::1] or localhost: its REST interface has no "
          + "encryption, and the network key would be sent to whoever answers. Run the agent on the router itself."
      )
    }
    guard !credentialSharing || StandardStream.output.isTerminal else {
      throw ValidationError("--credential-sharing shows its code on a terminal only.")
    }
  }

  func run() async throws {
    // Before a key, a password or a dataset is read.
    try? ProcessHardening.forbidCoreDumps()
    let agents = try configurations()
    do throws(MosquittoError) {
      for agent in agents { try agent.check() }
    } catch {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
    signal(SIGPIPE, SIG_IGN)
    if dryRun { return try await preview(agents) }
    let logger = Logger(label: "threadkeeper.agent") { _ in TextLogHandler() }
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: agents.map { .init(service: AgentService(RouterAgent($0, logger: logger))) },
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: Logger(label: "threadkeeper.agent") { _ in SwiftLogNoOpLogHandler() }))
    do {
      try await group.run()
    } catch let error as MosquittoError {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
  }

  private func preview(_ agents: [AgentConfiguration]) async throws {
    let logger = Logger(label: "threadkeeper.agent") { _ in SwiftLogNoOpLogHandler() }
    var isSilent = false
    for configuration in agents {
      let lines = try await RouterAgent(configuration, logger: logger).preview()
      for line in lines { try StandardStream.output.write(line.printable + "\n") }
      if lines.isEmpty {
        try StandardStream.output.write("\(configuration.address): nothing to announce\n")
      }
      isSilent = isSilent || !lines.contains { $0.hasPrefix(broker.baseTopic) }
    }
    if isSilent {
      throw CommandFailure(.unavailable, "a router does not report itself, or is on no network")
    }
  }

  private func addresses() throws -> [HTTPAddress] {
    let texts = urls.isEmpty ? ["http://127.0.0.1"] : urls
    let addresses = try texts.map { text in
      guard let address = HTTPAddress(text) else {
        throw ValidationError(
          "A router's REST interface is http://HOST:PORT, without a path or a login.")
      }
      return address
    }
    guard Set(addresses).count == addresses.count else {
      throw ValidationError("A router is there twice.")
    }
    return addresses
  }

  private func keys() throws -> AgentKeys? {
    guard let daemon else { return nil }
    return AgentKeys(
      own: try key.file().read(), daemon: try PublicIdentity.argument(daemon, whose: "--daemon"))
  }

  private func configurations() throws -> [AgentConfiguration] {
    let connection = try broker.configuration(subscribingTo: "\(broker.baseTopic)/out")
    let keys = try keys()
    let census = RouterCensus()
    var result: [AgentConfiguration] = []
    for (index, address) in try addresses().enumerated() {
      var configuration = AgentConfiguration(
        address: address, base: broker.baseTopic, user: broker.username, broker: connection)
      configuration.description = RouterDescription(
        name: index < name.count ? name[index] : nil, vendor: vendor, model: model)
      configuration.keys = keys
      configuration.census = census
      configuration.adopts = adopt
      configuration.brokerMessage = { BrokerOptions.words($0) }
      if credentialSharing {
        configuration.showCode = { agent, outcome in Self.show(outcome, of: "\(agent)") }
      }
      agent.apply(to: &configuration)
      result.append(configuration)
    }
    return result
  }

  /// On the terminal, and nowhere else: whoever has the code gets the network's key.
  private static func show(
    _ outcome: CredentialSharing.Outcome, of agent: String
  ) {
    let text =
      switch outcome {
      case .code(let code):
        "Code of \(agent), for \(CredentialSharing.lifetime / 60_000) minutes: \(code)\n"
      case .none(let why): "There is no code of \(agent): \(why)\n"
      }
    guard StandardStream.output.isTerminal else { return }
    try? StandardStream.output.write(text)
  }
}

/// An agent that a signal stops.
private struct AgentService: Service {
  let agent: RouterAgent

  init(_ agent: RouterAgent) { self.agent = agent }

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await agent.run() }
  }
}
