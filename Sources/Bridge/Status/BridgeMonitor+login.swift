// SPDX-License-Identifier: Apache-2.0

import Broker

extension BridgeMonitor {
  /// Takes note when a connection was not made because the broker refuses the login.
  ///
  /// - Returns: whether the end of the connection is news. A login that is refused again for the
  ///   same reason is not: it is tried for as long as the daemon runs.
  func noteRefusal(
    _ event: MosquittoDisconnection, at connection: WritableKeyPath<Snapshot, Login> & Sendable
  ) -> Bool {
    // A connection that was let in is lost for another reason, whatever it is called.
    guard event.error.reason == .credentials, !event.wasConnected else { return true }
    let refused = Login.refused(event.error.message)
    var isNews = false
    update {
      isNews = $0[keyPath: connection] != refused
      $0[keyPath: connection] = refused
    }
    return isNews
  }
}
