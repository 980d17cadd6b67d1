// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

/// The one transaction that writes now. Whatever its body throws rolls all of it back.
package final class WriteTransaction: ReadTransaction {
  private var states: [String: any TransactionState] = [:]
  private var commitHooks: [Hook] = []
  private var publications: [Hook] = []
  private var afterHooks: [Hook] = []

  private struct Hook {
    let key: String
    let body: (WriteTransaction) throws -> Void
  }

  /// Runs a statement to its end and returns the number of rows that it changed.
  @discardableResult
  package func execute(_ sql: StaticString, _ values: SQLiteValue...) throws -> Int {
    try execute(sql, bound: values)
  }

  /// As `execute`, with values that are already an array.
  @discardableResult
  package func execute(_ sql: StaticString, bound values: [SQLiteValue]) throws -> Int {
    try checkOpen()
    // After some errors SQLite itself rolls back. What came then would be committed on its own.
    guard connection.isInTransaction else {
      throw SQLiteError.misuse("the transaction was rolled back", statement: "\(sql)")
    }
    return try connection.withStatement(sql, values) { statement in
      while try connection.step(statement, sql) {}
      // What a read-only statement leaves here is the count of an earlier one.
      return sqlite3_stmt_readonly(statement) != 0 ? 0 : Int(sqlite3_changes64(connection.handle))
    }
  }

  /// Rows that this connection has inserted, updated or deleted since it was opened.
  package var totalChanges: Int {
    connection.handle.map { Int(sqlite3_total_changes64($0)) } ?? 0
  }

  /// The row id of the last INSERT that succeeded.
  package var lastInsertedRowID: Int64 {
    connection.handle.map { sqlite3_last_insert_rowid($0) } ?? 0
  }

  /// Runs `body` so that, if it throws, what it did is undone and the transaction goes on.
  package func savepoint<R>(_ body: () throws -> R) throws -> R {
    try checkOpen()
    let undo = (states, commitHooks, publications, afterHooks)
    let restores = states.values.map { $0.savepoint() }
    try connection.perform("SAVEPOINT step")
    do {
      let result = try body()
      try connection.perform("RELEASE step")
      return result
    } catch {
      // After some errors SQLite itself has rolled everything back; then there is no savepoint.
      if connection.isInTransaction {
        try connection.perform("ROLLBACK TO step")
        try connection.perform("RELEASE step")
      }
      (states, commitHooks, publications, afterHooks) = undo
      for restore in restores { restore() }
      throw error
    }
  }

  /// What a component keeps for the length of this transaction; made when first asked for.
  package func state<S: TransactionState>(_ key: String, make: () throws -> S) rethrows -> S {
    if let state = states[key] as? S { return state }
    let state = try make()
    states[key] = state
    return state
  }

  /// Runs `body` once before COMMIT, however often it is registered under `key`. What it throws
  /// rolls the transaction back.
  package func beforeCommit(_ key: String, _ body: @escaping (WriteTransaction) throws -> Void) {
    guard !commitHooks.contains(where: { $0.key == key }) else { return }
    commitHooks.append(Hook(key: key, body: body))
  }

  /// Runs `body` once right after COMMIT, before anyone else can write. It must be short, and not
  /// write.
  package func onCommit(_ key: String, _ body: @escaping () -> Void) {
    guard !publications.contains(where: { $0.key == key }) else { return }
    publications.append(Hook(key: key, body: { _ in body() }))
  }

  /// Runs `body` once after COMMIT, when the writer is free again and before `write` returns.
  package func afterCommit(_ key: String, _ body: @escaping () -> Void) {
    guard !afterHooks.contains(where: { $0.key == key }) else { return }
    afterHooks.append(Hook(key: key, body: { _ in body() }))
  }

  func runCommitHooks() throws {
    var next = 0
    while next < commitHooks.count {
      try commitHooks[next].body(self)
      next += 1
    }
  }

  func runPublications() {
    for hook in publications { try? hook.body(self) }
  }

  func runAfterHooks() {
    for hook in afterHooks { try? hook.body(self) }
  }
}

/// What a component remembers during one transaction, so that a savepoint can undo it too.
package protocol TransactionState: AnyObject {
  /// Notes what is, and returns what brings it back.
  func savepoint() -> () -> Void
}
