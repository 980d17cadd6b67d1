// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization

/// A handler that keeps all it is told, and publishes what is put into it.
package final class RecordingHandler: MosquittoHandler {
  package struct Record: Sendable {
    package var sessions: [MosquittoSession] = []
    package var subscribed: [[SubscriptionRefusal]] = []
    package var batches: [[IncomingMessage]] = []
    package var acknowledged: [(token: UInt64, outcome: PublicationOutcome)] = []
    package var disconnections: [MosquittoDisconnection] = []
    package var sessionsRegained = 0
    /// Handed to the client, and not acknowledged yet.
    package var underWay = 0
    package var mostUnderWay = 0
    /// The largest number that the client has asked for.
    package var largestLimit = 0
    package var outbox: [Publication] = []

    package var messages: [IncomingMessage] { batches.flatMap { $0 } }
  }

  private let state = Mutex(Record())
  private let onReceived: (@Sendable ([IncomingMessage]) throws -> Void)?

  /// - Parameter onReceived: called with every batch before it is kept; may throw and may block.
  package init(onReceived: (@Sendable ([IncomingMessage]) throws -> Void)? = nil) {
    self.onReceived = onReceived
  }

  package var record: Record { state.withLock { $0 } }
  package var messages: [IncomingMessage] { state.withLock { $0.messages } }
  package var messageCount: Int { state.withLock { $0.batches.reduce(0) { $0 + $1.count } } }

  /// To be published; then wake the client.
  package func offer(_ publications: [Publication]) {
    state.withLock { $0.outbox += publications }
  }

  package func connected(_ session: MosquittoSession) {
    state.withLock {
      $0.sessions.append(session)
      $0.underWay = 0
    }
  }

  package func subscribed(refused: [SubscriptionRefusal]) {
    state.withLock { $0.subscribed.append(refused) }
  }

  package func received(_ batch: [IncomingMessage]) throws {
    try onReceived?(batch)
    state.withLock { $0.batches.append(batch) }
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

  package func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    state.withLock {
      $0.acknowledged.append((token, outcome))
      $0.underWay -= 1
    }
  }

  package func sessionRegained() { state.withLock { $0.sessionsRegained += 1 } }

  package func disconnected(_ event: MosquittoDisconnection) {
    state.withLock { $0.disconnections.append(event) }
  }
}
