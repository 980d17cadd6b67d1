// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import ThreadkeeperDaemon

/// A record of the audit as it is shown.
struct AuditReport: Encodable {
  struct Change: Encodable {
    let action: String
    let subject: String
  }

  let number: Int64
  let time: String
  let actor: String
  let changes: [Change]

  init(_ record: AuditRecord) {
    number = record.number
    time = WireTime(milliseconds: record.time / 1_000).description
    actor = record.actor
    changes = record.lines.map { Change(action: $0.action.words, subject: $0.subject) }
  }

  /// One line for each change.
  var text: String {
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
    case .rotationBegun: "rotation_begun"
    case .rotationFinished: "rotation_finished"
    case .rootsRenewed: "root_keys_renewed"
    case .locked: "locked"
    case .unlocked: "unlocked"
    case .exportBegun: "export_begun"
    case .exported: "exported"
    case .imported: "imported"
    case .consentApproved: "consent_approved"
    case .consentDenied: "consent_denied"
    case .consentExpired: "consent_expired"
    case .consentGranted: "consent_granted"
    case .consentRevoked: "consent_revoked"
    case .credentialsGiven: "credentials_given"
    case .credentialsNotGiven: "credentials_not_given"
    case .routerTransferred: "router_transferred"
    case .routerReleased: "router_released"
    case .routerRemoved: "router_removed"
    }
  }
}
