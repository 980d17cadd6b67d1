// SPDX-License-Identifier: Apache-2.0

import Broker

import struct Home.WireTime

/// That the store cannot be used. A store that cannot be written cannot hold the alert about that, so no home has it.
struct StoreAlert: Equatable {
  /// What is wrong, and what to do.
  var reason: String
  let since: WireTime

  static func fingerprint(home: String) -> String {
    alertFingerprint(home: home, name: "StoreReadOnly", subject: "")
  }

  /// - Parameters:
  ///   - endsAt: nil while it fires.
  ///   - eventType: in an event.
  func json(home: String, endsAt: WireTime? = nil, eventType: String? = nil) -> [UInt8] {
    let since = Broker.WireTime(milliseconds: self.since.milliseconds)
    let end = endsAt.map { Broker.WireTime(milliseconds: $0.milliseconds) }
    var state = AlertState(
      fingerprint: Self.fingerprint(home: home), name: .storeReadOnly,
      status: endsAt == nil ? .firing : .resolved, home: home,
      facts: Broker.AlertFacts(
        summary: "the store cannot be written, so events wait on the broker", remedy: reason),
      startsAt: since, updatedAt: end ?? since, endsAt: end, sequence: 1)
    state.eventType = eventType
    return WireJSON().encode(state)
  }

  static let resolvedExpiry = UInt32(AlertState.resolvedRetention)
}
