// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore

/// `leave`: the router left the Thread network. Its credentials go, and what was published about it is taken back.
extension Routers {
  /// - Parameters:
  ///   - stored: its row as it was, which may be off the list already; nil where it has none.
  ///   - ordered: its row, with the event's number noted.
  ///   - owner: the team that the id belongs to.
  func leave(
    _ stored: RouterRecord?, ordered: RouterRecord, credential: ThreadCredential?, owner: String?,
    in home: HomeRecord
  ) throws -> [Effect] {
    // Only its record says that it is there, and nothing is stored for it that could go.
    if let stored, stored.isPresent, stored.source == .mdns, credential == nil {
      return [.duplicate]
    }
    if let credential { try store.delete(credential, tx) }
    guard let router = stored, router.isPresent else {
      let effects: [Effect] = credential == nil ? [.duplicate] : []
      // A row without an id is not stored: then there is no number to remember either.
      guard ordered.id != 0 else { return effects }
      var gone = ordered
      if credential != nil {
        gone.credential = .missing
        gone.lastSeen = now
      }
      try RouterLedger.update(gone, tx)
      return effects
    }
    if ordered.order.isEmpty, owner == nil {
      try RouterLedger.delete(router, tx)
    } else {
      var gone = RouterRecord(
        absent: router.agent, home: home.id, user: ordered.user,
        team: owner ?? configuration.team(ordered.user), credential: .missing, since: now)
      gone.id = router.id
      gone.order = ordered.order
      try RouterLedger.update(gone, tx)
    }
    var record = EventRecord(time: now, home: home.id)
    record.user = ordered.user
    return [.unlist(router, record)]
      + Set([router.user, ordered.user]).map { .routerGone(ofUser: $0, home: home.id) }
  }
}
