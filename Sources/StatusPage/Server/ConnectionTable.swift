// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// The connections that are open.
final class ConnectionTable: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  private let most: Int
  private let state = Mutex(State())

  init(most: Int) { self.most = most }

  var count: Int { state.withLock { $0.channels.count } }

  /// - Returns: false where there are too many already, or all were closed.
  func add(_ channel: any Channel) -> Bool {
    state.withLock { state in
      guard !state.isClosed, state.channels.count < most else { return false }
      state.channels[ObjectIdentifier(channel)] = channel
      return true
    }
  }

  func remove(_ channel: any Channel) {
    state.withLock { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  /// Closes what is open, and whatever comes.
  func closeAll() {
    let channels = state.withLock { state in
      state.isClosed = true
      return state.channels.values
    }
    for channel in channels { channel.close(promise: nil) }
  }
}
