// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import SQLiteDatabase

/// The ids of the sealed requests that have come, until they could not be opened again anyway.
///
/// What is forgotten leaves its end behind: up to there nothing of this signer counts any more. So a
/// clock that is set back brings nothing back. That is kept for each signer, because the clock may have
/// been wrong before, not after: then a new key ends it.
struct SealedRequestLedger: ReplayMemory {
  /// Requests of one signer that can be alive at a time: at the pace that the daemon takes them, a
  /// signer of ordinary ones never has as many.
  static let mostOfIssuer = 1_024

  func take(
    _ request: SealedRequestName, now: Int64, _ tx: WriteTransaction
  ) throws -> ReplayVerdict {
    try forget(endedBy: now, tx)
    let issuer = SQLiteValue.blob(request.issuer)
    // By bytes: to Swift an accented letter equals its two parts.
    let identifier = SQLiteValue.blob(Array(request.identifier.utf8))
    let forgotten = try tx.first("SELECT until FROM sealed_forgotten WHERE issuer = ?", issuer) {
      $0.integer(0)
    }
    if let forgotten, request.ends <= forgotten { return .forgotten }
    let isKnown = try tx.first(
      "SELECT 1 FROM sealed_request WHERE issuer = ? AND id = ?", issuer, identifier
    ) { _ in true }
    guard isKnown == nil else { return .replayed }
    let alive = try tx.first("SELECT COUNT(*) FROM sealed_request WHERE issuer = ?", issuer) {
      $0.integer(0)
    }
    guard alive ?? 0 < Self.mostOfIssuer else { return .full }
    try tx.execute(
      "INSERT INTO sealed_request (issuer, id, ends) VALUES (?, ?, ?)", issuer, identifier,
      .integer(request.ends))
    return .news
  }

  private func forget(endedBy now: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      INSERT INTO sealed_forgotten (issuer, until)
        SELECT issuer, MAX(ends) FROM sealed_request WHERE ends <= ? GROUP BY issuer
      ON CONFLICT DO UPDATE SET until = MAX(until, excluded.until)
      """, .integer(now))
    try tx.execute("DELETE FROM sealed_request WHERE ends <= ?", .integer(now))
  }
}
