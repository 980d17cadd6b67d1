// SPDX-License-Identifier: Apache-2.0

import Broker

extension BridgeMonitor {
  /// Notes that another client took over the session of a connection.
  ///
  /// - Returns: whether this end of the connection is worth a line of the log: the first of a contest is.
  func noteTakeover(
    _ event: MosquittoDisconnection, of connection: WritableKeyPath<Snapshot, String?> & Sendable
  ) -> Bool {
    guard event.error.reason == .sessionTakenOver else { return true }
    var isNews = false
    update {
      isNews = $0[keyPath: connection] == nil
      $0[keyPath: connection] = event.error.message
    }
    return isNews
  }
}
