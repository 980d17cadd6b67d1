// SPDX-License-Identifier: Apache-2.0

import Broker
import FoundationEssentials
import SQLiteDatabase
import ThreadkeeperSupport

/// The alerts that are held, firing, or resolved within the last day.
enum AlertLedger {
  static func find(_ fingerprint: AlertFingerprint, _ tx: ReadTransaction) throws -> AlertRecord? {
    try tx.first(
      "SELECT * FROM alert WHERE fingerprint = ?", .blob(fingerprint.bytes),
      row: AlertRecord.init(row:))
  }

  /// Held alerts whose condition began at or before `deadline`.
  static func due(heldBefore deadline: WireTime, limit: Int, _ tx: ReadTransaction) throws
    -> [AlertRecord]
  {
    try tx.all(
      "SELECT * FROM alert WHERE phase = 0 AND held_since <= ? ORDER BY held_since LIMIT ?",
      .integer(deadline.milliseconds), .integer(Int64(limit)), row: AlertRecord.init(row:))
  }

  /// Moves the beginnings of holds, at most to `now`. Where the clock was set back, only those that are later than now:
  /// the others may have begun since.
  ///
  /// - Parameter jump: milliseconds.
  static func moveHolds(
    by jump: Int64, notLaterThan now: WireTime, _ tx: WriteTransaction
  ) throws {
    try tx.execute(
      """
      UPDATE alert SET held_since = min(held_since + ?1, ?2)
       WHERE phase = 0 AND (?1 > 0 OR held_since > ?2)
      """,
      .integer(jump), .integer(now.milliseconds))
  }

