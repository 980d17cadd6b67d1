// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase

/// The numbers of the envelopes that were opened. Rows stay, also when an enrolment is revoked or a router has left:
/// the same key may be enrolled again, and what was sealed with it before would then count again.
///
/// A signer has a limited number of rows. Beyond it the one with the lowest number goes, and is remembered as the
/// signer's mark: about what has no row, only higher numbers count.
enum SealedOrderLedger {
  struct Key {
    let home: Int64
    let user: String
    /// The signer's public key.
    let issuer: [UInt8]
    let subject: InboundEvent.Subject

    fileprivate var signer: [SQLiteValue] { [.integer(home), .text(user), .blob(issuer)] }

    fileprivate var values: [SQLiteValue] {
      let name =
        switch subject {
        case .router(let agent): "router/\(agent)"
        case .accessPoint(let name): "access_point/\(name)"
        }
      return signer + [.text(name)]
    }
  }

  /// Notes a number.
  ///
  /// - Returns: whether it is news, a repetition or out of order.
  ///
  /// - Parameter most: rows that a signer may have, at least 1.
  static func take(
    _ sequence: UInt64, of key: Key, most: Int, _ tx: WriteTransaction
  ) throws -> SequenceWindow.Verdict {
    var window = SequenceWindow()
    let found = try tx.first(
      "SELECT high, seen FROM sealed_order WHERE home = ? AND user = ? AND issuer = ? AND subject = ?",
      bound: key.values
    ) { (high: UInt64(bitPattern: $0.integer(0)), seen: UInt64(bitPattern: $0.integer(1))) }
    if let found {
      (window.high, window.seen) = (found.high, found.seen)
    } else {
      try makeRoom(for: key, most: most, tx)
      if let mark = try mark(of: key, tx), sequence <= mark { return .outOfOrder }
    }
    let verdict = window.take(.sequence(sequence))
    guard verdict != .duplicate, let high = window.high else { return verdict }
    try tx.execute(
      """
      INSERT INTO sealed_order (home, user, issuer, subject, high, seen) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET high = excluded.high, seen = excluded.seen
      """,
      bound: key.values + [
        .integer(Int64(bitPattern: high)), .integer(Int64(bitPattern: window.seen)),
      ])
    return verdict
  }

  private static func mark(of key: Key, _ tx: ReadTransaction) throws -> UInt64? {
    try tx.first(
      "SELECT high FROM sealed_order_forgotten WHERE home = ? AND user = ? AND issuer = ?",
      bound: key.signer
    ) { UInt64(bitPattern: $0.integer(0)) }
  }

  private static func makeRoom(for key: Key, most: Int, _ tx: WriteTransaction) throws {
    let count =
      try tx.first(
        """
        SELECT count(*) FROM (SELECT 1 FROM sealed_order INDEXED BY sealed_order_high
          WHERE home = ? AND user = ? AND issuer = ? LIMIT ?)
        """, bound: key.signer + [.integer(Int64(most))]
      ) { $0.integer(0) } ?? 0
    guard count >= Int64(most) else { return }
    let lowest = try tx.first(
      """
      SELECT subject, high FROM sealed_order INDEXED BY sealed_order_high
       WHERE home = ? AND user = ? AND issuer = ? ORDER BY high LIMIT 1
      """, bound: key.signer
    ) { ($0.text(0), UInt64(bitPattern: $0.integer(1))) }
    guard let (subject, high) = lowest else { return }
    try tx.execute(
      "DELETE FROM sealed_order WHERE home = ? AND user = ? AND issuer = ? AND subject = ?",
      bound: key.signer + [.text(subject)])
    let mark = max(try mark(of: key, tx) ?? 0, high)
    try tx.execute(
      """
      INSERT INTO sealed_order_forgotten (home, user, issuer, high) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET high = excluded.high
      """, bound: key.signer + [.integer(Int64(bitPattern: mark))])
  }
}
