import Broker
import Synchronization

/// Work that was begun, and what it came to.
package final class RunningWork: Sendable {
  private let result = Mutex<Result<Void, any Error>?>(nil)

  package init(_ body: @escaping @Sendable () async throws -> Void) {
    Task {
      do {
        try await body()
        result.withLock { $0 = .success(()) }
      } catch { result.withLock { $0 = .failure(error) } }
    }
  }

  /// Waits for its end; throws what it threw.
  package func end(within limit: Duration, _ what: String) async throws {
    try await eventually(within: limit, what) { result.withLock { $0 != nil } }
    try result.withLock { $0 }?.get()
  }
}

/// A running client with a handler that records.
package final class TestClient: Sendable {
  package let client: MosquittoClient
  package let handler: RecordingHandler
  private let work: RunningWork

  package init(
    _ configuration: MosquittoConfiguration, onReceived: (@Sendable ([IncomingMessage]) throws -> Void)? = nil
  ) {
    let handler = RecordingHandler(onReceived: onReceived)
    let client = MosquittoClient(configuration, handler: handler)
    (self.handler, self.client) = (handler, client)
    work = RunningWork { try await client.run() }
  }

  deinit { client.stop() }

  /// Waits until the broker has answered the subscriptions of the given connection, counted from 1.
  package func ready(connection: Int = 1) async throws {
    try await eventually("connection \(connection) and its subscriptions") {
      handler.look { $0.subscribed.count >= connection }
    }
  }

  package func publish(_ publications: [Publication]) {
    handler.offer(publications)
    client.wake()
  }

  /// Stops it and waits for its end; throws what `run` threw.
  package func stop(finalPublications: [Publication] = []) async throws {
    client.stop(finalPublications: finalPublications)
    try await end()
  }

  /// Waits for its end, also for one that nobody asked for; throws what `run` threw.
  package func end(within limit: Duration = .seconds(30)) async throws {
    try await work.end(within: limit, "the end of the client")
  }
}

/// A handler that keeps all it is given, and publishes what is put into it.
package final class RecordingHandler: MosquittoHandler {
  package struct Record: Sendable {
    package var sessions: [MosquittoSession] = []
    package var subscribed: [[SubscriptionRefusal]] = []
    package var messages: [IncomingMessage] = []
    /// How many messages came together.
    package var batchSizes: [Int] = []
    package var acknowledged: [(token: UInt64, outcome: PublicationOutcome)] = []
    package var disconnections: [MosquittoDisconnection] = []
    package var sessionsRegained = 0
    /// Handed to the client, and not acknowledged yet.
    package var underWay = 0
    package var mostUnderWay = 0
    /// The largest number that the client has asked for.
    package var largestLimit = 0
    package var outbox: [Publication] = []
  }

  private let state = Mutex(Record())
  private let onReceived: (@Sendable ([IncomingMessage]) throws -> Void)?

  /// - Parameter onReceived: called with every batch before it is kept; may throw and may block.
  package init(onReceived: (@Sendable ([IncomingMessage]) throws -> Void)? = nil) { self.onReceived = onReceived }

  /// Looks at all of it without a copy, for who looks often. What comes meanwhile waits.
  package func look<R>(_ body: (Record) throws -> R) rethrows -> R { try state.withLock { try body($0) } }

  package var record: Record { look { $0 } }
  package var messages: [IncomingMessage] { look { $0.messages } }
  package var messageCount: Int { look { $0.messages.count } }

  /// To be published; then wake the client.
  package func offer(_ publications: [Publication]) { state.withLock { $0.outbox += publications } }

  package func connected(_ session: MosquittoSession) {
    state.withLock {
      $0.sessions.append(session)
      $0.underWay = 0
    }
  }

  package func subscribed(refused: [SubscriptionRefusal]) { state.withLock { $0.subscribed.append(refused) } }

  package func received(_ batch: [IncomingMessage]) throws {
    try onReceived?(batch)
    state.withLock {
      $0.messages += batch
      $0.batchSizes.append(batch.count)
    }
  }

  package func publications(upTo limit: Int) -> [Publication] {
    state.withLock {
      $0.largestLimit = max($0.largestLimit, limit)
      let publications = Array($0.outbox.prefix(limit))
      $0.outbox.removeFirst(publications.count)
      $0.underWay += publications.count
      $0.mostUnderWay = max($0.mostUnderWay, $0.underWay)
      return publications
    }
  }

  package func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {
    state.withLock {
      $0.acknowledged.append((publication.token, outcome))
      $0.underWay -= 1
    }
  }

  package func sessionRegained() { state.withLock { $0.sessionsRegained += 1 } }

  package func disconnected(_ event: MosquittoDisconnection) { state.withLock { $0.disconnections.append(event) } }
}

extension MosquittoClient {
  /// Connects once, to see whether the broker accepts the login, and disconnects.
  ///
  /// - Parameters:
  ///   - configuration: with a client id that nobody else uses. It gets no session of its own,
  ///     subscribes to nothing and has no last will.
  ///   - limit: how long it may take in all.
  /// - Returns: why not; nil when the broker lets us in.
  package static func attempt(_ configuration: MosquittoConfiguration, within limit: Duration) async -> MosquittoError?
  {
    var once = configuration
    once.cleanStart = true
    once.sessionExpiry = 0
    once.subscriptions = []
    once.lastWill = nil
    // Nothing comes after the first attempt.
    once.reconnect = .init(initial: .seconds(3_600), ceiling: .seconds(3_600), jitter: 0)
    let attempt = TestClient(once)
    try? await eventually(within: limit) { attempt.handler.look { !$0.sessions.isEmpty || !$0.disconnections.isEmpty } }
    try? await attempt.stop()
    return attempt.handler.look { record in
      guard record.sessions.isEmpty else { return nil }
      return record.disconnections.first?.error ?? MosquittoError(.noAnswer, "no answer")
    }
  }
}
