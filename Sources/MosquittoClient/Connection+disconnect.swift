// SPDX-License-Identifier: Apache-2.0

import CLibMosquitto

/// A disconnect in progress: last publications, their acknowledgements, DISCONNECT.
struct DisconnectProgress {
  var end: Connection.End
  /// In reverse order.
  var publications: [Publication]
  /// When the connection is closed whatever is still missing.
  var deadline: ContinuousClock.Instant
  /// DISCONNECT is queued.
  var isSent = false
}

extension Connection {
  /// Reads what other threads ask for. A stop replaces a disconnect before a new connection
  /// that is not sent yet: its publications would be lost with it.
  func readControlRequests() {
    if let disconnect {
      guard case .reconnect = disconnect.end, !disconnect.isSent else { return }
    }
    let deadline = ContinuousClock.now + configuration.stopLimit
    if let stop = mailbox.stopRequest {
      disconnect = DisconnectProgress(
        end: .stopped, publications: stop.finalPublications.reversed(), deadline: deadline)
    } else if disconnect == nil, mailbox.wantsReconnect {
      disconnect = DisconnectProgress(end: .reconnect, publications: [], deadline: deadline)
    }
  }

  /// Continues a disconnect, if there is one.
  ///
  /// - Returns: the end, when it is reached.
  func continueDisconnect() throws(ConnectionLoss) -> End? {
    guard var disconnect else { return nil }
    defer { self.disconnect = disconnect }
    guard handle.isOpen else { return disconnect.end }
    let isLate = ContinuousClock.now >= disconnect.deadline
    if disconnect.isSent { return isLate ? disconnect.end : nil }

    while window.room > 0, let publication = disconnect.publications.popLast() { send(publication) }
    guard isLate || (disconnect.publications.isEmpty && window.isEmpty) else { return nil }
    // The acknowledgements queued before it belong to messages that are on disk.
    handle.disconnect()
    queued += 1
    disconnect.isSent = true
    // A broker that does not read any more gets one more second to take it.
    disconnect.deadline = .now + .seconds(1)
    return nil
  }
}
