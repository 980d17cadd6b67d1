import Bridge
import Broker
import FoundationEssentials
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import StatusPage

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

  /// Opens the store, making it where there is none, and starts the private broker where one is
  /// wanted. `end` undoes it.
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
      let clientID = try SessionName.make(settings, keychain)
      let serviceManager = ServiceManager(settings, environment: ProcessInfo.processInfo.environment)
      do {
        let bridge = try Bridge(
          configuration, connection: connection, clientID: clientID, store: SealedRecords(keychain),
          onTurn: { serviceManager?.turn($0) }, logger: logger)
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
