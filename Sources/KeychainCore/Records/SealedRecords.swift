import SQLiteDatabase
import SodiumCrypto

/// Records in the tables of an encrypted store: sealed (`RecordRow`), and counted by its manifest. Messages are in
/// plaintext, and not counted.
package final class SealedRecords: RecordStore {
  package let keychain: Keychain

  package init(_ keychain: Keychain) { self.keychain = keychain }

  /// Lends the records for one transaction: nobody else writes meanwhile, also where several processes have the store.
  ///
  /// - Throws: what the store throws, and then nothing has changed; so does an error of `body`, as an internal one.
  package func inTransaction<R>(_ body: (RecordTransaction) throws -> R) throws(KeychainError) -> R {
    try keychain.write { try body(RecordTransaction(keychain, $0)) }
  }

  package func load(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord] {
    // The caller's errors are not the store's.
    var failure: (any Error)?
    let damaged = try keychain.read { tx in
      try keychain.loadRecords(in: tx) { record in
        guard failure == nil else { return }
        do { try body(record) } catch { failure = error }
      }
    }
    if let failure { throw failure }
    return damaged
  }

  package func withSecret<R>(of id: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
    try keychain.look { try keychain.recordSecret(of: id, in: $0) }?.withUnsafeBytes(body)
  }

  package func unreadable() throws -> [DamagedRecord] {
    try keychain.read { tx in
      // The file is read again, and not what SQLite has in memory of it.
      try tx.forEach("PRAGMA shrink_memory", bound: []) { _ in true }
      return try keychain.openRecords(in: tx).damaged
    }
  }

  package func messages(after id: Int64, limit: Int) throws -> [StoredMessage] {
    try keychain.read { tx in
      try tx.all(
        "SELECT id, bytes FROM messages WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", .integer(id),
        .integer(RowNumber.all.upperBound), .integer(Int64(limit))
      ) { StoredMessage(id: $0.integer(0), bytes: $0.blob(1)) }
    }
  }

  package func commit(_ changes: RecordChanges) throws {
    guard !changes.isEmpty else { return }
    let write = { try self.keychain.write { try self.keychain.write(changes, in: $0) } }
    if changes.takesAway { try keychain.deleting(write) } else { try write() }
  }
}

/// The records of a store in one transaction: what was read in it is still so when it ends. Not to be kept.
package struct RecordTransaction: RecordAccess {
  private let keychain: Keychain
  private let tx: WriteTransaction

  fileprivate init(_ keychain: Keychain, _ tx: WriteTransaction) { (self.keychain, self.tx) = (keychain, tx) }

  package func load(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord] {
    try keychain.loadRecords(in: tx, body)
  }

  package func withSecret<R>(of id: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
    try keychain.recordSecret(of: id, in: tx)?.withUnsafeBytes(body)
  }

  /// Key of the hashes in records: `Keychain.hashKey(in:)`.
  package func hashKey() throws(KeychainError) -> SecretBytes { try keychain.hashKey(in: tx) }

  /// On disk when the transaction ends.
  package func commit(_ changes: RecordChanges) throws { if !changes.isEmpty { try keychain.write(changes, in: tx) } }
}

extension Keychain {
  fileprivate func loadRecords(in tx: ReadTransaction, _ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord]
  {
    var damaged: [DamagedRecord] = []
    try RecordRow.forEach(in: tx) { record, columns in
      let id = RecordID(record.id)
      let state: [UInt8]
      guard RowNumber(stored: record.id) != nil else {
        damaged.append(record.asDamaged)
        return
      }
      do { state = try columns.withBlob(4) { try record.open(.recordState, $0, self, in: tx) { Array($0) } } } catch let
        error as KeychainError where error.isItemDamaged
      {
        damaged.append(record.asDamaged)
        return
      }
      try body(StoredRecord(id: id, home: record.home, state: state, hasSecret: record.hasSecret))
    }
    return damaged
  }

  fileprivate func recordSecret(of id: RecordID, in tx: ReadTransaction) throws -> SecretBytes? {
    let found = try RecordRow.find(id.rawValue, in: tx) { try $0.secret($1, self, in: tx) }
    guard let found else {
      try health.checkListing()
      return nil
    }
    return found
  }

  fileprivate func write(_ changes: RecordChanges, in tx: WriteTransaction) throws {
    try checkWritable()
    if !changes.records.isEmpty {
      let writer = try RecordWriter(self, in: tx)
      try writer.write(changes.records)
    }
    if auditLog.isKept, !changes.audit.isEmpty { try ledger(tx).audit.add(changes.audit) }
    for message in changes.messages {
      try message.bytes.withUnsafeBytes {
        try tx.execute("INSERT INTO messages (id, bytes) VALUES (?, ?)", lending: [.integer(message.id), .bytes($0)])
      }
    }
    if changes.published > 0 {
      // And those that are never read: `store verify` has counted them.
      try tx.execute(
        "DELETE FROM messages WHERE id <= ? OR id > ?", .integer(changes.published), .integer(RowNumber.all.upperBound))
    }
    // What was decided while the store is found altered may rest on records that are missing from it.
    try checkWritable()
  }
}

