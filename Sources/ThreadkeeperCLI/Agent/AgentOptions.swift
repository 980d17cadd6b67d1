// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import Broker
import Glibc
import Logging
import ServiceLifecycle
import SodiumCrypto
import ThreadDataset
import ThreadkeeperDaemon
import ThreadkeeperSupport

#if canImport(Glibc)
import Glibc
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How often an agent looks and publishes. All in seconds.
struct AgentOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Look at the router this often.", valueName: "seconds"))
  var poll = 5

  @Option(
    help: ArgumentHelp(
      "Publish a heartbeat this often; threadkeeper takes 300 s without one for offline.",
      valueName: "seconds"))
  var heartbeat = 60

  @Option(
    help: ArgumentHelp(
      "Publish that it is offline when it has been so for this long.",
      discussion: "An update or a restart of its agent takes less.", valueName: "seconds"))
  var hold = 30

  @Option(help: ArgumentHelp("For each request to the router.", valueName: "seconds"))
  var requestTimeout = 5

  func validate() throws {
    for (name, value, range) in [
      ("poll", poll, 1...60), ("heartbeat", heartbeat, 1...240), ("hold", hold, 0...600),
      ("request-timeout", requestTimeout, 1...60),
    ] where !range.contains(value) {
      throw ValidationError(
        "--\(name) is \(range.lowerBound) to \(range.upperBound) seconds, not \(value).")
    }
  }

  func apply(to configuration: inout RouterConfiguration) {
    configuration.poll = .seconds(poll)
    configuration.rhythm = .init(heartbeat: .seconds(heartbeat), hold: .seconds(hold))
    configuration.requestTimeout = .seconds(requestTimeout)
  }
}

/// `threadkeeper agent`
struct AgentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract:
      "Publish for border routers, and for Home Assistant, which don't publish by themselves.",
    discussion: """
      These run on the router's or Home Assistant's machine, or on one that reaches it, without a store and \
      without a daemon.
      """,
    subcommands: [
      AgentHomeAssistantCommand.self, AgentOTBRCommand.self, AgentSSIDCommand.self,
    ])
}

/// Where an agent publishes, and whether it seals.
struct AgentLoginOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The daemon's enrolment line: seal and sign.", valueName: "line"))
  var daemon: String?

  @OptionGroup var key: ClientKeyOption
  @OptionGroup var broker: BrokerOptions

  func validate() throws {
    guard key.key == nil || daemon != nil else {
      throw ValidationError("--key needs --daemon: without it nothing is sealed.")
    }
  }

  func login() throws -> AgentLogin {
    var login = AgentLogin(
      base: broker.baseTopic, user: broker.username,
      broker: try broker.configuration(subscribingTo: "\(broker.baseTopic)/out"))
    login.brokerMessage = { BrokerOptions.words($0) }
    if let daemon {
      login.keys = AgentKeys(
        own: try key.file().read(), daemon: try PublicIdentity.argument(daemon, whose: "--daemon"))
    }
    return login
  }
}

/// An agent that a signal stops.
struct AgentService: Service {
  let agent: Agent

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await agent.run() }
  }

  /// What can never work with the broker.
  static func check(_ configurations: [any AgentConfiguration]) throws(CommandFailure) {
    do throws(MosquittoError) {
      for configuration in configurations { try configuration.check() }
    } catch {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
  }

  /// Runs them until they are stopped.
  static func run(
    _ configurations: [any AgentConfiguration], warning: String? = nil
  ) async throws {
    StopSignals.ignoreOthers()
    let logger = Logger(label: "threadkeeper.agent") { _ in TextLogHandler() }
    if let warning { logger.warning("\(warning)") }
    var services = ServiceGroupConfiguration(
      services: configurations.map {
        .init(service: AgentService(agent: Agent($0, logger: logger)))
      },
      logger: Logger(label: "threadkeeper.agent") { _ in SwiftLogNoOpLogHandler() })
    StopSignals.stop(&services)
    let group = ServiceGroup(configuration: services)
    do {
      try await group.run()
    } catch let error as MosquittoError {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
  }
}

/// Where agents keep what outlives them: in `$STATE_DIRECTORY`, which systemd sets for the unit; without it in
/// `$XDG_STATE_HOME/threadkeeper`, or `~/.local/state/threadkeeper`.
enum AgentFiles {
  static func path(of name: String) throws(CommandFailure) -> String {
    func directory(_ variable: String) -> String? {
      guard let path = ProcessInfo.processInfo.environment[variable]?.split(separator: ":").first,
        path.hasPrefix("/")
      else { return nil }
      return String(path)
    }
    let state = directory("XDG_STATE_HOME") ?? directory("HOME").map { $0 + "/.local/state" }
    guard let place = directory("STATE_DIRECTORY") ?? state.map({ $0 + "/threadkeeper" }) else {
      throw CommandFailure(.cannotCreate, "there is no home directory")
    }
    return "\(place)/\(name)"
  }
}

/// Keeps the secret from which an agent's client ids follow, so that it finds its session again after a restart: a line
/// of 32 hex digits.
struct ClientIDFile {
  private let path: String

  /// - Returns: those of this run alone where none can be kept, with the reason.
  static func clientIDs() -> (ids: ClientIDs, warning: String?) {
    do throws(CommandFailure) {
      let file = Self(path: try AgentFiles.path(of: "agent-client-id"))
      return (ClientIDs(secret: try file.secret()), nil)
    } catch {
      let remedy = error.remedy.map { "; \($0)" } ?? ""
      return (
        ClientIDs(),
        "the client id can't be kept, so this run has one of its own: \(error.message)\(remedy)"
      )
    }
  }

  /// What is in the file, which is made when it is not there. Two agents that start together get the same.
  ///
  /// - Throws: `CommandFailure` when it cannot be kept, or other users know it.
  private func secret() throws(CommandFailure) -> [UInt8] {
    try PrivateDirectory.make(FilePath.directory(of: path))
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { close(descriptor) }
    var status = stat()
    guard flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { throw Self.failure(path) }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        .notPermitted, "\(path) is not this user's alone", remedy: "rm \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: 2 * ClientIDs.size)
    let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    if let secret = Hexadecimal.decode(
      String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)),
      secret.count == ClientIDs.size
    {
      return secret
    }
    let secret = RandomBytes.make(ClientIDs.size)
    guard ftruncate(descriptor, 0) == 0 else { throw Self.failure(path) }
    try StandardStream.write(Hexadecimal.encode(secret) + "\n", to: descriptor)
    guard fsync(descriptor) == 0 else { throw Self.failure(path) }
    return secret
  }

  private static func failure(_ path: String) -> CommandFailure {
    CommandFailure(.cannotCreate, "\(path): \(String(cString: strerror(errno)))")
  }
}
