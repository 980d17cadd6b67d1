import ArgumentParser
import Bridge
import Broker
import FoundationEssentials
import Glibc
import Home
import KeychainCore
import Logging
import ServiceDiscovery
import ServiceLifecycle
import Settings
import SodiumCrypto
import StatusPage
import Synchronization
import ThreadDataset

/// Everything that the demonstration needs, in a temporary directory that goes with it: a broker, a
/// store, the bridge, the status page, and somebody who watches.
struct DemoStage {
  /// Seconds for which a condition must last here; the default of 30 would make a long film.
  static let hold = 2
  private static let home = "home"

  let directory: String
  let broker: EmbeddedBroker
  let keychain: Keychain
  let audience: DemoClient
  let timeline: Timeline

  private let bridge: Bridge
  private let page: DemoPage

  init() throws {
    directory = try Self.temporaryDirectory()
    let settings = Settings.demonstration(in: directory)
    broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(
        directory: directory + "/broker", persistence: false,
        logins: [.init("threadkeeper", role: .daemon), .init("monitor", role: .monitor)]
          + DemoStory.routers.map { .init($0) }))
    do {
      try broker.start()
      keychain = try Keychain.create(
        at: StoreLocation(directory: directory + "/store"), slots: [.keyFile(path: directory + "/store.key")])
      bridge = try Bridge(
        BridgeConfiguration(settings, version: threadkeeperVersion),
        connection: Self.connection(broker, user: "threadkeeper"), clientID: "demo", store: SealedRecords(keychain),
        logger: Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() })
    } catch {
      broker.stop()
      try? FileManager.default.removeItem(atPath: directory)
      throw CommandFailure(.unavailable, "\(error)")
    }
    page = DemoPage(bridge: bridge, settings: settings)
    let timeline = Timeline()
    self.timeline = timeline
    audience = DemoClient(
      Self.connection(broker, user: "monitor"), subscribingTo: ["threadkeeper/#"], onMessage: { timeline.tell($0) })
  }

  /// Runs the audience and the bridge; both end with `end`.
  func begin() -> [Task<Void, any Error>] {
    [Task { try await audience.run() }, Task { try await bridge.serve() }, Task { try await page.run() }]
  }

  /// Where a browser opens the page; waits until it is there.
  var link: String? { get async { await page.link } }

  /// As it is on disk.
  var home: Home? { bridge.loop.homes.home(Self.home) }

  /// Hands over what a search of the local network would have found.
  func discover(_ record: ServiceRecord) {
    bridge.discovery?.receive(.found(record))
    bridge.discovery?.receive(.listed)
  }

  /// Returns when everything that a router says from now on will be heard.
  func ready() async throws {
    try await until("the daemon and the audience to be connected") { [bridge] in
      bridge.monitor.snapshot.intake.state == .running && $0.contains { $0.topic == "threadkeeper/bridge/state" }
    }
  }

  func end(_ running: [Task<Void, any Error>]) async {
    await page.stop()
    audience.stop()
    bridge.stop()
    bridge.discovery?.stop()
    for task in running { _ = await task.result }
    keychain.close()
    broker.stop()
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Of the daemon, the audience, or one of the routers.
  static func connection(_ broker: EmbeddedBroker, user: String) -> MosquittoConfiguration {
    MosquittoConfiguration(
      host: "127.0.0.1", port: broker.port, clientID: "demo-\(user)", username: user,
      password: broker.password(of: user))
  }

  private static func temporaryDirectory() throws -> String {
    let path = FileManager.default.temporaryDirectory.path + "/threadkeeper-demo-\(UUID().uuidString)"
    guard mkdir(path, 0o700) == 0 else {
      throw CommandFailure(
        .cannotCreate, "the directory \(path) cannot be made: \(String(cString: strerror(errno)))",
        remedy: "set TMPDIR to a directory that this user may write to")
    }
    return path
  }
}

/// The story goes on when the daemon has said what it must say.
extension DemoStage {
  private static let limit = Duration.seconds(15)

  func heard(_ event: String, from router: SimulatedRouter, count: Int = 1) async throws {
    try await heard(event, from: router.agent, count: count)
  }

