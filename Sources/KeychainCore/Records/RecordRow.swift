import SQLiteDatabase
import SodiumCrypto

/// A row of records, but for what is sealed in it:
///
///     id | home | version | secret_version | state | secret
///
/// A version is the generation of the store in which a part was written; 0: there is no secret. State and secret are
/// sealed by the record key, each with its binding: store, home, id, version. The state binds the version of the secret
/// as well, so neither is ever paired with an older other.
package struct RecordRow: Sendable {
  package let id: Int64
  package let home: Int64
  package var version: Int64
  package var secretVersion: Int64
  package var stateTag = ItemID.zero
  /// Zeros where there is no secret.
  package var secretTag = ItemID.zero

  /// The columns that a row is made of.
  init(_ row: SQLiteRow) {
    id = row.integer(0)
    home = row.integer(1)
    version = row.integer(2)
    secretVersion = row.integer(3)
    stateTag = row.tag(4)
    secretTag = row.tag(5)
  }

  package init(id: Int64, home: Int64, version: Int64, secretVersion: Int64) {
    self.id = id
    self.home = home
    self.version = version
    self.secretVersion = secretVersion
  }

  package var hasSecret: Bool { secretVersion != 0 }

  package var asDamaged: DamagedRecord {
    // The row is not to be trusted: what lies in it counts, too.
    DamagedRecord(id: RecordID(id), home: home, hasSecret: hasSecret || secretTag != .zero)
  }

  static func find(_ id: Int64, in tx: ReadTransaction) throws -> RecordRow? { try find(id, in: tx) { row, _ in row } }

  static func find<R>(_ id: Int64, in tx: ReadTransaction, _ body: (RecordRow, SQLiteRow) throws -> R) throws -> R? {
    try tx.first("SELECT id, home, version, secret_version, state, secret FROM records WHERE id = ?", .integer(id)) {
      try body(RecordRow($0), $0)
    }
  }

  /// All of them, in the order of their ids, with the columns `state` (4) and `secret` (5).
  static func forEach(in tx: ReadTransaction, _ body: (RecordRow, SQLiteRow) throws -> Void) throws {
    try tx.forEach("SELECT id, home, version, secret_version, state, secret FROM records ORDER BY id", bound: []) {
      row in
      try body(RecordRow(row), row)
      return true
    }
  }
}

extension RecordChanges.Record {
  /// The row that it becomes, and the secret that is to be sealed for it; nil where the record is deleted.
  ///
  /// - Parameters:
  ///   - old: the row that is there.
  ///   - version: of this commit.
  ///   - copies: the secrets of records that others are given.
  /// - Throws: `param` for a number that no record can have, and where the record is of another home.
  package func row(over old: RecordRow?, version: Int64, _ copies: [RecordID: SecretBytes]) throws(KeychainError) -> (
    row: RecordRow, secret: SecretBytes?
  )? {
    guard state != nil else { return nil }
    guard RowNumber(stored: id.rawValue) != nil else {
      throw KeychainError(.param, "record \(id.rawValue) has a number that no record can have")
    }
    if let old, old.home != home {
      throw KeychainError(.param, "record \(old.id) is of home \(old.home), not of \(home)")
    }
    var row = RecordRow(id: id.rawValue, home: home, version: version, secretVersion: 0)
    let new: SecretBytes? =
      switch secret {
      case .keep, .none: nil
      case .new(let secret): secret
      case .copy(let source): copies[source]
      }
    if new != nil {
      row.secretVersion = version
    } else if let old, case .keep = secret {
      (row.secretVersion, row.secretTag) = (old.secretVersion, old.secretTag)
    }
    return (row, new)
  }
}

/// Sealing and opening: a part is `recordState` or `recordSecret`.
extension RecordRow {
  func binding(of part: SealedPart.Role, _ store: StoreID) -> SealedPart.Binding {
    let subject = ItemID(high: UInt64(bitPattern: home), low: UInt64(bitPattern: id))
    guard part == .recordState else { return .init(role: part, store: store, subject: subject, version: secretVersion) }
    return .init(role: part, store: store, subject: subject, version: version, secretVersion: secretVersion)
  }

  /// Seals `bytes` into `output`, which has room for `sealedCount`, and notes the tag.
  package mutating func seal(
    _ part: SealedPart.Role, _ bytes: UnsafeRawBufferPointer, of store: StoreID, by key: RootKeys.Root,
    nonce: UnsafeRawBufferPointer? = nil, into output: UnsafeMutableRawBufferPointer
  ) throws {
    try key.key.withUnsafeBytes {
      try SealedPart.seal(bytes, at: binding(of: part, store), by: key.id, key: $0, nonce: nonce, into: output)
    }
    let tag = ItemID(tagOf: UnsafeRawBufferPointer(output))
    if part == .recordState { stateTag = tag } else { secretTag = tag }
  }

