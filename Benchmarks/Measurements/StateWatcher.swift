import Broker
import CBareSubscriber
import Dispatch
import Synchronization

/// A client that publishes one event after the other and waits for the retained state that it brings about.
final class StateClient: Sendable {
  private let watcher: StateWatcher
  private let client: MosquittoClient
  private let running: Task<Void, any Error>

  /// Connects, and returns when its subscription is granted.
  ///
  /// - Parameter base: the base topic of the routers' home.
  init(port: UInt16, base: String = DaemonProcess.base) throws {
    watcher = StateWatcher(base: base)
    let client = MosquittoClient(
      MosquittoConfiguration(
        host: "127.0.0.1", port: port, clientID: "bench-states", cleanStart: true,
        subscriptions: watcher.topics.map { .init($0) }), handler: watcher)
    self.client = client
    running = Task { try await client.run() }
    try watcher.waitForSubscription()
  }

  /// - Parameter number: one that was not used before.
  /// - Returns: seconds from the publication of an announcement to the state.
  func announce(_ number: Int) throws -> Double { try watcher.announce(number, client) }

  func stop() async throws {
    client.stop()
    try await running.value
  }
}

/// Its handler.
private final class StateWatcher: MosquittoHandler {
  private struct State {
    var outbox: [Publication] = []
    var topic = ""
    var name = ""
    var seenAt: Int64 = 0
  }

  /// Routers that it announces by turns, each time with another name.
  private static let routers = 100

  private let base: String
  private let fleet = Fleet()
  private let state = Mutex(State())
  private let isSubscribed = DispatchSemaphore(value: 0)
  private let isSeen = DispatchSemaphore(value: 0)

  init(base: String) { self.base = base }

  /// Where their states come.
  fileprivate var topics: [String] { (0..<Self.routers).map(topic) }

  /// - Returns: seconds from the publication to the state.
  fileprivate func announce(_ number: Int, _ client: MosquittoClient) throws -> Double {
    let router = number % Self.routers
    let name = "Router \(number)"
    let event = Publication(
      topic: "\(base)/in/\(Fleet.user)/announce", payload: Array(fleet.announcement(router, name: name).utf8))
    state.withLock {
      $0.outbox = [event]
      $0.topic = topic(router)
      $0.name = "\"name\":\"\(name)\""
    }
    let begin = bare_now()
    client.wake()
    try wait(isSeen, "the state of a router")
    return Double(state.withLock { $0.seenAt } - begin) / 1e9
  }

  fileprivate func waitForSubscription() throws { try wait(isSubscribed, "a subscription") }

  func connected(_ session: MosquittoSession) {}

  func subscribed(refused: [SubscriptionRefusal]) { isSubscribed.signal() }

  func received(_ batch: [IncomingMessage]) throws {
    let now = bare_now()
    for message in batch {
      let isIt = state.withLock { state in
        guard message.topic == state.topic, String(decoding: message.payload, as: UTF8.self).contains(state.name) else {
          return false
        }
        state.topic = ""
        state.seenAt = now
        return true
      }
      if isIt { isSeen.signal() }
    }
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      defer { state.outbox = [] }
      return state.outbox
    }
  }

  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {}

  func disconnected(_ event: MosquittoDisconnection) { Progress.say("disconnected: \(event.error)") }

  private func topic(_ router: Int) -> String { "\(base)/router/\(Fleet.agent(router))" }

  private func wait(_ semaphore: DispatchSemaphore, _ what: String) throws {
    guard semaphore.wait(timeout: .now() + .seconds(30)) == .success else {
      throw ChildProcess.Failure(description: "waited in vain for \(what)")
    }
  }
}
