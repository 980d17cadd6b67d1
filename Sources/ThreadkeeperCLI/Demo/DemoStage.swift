// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import FoundationEssentials
import Glibc
import Home
import KeychainCore
import Logging
import ServiceDiscovery
import Settings
import Synchronization
import ThreadkeeperDaemon

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
        logins: [
          .init("threadkeeper", role: .daemon), .init("monitor", role: .monitor),
        ] + DemoStory.routers.map { .init($0) }))
    do {
      try broker.start()
      keychain = try Keychain.create(
        at: StoreLocation(directory: directory + "/store"),
        slots: [.keyFile(path: directory + "/store.key")])
      bridge = try Bridge(
        BridgeConfiguration(settings, version: threadkeeperVersion),
        connection: Self.connection(broker, user: "threadkeeper"), clientID: "demo",
        store: SealedRecords(keychain),
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
      Self.connection(broker, user: "monitor"), subscribingTo: ["threadkeeper/#"],
      onMessage: { timeline.tell($0) })
  }

  /// Runs the audience and the bridge; both end with `end`.
  func begin() -> [Task<Void, any Error>] {
    [
      Task { try await audience.run() }, Task { try await bridge.serve() },
      Task { try await page.run() },
    ]
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
      bridge.monitor.snapshot.intake == .running
        && $0.contains { $0.topic == "threadkeeper/bridge/state" }
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
    let path =
      FileManager.default.temporaryDirectory.path + "/threadkeeper-demo-\(UUID().uuidString)"
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
      messages.count {
        $0.topic == "threadkeeper/bridge/event" && $0.says(event) && $0.says(agent)
      } >= count
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
      messages.contains {
        $0.topic == "threadkeeper/bridge/event/alert" && $0.says(event) && $0.says(name)
      }
    }
  }

  func until(_ what: String, _ condition: @escaping @Sendable ([IncomingMessage]) -> Bool)
    async throws
  {
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
  fileprivate func says(_ word: String) -> Bool {
    String(decoding: payload, as: UTF8.self).contains("\"\(word)\"")
  }
}

/// A participant of the demonstration: publishes what it is given, and hands on what it hears.
final class DemoClient: MosquittoHandler {
  private struct State {
    var waiting: [Publication] = []
    var messages: [IncomingMessage] = []
  }

  private let state = Mutex(State())
  private let client = Mutex<MosquittoClient?>(nil)
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
    self.client.withLock { $0 = client }
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

  private var current: MosquittoClient? { client.withLock { $0 } }

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
