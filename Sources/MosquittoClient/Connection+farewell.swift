// SPDX-License-Identifier: Apache-2.0

import CLibMosquitto

/// A goodbye that is under way: last publications, their acknowledgements, DISCONNECT.
struct Farewell {
  var end: Connection.End
  /// In reverse order.
  var publications: [Publication]
  /// When the connection is closed whatever is still missing.
  var deadline: ContinuousClock.Instant
  /// DISCONNECT is queued.
  var isSaid = false
}

extension Connection {
  /// Looks at what other threads want. A stop takes the place of a goodbye before a new connection
  /// that is not said yet: its publications would be lost with it.
  func noticeWishes() {
    if let farewell {
      guard case .reconnect = farewell.end, !farewell.isSaid else { return }
    }
    let deadline = ContinuousClock.now + configuration.stopLimit
    if let stop = mailbox.stopRequest {
      farewell = Farewell(
        end: .stopped, publications: stop.finalPublications.reversed(), deadline: deadline)
    } else if farewell == nil, mailbox.wantsReconnect {
      farewell = Farewell(end: .reconnect, publications: [], deadline: deadline)
    }
  }

  /// Goes on with a goodbye, if there is one.
  ///
  /// - Returns: the end, when it is reached.
  func sayGoodbye() throws(ConnectionLoss) -> End? {
    guard var farewell else { return nil }
    defer { self.farewell = farewell }
    guard handle.isOpen else { return farewell.end }
    let isLate = ContinuousClock.now >= farewell.deadline
    if farewell.isSaid { return isLate ? farewell.end : nil }

    while window.room > 0, let publication = farewell.publications.popLast() { send(publication) }
    guard isLate || (farewell.publications.isEmpty && window.isEmpty) else { return nil }
    // The acknowledgements queued before it belong to messages that are on disk.
    handle.disconnect()
    queued += 1
    farewell.isSaid = true
    // A broker that does not read any more gets one more second to take it.
    farewell.deadline = .now + .seconds(1)
    return nil
  }
}
