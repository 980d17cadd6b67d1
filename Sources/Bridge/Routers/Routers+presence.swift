// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset

/// `heartbeat`, `offline` and `ssid`, and the silence of a router.
extension Routers {
  /// - Returns: what changes; nil where nothing does that is published or checked.
  func presence(
    _ event: InboundEvent, of ordered: RouterRecord, stored: RouterRecord
  ) throws -> RouterChange? {
    var router = ordered
    if event.kind == .heartbeat {
      router.beats = true
      router.lastSeen = now
      router.takeThreadReport(of: event, now: now)
    } else {
      router.takeOffline(event.offlineReason, now: now)
    }
    // The numbers are those of a user: they must not be written without it.
    if router.showsTheSame(as: stored) {
      try RouterLedger.touch(router, tx)
      return nil
    }
    return RouterChange(router, stored: stored, trigger: event.kind.rawValue, now: now)
  }

  /// It has sent nothing for too long.
  func silence(of stored: RouterRecord) -> RouterChange {
    var router = stored
    router.takeOffline(.silent, now: now)
    return RouterChange(router, stored: stored, trigger: "silence", now: now)
  }

  /// The Wi-Fi beside the router has another name.
  func ssid(
    _ event: InboundEvent, of stored: RouterRecord, in home: HomeRecord,
    preferred: () throws -> OperationalDataset?
  ) throws -> [Effect] {
    guard let ssid = event.ssid else { return [] }
    let previous = event.previousSSID ?? stored.ssid
    guard ssid != stored.ssid else { return [] }
    var router = stored
    router.previousSSID = previous
    router.ssid = ssid
    let dataset = try store.credential(of: router.agent, in: home.name, tx)?.dataset
    let isChange = previous != nil && previous != ssid
    let change = RouterChange(
      router, stored: stored, trigger: isChange ? "ssid_changed" : "ssid", now: now)
    change.dataset = .known(dataset)
    if isChange {
      change.event.types.insert(.ssidChanged)
      change.event.detail.ssid = ssid
      change.event.detail.previousSSID = previous
      change.event.detail.preferred =
        PreferredCheck(dataset, of: router, preferred: try preferred()).name
    }
    return [.router(change)]
  }
}

extension RouterRecord {
  /// Equal in all that is published or checked; signs of life and numbers apart.
  func showsTheSame(as other: RouterRecord) -> Bool {
    guard BrokerUser.isSame(user, other.user) else { return false }
    var shown = self
    shown.lastSeen = other.lastSeen
    shown.threadStateReported = other.threadStateReported
    shown.order = other.order
    shown.beats = other.beats
    shown.generation = other.generation
    shown.alerts = other.alerts
    return shown == other
  }
}