  /// - Parameter agent: a border agent id.
  func heard(_ event: String, from agent: String, count: Int = 1) async throws {
    try await until("\(event) of \(agent)") { messages in
      messages.count { $0.topic == "threadkeeper/bridge/event" && $0.says(event) && $0.says(agent) } >= count
    }
  }

  /// Seconds before each act, so that a person can follow on the page; nil where no person watches.
  var pause: Int? { StandardStream.output.isTerminal ? 4 : nil }

  /// Begins the next part of the story.
  func act(_ heading: String) async throws {
    if let pause { try await Task.sleep(for: .seconds(pause)) }
    timeline.heading(heading)
  }

  /// - Parameter name: of the alert, or a border agent id that it is about.
  func heardAlert(_ event: String, _ name: String) async throws {
    try await until("\(event) \(name)") { messages in
      messages.contains { $0.topic == "threadkeeper/bridge/event/alert" && $0.says(event) && $0.says(name) }
    }
  }

  func until(_ what: String, _ condition: @escaping @Sendable ([IncomingMessage]) -> Bool) async throws {
    let deadline = ContinuousClock.now + Self.limit
    while !condition(audience.messages) {
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(.software, "the demonstration waited for \(what) in vain")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

extension IncomingMessage {
  fileprivate func says(_ word: String) -> Bool { String(decoding: payload, as: UTF8.self).contains("\"\(word)\"") }
}

/// A participant of the demonstration: publishes what it is given, and hands on what it hears.
final class DemoClient: MosquittoHandler {
  private struct State {
    var client: MosquittoClient?
    var waiting: [Publication] = []
    var messages: [IncomingMessage] = []
  }

  private let state = Mutex(State())
  private let onMessage: @Sendable (IncomingMessage) -> Void

  init(
    _ configuration: MosquittoConfiguration, subscribingTo filters: [String] = [],
    onMessage: @escaping @Sendable (IncomingMessage) -> Void = { _ in }
  ) {
    self.onMessage = onMessage
    var configuration = configuration
    configuration.subscriptions = filters.map { .init($0) }
    configuration.cleanStart = true
    let client = MosquittoClient(configuration, handler: self)
    state.withLock { $0.client = client }
  }

  func run() async throws {
    guard let client = current else { return }
    try await client.run()
  }

  func stop() { current?.stop() }

  func publish(_ topic: String, _ payload: String) {
    let publication = Publication(topic: topic, payload: Array(payload.utf8), token: 1)
    state.withLock { $0.waiting.append(publication) }
    current?.wake()
  }

  var messages: [IncomingMessage] { state.withLock { $0.messages } }

  private var current: MosquittoClient? { state.withLock { $0.client } }

  // MARK: - MosquittoHandler

  func connected(_ session: MosquittoSession) {}

  func received(_ batch: [IncomingMessage]) throws {
    state.withLock { $0.messages += batch }
    batch.forEach(onMessage)
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let taken = Array(state.waiting.prefix(limit))
      state.waiting.removeFirst(taken.count)
      return taken
    }
  }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {}

  func disconnected(_ event: MosquittoDisconnection) {}
}

/// `threadkeeper demo`
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo", abstract: "Watch the daemon work, with a private broker and simulated border routers.",
    discussion: """
      Begins with a link to the status page. On a terminal the page stays until you press Ctrl-C; otherwise \
      it ends with the story, after less than a minute. Needs the program mosquitto, listens on 127.0.0.1 \
      only, sends nothing on the local network, and leaves nothing behind.

      Example:
        threadkeeper demo
      """)

  func run() async throws {
    let show = DemoShow()
    StopSignals.ignoreOthers()
    var services = ServiceGroupConfiguration(
      services: [
        .init(
          service: show, successTerminationBehavior: .gracefullyShutdownGroup,
          failureTerminationBehavior: .gracefullyShutdownGroup)
      ], logger: Logger(label: "threadkeeper.demo") { _ in SwiftLogNoOpLogHandler() })
    StopSignals.stop(&services)
    let group = ServiceGroup(configuration: services)
    do { try await group.run() } catch is CancellationError { throw ThreadkeeperCommand.stopped }
  }
}

