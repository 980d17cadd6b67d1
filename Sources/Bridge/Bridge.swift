// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import KeychainCore
import Logging
import ServiceLifecycle
import ThreadCredentialStore

/// The service: events in, credentials and alerts on disk, state and events out.
package final class Bridge: Service {
  /// Messages that are committed together.
  package static let batchMessages = 2_000
  /// A batch of so many messages is part of a burst: at the pace of a home, a handful come together.
  /// Less than a full batch, because a broker that is busy sends smaller ones, and publications would
  /// keep it busy.
  private static let burstMessages = 100
  /// Publications given out at least for each batch while a burst lasts: a few in a hundred messages, so that
  /// the broker's and the disk's time goes to the intake.
  private static let burstPortion = 10

  /// Days for which the broker keeps the sessions, and with them what routers publish meanwhile. A daemon
  /// that is gone for longer is not coming back, and its queue should go too.
  private static let sessionDays: UInt32 = 30

  /// Seconds between two announcements of one device of Home Assistant. A person does not notice them; a name that
  /// changes with every message is a message in five seconds for Home Assistant.
  private static let devicePause = 5

  /// For the last publications, so that the daemon ends within 2 seconds. They are published again at the next start.
  private static let stopLimit = Duration.seconds(1)

  package let monitor: BridgeMonitor
  /// The same requests, not over the broker.
  package let requests: RequestService
  package let consents: ConsentDecisions
  package let ownership: OwnershipService
  package let acceptance: AcceptanceService
  /// Nil where the settings want none.
  package let discovery: DiscoveryIntake?
  /// Whoever changes an enrolment while the bridge runs does it here: it remembers what it has read.
  package let enrolments: ClientEnrolmentStore
  private let intake: MosquittoClient
  private let intakeConnection: Intake
  private let status: MosquittoClient
  private let retained: RetainedTopics
  private let ticker: Ticker
  private let configuration: BridgeConfiguration
  private var topics: BaseTopics { configuration.topics }
  /// Filters of earlier settings, which the broker's session may have still.
  private let retiredFilters: [String]
  private let connection: MosquittoConfiguration
  private let clientID: String
  private let logger: Logger

  /// - Parameters:
  ///   - connection: host, login and the like; client ids, subscriptions and the last will are set here.
  ///   - clientID: the beginning of both client ids. No other program may know it: whoever connects with
  ///     one gets its session, and the events that wait in it.
  ///   - onTurn: called about once a second, when a transaction of the clock is over; not while none gets through.
  package init(
    _ configuration: BridgeConfiguration, connection: MosquittoConfiguration, clientID: String,
    keychain: Keychain, clock: any Clock = SystemClock(),
    onTurn: @escaping @Sendable (BridgeMonitor.Snapshot) -> Void = { _ in }, logger: Logger
  ) throws {
    let store = ThreadCredentialStore(keychain)
    let startedAt = clock.now()
    let retired = try BridgeStart.prepareRepairing(
      configuration, store: store, now: startedAt, logger: logger)
    let enrolments = ClientEnrolmentStore(keychain)
    try DaemonIdentity.load(enrolments, logger: logger)
    let exchange = EnrolledExchange(enrolments)
    var parts = RequestParts()
    parts.sealer = exchange
    parts.opener = exchange
    let monitor = BridgeMonitor()
    parts.refusesButtons = { monitor.refusesButtons(at: $0) }
    let answers = AnswerQueue(monitor: monitor)
    let overview = AlertsOverviewSource(topics: configuration.topics, monitor: monitor)
    let consents = ConsentOverviewSource(
      topics: configuration.topics,
      questions: HomeAssistantQuestions(configuration, keychain) { clock.now() })
    let devices = HomeAssistantDevices(configuration, consents.questions)
    let retained = RetainedTopics(
      database: keychain.database, topics: configuration.topics, devices: devices)
    let outbox = try Outbox(
      database: keychain.database, topics: configuration.topics, overview: overview,
      consents: consents, devices: devices,
      devicePace: HomeAssistantPace(seconds: Self.devicePause) { clock.now() },
      acknowledged: { happened in
        let latency = clock.now().milliseconds - happened.milliseconds
        monitor.figures.publish.add(Double(max(0, latency)) / 1_000)
      })
    for old in retired { outbox.clear(base: old.base, of: old.home) }
    let retiredFilters = BaseTopics(retired.map { .init(name: $0.home, base: $0.base) })
      .intakeFilters.filter { !configuration.topics.intakeFilters.contains($0) }
    self.retiredFilters = retiredFilters
    // A broker that kept our session knows nothing of the new base topics.
    let owes = try keychain.database.read { try EventLedger.needsRepublish($0) }
    if !retired.isEmpty || owes { outbox.republishAll() }
    let pace = PublicationPace(fullBatch: Self.burstMessages, portion: Self.burstPortion)
    let statusConnection = StatusConnection(
      outbox: outbox, pace: pace, answers: answers, monitor: monitor,
      reports: BridgeReports(
        database: keychain.database, configuration: configuration,
        instanceID: keychain.storeID.description, identity: { enrolments.identity?.keys },
        overview: overview, consents: consents, monitor: monitor, startedAt: startedAt),
      topics: configuration.topics, retained: retained, clock: clock, logger: logger)
    let status = MosquittoClient(
      Self.statusConfiguration(connection, clientID: clientID, configuration, retained),
      handler: statusConnection)
    let transactions = TransactionRunner(
      configuration, store: store, parts: parts, monitor: monitor, answers: answers, clock: clock,
      logger: logger,
      wakePublisher: { status.wake() })
    let intakeConnection = Intake(
      transactions, sealed: SealedIntake(enrolments: enrolments), outbox: outbox, pace: pace,
      logger: logger)
    self.intakeConnection = intakeConnection
    intake = MosquittoClient(
      Self.intakeConfiguration(
        connection, clientID: clientID, configuration, ending: retiredFilters),
      handler: intakeConnection)
    ticker = Ticker(
      transactions, outbox: outbox, pace: pace, status: statusConnection, onTurn: onTurn,
      logger: logger)
    requests = RequestService(transactions)
    self.consents = ConsentDecisions(transactions)
    ownership = OwnershipService(transactions)
    acceptance = AcceptanceService(transactions)
    discovery = configuration.topics.homes.first.flatMap { home in
      guard configuration.discoversRouters else { return nil }
      return DiscoveryIntake(transactions, home: home.name, logger: logger)
    }
    self.status = status
    self.retained = retained
    self.monitor = monitor
    self.enrolments = enrolments
    self.configuration = configuration
    self.connection = connection
    self.clientID = clientID
    self.logger = logger
  }

  /// Logs in again, at once, with another user name or password.
  package func useLogin(username: String?, password: String?) {
    var connection = connection
    connection.username = username
    connection.password = password
    monitor.loginChanged()
    intake.reconfigure(
      Self.intakeConfiguration(
        connection, clientID: clientID, configuration, ending: retiredFilters))
    status.reconfigure(
      Self.statusConfiguration(connection, clientID: clientID, configuration, retained))
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
    ticker.start()
    defer { ticker.stop() }
    defer { logger.info("stopped") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.status.run() }
      group.addTask { try await self.intake.run() }
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
    intakeConnection.stop()
    intake.stop()
    status.stop(
      finalPublications: topics.homes.map {
        Publication(
          topic: OutboundTopic(base: $0.base).state,
          payload: WireJSON().encode(BridgeState.stopped),
          retain: true)
      })
  }

  private static func intakeConfiguration(
    _ connection: MosquittoConfiguration, clientID: String, _ bridge: BridgeConfiguration,
    ending retiredFilters: [String]
  ) -> MosquittoConfiguration {
    var intake = connection
    intake.clientID = "\(clientID)-intake"
    intake.unsubscriptions = retiredFilters
    intake.subscriptions = bridge.topics.intakeFilters.map { .init($0, qos: 1) }
    intake.batchMessages = batchMessages
    intake.receiveMaximum = UInt16(2 * batchMessages)
    intake.sessionExpiry = sessionDays * 86_400
    intake.stopLimit = stopLimit
    intake.cleanStart = false
    return intake
  }

  private static func statusConfiguration(
    _ connection: MosquittoConfiguration, clientID: String, _ bridge: BridgeConfiguration,
    _ retained: RetainedTopics
  ) -> MosquittoConfiguration {
    var status = connection
    status.clientID = "\(clientID)-status"
    status.subscriptions = [
      .init(bridge.homeAssistant.birthTopic, qos: 0, isRequired: false),
      .init(StatusConnection.droppedMessages, qos: 0, isRequired: false),
    ]
    status.subscriptions += retained.filters.map { filter in
      var subscription = MosquittoConfiguration.Subscription(filter, isRequired: false)
      subscription.retained = .ownOnce
      return subscription
    }
    if let filter = retained.deviceFilter {
      var subscription = MosquittoConfiguration.Subscription(filter, isRequired: false)
      subscription.retained = .own
      status.subscriptions.append(subscription)
    }
    status.sessionExpiry = sessionDays * 86_400
    status.stopLimit = stopLimit
    status.cleanStart = false
    if let home = bridge.topics.homes.first {
      status.lastWill = Publication(
        topic: OutboundTopic(base: home.base).state,
        payload: WireJSON().encode(BridgeState.offline),
        retain: true)
    }
    return status
  }
}
