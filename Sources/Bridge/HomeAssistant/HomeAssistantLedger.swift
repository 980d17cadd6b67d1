// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// The topics of Home Assistant's discovery that this daemon has written, or is about to write.
enum HomeAssistantLedger {
  /// Where the rows that are due begin.
  static let start: Cursor = (-1, 0)

  /// A place among the rows that are due: the event, and the row.
  typealias Cursor = (due: Int64, id: Int64)

  static func all(_ tx: ReadTransaction) throws -> [HomeAssistantRecord] {
    try tx.all("SELECT * FROM home_assistant ORDER BY id", row: HomeAssistantRecord.init(row:))
  }

  static func find(_ topic: String, _ tx: ReadTransaction) throws -> HomeAssistantRecord? {
    try tx.first(
      "SELECT * FROM home_assistant WHERE topic = ?", .text(topic),
      row: HomeAssistantRecord.init(row:))
  }

  /// Those of a home that are about no router.
  static func ofDaemon(home: Int64, _ tx: ReadTransaction) throws -> [HomeAssistantRecord] {
    try tx.all(
      "SELECT * FROM home_assistant WHERE home = ? AND router IS NULL", .integer(home),
      row: HomeAssistantRecord.init(row:))
  }

  /// What is to be published or emptied, in the order in which it became due.
  static func due(after cursor: Cursor, limit: Int, _ tx: ReadTransaction) throws
    -> [HomeAssistantRecord]
  {
    try tx.all(
      """
      SELECT * FROM home_assistant INDEXED BY home_assistant_due
       WHERE due IS NOT NULL AND (due, id) > (?, ?) ORDER BY due, id LIMIT ?
      """,
      .integer(cursor.due), .integer(cursor.id), .integer(Int64(limit)),
      row: HomeAssistantRecord.init(row:))
  }

  /// What the broker has, in the order of the rows.
  static func announced(after id: Int64, limit: Int, _ tx: ReadTransaction) throws
    -> [HomeAssistantRecord]
  {
    try tx.all(
      "SELECT * FROM home_assistant WHERE id > ? AND due IS NULL ORDER BY id LIMIT ?",
      .integer(id), .integer(Int64(limit)), row: HomeAssistantRecord.init(row:))
  }

  /// A device is to be announced, or announced again.
  static func setDue(
    _ topic: String, of router: BorderAgentID?, home: Int64, from event: Int64,
    _ tx: WriteTransaction
  ) throws {
    try tx.execute(
      """
      INSERT INTO home_assistant (topic, home, router, due) VALUES (?, ?, ?, ?)
        ON CONFLICT (topic) DO UPDATE SET home = excluded.home, router = excluded.router,
          due = excluded.due
      """,
      .text(topic), .integer(home), .init(router?.bytes), .integer(event))
  }

  /// A router is on the list no more, or again: all topics that were about it are looked at.
  static func setDue(
    _ router: BorderAgentID, home: Int64, from event: Int64, _ tx: WriteTransaction
  ) throws {
    try tx.execute(
      "UPDATE home_assistant SET due = ? WHERE home = ? AND router = ?",
      .integer(event), .integer(home), .blob(router.bytes))
  }

  /// What is on a topic, if anything, is looked at.
  static func setDue(topic: String, from event: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE home_assistant SET due = ? WHERE topic = ?", .integer(event), .text(topic))
  }

  static func setDue(row id: Int64, from event: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE home_assistant SET due = ? WHERE id = ? AND due IS NULL", .integer(event),
      .integer(id))
  }

  /// All that counts as announced is to be announced again.
  static func setAllDue(from event: Int64, _ tx: WriteTransaction) throws {
    try tx.execute("UPDATE home_assistant SET due = ? WHERE due IS NULL", .integer(event))
  }

  /// The broker has acknowledged a device. What has become due since stays due.
  static func setAnnounced(
    row id: Int64, _ form: HomeAssistantForm, due: Int64?, _ tx: WriteTransaction
  ) throws {
    try tx.execute(
      """
      UPDATE home_assistant SET form = ?, due = CASE WHEN due IS ? THEN NULL ELSE due END
       WHERE id = ?
      """,
      .blob(form.bytes), .optional(due), .integer(id))
  }

  /// The topic is empty, unless it has become due since.
  static func delete(row id: Int64, due: Int64?, _ tx: WriteTransaction) throws {
    try tx.execute(
      "DELETE FROM home_assistant WHERE id = ? AND due IS ?", .integer(id), .optional(due))
  }
}