/// The demonstration as a service: who interrupts it finds everything put away, too.
struct DemoShow: Service {
  func run() async throws {
    let stage = try DemoStage()
    let running = stage.begin()
    do {
      try await cancelWhenGracefulShutdown {
        try await stage.ready()
        try await DemoStory(stage: stage).tell()
        guard StandardStream.output.isTerminal else { return }
        stage.timeline.write("The page stays until you press Ctrl-C.\n")
        // All that was promised is done: Ctrl-C is no interruption now.
        while (try? await Task.sleep(for: .seconds(3_600))) != nil {}
      }
    } catch {
      await stage.end(running)
      throw error
    }
    await stage.end(running)
  }
}

/// The status page of the demonstration, on a free port of this machine, with a token of its own.
struct DemoPage {
  private let group: ServiceGroup
  private let ports: AsyncStream<Int>
  private let settings: Settings

  init(bridge: Bridge, settings: Settings) {
    self.settings = settings
    let logger = Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() }
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    self.ports = ports
    let page = PageServer(
      OperationContext(settings, bridge: bridge, logger: logger), listening: { listening.yield($0) })
    group = ServiceGroup(services: page.map { [$0] } ?? [], logger: logger)
  }

  /// Runs until `stop`.
  func run() async throws { try await group.run() }

  func stop() async { await group.triggerGracefulShutdown() }

  /// The link with the token, when the page can be reached; waits for that.
  var link: String? {
    get async {
      var ports = ports.makeAsyncIterator()
      guard let port = await ports.next(), let token = settings.http.token else { return nil }
      var http = settings.http
      http.port = UInt16(clamping: port)
      return PageToken.link(http, token: token.revealed)
    }
  }
}

extension Settings {
  /// Those of a demonstration: a store in its own directory, and the page on any free port.
  static func demonstration(in directory: String) -> Settings {
    var settings = Settings(stateDirectory: directory)
    settings.eachHome.alertsHold = DemoStage.hold
    settings.homeAssistant.discovery = .off
    settings.http.port = 0
    settings.http.token = SecretText(PageToken.make())
    return settings
  }
}

/// What is left at the end, counted and looked for, not claimed.
struct DemoSummary {
  let stage: DemoStage
  let keys: [NetworkKey]

  func tell() throws {
    guard let home = stage.home else { return }
    let counts = HomeCounts(home)
    let messages = stage.audience.messages
    let raised = messages.count { $0.isEvent("alert_raised") }
    let resolved = messages.count { $0.isEvent("alert_resolved") }
    let leaks = messages.count { message in keys.contains { message.payload.holds($0) } } + (try filesHoldingKeys())
    stage.timeline.heading("Summary")
    stage.timeline.write(
      """
        routers            \(counts.routers.listed)
        networks           \(counts.networks)
        credentials        \(counts.credentials), encrypted
        preferred network  \(home.preferred?.dataset.name ?? "none")
        alerts             \(raised) raised, \(resolved) resolved
        network keys found in \(messages.count) published messages and in the store's files: \(leaks)

      """)
    guard leaks == 0 else { throw CommandFailure(.software, "a network key was found where none may be") }
  }

  private func filesHoldingKeys() throws -> Int {
    let directory = stage.keychain.location.directory
    return try FileManager.default.contentsOfDirectory(atPath: directory).count { name in
      guard let data = FileManager.default.contents(atPath: directory + "/" + name) else { return false }
      let bytes = Array(data)
      return keys.contains { bytes.holds($0) }
    }
  }
}

extension IncomingMessage {
  fileprivate func isEvent(_ type: String) -> Bool {
    topic.hasSuffix("bridge/event/alert") && String(decoding: payload, as: UTF8.self).contains("\"\(type)\"")
  }
}

extension [UInt8] {
  /// Whether a key is in there, as bytes or as hex.
  fileprivate func holds(_ key: NetworkKey) -> Bool {
    let text = Array(key.revealedHex.utf8)
    return contains(key.bytes) || contains(text) || contains(Array(key.revealedHex.uppercased().utf8))
  }
}
