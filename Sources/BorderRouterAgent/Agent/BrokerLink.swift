// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import Synchronization
import SystemThreads

/// One agent's connection to the broker. What was published and not acknowledged is offered again on the next
/// connection, in its order, or dropped then.
final class BrokerLink: MosquittoHandler {
  /// What the agent's thread reads, in order.
  enum News: Sendable {
    case connected
    case disconnected(MosquittoDisconnection)
    case refused(Publication, MosquittoError)
    case notSubscribed(SubscriptionRefusal)
    case message(IncomingMessage)
    /// The configuration can't work.
    case failed(MosquittoError)
  }

  private struct State {
    /// Not acknowledged yet.
    var pending: [Publication] = []
    /// How many of them are on their way on this connection.
    var sent = 0
    var news: [News] = []
    var client: MosquittoClient?
    var task: Task<Void, Never>?
  }

  /// Messages that may wait for the agent's thread; more are dropped. An order among them comes again when it has
  /// expired, an answer does not.
  private static let newsLimit = 256

  private let offersAgain: Bool
  private let state = Mutex(State())
  /// Raised while there is news.
  let wake = WakeSignal()

  /// - Parameter offersAgain: whether what was published on an earlier connection is offered on the next one.
  init(offersAgain: Bool) { self.offersAgain = offersAgain }

  // MARK: For the agent's thread

  /// Connects, or connects again as another client.
  func connect(_ configuration: MosquittoConfiguration) {
    if let client = state.withLock({ $0.client }) {
      client.reconfigure(configuration)
      return
    }
    let client = MosquittoClient(configuration, handler: self)
    let task = Task { [weak self] in
      do {
        try await client.run()
      } catch let error as MosquittoError {
        self?.add(.failed(error))
      } catch {}
    }
    state.withLock { ($0.client, $0.task) = (client, task) }
  }

  func publish(_ publication: Publication) {
    let client = state.withLock { state in
      state.pending.append(publication)
      return state.client
    }
    client?.wake()
  }

  func takeNews() -> [News] {
    wake.clear()
    return state.withLock { state in
      defer { state.news = [] }
      return state.news
    }
  }

  /// Publishes what is left, and this, and ends.
  func end(_ last: [Publication]) async {
    let (client, task, unsent) = state.withLock { state in
      let unsent = Array(state.pending.dropFirst(state.sent))
      state.sent = state.pending.count
      return (state.client, state.task, unsent)
    }
    client?.stop(finalPublications: unsent + last)
    await task?.value
    // The client holds its handler.
    state.withLock { ($0.client, $0.task) = (nil, nil) }
  }

  // MARK: On the client's thread

  func connected(_ session: MosquittoSession) {
    state.withLock { state in
      state.sent = 0
      if !offersAgain { state.pending = [] }
    }
    add(.connected)
  }

  func subscribed(refused: [SubscriptionRefusal]) {
    for refusal in refused { add(.notSubscribed(refusal)) }
  }

  func received(_ batch: [IncomingMessage]) {
    for message in batch { add(.message(message)) }
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let next = Array(state.pending.dropFirst(state.sent).prefix(limit))
      state.sent += next.count
      return next
    }
  }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    let publication = state.withLock { state -> Publication? in
      guard let index = state.pending.firstIndex(where: { $0.token == token }) else { return nil }
      if index < state.sent { state.sent -= 1 }
      return state.pending.remove(at: index)
    }
    if case .refused(let error) = outcome, let publication { add(.refused(publication, error)) }
  }

  func disconnected(_ event: MosquittoDisconnection) { add(.disconnected(event)) }

  private func add(_ news: News) {
    state.withLock { state in
      if case .message = news, state.news.count >= Self.newsLimit { return }
      state.news.append(news)
    }
    wake.raise()
  }
}
