import Broker
import Home
import HomeStore
import KeychainCore
import Logging
import ServiceLifecycle
import Settings

/// The service: messages in, homes on disk, states and events out.
///
/// `IntakeConnection` → `HomeLoop` → (`BridgeFollower` → `Publisher`, `RequestService`) → `StatusConnection`; the
/// `Ticker` brings the time.
package final class Bridge: Service {
  /// Days for which the broker keeps the sessions, and with them what routers publish meanwhile. A daemon
  /// that is gone for longer is not coming back, and its queue should go too.
  private static let sessionDays: UInt32 = 30
  /// For the last publications, so that the daemon ends within 2 seconds. They are published again at the next start.
  private static let stopLimit = Duration.seconds(1)

  package let loop: HomeLoop
  package let monitor: BridgeMonitor
  package let requests: RequestService
  /// Nil where the settings want none.
  package let discovery: DiscoveryIntake?
  package let identity: DaemonIdentity
  /// In the order of the settings.
  package let homes: [ServedHome]
  package let store: any DaemonStore
  package let clock: any Clock
  private let publisher: Publisher
  private let health: HealthReports
  private let intakeClient: MosquittoClient
  private let statusClient: MosquittoClient
  private let ticker: Ticker
  private let configuration: BridgeConfiguration
  private let connection: MosquittoConfiguration
  private let clientID: String
  private let logger: Logger

  /// - Parameters:
  ///   - connection: host, login and the like; client ids, subscriptions and the last will are set here.
  ///   - clientID: the beginning of both client ids. No other program may know it: whoever connects with
  ///     one gets its session, and the events that wait in it.
  ///   - connectsEarly: the broker is connected to while the records are read. What needs them waits for `run`; call
  ///     `abandon` where that never comes.
  ///   - onTurn: called about once a second, at rest each five seconds.
  package init(
    _ configuration: BridgeConfiguration, connection: MosquittoConfiguration, clientID: String, store: any DaemonStore,
    connectsEarly: Bool = false, clock: any Clock = SystemClock(),
    onTurn: @escaping @Sendable (BridgeMonitor.Snapshot) -> Void = { _ in }, logger: Logger
  ) throws {
    let intake = MosquittoClient(Self.intakeConfiguration(connection, clientID: clientID, configuration, nil))
    let status = MosquittoClient(Self.statusConfiguration(connection, clientID: clientID, configuration, nil))
    if connectsEarly { for client in [intake, status] { client.connectEarly() } }
    var isMade = false
    defer { if !isMade { for client in [intake, status] { client.abandon() } } }
    let monitor = BridgeMonitor()
    let activity = Activity()
    store.onUrgentUpkeep { activity.note() }
    let identity = try DaemonIdentity(store, logger: logger)
    let now: @Sendable () -> WireTime = { clock.now() }
    let hashKey = try store.hashKey()

    let discovers = configuration.settings.discovery == .auto
    let callers = WaitingCallers()
    let homes = configuration.servedHomes(canSeal: { identity.keys != nil }, callers: callers)
    var parts = RequestService.Parts(try DatasetReader(key: hashKey))
    parts.rules = configuration.requestRules
    parts.version = configuration.version
    parts.ways = configuration.remedyWays
    parts.logger = logger
    let exchange = SealedExchange(nil)
    parts.exchange = { exchange.with(identity.keys) }
    parts.buttonsAltered = { monitor.refusesButtons(at: $0) }
    let requests = RequestService(homes, parts, callers)

    let news = NewsLog(ways: configuration.remedyWays, logger: logger)
    let follower = BridgeFollower(homes, requests: requests, monitor: monitor, news: news)
    var isWritable = true
    if case .readOnly = store.condition { isWritable = false }
    var reading = IntakeReading(hashKey: hashKey)
    reading.limits = configuration.settings.limits
    reading.identity = { identity.keys }
    reading.request = requests.read
    reading.isOfShard = configuration.topics.parent != nil
    let loop = try HomeLoop(
      homes, discovers: discovers, devicePrefix: configuration.settings.homeAssistant.discoveryPrefix,
      consent: configuration.consentAlert, hasRecoveryCode: try? store.opensByRecoveryCode(), isWritable: isWritable,
      store: store, reading: reading, follower: follower, clock: now)
    let publisher = Publisher(
      configuration.publisherSettings(
        identity: { identity.keys }, instanceID: store.id.description, formerBases: loop.retiredBases.map(\.base),
        formerPrefixes: loop.retiredPrefixes), loop.homes.snapshot, store, stored: try store.storedMessages(), now: now,
      acknowledged: { monitor.figures.publish.add($0) })
    let health = HealthReports(loop, publisher, requests, monitor, lastBackup: configuration.lastBackup, clock: clock)
    let statusConnection = StatusConnection(
      publisher, health: health, requests: requests, loop: loop, store: store, monitor: monitor, clock: clock,
      activity: activity, logger: logger)
    status.serve(
      Self.statusConfiguration(connection, clientID: clientID, configuration, publisher), by: statusConnection)
    let wake: @Sendable () -> Void = { [weak status] in status?.wake() }
    let happened: @Sendable () -> Void = {
      activity.note()
      wake()
    }
    discovery = homes.first.flatMap { home in
      guard discovers else { return nil }
      let reads = configuration.settings.reading == .auto
      return DiscoveryIntake(
        loop, home: home.name,
        reader: reads ? RouterReader(loop, home: home.name, hashKey: hashKey, logger: logger) : nil,
        codes: CodeReader(loop, home: home.name, hashKey: hashKey),
        devices: PathWatch(loop, home: home.name, configuration.settings.matterController), path: store.place,
        clock: clock, logger: logger)
    }
    let seen = discovery.flatMap { intake in homes.first.map { (intake: intake, home: $0.name) } }
    follower.begin(.init(publisher: publisher, discovery: seen, wake: happened))
    intake.serve(
      Self.intakeConfiguration(connection, clientID: clientID, configuration, loop),
      by: IntakeConnection(loop, store: store, monitor: monitor, clock: clock, wake: happened, logger: logger))
    ticker = Ticker(
      .init(
        loop: loop, publisher: publisher, health: health, follower: follower, status: statusConnection,
        monitor: monitor, news: news, store: store, firstHome: homes.first?.name,
        loginRemedy: configuration.loginRemedy, clock: clock, activity: activity, watchdog: configuration.watchdog,
        wake: wake, onTurn: onTurn, logger: logger))
    (self.loop, self.monitor, self.requests, self.identity) = (loop, monitor, requests, identity)
    (self.homes, self.publisher, self.health) = (homes, publisher, health)
    (intakeClient, statusClient) = (intake, status)
    self.configuration = configuration
    self.connection = connection
    self.clientID = clientID
    self.store = store
    self.clock = clock
    self.logger = logger
    isMade = true
  }

  /// What it knows of itself now. No home is copied for it.
  package var status: DaemonStatus {
    var status = health.status
    status.discovery = discovery?.current ?? .off
    status.isStoreWritable = store.condition == .healthy && status.monitor.storeProblem == nil
    return status
  }

  /// Logs in again, at once, with another user name or password.
  package func useLogin(username: String?, password: String?) {
    var connection = connection
    connection.username = username
    connection.password = password
    monitor.loginChanged()
    intakeClient.reconfigure(Self.intakeConfiguration(connection, clientID: clientID, configuration, loop))
    statusClient.reconfigure(Self.statusConfiguration(connection, clientID: clientID, configuration, publisher))
  }

  /// Runs until the service group shuts down, or until a connection ends for good: then it throws words.
  package func run() async throws {
    try await withGracefulShutdownHandler {
      try await serve()
    } onGracefulShutdown: {
      self.stop()
    }
  }

  /// The same without a service group: runs until `stop()`.
  package func serve() async throws {
    do { try ticker.start() } catch {
      abandon()
      throw error
    }
    defer { logger.info("stopped") }
    defer { ticker.stop() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.statusClient.run() }
      group.addTask { try await self.intakeClient.run() }
      do {
        // One of them cannot continue: the other one ends cleanly.
        try await group.next()
        stop()
        try await group.waitForAll()
      } catch {
        stop()
        throw error
      }
    }
  }

  /// Ends both connections cleanly; `run` returns when they have.
  package func stop() {
    intakeClient.stop()
    statusClient.stop(finalPublications: publisher.lastPublications())
  }

  /// Ends what `connectsEarly` has begun, where `run` was not called, and returns when DISCONNECT is sent. Does nothing
  /// after `run`.
  package func abandon() { for client in [intakeClient, statusClient] { client.abandon() } }

  /// - Parameter loop: nil: not read yet; the result is for CONNECT alone.
  private static func intakeConfiguration(
    _ connection: MosquittoConfiguration, clientID: String, _ bridge: BridgeConfiguration, _ loop: HomeLoop?
  ) -> MosquittoConfiguration {
    var intake = connection
    intake.clientID = "\(clientID)-intake"
    intake.subscriptions = bridge.topics.intakeFilters.map { .init($0, qos: 1) }
    // Filters of earlier settings, which the broker's session may have still.
    let retired = loop.map { $0.retiredBases.map(\.base) } ?? []
    intake.unsubscriptions = bridge.topics.formerRoots(of: retired).map { "\($0)/in/#" }
    intake.batchMessages = IntakeConnection.batchMessages
    // What is on its way while a batch is handled.
    intake.receiveMaximum = UInt16(8 * IntakeConnection.batchMessages)
    intake.sessionExpiry = sessionDays * 86_400
    intake.stopLimit = stopLimit
    intake.cleanStart = false
    // Only the other connection is sent what the broker keeps.
    intake.places = nil
    return intake
  }

  /// - Parameter publisher: nil: not read yet; the result is for CONNECT alone.
  private static func statusConfiguration(
    _ connection: MosquittoConfiguration, clientID: String, _ bridge: BridgeConfiguration, _ publisher: Publisher?
  ) -> MosquittoConfiguration {
    var status = connection
    status.clientID = "\(clientID)-status"
    func own(_ filter: String, _ retained: MosquittoConfiguration.Subscription.Retained, qos: QualityOfService = 1)
      -> MosquittoConfiguration.Subscription
    {
      var subscription = MosquittoConfiguration.Subscription(filter, qos: qos, isRequired: false)
      subscription.retained = retained
      return subscription
    }
    // A shard has no Home Assistant, and what the broker of a fleet drops says nothing about one home.
    let others =
      bridge.topics.parent == nil
      ? [bridge.settings.homeAssistant.birthTopic, StatusConnection.droppedMessages, ZigbeeChannels.topic] : []
    status.maximumPacketSize = max(ZigbeeChannels.mostBytes, MosquittoConfiguration.packetLimit)
    // Whose the base topics are comes first. What waits at QoS 1 for a connection that was cut would come again with
    // the next one, besides all that is kept.
    if let publisher {
      status.subscriptions =
        publisher.keptFilters.map { own($0, .own, qos: 0) } + publisher.formerFilters.map { own($0, .ownOnce, qos: 0) }
        + others.map { own($0, .own, qos: 0) } + publisher.deviceFilters.map { own($0, .own) }
    }
    status.sessionExpiry = sessionDays * 86_400
    status.stopLimit = stopLimit
    status.cleanStart = false
    if let home = bridge.topics.homes.first {
      status.lastWill = Publication(
        topic: OutboundTopic(base: home.base).state, payload: BridgeState.offline, retain: true)
    }
    return status
  }
}
