import ArgumentParser
import BorderRouterAgent
import Broker
import Glibc
import Logging
import ServiceLifecycle
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport

/// `threadkeeper agent`
struct AgentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "agent", "Publish for border routers and Home Assistant, and give a Matter server the credentials.",
    """
    These run on the router's or Home Assistant's machine, or on one that reaches it, without a store and \
    without a daemon.
    """,
    subcommands: [
      AgentHomeAssistantCommand.self, AgentMatterCommand.self, AgentOTBRCommand.self, AgentSSIDCommand.self,
    ])
}

/// Where an agent publishes, and whether it seals.
struct AgentOptions: ParsableArguments {
  @Flag(help: "Look once, print what would be published, without keys, and end.") var dryRun = false

  @Option(help: ArgumentHelp("The daemon's enrolment line: seal and sign.", valueName: "line")) var daemon: String?

  @OptionGroup var key: ClientKeyOption
  @OptionGroup var broker: BrokerOptions

  func validate() throws {
    guard key.key == nil || daemon != nil else {
      throw ValidationError("--key needs --daemon: without it nothing is sealed.")
    }
  }

  /// - Parameter options: by their names, in seconds, with what they may be.
  static func check(_ options: (String, Int, ClosedRange<Int>)...) throws {
    for (name, value, range) in options where !range.contains(value) {
      throw ValidationError("--\(name) is \(range.lowerBound) to \(range.upperBound) seconds, not \(value).")
    }
  }

  /// - Returns: whose programs may listen on this machine.
  static func users(_ name: String?) throws -> Set<UInt32> {
    guard let name else { return [0] }
    guard let user = SystemAccount.user(name) else {
      throw ValidationError("There is no user \(name.printable) on this machine.")
    }
    return [0, user]
  }

  func login() throws -> AgentLogin {
    var login = AgentLogin(
      base: broker.baseTopic, user: broker.username,
      broker: try broker.configuration(subscribingTo: "\(broker.baseTopic)/out"))
    login.brokerMessage = { BrokerOptions.words($0) }
    if let daemon {
      login.keys = AgentKeys(own: try key.file().read(), daemon: try PublicIdentity.argument(daemon, whose: "--daemon"))
    }
    return login
  }

  /// Runs agents until they are stopped, or shows what they would publish.
  ///
  /// - Parameter nothing: what it means that one would publish nothing.
  func run(_ configurations: [any AgentConfiguration], nothing: String) async throws {
    do throws(MosquittoError) { for configuration in configurations { try configuration.connection.check() } } catch {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
    if dryRun {
      var isSilent = false
      for configuration in configurations {
        let lines = try await SystemThread.result { try configuration.preview() }
        for line in lines { try StandardStream.output.write(line.printable + "\n") }
        isSilent = isSilent || !lines.contains { $0.hasPrefix(broker.baseTopic) }
      }
      guard !isSilent else { throw CommandFailure(.unavailable, nothing) }
      return
    }
    StopSignals.ignoreOthers()
    let logger = Logger(label: "threadkeeper.agent") { _ in TextLogHandler() }
    var configurations = configurations
    if configurations.contains(where: \.resumes) {
      let ids = AgentFiles.clientIDs(logger)
      for index in configurations.indices { configurations[index].login.clientIDs = ids }
    }
    var services = ServiceGroupConfiguration(
      services: configurations.map { .init(service: AgentService(agent: Agent($0, logger: logger))) },
      logger: Logger(label: "threadkeeper.agent") { _ in SwiftLogNoOpLogHandler() })
    StopSignals.stop(&services)
    do { try await ServiceGroup(configuration: services).run() } catch let error as MosquittoError {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
  }
}

/// An agent that a signal stops.
private struct AgentService: Service {
  let agent: Agent

  func run() async throws { try await cancelWhenGracefulShutdown { try await agent.run() } }
}

/// Where agents keep what outlives them: in `$STATE_DIRECTORY`, which systemd sets for the unit; without it in
/// `$XDG_STATE_HOME/threadkeeper`, or `~/.local/state/threadkeeper`.
enum AgentFiles {
  static func path(of name: String) throws(CommandFailure) -> String {
    func directory(_ variable: String) -> String? {
      getenv(variable).flatMap { String(cString: $0).split(separator: ":").first }.flatMap {
        $0.hasPrefix("/") ? String($0) : nil
      }
    }
    let state = directory("XDG_STATE_HOME") ?? directory("HOME").map { $0 + "/.local/state" }
    guard let place = directory("STATE_DIRECTORY") ?? state.map({ $0 + "/threadkeeper" }) else {
      throw CommandFailure(.cannotCreate, "there is no home directory")
    }
    return "\(place)/\(name)"
  }

  /// - Returns: those of this run alone where none can be kept; then that is logged.
  static func clientIDs(_ logger: Logger) -> ClientIDs {
    do throws(CommandFailure) { return ClientIDs(secret: try secret(path(of: "agent-client-id"))) } catch {
      let remedy = error.remedy.map { "; \($0)" } ?? ""
      logger.warning("the client id can't be kept, so this run has one of its own: \(error.message)\(remedy)")
      return ClientIDs()
    }
  }

  /// The secret from which an agent's client ids follow, so that it finds its session again after a restart: a line of
  /// 32 hex digits in a file, which is made when it is not there. Two agents that start together get the same.
  ///
  /// - Throws: `CommandFailure` when it cannot be kept, or other users know it.
  private static func secret(_ path: String) throws(CommandFailure) -> [UInt8] {
    func failure() -> CommandFailure { CommandFailure(.cannotCreate, "\(path): \(String(cString: strerror(errno)))") }
    try PrivateDirectory.make(FilePath.directory(of: path))
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var status = stat()
    guard flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw failure()
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw CommandFailure(.notPermitted, "\(path) is not this user's alone", remedy: "rm \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: 2 * ClientIDs.size)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    if let secret = Hexadecimal.decode(text), secret.count == ClientIDs.size { return secret }
    let secret = RandomBytes.make(ClientIDs.size)
    guard ftruncate(descriptor, 0) == 0 else { throw failure() }
    try StandardStream.write(Hexadecimal.encode(secret) + "\n", to: descriptor)
    guard fsync(descriptor) == 0 else { throw failure() }
    return secret
  }
}
