// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Synchronization

/// Which messages were handed to which connection. In memory only: another process, or another
/// connection, hands them out again, because nobody knows whether they have arrived.
final class AdoptionMail: Sendable {
  private struct State {
    var handed: [String: (connection: Int64, until: WireTime)] = [:]
    var cursor: Int64 = 0
  }

  private let state = Mutex(State())

  /// Row id up to which this walk has looked after adoptions.
  var cursor: Int64 {
    get { state.withLock { $0.cursor } }
    set { state.withLock { $0.cursor = newValue } }
  }

  /// Whether a message was not handed to this connection yet, or is over there.
  func isDue(_ id: String, connection: Int64, now: WireTime) -> Bool {
    state.withLock { state in
      guard let handed = state.handed[id] else { return true }
      return handed.connection != connection || handed.until <= now
    }
  }

  func handed(_ id: String, to connection: Int64, until: WireTime, now: WireTime) {
    state.withLock { state in
      state.handed = state.handed.filter { $0.value.until > now }
      state.handed[id] = (connection, until)
    }
  }
}
