// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadDataset

/// Writes what the alert policies decide.
extension BatchApplier {
  var alerts: Alerts { Alerts(tx: tx, now: now, hold: configuration.alertsHold) }

  /// Brings the alerts of a router in line with the conditions that hold now.
  func setAlerts(
    _ wanted: [AlertName: AlertFacts], of router: inout RouterRecord, home: HomeContext
  ) throws {
    for name in AlertName.ofRouters {
      let bit: Int64 = 1 << name.number
      guard wanted[name] != nil || router.alerts & bit != 0 else { continue }
      let isActive = try setAlert(
        name, about: router.agent.description, wanted[name], in: home)
      if isActive { router.alerts |= bit } else { router.alerts &= ~bit }
    }
  }

  /// - Parameters:
  ///   - subject: see `Alerts.set`.
  ///   - wanted: what it says; nil: its condition does not hold.
  /// - Returns: whether the alert is held or firing afterwards.
  @discardableResult
  func setAlert(
    _ name: AlertName, about subject: String = "", _ wanted: AlertFacts?, in home: HomeContext
  ) throws -> Bool {
    let change = try alerts.set(name, about: subject, wanted, in: home.record)
    try follow(change)
    return change.isActive
  }

  func raiseDueAlerts(limit: Int) throws { try alerts.raiseDue(limit: limit).forEach(follow) }

  func endNotices(limit: Int) throws { try alerts.endNotices(limit: limit).forEach(follow) }

  func end(_ alert: AlertRecord) throws { try follow(alerts.end(alert)) }

  /// Event, log, and what else an alert brings about.
  private func follow(_ change: AlertChange) throws {
    guard let (type, alert) = change.news.map({ ($0.type, $0.alert) }) else { return }
    outcome.news.add(type, alert)
    var event = EventRecord(time: now, types: type, home: alert.home)
    event.alert = alert.fingerprint
    event.detail.alert = ToldAlert(
      name: alert.name, facts: alert.facts, startsAt: alert.startsAt ?? alert.heldSince,
      sequence: alert.sequence)
    try append(event)
    if type == .alertRaised { noteRaised(alert) }
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
    try setAlert(.noPreferredNetwork, wanted, in: home)
  }

  /// Takes note, once, that a user sends datasets unsealed.
  func plaintextSeen(from user: String, home: HomeContext) throws {
    guard home.plaintextUsers.insert(user).inserted else { return }
    try setAlert(.plaintextCredentials, about: user, .plaintextCredentials(user: user), in: home)
  }

  /// When no router of a user is left, there is nothing that it could send unsealed.
  func plaintextEnded(of user: String, home: HomeContext) throws {
    guard try !RouterLedger.hasRouters(of: user, home: home.record.id, tx) else { return }
    try setAlert(.plaintextCredentials, about: user, nil, in: home)
  }
}