  /// Alerts that changed after `now` changed then: notices end, and what was resolved is forgotten, so long after that.
  static func changeNotLater(than now: WireTime, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE alert SET updated_at = ? WHERE updated_at > ?",
      .integer(now.milliseconds), .integer(now.milliseconds))
  }

  static func resolved(before deadline: WireTime, limit: Int, _ tx: ReadTransaction) throws
    -> [AlertRecord]
  {
    try tx.all(
      "SELECT * FROM alert WHERE phase = 2 AND updated_at <= ? ORDER BY updated_at LIMIT ?",
      .integer(deadline.milliseconds), .integer(Int64(limit)), row: AlertRecord.init(row:))
  }

  /// Firing alerts of one home, the newest first.
  static func firing(home: Int64, limit: Int, _ tx: ReadTransaction) throws -> [AlertRecord] {
    try tx.all(
      firingSQL, .integer(home), .integer(Int64(limit)), row: AlertRecord.init(row:))
  }

  static let firingSQL: StaticString = """
    SELECT * FROM alert INDEXED BY alert_home
     WHERE home = ? AND phase = 1 ORDER BY updated_at DESC, id DESC LIMIT ?
    """

  /// Firing alerts of one name, of all homes, that did not change since `deadline`.
  static func firing(
    _ name: AlertName, before deadline: WireTime, limit: Int, _ tx: ReadTransaction
  ) throws -> [AlertRecord] {
    try tx.all(
      "SELECT * FROM alert WHERE phase = 1 AND updated_at <= ? AND name = ? LIMIT ?",
      .integer(deadline.milliseconds), .integer(name.number), .integer(Int64(limit)),
      row: AlertRecord.init(row:))
  }

  /// Held and firing alerts of all homes.
  static func active(_ tx: ReadTransaction) throws -> [AlertRecord] {
    try tx.all("SELECT * FROM alert WHERE phase < 2", row: AlertRecord.init(row:))
  }

  /// All that the broker should hold of one home, in the order of the row ids.
  static func published(home: Int64, after id: Int64, limit: Int, _ tx: ReadTransaction) throws
    -> [(id: Int64, alert: AlertRecord)]
  {
    try tx.all(
      """
      SELECT * FROM alert WHERE id > ? AND home = ? AND (phase > 0 OR ends_at IS NOT NULL)
       ORDER BY id LIMIT ?
      """,
      .integer(id), .integer(home), .integer(Int64(limit))
    ) { ($0.integer(0), try AlertRecord(row: $0)) }
  }

  static func countsBySeverity(home: Int64, _ tx: ReadTransaction) throws
    -> [AlertName.Severity: Int]
  {
    var counts: [AlertName.Severity: Int] = [:]
    // The severity of some depends on their reason.
    let rows = try tx.all(
      """
      SELECT name, iif(json_valid(facts), json_extract(facts, '$.reason'), NULL) AS reason, count(*)
       FROM alert WHERE phase = 1 AND home = ? GROUP BY name, reason
      """,
      .integer(home)
    ) { (AlertName(number: $0.integer(0)), $0.textIfPresent(1), Int($0.integer(2))) }
    for case (let name?, let reason, let count) in rows {
      counts[name.severity(reason), default: 0] += count
    }
    return counts
  }

  /// What the held and firing alerts of one name are about.
  static func activeSubjects(
    of name: AlertName, home: Int64, _ tx: ReadTransaction
  ) throws -> [String] {
    try tx.all(
      "SELECT subject FROM alert WHERE home = ? AND phase < 2 AND name = ?", .integer(home),
      .integer(name.number)
    ) { $0.text(0) }
  }

  static func save(_ alert: AlertRecord, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      INSERT INTO alert (fingerprint, home, name, subject, phase, facts, held_since, starts_at,
        updated_at, ends_at, seq, held_facts)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (fingerprint) DO UPDATE SET phase = excluded.phase, facts = excluded.facts,
        held_since = excluded.held_since, starts_at = excluded.starts_at,
        updated_at = excluded.updated_at, ends_at = excluded.ends_at, seq = excluded.seq,
        held_facts = excluded.held_facts
      """,
      .blob(alert.fingerprint.bytes), .integer(alert.home), .integer(alert.name.number),
      .text(alert.subject), .integer(alert.phase.rawValue), .text(try alert.facts.text),
      .integer(alert.heldSince.milliseconds), .init(alert.startsAt),
      .integer(alert.updatedAt.milliseconds), .init(alert.endsAt), .integer(alert.sequence),
      .init(try alert.heldFacts?.text))
  }

  static func delete(_ fingerprint: AlertFingerprint, _ tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM alert WHERE fingerprint = ?", .blob(fingerprint.bytes))
  }
}

extension AlertRecord {
  /// From a row of `SELECT * FROM alert`.
  init(row: SQLiteRow) throws {
    guard let fingerprint = AlertFingerprint(bytes: row.blob(1)) else {
      throw LedgerError(table: "alert", column: "fingerprint")
    }
    guard let name = AlertName(number: row.integer(3)) else {
      throw LedgerError(table: "alert", column: "name")
    }
    guard let phase = Phase(rawValue: row.integer(5)) else {
      throw LedgerError(table: "alert", column: "phase")
    }
    self.init(
      fingerprint: fingerprint, home: row.integer(2), name: name, subject: row.text(4),
      phase: phase, facts: try AlertFacts(text: row.text(6)),
      heldFacts: try row.textIfPresent(12).map(AlertFacts.init(text:)),
      heldSince: WireTime(milliseconds: row.integer(7)),
      startsAt: row.integerIfPresent(8).map(WireTime.init(milliseconds:)),
      updatedAt: WireTime(milliseconds: row.integer(9)),
      endsAt: row.integerIfPresent(10).map(WireTime.init(milliseconds:)),
      sequence: row.integer(11))
  }
}

extension AlertFacts {
  fileprivate var text: String {
    get throws { String(decoding: try JSONWriter.bytes(of: self), as: UTF8.self) }
  }

  fileprivate init(text: String) throws {
    do {
      self = try JSONDecoder().decode(AlertFacts.self, from: Data(text.utf8))
    } catch {
      throw LedgerError(table: "alert", column: "facts")
    }
  }
}
