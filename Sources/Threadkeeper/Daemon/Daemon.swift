import Bridge
import Broker
import FoundationEssentials
import Glibc
import Home
import KeychainCore
import Logging
import SQLiteDatabase
import ServiceLifecycle
import Settings
import StatusPage
import ThreadkeeperSupport

/// The composition root: store, broker and bridge, put together from the settings.
struct Daemon {
  let operations: OperationContext
  let keychain: Keychain
  let privateBroker: PrivateBroker?
  /// Of the broker.
  let port: UInt16
  let page: PageServer?
  /// Nil where none wants notices.
  let serviceManager: ServiceManager?

  /// The private broker, where the settings want one.
  var embeddedBroker: EmbeddedBroker? { privateBroker?.broker }

  /// Opens the store, making it where there is none, starts the private broker where one is wanted, and connects.
  /// `end` undoes it.
  ///
  /// - Parameters:
  ///   - logins: of the private broker.
  ///   - ask: for what opens the store, where nothing at hand does.
  static func start(
    _ settings: Settings, logins: [EmbeddedBrokerConfiguration.Login] = EmbeddedBrokerConfiguration.Login.home,
    ask: @escaping StoreWays.Ask, logger: Logger
  ) throws -> Daemon {
    let keychain = try openOrCreate(settings, ask: ask, logger: logger)
    do {
      let broker = try settings.mqtt.host.isEmbedded ? PrivateBroker.start(settings, logins, logger: logger) : nil
      let login = findLogin(settings, keychain, logger: logger)
      var connection = MosquittoConfiguration(settings.mqtt, embeddedBroker: broker?.broker)
      if login.source == .keychain {
        connection.username = login.username
        connection.password = login.password?.revealed
      }
      var configuration = BridgeConfiguration(settings, version: threadkeeperVersion)
      configuration.loginRemedy = login.remedy
      configuration.lastBackup = { BackupNote.read(settings).map { WireTime(milliseconds: $0 * 1_000) } }
      configuration.page = PageToken.addressInHome(settings.http)
      let clientID = try SessionName.make(settings, keychain)
      let environment = ProcessInfo.processInfo.environment
      let serviceManager = ServiceManager(settings, environment: environment)
      if serviceManager != nil { configuration.watchdog = WatchdogLimit.duration(environment: environment) }
      do {
        let bridge = try Bridge(
          configuration, connection: connection, clientID: clientID, store: SealedRecords(keychain),
          connectsEarly: true, onTurn: { serviceManager?.turn($0) }, logger: logger)
        let operations = OperationContext(settings: settings, bridge: bridge, login: login, logger: logger)
        return Daemon(
          operations: operations, keychain: keychain, privateBroker: broker,
          port: broker?.broker.port ?? connection.port, page: PageServer(operations), serviceManager: serviceManager)
      } catch {
        broker?.stop()
        throw error
      }
    } catch {
      keychain.close()
      throw error
    }
  }

  /// Runs until it is stopped (`StopSignals`), or until it cannot go on.
  ///
  /// - Parameter story: stands for the local network, and ends the daemon when it ends.
  func run(playing story: (any Service)? = nil) async throws {
    let (settings, bridge, logger) = (operations.settings, operations.bridge, operations.logger)
    if case .readOnly(let reason) = keychain.condition {
      logger.critical("the store is not as it was left", metadata: ["reason": "\(reason)"])
    }
    DaemonStatus.Teams(settings, bridge.loop.homes.snapshot).log(to: logger)
    ApproverNotice(settings: settings, snapshot: bridge.loop.homes.snapshot).log(to: logger)
    let clients = ClientSocket(
      settings: settings, bridge: bridge,
      finished: { [figures = bridge.monitor.figures] in figures.localCalls.add($1, to: $0) }, logger: logger)
    let localAPI = LocalAPISocket(operations, port: port, page: page)
    let readers = localAPI.forReaders(environment: ProcessInfo.processInfo.environment)
    // The last one is stopped first.
    let services: [(any Service)?] = [
      privateBroker, bridge, clients, localAPI, story == nil ? bridge.discovery.map(RouterDiscovery.init) : nil,
      StartMemory(logger: logger), readers, page, serviceManager,
    ]
    var configuration = ServiceGroupConfiguration(
      // Without a name it is the description: all that is in a service, which takes a fifth of the start.
      services: services.compactMap(\.self).map { .init(service: $0, serviceName: "\(type(of: $0))") },
      logger: Logger(label: "threadkeeper.services") { _ in SwiftLogNoOpLogHandler() })
    if let story {
      configuration.services.append(
        .init(
          service: story, successTerminationBehavior: .gracefullyShutdownGroup,
          failureTerminationBehavior: .gracefullyShutdownGroup))
    }
    StopSignals.stop(&configuration)
    let group = ServiceGroup(configuration: configuration)
    do { try await group.run() } catch let error as MosquittoError {
      // Everything else is tried again for as long as the daemon runs.
      throw CommandFailure(.configuration, error.message)
    }
  }

