// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import SodiumCrypto
import Synchronization

/// Publishes one request and waits for its answer.
final class RequestExchange: MosquittoHandler {
  enum Outcome: Sendable {
    case answer([UInt8])
    case failed(MosquittoError)
  }

  private struct State {
    var outcome: Outcome?
    var isSubscribed = false
    var isSent = false
    var told: @Sendable () -> Void = {}
    var wake: @Sendable () -> Void = {}
  }

  private let request: Publication
  private let isAnswer: @Sendable (IncomingMessage) -> Bool
  private let state = Mutex(State())

  /// - Parameter isAnswer: tells the answer from those to others who share the login.
  init(_ request: Publication, isAnswer: @escaping @Sendable (IncomingMessage) -> Bool) {
    self.request = request
    self.isAnswer = isAnswer
  }

  /// - Parameter limit: in all.
  /// - Returns: nil when nobody has answered by then.
  func perform(_ configuration: MosquittoConfiguration, within limit: Duration) async throws
    -> Outcome?
  {
    let client = MosquittoClient(configuration, handler: self)
    state.withLock {
      $0.told = { client.stop() }
      $0.wake = { client.wake() }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await client.run() }
      group.addTask {
        if (try? await Task.sleep(for: limit)) != nil { client.stop() }
      }
      defer {
        group.cancelAll()
        client.stop()
        state.withLock { ($0.told, $0.wake) = ({}, {}) }
      }
      try await group.next()
    }
    return state.withLock { $0.outcome }
  }

  // MARK: On the client's thread

  func connected(_ session: MosquittoSession) {}

  /// Only now is an answer heard.
  func subscribed(refused: [SubscriptionRefusal]) {
    let wake = state.withLock { state in
      state.isSubscribed = true
      return state.wake
    }
    wake()
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      guard state.isSubscribed, !state.isSent, limit > 0 else { return [] }
      state.isSent = true
      return [request]
    }
  }

  func received(_ batch: [IncomingMessage]) {
    for message in batch where !message.isRetained && isAnswer(message) {
      return end(.answer(message.payload))
    }
  }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    if case .refused(let error) = outcome { end(.failed(error)) }
  }

  func disconnected(_ event: MosquittoDisconnection) { end(.failed(event.error)) }

  private func end(_ outcome: Outcome) {
    let told = state.withLock { state in
      if state.outcome == nil { state.outcome = outcome }
      return state.told
    }
    told()
  }
}
