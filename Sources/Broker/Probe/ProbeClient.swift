import Glibc
import Synchronization

/// One connection of a probe: it connects once, listens, publishes what it is given, and ends.
///
/// It has no session, no last will, and a client id of its own, so it takes nothing from another client.
final class ProbeClient: MosquittoHandler {
  /// What a connection has come to so far.
  struct Seen: Sendable {
    var session: MosquittoSession?
    /// Why there is no connection, or no longer one.
    var error: MosquittoError?
    var isSubscribed = false
    var refused: [SubscriptionRefusal] = []
    /// Payloads of probes that have come.
    var arrived: Set<String> = []
    /// The large probe has come.
    var hasLarge = false
    /// Topics of which the broker keeps a message, as `AccessReport.retained` has them.
    var retained: Set<String> = []
    /// What the broker says about itself, by topic.
    var values: [String: String] = [:]
    var outcomes: [UInt64: PublicationOutcome] = [:]
    fileprivate var waiting: [Publication] = []
    fileprivate var wake: @Sendable () -> Void = {}
  }

  /// A probe lasts a second, and is looked at so often.
  private static let pause = Duration.milliseconds(5)
  /// Retained topics that are noted at most: each is a name of at most 64 KiB.
  private static let retainedLimit = 20_000

  private let client = Mutex<(client: MosquittoClient, run: Task<Void, Never>)?>(nil)
  private let state = Mutex(Seen())
  private let configuration: MosquittoConfiguration
  private let bases: BaseTopics

  /// - Parameters:
  ///   - configuration: its client id is the beginning of this connection's.
  ///   - filters: none of them has to be granted.
  ///   - bases: base topics below which it is noted what the broker keeps.
  ///   - session: its client id, and for how many seconds the broker is to keep it; nil: it has none.
  init(
    _ configuration: MosquittoConfiguration, _ filters: [MosquittoConfiguration.Subscription],
    noting bases: [String] = [], session: (clientID: String, expiry: UInt32)? = nil
  ) {
    self.bases = BaseTopics(bases.map { .init(name: $0, base: $0) })
    var once = configuration
    once.clientID = session?.clientID ?? ProbeName.clientID(beginning: configuration.clientID)
    once.cleanStart = session == nil
    once.sessionExpiry = session?.expiry ?? 0
    once.lastWill = nil
    once.subscriptions = filters.map {
      var filter = $0
      filter.isRequired = false
      return filter
    }
    once.stopLimit = .seconds(1)
    self.configuration = once
  }

  var seen: Seen { state.withLock { $0 } }

  /// Returns when the broker has answered the subscriptions, when it is clear that it does not, or at the deadline.
  func open(until deadline: ContinuousClock.Instant) async {
    let client = MosquittoClient(configuration, handler: self)
    state.withLock { $0.wake = { client.wake() } }
    let run = Task {
      do { try await client.run() } catch { end(error as? MosquittoError ?? MosquittoError(.system, "\(error)")) }
    }
    self.client.withLock { $0 = (client, run) }
    await wait(until: deadline) { $0.isSubscribed || $0.error != nil }
    state.withLock { if !$0.isSubscribed, $0.error == nil { $0.error = .noProbeAnswer(configuration) } }
  }

  /// Publishes probes, and returns when the broker has answered all of them, or at the deadline.
  func publish(_ probes: [Publication], until deadline: ContinuousClock.Instant) async {
    let wake = state.withLock { state in
      state.waiting += probes
      return state.wake
    }
    wake()
    await wait(until: deadline) { seen in seen.error != nil || probes.allSatisfy { seen.outcomes[$0.token] != nil } }
  }

  /// Returns when these probes have come, or at the deadline.
  func receive(_ payloads: Set<String>, until deadline: ContinuousClock.Instant) async {
    await wait(until: deadline) { $0.error != nil || payloads.isSubset(of: $0.arrived) }
  }

  /// Returns when the large probe has come, when the broker has ended the connection, or at the deadline.
  func receiveLarge(until deadline: ContinuousClock.Instant) async {
    await wait(until: deadline) { $0.error != nil || $0.hasLarge }
  }

  /// Returns when the connection has ended, or at the deadline.
  func end(until deadline: ContinuousClock.Instant) async { await wait(until: deadline) { $0.error != nil } }

  /// Disconnects; what was seen stays.
  func close() async {
    let running = client.withLock { running in
      defer { running = nil }
      return running
    }
    state.withLock { $0.wake = {} }
    running?.client.stop()
    await running?.run.value
  }

  private func wait(until deadline: ContinuousClock.Instant, _ isDone: (Seen) -> Bool) async {
    while ContinuousClock.now < deadline, !isDone(seen) {
      if (try? await Task.sleep(for: Self.pause)) == nil { return }
    }
  }

  private func end(_ error: MosquittoError) { state.withLock { if $0.error == nil { $0.error = error } } }

  // MARK: On the client's thread

  func connected(_ session: MosquittoSession) { state.withLock { $0.session = session } }

  func subscribed(refused: [SubscriptionRefusal]) {
    state.withLock {
      $0.refused = refused
      $0.isSubscribed = true
    }
  }

  func received(_ batch: [IncomingMessage]) {
    state.withLock { state in
      for message in batch {
        if message.topic.hasPrefix("$SYS/") {
          state.values[message.topic] = String(decoding: message.payload.prefix(200), as: UTF8.self)
        } else if message.isRetained {
          // An empty one clears the topic.
          guard !message.payload.isEmpty, state.retained.count < Self.retainedLimit, isNoted(message.topic) else {
            continue
          }
          state.retained.insert(message.topic)
        } else if message.payload.count >= AccessRound.largeBytes {
          state.hasLarge = true
        } else if ProbeTopic.isPayload(message.payload) {
          state.arrived.insert(String(decoding: message.payload, as: UTF8.self))
        }
      }
    }
  }

  /// Another program's topics are none of ours, however they came.
  private func isNoted(_ topic: String) -> Bool {
    guard let rest = bases.split(topic)?.rest else { return false }
    let levels = rest.split(separator: "/", omittingEmptySubsequences: false)
    return levels.count > 1 && levels[0] == "in"
      || levels.count == 3 && levels[0] == "router" && levels[2] == "availability"
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let next = Array(state.waiting.prefix(limit))
      state.waiting.removeFirst(next.count)
      return next
    }
  }

  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {
    state.withLock { $0.outcomes[publication.token] = outcome }
  }

  /// There is one attempt.
  func disconnected(_ event: MosquittoDisconnection) {
    end(event.error)
    client.withLock { $0?.client.stop() }
  }
}

extension MosquittoError {
  fileprivate static func noProbeAnswer(_ configuration: MosquittoConfiguration) -> MosquittoError {
    MosquittoError(
      .noAnswer,
      "\(configuration.address) does not answer in time: is it switched on, is the "
        + "address right, and does a firewall drop the port? (`mqtt.host`, `mqtt.port`)")
  }
}

/// What a probe calls itself.
enum ProbeName {
  /// Begins like the daemon's own client ids, for brokers that ask for a beginning (`clientid_prefixes`), and is never
  /// one of them: whoever connects with the id of another client throws that one out.
  ///
  /// - Parameter beginning: `mqtt.client_id` of the settings, or `threadkeeper`.
  static func clientID(beginning: String) -> String {
    "\(beginning)-probe-\(getpid())-\(UInt32.random(in: 0 ... .max))"
  }
}