  func end() {
    operations.bridge.abandon()
    keychain.close()
    privateBroker?.stop()
  }

  /// Search first: what is found is used, and nobody is bothered.
  private static func findLogin(_ settings: Settings, _ keychain: Keychain, logger: Logger) -> LoginInUse {
    do { return try LoginInUse.find(settings, keychain) } catch {
      // Not the same as "not found". The rest of the daemon works, and the broker's refusal alerts.
      let reason = (error as? KeychainError)?.message ?? "\(error)"
      logger.error("the stored login cannot be read", metadata: ["reason": "\(reason)"])
      return LoginInUse(username: settings.mqtt.username, source: .unreadable)
    }
  }

  private static func openOrCreate(_ settings: Settings, ask: @escaping StoreWays.Ask, logger: Logger) throws
    -> Keychain
  {
    var options = KeychainOptions()
    options.defersUpkeep = true
    options.auditor = "daemon"
    guard !OpenStore.exists(settings) else { return try OpenStore.forWriting(settings, options: options, ask: ask) }
    let keychain = try OpenStore.create(settings, options: options)
    logger.notice(
      "made a new store; back up its key, without which nobody can read it",
      metadata: ["store": "\(settings.store.path)", "key_file": "\(settings.store.keyFile)"])
    return keychain
  }
}

extension Settings.MQTT.Host { var isEmbedded: Bool { self == .embedded } }

extension MosquittoConfiguration {
  fileprivate init(_ mqtt: Settings.MQTT, embeddedBroker: EmbeddedBroker?) {
    switch mqtt.host {
    case .named(let name): self.init(mqtt, host: name)
    case .embedded:
      self.init(mqtt, host: "127.0.0.1")
      tls = nil
      // On the port anybody could be given the password while the broker is away.
      socket = embeddedBroker?.socket
      port = embeddedBroker?.port ?? mqtt.port
      username = "threadkeeper"
      password = embeddedBroker?.password(of: "threadkeeper")
    }
  }
}

extension MosquittoConfiguration {
  /// The connection to a broker that is not ours.
  package init(_ mqtt: Settings.MQTT, host: String) {
    self.init(
      host: host, port: mqtt.port, clientID: mqtt.clientID?.revealed ?? "threadkeeper", username: mqtt.username,
      password: mqtt.password?.revealed, protocolVersion: mqtt.protocolVersion, tls: mqtt.tls)
    brokerUsers = Set(mqtt.brokerUsers)
  }
}

extension Settings {
  /// The home that a command is about.
  ///
  /// - Parameter name: may be left out where there is one home only.
  func home(named name: String?) throws(CommandFailure) -> String {
    if let name {
      guard homes.contains(where: { $0.name == name }) else {
        throw CommandFailure(.usage, "there is no home \(name)", remedy: "homes: \(homes.map(\.name).listed)")
      }
      return name
    }
    guard homes.count == 1, let only = homes.first else {
      throw CommandFailure(.usage, "there is more than one home", remedy: "say which with --home")
    }
    return only.name
  }
}

