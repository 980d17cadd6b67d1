// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization

/// A running client with a handler that records.
package final class TestClient: Sendable {
  package let client: MosquittoClient
  package let handler: RecordingHandler
  private let outcome: Outcome

  /// What `run` came to.
  private final class Outcome: Sendable {
    let result = Mutex<Result<Void, any Error>?>(nil)
  }

  package init(
    _ configuration: MosquittoConfiguration,
    onReceived: (@Sendable ([IncomingMessage]) throws -> Void)? = nil
  ) {
    let handler = RecordingHandler(onReceived: onReceived)
    let client = MosquittoClient(configuration, handler: handler)
    self.handler = handler
    self.client = client
    let outcome = Outcome()
    self.outcome = outcome
    Task {
      do {
        try await client.run()
        outcome.result.withLock { $0 = .success(()) }
      } catch {
        outcome.result.withLock { $0 = .failure(error) }
      }
    }
  }

  deinit {
    client.stop()
  }

  /// Waits until the broker has answered the subscriptions of the given connection, counted from 1.
  package func ready(connection: Int = 1) async throws {
    try await eventually("connection \(connection) and its subscriptions") {
      handler.record.subscribed.count >= connection
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
    try await eventually(within: limit, "the end of the client") {
      outcome.result.withLock { $0 != nil }
    }
    try outcome.result.withLock { $0 }?.get()
  }
}