/// The records of one commit, on their way into the table.
private final class RecordWriter {
  private let keychain: Keychain
  private let tx: WriteTransaction
  private let ledger: ChangeLedger
  private let key: RootKeys.Root
  /// The generation that this commit makes.
  private let version: Int64
  /// The highest id that is in the table: those above it need not be looked for.
  private var highest: Int64
  private var copies: [RecordID: SecretBytes] = [:]

  init(_ keychain: Keychain, in tx: WriteTransaction) throws {
    self.keychain = keychain
    self.tx = tx
    ledger = try keychain.ledger(tx)
    key = try keychain.keys.current(.records, ledger, in: tx)
    version = Int64(clamping: (ledger.manifest?.generation ?? 0) + 1)
    highest = try tx.first("SELECT max(id) FROM records") { $0.integer(0) } ?? 0
  }

  func write(_ records: [RecordChanges.Record]) throws {
    try openCopies(for: records)
    let each = 2 * XChaCha20Poly1305.nonceLength
    // At once: to draw them takes a system call each time.
    try withScratchMemory(each * records.count) { nonces in
      RandomBytes.fill(nonces)
      for (position, record) in records.enumerated() {
        try write(record, nonces: UnsafeRawBufferPointer(rebasing: nonces[(position * each)..<((position + 1) * each)]))
      }
    }
  }

  /// Before anything is written: a copy is that of before.
  private func openCopies(for records: [RecordChanges.Record]) throws {
    for record in records {
      guard case .copy(let source) = record.secret, copies[source] == nil else { continue }
      do {
        let found = try RecordRow.find(source.rawValue, in: tx) { row, columns in
          try row.secret(columns, keychain, in: tx)
        }
        copies[source] = found ?? nil
      } catch let error as KeychainError where error.isItemDamaged {
        // It is lost, whether this commit fails or not.
      }
    }
  }

  private func write(_ change: RecordChanges.Record, nonces: UnsafeRawBufferPointer) throws {
    let id = change.id.rawValue
    let old = id > highest ? nil : try RecordRow.find(id, in: tx)
    guard let state = change.state, case (var row, let secret)? = try change.row(over: old, version: version, copies)
    else {
      if let old { try delete(old) }
      return
    }
    highest = max(highest, id)
    let keepsSecret = secret == nil && row.hasSecret
    try put(&row, state, secret, keepsSecret: keepsSecret, nonces)
    if let old { try remove(old, withSecret: !keepsSecret) }
    try ledger.insert(.record(row))
  }

  private func delete(_ old: RecordRow) throws {
    try tx.execute("DELETE FROM records WHERE id = ?", lending: [.integer(old.id)])
    try remove(old, withSecret: true)
  }

  /// Out of what is counted.
  private func remove(_ old: RecordRow, withSecret: Bool) throws {
    try ledger.remove(.record(old))
    if withSecret, old.hasSecret { ledger.owesErasure = true }
  }

  private func put(
    _ row: inout RecordRow, _ state: [UInt8], _ secret: SecretBytes?, keepsSecret: Bool,
    _ nonces: UnsafeRawBufferPointer
  ) throws {
    let stateCount = SealedPart.Role.recordState.sealedCount(state.count)
    let secretCount = secret.map { SealedPart.Role.recordSecret.sealedCount($0.count) } ?? 0
    try withUnsafeTemporaryAllocation(byteCount: stateCount + secretCount, alignment: 16) { memory in
      let sealedState = UnsafeMutableRawBufferPointer(rebasing: memory[..<stateCount])
      let sealedSecret = UnsafeMutableRawBufferPointer(rebasing: memory[stateCount...])
      let half = XChaCha20Poly1305.nonceLength
      try state.withUnsafeBytes {
        try row.seal(
          .recordState, $0, of: keychain.storeID, by: key, nonce: UnsafeRawBufferPointer(rebasing: nonces[..<half]),
          into: sealedState)
      }
      try secret?.withUnsafeBytes {
        try row.seal(
          .recordSecret, $0, of: keychain.storeID, by: key, nonce: UnsafeRawBufferPointer(rebasing: nonces[half...]),
          into: sealedSecret)
      }
      if keepsSecret {
        try tx.execute(
          "UPDATE records SET version = ?, state = ? WHERE id = ?",
          lending: [.integer(row.version), .bytes(UnsafeRawBufferPointer(sealedState)), .integer(row.id)])
      } else {
        try tx.execute(
          """
          INSERT OR REPLACE INTO records (id, home, version, secret_version, state, secret)
          VALUES (?, ?, ?, ?, ?, ?)
          """,
          lending: [
            .integer(row.id), .integer(row.home), .integer(row.version), .integer(row.secretVersion),
            .bytes(UnsafeRawBufferPointer(sealedState)),
            secret == nil ? .null : .bytes(UnsafeRawBufferPointer(sealedSecret)),
          ])
      }
    }
  }
}