/// What the MQTT client ids begin with.
///
/// Whoever connects with a client id gets that client's session and the events that wait in it. So the name
/// follows from a key of the store, and from nothing that is published. It also follows from the machine and the
/// store's directory: a copy of the store on another machine, or in another directory, has sessions of its own.
enum SessionName {
  /// - Parameter machine: as `machineID()` has it.
  /// - Returns: the beginning of `<name>-intake` and `<name>-status`.
  static func make(_ settings: Settings, _ keychain: Keychain, machine: String = machineID()) throws(KeychainError)
    -> String
  {
    if let chosen = settings.mqtt.clientID { return chosen.revealed }
    let label = "mqtt session\n\(machine)\n\(realPath(keychain.location.directory))"
    return "threadkeeper-" + (try pseudonym(for: label, keychain))
  }

  private static func pseudonym(for label: String, _ keychain: Keychain) throws(KeychainError) -> String {
    do {
      guard keychain.condition == .healthy else {
        return try keychain.database.read { try keychain.pseudonym(for: label, in: $0) }
      }
      return try keychain.database.write { try keychain.pseudonym(for: label, in: $0) }
    } catch { throw error as? KeychainError ?? KeychainError(.internalError, "\(error)") }
  }

  /// The machine's own id (`machine-id(5)`); empty where it has none, as in some containers.
  static func machineID() -> String {
    for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
      let id = text.prefix { $0.isHexDigit }
      if !id.isEmpty { return String(id) }
    }
    return ""
  }

  private static func realPath(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// Lets the kernel have the memory back that only the start needed, once the daemon has come to rest.
///
/// A start runs through most of the program's code, an idle daemon through a tenth of it. The kernel keeps mapped code
/// longer than any other copy of a file, on a small machine at the cost of what is in use.
struct StartMemory: Service {
  /// Connecting, reading what the broker has retained and checking the store are usually over by then.
  static let settled = Duration.seconds(5)

  let logger: Logger

  func run() async throws {
    do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.settled) } } catch { return }
    do {
      let bytes = try ProgramCode.unmap()
      logger.debug("unmapped the program's code", metadata: ["KiB": "\(bytes / 1024)"])
    } catch { logger.debug("the program's code stays mapped", metadata: ["reason": "\(error)"]) }
    try? await gracefulShutdown()
  }
}

/// The code of the program and its libraries, as the kernel has mapped it from their files.
enum ProgramCode {
  /// Takes all of it out of this process's memory. What runs next is mapped from the kernel's copy of the file, 64 KiB
  /// at a time.
  ///
  /// - Returns: the bytes that are mapped, whether they were in memory or not.
  /// - Throws: why the mappings can't be read, or what madvise(2) refused with.
  static func unmap() throws -> Int {
    guard let maps = KernelFile.text("/proc/self/smaps") else { throw POSIXError(.EIO) }
    let segments = segments(in: maps)
    for segment in segments {
      let start = UnsafeMutableRawPointer(bitPattern: segment.lowerBound)
      guard madvise(start, segment.count, MADV_DONTNEED) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
      }
    }
    return segments.reduce(0) { $0 + $1.count }
  }

  /// The addresses of what is executable, not writable, of a file, and as it is in the file: a page that somebody has
  /// written to, such as a tool that patches code, would be lost.
  ///
  /// - Parameter maps: proc_pid_smaps(5): for each mapping a line such as
  ///   `55f0a000-55f0c000 r-xp 00001000 fd:00 1234   /usr/bin/threadkeeper`, and after it lines such as
  ///   `Anonymous:             0 kB`.
  static func segments(in maps: String) -> [Range<UInt>] {
    var found: [Range<UInt>] = []
    var candidate: Range<UInt>?
    // By bytes, and without the other lines of a mapping: else it takes longer than the rest of a start.
    for line in maps.utf8.split(separator: UInt8(ascii: "\n")) {
      let isField = line.first.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? false
      guard !isField || line.starts(with: "Anonymous:".utf8) else { continue }
      let words = line.split(separator: UInt8(ascii: " ")).map { Substring($0) }
      if words.first == "Anonymous:" {
        if let candidate, words.count > 1, words[1] == "0" { found.append(candidate) }
        candidate = nil
      } else if words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/") {
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        candidate = ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
      } else {
        candidate = nil
      }
    }
    return found
  }
}
