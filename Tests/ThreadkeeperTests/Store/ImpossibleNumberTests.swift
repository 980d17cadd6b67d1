import Bridge
import DaemonTestKit
import Foundation
import Home
import KeychainCore
import TestKit
import Testing
import ThreadDataset

@testable import Threadkeeper

@Suite("Numbers in the store that none can have", .timeLimit(.minutes(10))) struct ImpossibleNumberTests {
  private static let values = [Int64.min, -1, 0, Int64.max]

  private let moved: MovedStore
  private var store: TemporaryStore { moved.store }
  private var database: String { store.location.databasePath }
  /// Of the files of a store that has something in each table.
  private let saved: [String: Data]

  init() throws {
    moved = try MovedStore()
    try moved.fill()
    try moved.storeCredentials(of: BorderAgentID(high: 1, low: 0))
    try moved.keychain.addKeySlot(.passphrase(.init(copying: Array("correct horse".utf8))))
    var changes = RecordChanges()
    changes.messages = (1...3).map { StoredMessage(id: $0, bytes: [0, 1, 0, 0x61, 0, 0, 0, 0]) }
    try SealedRecords(moved.keychain).commit(changes)
    moved.keychain.close()
    let anchors = moved.store.location.anchorDirectory
    let paths =
      try [moved.store.location.databasePath]
      + FileManager.default.contentsOfDirectory(atPath: anchors).map { "\(anchors)/\($0)" }
    saved = Dictionary(uniqueKeysWithValues: try paths.map { ($0, try Data(contentsOf: URL(fileURLWithPath: $0))) })
  }

  private func restore() throws {
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + suffix) }
    for (path, bytes) in saved { try bytes.write(to: URL(fileURLWithPath: path)) }
  }

  /// Each column with whole numbers, as the tables themselves say.
  private func columns() throws -> [(table: String, column: String)] {
    try RawSQL.run(
      """
      SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
      WHERE t.type = 'table' AND (c.type LIKE '%INT%' OR c.type = '')
      """, in: database
    ).map { ($0[0], $0[1]) }
  }

  /// Opens, verifies and runs what there is; each part may be refused.
  ///
  /// - Returns: whether a daemon can start.
  @discardableResult private func use() throws -> Bool {
    _ = try? Keychain.slots(at: store.location)
    if let beside = try? store.openBeside() {
      _ = try? VerificationOutcome(verifying: beside)
      _ = try? ListKeySlots().perform(OpenedStore(keychain: beside, settings: MovedStore.settings(store)))
      beside.close()
    }
    do { try store.reopen() } catch is KeychainError { return false }
    defer { store.keychain.close() }
    guard let context = try? OperationContext(store) else { return false }
    _ = try? VerifyStore().perform(context)
    _ = try? VerifyAudit().perform(context)
    for number in [0, (try? context.store.lastAuditRecord()) ?? 0] {
      try? context.store.forEachAuditRecord(after: number, limit: 10) { _ in }
    }
    _ = try? ListKeySlots().perform(context)
    _ = try? ListAlerts(all: true).list(context)
    try? context.receive("announce", [#"{"border_agent_id":"a1b2c3d4e5f60718"}"#])
    context.bridge.loop.acknowledged(upTo: 2)
    try? context.bridge.loop.tick(Link(connection: 1, listeningSince: nil))
    _ = try? ForgetDamaged().perform(context)
    _ = try? RotateKeys(secrets: []).perform(context)
    try? context.bridge.loop.stop()
    return true
  }

  @Test("Whatever number stands in whatever column, opening, verifying and running end no process") func everyColumn()
    throws
  {
    try restore()
    #expect(try use())
    try restore()
    let columns = try columns()
    for expected in ["records.id", "messages.id", "audit.id", "items.version", "key_slots.kind"] {
      #expect(columns.contains { "\($0.table).\($0.column)" == expected }, "\(columns)")
    }
    var tried = 0
    for (table, column) in columns {
      for value in Self.values {
        for rows in ["", " WHERE rowid = (SELECT max(rowid) FROM \(table))"] {
          try restore()
          try RawSQL.run("UPDATE OR IGNORE \(table) SET \(column) = \(value)\(rows)", in: database)
          try use()
          tried += 1
        }
      }
    }
    for pragma in ["application_id", "user_version"] {
      for value in [Int32.min, -1, 0, Int32.max] {
        try restore()
        try RawSQL.run("PRAGMA \(pragma) = \(value)", in: database)
        try use()
      }
    }
    #expect(tried == columns.count * 8 && tried > 100)
  }

  @Test(
    "A message with such a number is named by a verification, never sent, and goes with the next one", arguments: values
  ) func message(_ number: Int64) throws {
    try restore()
    try RawSQL.run("UPDATE messages SET id = \(number) WHERE id = 3", in: database)
    try store.reopen()
    let context = try OperationContext(store)
    let outcome = try VerifyStore().perform(context)
    #expect(!outcome.isWell && outcome.impossibleMessages == 1 && outcome.matchesManifest)
    // The two others wait.
    let waiting = try SealedRecords(store.keychain).messages(after: 0, limit: 10).map(\.id)
    #expect(waiting.allSatisfy { (1...100).contains($0) } && waiting.prefix(2) == [1, 2])
    context.bridge.loop.acknowledged(upTo: 2)
    try context.receive("announce", [#"{"border_agent_id":"a1b2c3d4e5f60718"}"#])
    #expect(try VerifyStore().perform(context).isWell)
  }

  @Test("A record with such a number is damaged, and nothing more is written", arguments: values) func record(
    _ number: Int64
  ) throws {
    try restore()
    try RawSQL.run("UPDATE records SET id = \(number) WHERE id = (SELECT max(id) FROM records)", in: database)
    try store.reopen()
    let context = try OperationContext(store)
    let outcome = try VerifyStore().perform(context)
    #expect(outcome.damagedRecords.map(\.number) == [number] && !outcome.matchesManifest)
    #expect(throws: KeychainError.self) { try context.store.checkWritable() }
  }
}
