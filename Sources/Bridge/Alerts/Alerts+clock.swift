// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset

/// Alerts that change although no condition does.
extension Alerts {
  /// Alerts whose conditions have lasted long enough.
  func raiseDue(limit: Int) throws -> [Effect] {
    try AlertLedger.due(heldBefore: now.adding(seconds: -hold), limit: limit, tx)
      .flatMap { try apply(.raise, to: $0).effects }
  }

  /// Notices end when they have been published for as long as their definitions say.
  func endNotices(limit: Int) throws -> [Effect] {
    try AlertName.notices.flatMap { name in
      let deadline = now.adding(seconds: -(name.definition.noticeDuration ?? 0))
      return try AlertLedger.firing(name, before: deadline, limit: limit, tx)
        .flatMap { try apply(.resolve, to: $0).effects }
    }
  }

  /// The states of alerts that were resolved long ago are published no more.
  func forgetResolved(limit: Int) throws -> [Effect] {
    let deadline = now.adding(seconds: -AlertState.resolvedRetention)
    return try AlertLedger.resolved(before: deadline, limit: limit, tx).map { alert in
      try AlertLedger.delete(alert.fingerprint, tx)
      var event = EventRecord(time: now, home: alert.home)
      event.alert = alert.fingerprint
      return .event(event)
    }
  }

  /// Alerts about routers that are gone, or about users that publish for none, would fire for ever.
  func endOrphans() throws -> [Effect] {
    try AlertLedger.active(tx).filter(isOrphan).flatMap { alert in
      try apply(alert.phase == .held ? .drop : .resolve, to: alert).effects
    }
  }

  private func isOrphan(_ alert: AlertRecord) throws -> Bool {
    if alert.name == .plaintextCredentials {
      return try !RouterLedger.hasRouters(of: alert.subject, home: alert.home, tx)
    }
    guard AlertName.ofRouters.contains(alert.name), let agent = BorderAgentID(hex: alert.subject)
    else { return false }
    return try RouterLedger.find(agent, home: alert.home, tx)?.isPresent != true
  }
}
