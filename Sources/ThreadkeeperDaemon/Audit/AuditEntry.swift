// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore

/// A record of the audit as it is shown, or a part of one on its way to a client.
package struct AuditEntry: Codable, Equatable, Sendable {
  package struct Change: Codable, Equatable, Sendable {
    package let action: String
    package let subject: String
  }

  package let number: Int64
  package let time: String
  package let actor: String
  package private(set) var changes: [Change]
  /// Whether the next entry has more changes of this record.
  package private(set) var continues: Bool?

  package init(_ record: AuditRecord) {
    number = record.number
    time = WireTime(milliseconds: record.time / 1_000).description
    actor = record.actor
    changes = record.lines.map { Change(action: $0.action.words, subject: $0.subject) }
  }

  /// The same record in entries of at most `count` changes each.
  func parts(of count: Int) -> [AuditEntry] {
    guard changes.count > count else { return [self] }
    return stride(from: 0, to: changes.count, by: count).map { start in
      var part = self
      part.changes = Array(changes[start...].prefix(count))
      part.continues = start + count < changes.count ? true : nil
      return part
    }
  }

  /// Adds the next part of the same record.
  package mutating func append(_ part: AuditEntry) {
    changes += part.changes
    continues = part.continues
  }

  /// One line for each change.
  package var text: String {
    changes.map {
      "\(time)  \(actor.printable)  \($0.action) \($0.subject.printable)\n"
    }.joined()
  }
}

extension AuditAction {
  /// Stable: scripts read them.
  var words: String {
    switch self {
    case .added: "added"
    case .changed: "changed"
    case .secretChanged: "secret_changed"
    case .deleted: "deleted"
    case .slotAdded: "key_slot_added"
    case .slotRemoved: "key_slot_removed"
    case .rollbackAccepted: "rollback_accepted"
    case .restored: "restored"
    case .rotated: "keys_rotated"
    case .consentApproved: "consent_approved"
    case .consentDenied: "consent_denied"
    case .consentExpired: "consent_expired"
    case .consentGranted: "consent_granted"
    case .consentRevoked: "consent_revoked"
    case .credentialsGiven: "credentials_given"
    case .credentialsNotGiven: "credentials_not_given"
    case .routerRemoved: "router_removed"
    }
  }
}
