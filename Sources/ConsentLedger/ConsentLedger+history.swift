// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

/// The last decisions, for people to look at. They are items and not read from the audit: that one is
/// a chain without an index, never cut, and its texts are for people only. The audit has all of them,
/// for good.
extension ConsentLedger {
  /// Newest first.
  package func history(limit: Int, _ tx: ReadTransaction) throws -> [ConsentRecord] {
    try historyItems.newest(limit, tx)
  }

  /// Another text whenever something was decided since; no record is opened for it.
  ///
  /// - Returns: nil where that cannot be found out so.
  package func revision(_ tx: ReadTransaction) throws -> String? { try historyItems.mark(tx) }

  /// What was decided, and what came of it.
  package func past(_ id: ConsentID, _ tx: ReadTransaction) throws -> ConsentRecord? {
    try historyItems.find(id, tx)?.record
  }

  func remember(_ record: ConsentRecord, _ tx: WriteTransaction) throws {
    try historyItems.add(record, as: record.id, tx)
    try keychain.note(
      record.outcome.auditAction,
      "\(record.id) \(record.subject) to \(record.requester)"
        + (record.scope.map { " (\($0.rawValue))" } ?? ""), in: tx)
  }

  /// Once for all that a call has remembered.
  func trimHistory(_ tx: WriteTransaction) throws {
    let all = try historyItems.all(tx)
    for place in HistoryLimit.surplus(of: all.map(\.record.outcome)) {
      try keychain.delete(all[place].item, in: tx)
    }
  }
}

extension ConsentRecord.Outcome {
  fileprivate var auditAction: AuditAction {
    switch self {
    case .approved: .consentApproved
    case .denied: .consentDenied
    case .expired: .consentExpired
    case .revoked: .consentRevoked
    }
  }
}
