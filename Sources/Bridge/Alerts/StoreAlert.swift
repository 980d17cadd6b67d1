// SPDX-License-Identifier: Apache-2.0

import Broker
import Home

/// That the store cannot be used. A store that cannot be written cannot hold the alert about that, so no home has it.
struct StoreAlert: Equatable {
  /// What is wrong, and what to do.
  var reason: String
  let since: WireTime
  var updatedAt: WireTime
  /// Nil while it fires.
  var endsAt: WireTime?
  /// Counts what was published about it.
  var sequence: Int64

  /// As lists have it.
  var shown: Alert {
    Alert(
      shown: .storeReadOnly(reason), since: since, updatedAt: updatedAt, endsAt: endsAt,
      sequence: UInt32(clamping: sequence))
  }

  static func fingerprint(home: String) -> String {
    AlertFingerprint(home: home, name: .storeReadOnly, subject: "").description
  }

  /// - Parameter eventType: in an event.
  func json(home: String, eventType: String? = nil) -> [UInt8] {
    let names = shown.facts.names.first
    var state = AlertState(
      fingerprint: Self.fingerprint(home: home), name: .storeReadOnly,
      status: endsAt == nil ? .firing : .resolved, severity: .critical, home: home,
      facts: AlertWords(
        summary: names[0], remedy: names[1]),
      startsAt: since, updatedAt: updatedAt, endsAt: endsAt, sequence: sequence)
    state.eventType = eventType
    return WireJSON().encode(state)
  }

  /// Seconds for which the broker keeps what is published now; nil while it fires, 0 when it is over for a day.
  func expiry(at now: WireTime) -> UInt32? {
    endsAt.map {
      let passed = max(0, now.milliseconds - $0.milliseconds) / 1_000
      return UInt32(max(0, Int64(AlertState.resolvedRetention) - passed))
    }
  }
}
