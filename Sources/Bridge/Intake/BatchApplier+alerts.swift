// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadDataset

/// Writes what the alert policies decide.
extension BatchApplier {
  /// Brings the alerts of a router in line with the conditions that hold now.
  func applyAlerts(
    _ wanted: [AlertName: AlertFacts], to router: inout RouterRecord, home: HomeContext
  ) throws {
    for name in AlertName.ofRouters {
      let bit: Int64 = 1 << name.number
      guard wanted[name] != nil || router.alerts & bit != 0 else { continue }
      let isActive = try applyAlert(
        name, subject: router.agent.description, wanted: wanted[name], home: home,
        // What has been decided or waited for need not last.
        hold: name == .adoptionFailed ? 0 : nil)
      if isActive { router.alerts |= bit } else { router.alerts &= ~bit }
    }
  }

  /// - Parameter hold: seconds; the setting unless given.
  /// - Returns: whether the alert is held or firing afterwards.
  @discardableResult
  func applyAlert(
    _ name: AlertName, subject: String, wanted: AlertFacts?, home: HomeContext, hold: Int? = nil
  ) throws -> Bool {
    let fingerprint = AlertFingerprint(home: home.record.name, name: name, subject: subject)
    let stored = try AlertLedger.find(fingerprint, tx)
    let transition = AlertTransition(
      phase: stored?.phase, facts: stored?.heldFacts ?? stored?.facts, wanted: wanted,
      heldSince: stored?.heldSince,
      hold: hold ?? configuration.alertsHold, now: now)
    try apply(
      transition, to: stored, wanted: wanted,
      new: AlertRecord(
        fingerprint: fingerprint, home: home.record.id, name: name, subject: subject,
        phase: .held, facts: wanted ?? AlertFacts(summary: "", remedy: ""), heldSince: now,
        startsAt: nil, updatedAt: now, endsAt: nil, sequence: 0))
    switch transition {
    case .hold, .raise, .update, .amend: return true
    case .resolve, .drop: return false
    case .none: return wanted != nil && stored != nil
    }
  }

  func apply(
    _ transition: AlertTransition, to stored: AlertRecord?, wanted: AlertFacts?, new: AlertRecord
  ) throws {
    var alert = stored ?? new
    switch transition {
    case .none: return
    case .hold:
      if let wanted { alert.hold(wanted) }
      alert.phase = .held
      alert.heldSince = now
      try AlertLedger.save(alert, tx)
    case .amend:
      if let wanted { alert.hold(wanted) }
      try AlertLedger.save(alert, tx)
    case .drop:
      guard alert.wasTold else { return try AlertLedger.delete(alert.fingerprint, tx) }
      alert.phase = .resolved
      alert.heldFacts = nil
      try AlertLedger.save(alert, tx)
    case .raise:
      if let facts = wanted ?? alert.heldFacts { alert.facts = facts }
      alert.heldFacts = nil
      if alert.phase != .held { alert.heldSince = now }
      alert.phase = .firing
      alert.startsAt = alert.heldSince
      alert.endsAt = nil
      try tell(.alertRaised, &alert)
      noteRaised(alert)
    case .update:
      if let wanted { alert.facts = wanted }
      try tell(.alertUpdated, &alert)
    case .resolve:
      alert.phase = .resolved
      alert.endsAt = now
      try tell(.alertResolved, &alert)
    }
  }

  private func tell(_ type: OutboundEventTypes, _ alert: inout AlertRecord) throws {
    alert.sequence += 1
    alert.updatedAt = now
    try AlertLedger.save(alert, tx)
    outcome.news.add(type, alert)
    var event = EventRecord(time: now, types: type, home: alert.home)
    event.alert = alert.fingerprint
    event.detail.alert = ToldAlert(
      name: alert.name, facts: alert.facts, startsAt: alert.startsAt ?? alert.heldSince,
      sequence: alert.sequence)
    try append(event)
  }

  /// A home with routers needs a preferred network to check them against.
  func checkPreferredExists(in home: HomeContext) throws {
    let isMissing =
      try preferredNetwork(of: home) == nil
      && home.record.routers + home.routersChange > 0
    var wanted: AlertFacts?
    if isMissing {
      let isForgotten = try store.isPreferredForgotten(in: home.record.name, tx)
      wanted =
        isForgotten
        ? .preferredNetworkForgotten(homeOption: homeOption(home)) : .noPreferredNetwork
    }
    try applyAlert(.noPreferredNetwork, subject: "", wanted: wanted, home: home)
  }

  /// Takes note, once, that a user sends datasets unsealed.
  func plaintextSeen(from user: String, home: HomeContext) throws {
    guard home.plaintextUsers.insert(user).inserted else { return }
    try applyAlert(
      .plaintextCredentials, subject: user, wanted: .plaintextCredentials(user: user), home: home)
  }

  /// When no router of a user is left, there is nothing that it could send unsealed.
  func plaintextEnded(of user: String, home: HomeContext) throws {
    guard try !RouterLedger.hasRouters(of: user, home: home.record.id, tx) else { return }
    try applyAlert(.plaintextCredentials, subject: user, wanted: nil, home: home)
  }
}
