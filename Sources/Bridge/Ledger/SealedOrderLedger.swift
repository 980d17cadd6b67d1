// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import SQLiteDatabase

/// The numbers of the envelopes that were opened. Rows stay, also when an enrolment is revoked: the same
/// key may be enrolled again, and what was sealed with it before would then count anew.
enum SealedOrderLedger {
  struct Key {
    let home: Int64
    let user: String
    /// The signer's public key.
    let issuer: [UInt8]
    let subject: InboundEvent.Subject

    fileprivate var values: [SQLiteValue] {
      let name =
        switch subject {
        case .router(let agent): "router/\(agent)"
        case .accessPoint(let name): "access_point/\(name)"
        }
      return [.integer(home), .text(user), .blob(issuer), .text(name)]
    }
  }

  /// Takes note of a number, and says what it is.
  static func take(
    _ sequence: UInt64, of key: Key, _ tx: WriteTransaction
  ) throws -> SequenceWindow.Verdict {
    var window = SequenceWindow()
    let found = try tx.first(
      "SELECT high, seen FROM sealed_order WHERE home = ? AND user = ? AND issuer = ? AND subject = ?",
      bound: key.values
    ) { (high: UInt64(bitPattern: $0.integer(0)), seen: UInt64(bitPattern: $0.integer(1))) }
    if let found { (window.high, window.seen) = (found.high, found.seen) }
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
}
