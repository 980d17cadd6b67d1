// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase

/// The alerts of all homes within one transaction: rows, and when they are raised, change and end. What follows is
/// returned.
struct Alerts {
  let tx: WriteTransaction
  let now: WireTime
  /// Seconds for which a condition must last, where the alert's definition asks for that.
  let hold: Int

  /// Brings an alert in line with whether its condition holds now.
  ///
  /// - Parameters:
  ///   - subject: a border agent id, a user, or empty for the home.
  ///   - wanted: its text; nil: the condition does not hold.
  func set(
    _ name: AlertName, about subject: String, _ wanted: AlertFacts?, in home: HomeRecord
  ) throws -> AlertChange {
    let fingerprint = AlertFingerprint(home: home.name, name: name, subject: subject)
    let stored = try AlertLedger.find(fingerprint, tx)
    let transition = AlertTransition(
      phase: stored?.phase, facts: stored?.heldFacts ?? stored?.facts, wanted: wanted,
      heldSince: stored?.heldSince, hold: name.isHeld(wanted?.reason) ? hold : 0, now: now)
    if transition == .none { return AlertChange(isActive: wanted != nil && stored != nil) }
    let alert =
      stored
      ?? AlertRecord(
        fingerprint: fingerprint, home: home.id, name: name, subject: subject, phase: .held,
        facts: wanted ?? AlertFacts(summary: "", remedy: ""), heldSince: now, startsAt: nil,
        updatedAt: now, endsAt: nil, sequence: 0)
    return try apply(transition, to: alert, wanted: wanted)
  }

  /// Brings the alerts of a router in line with the conditions that hold now, and notes in the router which are active.
  func set(
    _ wanted: [AlertName: AlertFacts], of router: inout RouterRecord, in home: HomeRecord
  ) throws -> [Effect] {
    var effects: [Effect] = []
    for name in AlertName.ofRouters {
      let bit: Int64 = 1 << name.number
      guard wanted[name] != nil || router.alerts & bit != 0 else { continue }
      let change = try set(name, about: router.agent.description, wanted[name], in: home)
      if change.isActive { router.alerts |= bit } else { router.alerts &= ~bit }
      effects += change.effects
    }
    return effects
  }

  /// An alert about the home that is held or fires.
  func active(_ name: AlertName, in home: HomeRecord) throws -> AlertRecord? {
    let fingerprint = AlertFingerprint(home: home.name, name: name, subject: "")
    return try AlertLedger.find(fingerprint, tx).flatMap { $0.phase == .resolved ? nil : $0 }
  }

  /// Whether an alert of a router is raised, and not only held.
  func isFiring(_ name: AlertName, of router: RouterRecord, in home: HomeRecord) throws -> Bool {
    guard router.alerts & (1 << name.number) != 0 else { return false }
    let fingerprint = AlertFingerprint(
      home: home.name, name: name, subject: router.agent.description)
    return try AlertLedger.find(fingerprint, tx)?.phase == .firing
  }

  func apply(
    _ transition: AlertTransition, to stored: AlertRecord, wanted: AlertFacts? = nil
  ) throws -> AlertChange {
    var alert = stored
    switch transition {
    case .none: return AlertChange(isActive: stored.phase != .resolved)
    case .hold:
      if let wanted { alert.hold(wanted) }
      alert.phase = .held
      alert.heldSince = now
      try AlertLedger.save(alert, tx)
      return AlertChange(isActive: true)
    case .amend:
      if let wanted { alert.hold(wanted) }
      try AlertLedger.save(alert, tx)
      return AlertChange(isActive: true)
    case .drop:
      guard alert.wasPublished else {
        try AlertLedger.delete(alert.fingerprint, tx)
        return AlertChange(isActive: false)
      }
      alert.phase = .resolved
      alert.heldFacts = nil
      try AlertLedger.save(alert, tx)
      return AlertChange(isActive: false)
    case .raise:
      if let facts = wanted ?? alert.heldFacts { alert.facts = facts }
      alert.heldFacts = nil
      if alert.phase != .held { alert.heldSince = now }
      alert.phase = .firing
      alert.startsAt = alert.heldSince
      alert.endsAt = nil
      return try publish(.alertRaised, alert)
    case .update:
      if let wanted { alert.facts = wanted }
      var change = try publish(.alertUpdated, alert)
      if stored.severity != alert.severity { change.news?.previousSeverity = stored.severity }
      return change
    case .resolve:
      alert.phase = .resolved
      alert.endsAt = now
      return try publish(.alertResolved, alert)
    }
  }

  private func publish(_ type: OutboundEventTypes, _ changed: AlertRecord) throws -> AlertChange {
    var alert = changed
    alert.sequence += 1
    alert.updatedAt = now
    try AlertLedger.save(alert, tx)
    return AlertChange(isActive: alert.phase != .resolved, news: .init(type: type, alert: alert))
  }
}
