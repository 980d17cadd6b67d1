// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import ConsentLedger

/// A ledger in a temporary store, with a clock that the test sets.
final class Ledger {
  let store: TemporaryStore
  /// Milliseconds since 1970.
  var now: Int64 = 1_795_235_760_000

  init() throws {
    var options = KeychainOptions()
    options.auditor = "daemon"
    store = try TemporaryStore(options: options)
  }

  var ledger: ConsentLedger { ConsentLedger(store.keychain, ownUser: 998) }

  func pass(_ seconds: Int64) { now += seconds * 1_000 }

  @discardableResult
  func ask(
    _ requester: ConsentRequester = .phone, _ subject: ConsentSubject = .preferred,
    transaction: String? = nil
  ) throws -> ConsentOutcome {
    try store.keychain.database.write {
      try ledger.ask(
        ConsentRequest(subject, by: requester, reply: .sample(transaction)), now: now, $0)
    }
  }

  /// Asks for something that is not granted yet.
  @discardableResult
  func pend(
    _ requester: ConsentRequester = .phone, _ subject: ConsentSubject = .preferred,
    transaction: String? = nil
  ) throws -> PendingConsent {
    guard case .pending(let pending, _) = try ask(requester, subject, transaction: transaction)
    else { throw Unexpected() }
    return pending
  }

  struct Unexpected: Error {}

  @discardableResult
  func approve(
    _ id: String, _ scope: ConsentScope = .once, by approver: ConsentApprover = .anna
  ) throws -> EndedConsent {
    try store.keychain.database.write {
      try ledger.approve(id, scope, by: approver, now: now, $0)
    }
  }

  @discardableResult
  func deny(_ id: String, by approver: ConsentApprover = .anna) throws -> EndedConsent {
    try store.keychain.database.write { try ledger.deny(id, by: approver, now: now, $0) }
  }

  @discardableResult
  func expire() throws -> [EndedConsent] {
    try store.keychain.database.write { try ledger.expire(now: now, $0) }
  }

  @discardableResult
  func revoke(_ id: String) throws -> ConsentGrant {
    try store.keychain.database.write { try ledger.revoke(id, by: .anna, now: now, $0) }
  }

  func pending() throws -> [PendingConsent] {
    try store.keychain.database.read { try ledger.pending(now: now, $0) }
  }

  func grants() throws -> [ConsentGrant] {
    try store.keychain.database.read { try ledger.grants($0) }
  }

  func history() throws -> [ConsentRecord] {
    try store.keychain.database.read { try ledger.history(limit: .max, $0) }
  }

  func isGranted(
    _ requester: ConsentRequester = .phone, _ subject: ConsentSubject = .preferred
  ) throws -> Bool {
    try store.keychain.database.read {
      try ledger.grant(
        for: ConsentRequest(subject, by: requester, reply: .socket), $0) != nil
    }
  }

  /// The lines of the audit that are about consent: "actor action subject".
  func audit() throws -> [String] {
    var lines: [String] = []
    try store.keychain.forEachAuditRecord { record in
      for line in record.lines where line.action.rawValue >= 30 && line.action.rawValue < 40 {
        lines.append("\(record.actor) \(line.action) \(line.subject)")
      }
    }
    return lines
  }
}

extension ConsentRequester {
  static let phone = ConsentRequester(.mqttUser("phone"), team: "phone")
  static let tablet = ConsentRequester(.mqttUser("tablet"), team: "phone")
  static let app = ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes")
}

extension ConsentApprover {
  static let anna = ConsentApprover.mqttUser("anna", team: "anna")
}

extension ConsentNetwork {
  static let home = sample("1111111122222222", "home-thread")
  static let guest = sample("3333333344444444", "guest-thread")

  static func sample(
    _ hex: String, _ name: String, key: String? = "5ca1ab1e"
  ) -> ConsentNetwork {
    guard let id = ExtendedPANID(hex: hex) else { preconditionFailure("\(hex) is no identity") }
    return ConsentNetwork(id: id, name: name, keyFingerprint: key)
  }
}

extension ConsentSubject {
  static let preferred = subject("preferred/get", .home)

  static func subject(
    _ command: String, home: String = "home", _ networks: ConsentNetwork...
  ) -> ConsentSubject {
    ConsentSubject(home: home, command: command, networks: networks)
  }
}

extension ConsentReply {
  static func sample(_ transaction: String?) -> ConsentReply {
    .mqtt(
      responseTopic: "threadkeeper/out/phone/response/preferred/get", correlationData: [0, 1, 255],
      transaction: transaction)
  }
}
