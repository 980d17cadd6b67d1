// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import Synchronization

/// A participant of the demonstration: publishes what it is given, and hands on what it hears.
final class DemoClient: MosquittoHandler {
  private struct State {
    var isConnected = false
    var waiting: [Publication] = []
    var unacknowledged = 0
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
    state.withLock {
      $0.waiting.append(Publication(topic: topic, payload: Array(payload.utf8), token: 1))
      $0.unacknowledged += 1
    }
    current?.wake()
  }

  var messages: [IncomingMessage] { state.withLock { $0.messages } }

  private var current: MosquittoClient? { client.withLock { $0 } }

  // MARK: - MosquittoHandler

  func connected(_ session: MosquittoSession) { state.withLock { $0.isConnected = true } }

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

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    state.withLock { $0.unacknowledged -= 1 }
  }

  func disconnected(_ event: MosquittoDisconnection) { state.withLock { $0.isConnected = false } }
}
