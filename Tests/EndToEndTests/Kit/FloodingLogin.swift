// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization

/// Announces invented routers as fast as the broker takes them.
final class FloodingLogin: MosquittoHandler {
  private let count: UInt64
  private let state = Mutex((sent: UInt64(0), acknowledged: UInt64(0)))

  init(count: UInt64) { self.count = count }

  var isDone: Bool { state.withLock { $0.acknowledged >= count } }

  func connected(_ session: MosquittoSession) {
    state.withLock { $0.sent = $0.acknowledged }
  }

  func received(_ batch: [IncomingMessage]) throws {}

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let end = min(count, state.sent + UInt64(limit))
      defer { state.sent = end }
      return (state.sent..<end).map { number in
        BorderRouter(number: 0x100_0000 + Int(number), user: "mallory").says("announce")
      }
    }
  }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    state.withLock { $0.acknowledged += 1 }
  }

  func disconnected(_ event: MosquittoDisconnection) {}
}