  func open<R>(
    _ part: SealedPart.Role, _ sealed: UnsafeRawBufferPointer, _ keychain: Keychain, in tx: ReadTransaction,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R { try open(part, sealed, of: keychain.storeID, by: { try keychain.keys.key($0, in: tx) }, body) }

  /// Opens a part, and lends it for the time of a call.
  ///
  /// - Parameter key: gives the key that the part names.
  /// - Throws: `decode` where it does not open.
  package func open<R>(
    _ part: SealedPart.Role, _ sealed: UnsafeRawBufferPointer, of store: StoreID, by key: (KeyID) throws -> GuardedKey,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try SealedPart.open(sealed, at: binding(of: part, store)) { id in
      guard id.purpose == .records else { throw SodiumError.notAuthentic }
      return try key(id)
    } damage: {
      KeychainError(.decode, "record \(id) of home \(home) was altered or is damaged. It is kept: restore a backup")
    } _: {
      try body($0)
    }
  }

  /// The secret of the row that `columns` stands on; nil where it has none.
  ///
  /// - Throws: `decode` where state or secret does not open: the state says which secret it is.
  func secret(_ columns: SQLiteRow, _ keychain: Keychain, in tx: ReadTransaction) throws -> SecretBytes? {
    try columns.withBlob(4) { try open(.recordState, $0, keychain, in: tx) { _ in } }
    guard hasSecret else { return nil }
    return try columns.withBlob(5) { sealed in
      try open(.recordSecret, sealed, keychain, in: tx) { SecretBytes(copying: $0) }
    }
  }
}

extension Keychain {
  /// Opens both parts of all records.
  func openRecords(in tx: ReadTransaction) throws -> (count: Int, damaged: [DamagedRecord]) {
    var (count, damaged) = (0, [DamagedRecord]())
    try RecordRow.forEach(in: tx) { record, columns in
      count += 1
      do { _ = try record.secret(columns, self, in: tx) } catch let error as KeychainError where error.status == .decode
      { damaged.append(record.asDamaged) }
    }
    return (count, damaged)
  }

  /// Seals all records again by the newest record key, and says how many.
  ///
  /// - Throws: `decode` where one of them does not open.
  func resealRecords(_ ledger: ChangeLedger, in tx: WriteTransaction) throws -> Int {
    let key = try keys.current(.records, ledger, in: tx)
    return try reseal(
      "records", "SELECT id, home FROM records WHERE id > ? ORDER BY id LIMIT 1",
      remedy: ", or give them up with `threadkeeper store forget-damaged`", in: tx
    ) { id, _ in
      let parts = try RecordRow.find(id, in: tx) { old, columns in
        let state = try columns.withBlob(4) { sealed in
          try old.open(.recordState, sealed, self, in: tx) {
            try SealedPart.seal($0, at: old.binding(of: .recordState, storeID), by: key)
          }
        }
        let secret = try old.secret(columns, self, in: tx)?.withUnsafeBytes {
          try SealedPart.seal($0, at: old.binding(of: .recordSecret, storeID), by: key)
        }
        return (old, state, secret)
      }
      guard let (old, state, secret) = parts else { return true }
      try tx.execute(
        "UPDATE records SET state = ?, secret = ? WHERE id = ?", .blob(state), .optional(secret), .integer(id))
      var new = old
      (new.stateTag, new.secretTag) = (state.tag, secret?.tag ?? .zero)
      try ledger.remove(.record(old))
      try ledger.insert(.record(new))
      return true
    }
  }

  /// Seals rows again one by one, so that no more than one is in memory, and says how many.
  ///
  /// - Parameters:
  ///   - next: finds the row after a number: its own number, and one more column.
  ///   - body: false where the row stays as it is.
  /// - Throws: `decode` where one of them does not open.
  func reseal(
    _ rows: String, _ next: StaticString, remedy: String = "", in tx: WriteTransaction,
    _ body: (_ id: Int64, _ column: Int64) throws -> Bool
  ) throws -> Int {
    var (count, damaged, last) = (0, 0, Int64.min)
    while let (id, column) = try tx.first(next, .integer(last), row: { ($0.integer(0), $0.integer(1)) }) {
      last = id
      do { if try body(id, column) { count += 1 } } catch let error as KeychainError where error.status == .decode {
        damaged += 1
      }
    }
    guard damaged == 0 else {
      throw KeychainError(
        .decode,
        "\(damaged) \(rows) do not open, so all keeps its keys: `threadkeeper store verify` names them;"
          + " restore a backup\(remedy)")
    }
    return count
  }
}
