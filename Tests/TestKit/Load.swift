import Broker
import Synchronization

/// What a load publishes: messages by their numbers, from 1 on.
package protocol LoadContents: Sendable {
  func message(_ number: UInt64) -> Publication

  /// The last message of a load that shall have this one.
  func last(from number: UInt64) -> UInt64
}

/// Publishes at a steady rate what can be looked up afterwards. What a connection loses on its way is published again by
/// the next one, in the same order.
package final class Load<Contents: LoadContents>: MosquittoHandler {
  private struct State {
    var next: UInt64 = 1
    /// The newest that was handed to a connection.
    var newest: UInt64 = 0
    /// The oldest that the broker has not acknowledged.
    var oldest: UInt64 = 1
    var acknowledged: Set<UInt64> = []
    var refused = 0
    /// The last one that there is to be.
    var end: UInt64 = .max
  }

  package let contents: Contents
  private let rate: Double
  private let startedAt = ContinuousClock.now
  private let state = Mutex(State())

  fileprivate init(_ contents: Contents, rate: Double) { (self.contents, self.rate) = (contents, rate) }

  /// Messages that the broker has acknowledged, without a gap.
  package var acknowledged: UInt64 { state.withLock { $0.oldest - 1 } }

  /// The newest that was handed to a connection.
  package var newest: UInt64 { state.withLock { $0.newest } }

  /// Those that the broker refused: nobody has them.
  package var refused: Int { state.withLock { $0.refused } }

  /// No message comes after those that were handed over, but for the last one of the contents.
  ///
  /// - Parameter least: so many there are to be at least.
  package func end(after least: UInt64 = 0) { state.withLock { $0.end = contents.last(from: max($0.newest, least)) } }

  package var isDone: Bool { state.withLock { $0.oldest > $0.end } }

  // MARK: What the client asks

  package func connected(_ session: MosquittoSession) {
    state.withLock { state in
      state.next = state.oldest
      state.acknowledged = []
    }
  }

  package func received(_ batch: [IncomingMessage]) throws {}

  package func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let passed = startedAt.duration(to: .now) / .seconds(1)
      let due = rate == 0 ? state.end : min(state.end, UInt64(passed * rate))
      let last = min(due, state.next + UInt64(limit) - 1)
      guard state.next <= last else { return [] }
      defer { state.next = last + 1 }
      state.newest = max(state.newest, last)
      return (state.next...last).map { number in
        var publication = contents.message(number)
        publication.token = number
        return publication
      }
    }
  }

  package func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {
    state.withLock { state in
      if outcome != .delivered { state.refused += 1 }
      state.acknowledged.insert(publication.token)
      while state.acknowledged.remove(state.oldest) != nil { state.oldest += 1 }
    }
  }

  package func disconnected(_ event: MosquittoDisconnection) {}
}

/// A client that publishes a load until it goes.
package final class LoadPublisher<Contents: LoadContents>: Sendable {
  package let load: Load<Contents>
  private let client: MosquittoClient
  private let tasks: [Task<Void, any Error>]

  /// - Parameter rate: messages a second; 0: as fast as it goes.
  package init(_ contents: Contents, rate: Double, to broker: TestBroker, user: String? = nil) {
    let load = Load(contents, rate: rate)
    let client = MosquittoClient(broker.configuration(passing: "load", user: user), handler: load)
    (self.load, self.client) = (load, client)
    tasks = [
      Task { try await client.run() },
      Task {
        while true {
          try await Task.sleep(for: .milliseconds(10))
          client.wake()
        }
      },
    ]
  }

  deinit {
    client.stop()
    tasks.last?.cancel()
  }

  /// Waits until the broker has acknowledged the last message.
  ///
  /// - Parameter least: so many there are to be at least.
  package func finish(after least: UInt64 = 0, within limit: Duration = .seconds(120)) async throws {
    load.end(after: least)
    try await eventually(within: limit, "the broker to acknowledge all of the load") { load.isDone }
  }
}
