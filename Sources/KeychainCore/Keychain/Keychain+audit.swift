// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// The audit: `AuditLog`.
extension Keychain {
  /// Names whom the changes in the rest of this transaction are made for.
  package func act(as actor: String, in tx: WriteTransaction) {
    ChangeLedger.of(tx).audit.actor = actor
  }

  /// Adds a line about something that is no change of an item.
  ///
  /// - Parameter subject: never a secret. Its first 300 bytes are kept.
  package func note(
    _ action: AuditAction, _ subject: @autoclosure () -> String, in tx: WriteTransaction
  ) throws(KeychainError) {
    guard auditLog.isKept else { return }
    try checkWritable()
    try KeychainError.wrap("writing the audit") {
      try changes.note(action, subject(), for: nil, in: tx)
    }
  }

  /// See `AuditLog.lastRecord`.
  package func lastAuditRecord() throws(KeychainError) -> Int64 {
    try auditLog.lastRecord(in: database)
  }

  /// See `AuditLog.forEachRecord`.
  package func forEachAuditRecord(
    after number: Int64 = 0, limit: Int = .max, _ body: (AuditRecord) throws -> Void
  ) throws(KeychainError) {
    try auditLog.forEachRecord(after: number, limit: limit, in: database, body)
  }

  /// See `StoreVerifier.auditProblem`.
  package func auditProblem(
    progress: (_ record: Int64) throws -> Void = { _ in }
  ) throws(KeychainError) -> String? {
    try verifier.auditProblem(auditLog, progress: progress)
  }
}
