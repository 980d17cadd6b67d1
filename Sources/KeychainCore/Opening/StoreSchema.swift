// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// The tables of the store, format 1. Other components keep theirs in the same file.
enum StoreSchema {
  /// "TKST", in the head of the SQLite file.
  static let applicationID: Int64 = 0x544B_5354
  /// The format of the store, as `user_version`.
  static let format: Int64 = 1

  private static let statements: [StaticString] = [
    "CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), uuid BLOB NOT NULL) STRICT",
    // kind: 1 key file, 2 passphrase. payload: sealed, the root keys.
    """
    CREATE TABLE key_slots (
      id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL,
      label TEXT NOT NULL, created INTEGER NOT NULL, parameters BLOB NOT NULL,
      payload BLOB NOT NULL) STRICT
    """,
    // id: KeyID. wrapped: sealed by the key that its head names.
    "CREATE TABLE keys (id INTEGER PRIMARY KEY, wrapped BLOB NOT NULL) STRICT",
    // class: RowForm. class_key: KeyID, what wrapped_key is sealed by.
    """
    CREATE TABLE items (
      id INTEGER PRIMARY KEY, uuid BLOB NOT NULL, class INTEGER NOT NULL,
      version INTEGER NOT NULL, class_key INTEGER NOT NULL, index_epoch INTEGER NOT NULL,
      primary_index BLOB NOT NULL, index_1 BLOB, index_2 BLOB, wrapped_key BLOB NOT NULL,
      metadata BLOB NOT NULL, secret BLOB NOT NULL) STRICT
    """,
    "CREATE UNIQUE INDEX items_primary ON items (primary_index)",
    "CREATE INDEX items_index_1 ON items (index_1) WHERE index_1 IS NOT NULL",
    "CREATE INDEX items_index_2 ON items (index_2) WHERE index_2 IS NOT NULL",
    "CREATE TABLE manifest (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL) STRICT",
    // id: the number of the record, from 1. sealed: AuditRecord.
    "CREATE TABLE audit (id INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT",
  ]

  static func create(in tx: WriteTransaction) throws {
    // https://www.sqlite.org/pragma.html#pragma_application_id
    try tx.execute("PRAGMA application_id = 0x544B5354")
    try tx.execute("PRAGMA user_version = 1")
    for statement in statements { try tx.execute(statement) }
  }

  /// Whether the tables are as they were made: no column renamed, no index missing, no trigger
  /// planted. SQLite keeps the words of each statement.
  static func isIntact(in tx: ReadTransaction) throws -> Bool {
    let found = try tx.all(
      """
      SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL
        AND tbl_name IN ('store', 'key_slots', 'keys', 'items', 'manifest', 'audit')
      """
    ) { $0.text(0) }
    return found.sorted() == statements.map { "\($0)" }.sorted()
  }
}
