// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import Logging
import ThreadDataset

extension EventRecord {
  /// A requester asks for credentials.
  init(_ pending: PendingConsent, _ reason: String, home: Int64, now: WireTime) {
    self.init(time: now, types: .consentRequested, home: home)
    fill(pending.id, pending.requester, pending.subject)
    detail.message = reason
    detail.expiresAt = WireTime(milliseconds: pending.expires).description
  }

  /// Nil for what is no end of a request.
  init?(_ record: ConsentRecord, home: Int64, now: WireTime) {
    let type: OutboundEventTypes
    switch record.outcome {
    case .approved: type = .consentApproved
    case .denied: type = .consentDenied
    case .expired: type = .consentExpired
    case .revoked: return nil
    }
    self.init(time: now, types: type, home: home)
    fill(record.id, record.requester, record.subject)
    detail.scope = record.scope?.rawValue
    detail.decidedBy = record.decidedBy
  }

  private mutating func fill(
    _ id: ConsentID, _ requester: ConsentRequester, _ subject: ConsentSubject
  ) {
    network = subject.onlyNetwork
    router = subject.router?.agent
    if case .mqttUser(let name) = requester.identity { user = name }
    detail.consent = id.description
    detail.requester = requester.description
    detail.fingerprint = requester.fingerprint
    detail.command = subject.command
    detail.networkName = subject.names
  }
}

extension BatchNews {
  /// What a person at the daemon's terminal needs to know, and to type.
  mutating func add(_ pending: PendingConsent, _ reason: String) {
    var metadata: Logger.Metadata = [
      "requester": "\(pending.requester)", "command": "\(pending.subject.command)",
      "network": "\(pending.subject.networkNames)", "why": "\(reason)",
      "approve": "threadkeeper consent approve \(pending.id)",
      "deny": "threadkeeper consent deny \(pending.id)",
    ]
    metadata["router"] = pending.subject.router.map { "\($0)" }
    metadata["fingerprint"] = pending.requester.fingerprint.map { "\($0)" }
    add(
      .notice, "consent is asked for", metadata, of: .consent,
      as: "\(pending.requester) asks for the credentials of \(pending.subject.names)")
  }

  mutating func add(_ record: ConsentRecord) {
    var metadata: Logger.Metadata = [
      "id": "\(record.id)", "requester": "\(record.requester)",
      "command": "\(record.subject.command)", "network": "\(record.subject.networkNames)",
    ]
    metadata["router"] = record.subject.router.map { "\($0)" }
    metadata["by"] = record.decidedBy.map { "\($0)" }
    metadata["scope"] = record.scope.map { "\($0.rawValue)" }
    let by = record.decidedBy.map { " by \($0)" } ?? ""
    let outcome = record.outcome == .expired ? "expired: nobody decided" : record.outcome.rawValue
    add(
      .notice, "consent \(record.outcome.rawValue)", metadata, of: .consent,
      as: "The request of \(record.requester) for the credentials of \(record.subject.names) "
        + (record.outcome == .expired ? outcome : "was \(outcome)\(by)"))
  }

  mutating func add(notGiven record: ConsentRecord, _ obstacle: ConsentObstacle) {
    add(
      .notice, "nothing is given: \(obstacle.message)",
      ["id": "\(record.id)", "requester": "\(record.requester)"], of: .consent)
  }
}
