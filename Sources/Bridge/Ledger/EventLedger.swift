// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// One row of what happened: the outbox of events, and the sign that a state must be published.
struct EventRecord: Sendable {
  var id: Int64 = 0
  var time: WireTime
  /// Empty where only a state changed.
  var types: OutboundEventTypes
  var home: Int64
  var router: BorderAgentID?
  /// How people call it, for the log; not stored.
  var routerName: String?
  var network: ExtendedPANID?
  var alert: AlertFingerprint?
  var user: String?
  /// Empty in a row that was read.
  var detail = EventDetail()
  /// As it is published: the members of `detail`, or, of an alert, the whole event.
  var json: [UInt8]?

  // Not `[]`: see `OutboundEventTypes.init()`.
  init(time: WireTime, types: OutboundEventTypes = OutboundEventTypes(), home: Int64) {
    self.time = time
    self.types = types
    self.home = home
  }
}

enum EventLedger {
  /// The highest id that was ever given.
  static func lastID(_ tx: ReadTransaction) throws -> Int64 {
    let newest = try tx.first("SELECT max(id) FROM event") { $0.integerIfPresent(0) ?? 0 } ?? 0
    return max(newest, try published(tx))
  }

  static func published(_ tx: ReadTransaction) throws -> Int64 {
    try tx.first("SELECT published FROM outbox") { $0.integer(0) } ?? 0
  }

  /// Rows that wait for the broker.
  static func waiting(_ tx: ReadTransaction) throws -> Int64 {
    // Two questions: with one for both, SQLite reads the whole table.
    let newest = try tx.first("SELECT max(id) FROM event") { $0.integer(0) } ?? 0
    let oldest = try tx.first("SELECT min(id) FROM event") { $0.integer(0) } ?? 0
    return oldest == 0 ? 0 : newest - oldest + 1
  }

  /// Notes what the broker has acknowledged, and drops the rows that are done with.
  static func setPublished(_ id: Int64, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE outbox SET published = ? WHERE published < ?", .integer(id), .integer(id))
    try tx.execute("DELETE FROM event WHERE id <= ?", .integer(id))
  }

  /// The broker's count of dropped messages when it was looked at last.
  static func droppedMessages(_ tx: ReadTransaction) throws -> Int64? {
    try tx.first("SELECT dropped FROM outbox") { $0.integerIfPresent(0) } ?? nil
  }

  static func setDroppedMessages(_ count: Int64, _ tx: WriteTransaction) throws {
    try tx.execute("UPDATE outbox SET dropped = ?", .integer(count))
  }

  /// Whether every state is to be published again: the broker had forgotten it, and not all of it has
  /// been acknowledged since.
  static func needsRepublish(_ tx: ReadTransaction) throws -> Bool {
    try tx.first("SELECT republish FROM outbox") { $0.integer(0) != 0 } ?? false
  }

  static func setNeedsRepublish(_ owes: Bool, _ tx: WriteTransaction) throws {
    try tx.execute("UPDATE outbox SET republish = ?", .bool(owes))
  }

  /// Changes a row for real, to see whether the store takes it: SQLite does not write a page whose
  /// bytes stay as they are.
  static func probe(_ tx: WriteTransaction) throws {
    try tx.execute("UPDATE outbox SET probes = probes + 1")
  }

  static func insert(_ event: EventRecord, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      INSERT INTO event (id, at, types, home, router, network, alert, user, detail)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      .integer(event.id), .integer(event.time.milliseconds), .integer(event.types.rawValue),
      .integer(event.home), .init(event.router?.bytes), .init(event.network?.bytes),
      .init(event.alert?.bytes), .init(event.user),
      .init(event.json ?? (event.detail.isEmpty ? nil : WireJSON().encode(event.detail))))
  }

  static func page(after id: Int64, limit: Int, _ tx: ReadTransaction) throws -> [EventRecord] {
    try tx.all(
      "SELECT * FROM event WHERE id > ? ORDER BY id LIMIT ?", .integer(id),
      .integer(Int64(limit))
    ) { row in
      var event = EventRecord(
        time: WireTime(milliseconds: row.integer(1)),
        types: OutboundEventTypes(rawValue: row.integer(2)), home: row.integer(3))
      event.id = row.integer(0)
      event.router = row.blobIfPresent(4).flatMap(BorderAgentID.init(bytes:))
      event.network = row.blobIfPresent(5).flatMap(ExtendedPANID.init(bytes:))
      event.alert = row.blobIfPresent(6).flatMap(AlertFingerprint.init(bytes:))
      event.user = row.textIfPresent(7)
      event.json = row.blobIfPresent(8)
      return event
    }
  }
}
