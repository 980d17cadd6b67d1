// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// A row of records, but for what is sealed in it:
///
///     id | home | version | secret_version | state | secret
///
/// A version is the generation of the store in which a part was written; 0: there is no secret. State and secret are
/// sealed by the record key, each with its place: store, home, id, version. The state binds the version of the secret
/// as well, so neither is ever paired with an older other.
package struct RecordRow: Sendable {
  package let id: Int64
  package let home: Int64
  package var version: Int64
  package var secretVersion: Int64
  package var stateTag = ItemID(high: 0, low: 0)
  /// Zeros where there is no secret.
  package var secretTag = ItemID(high: 0, low: 0)

  /// What states and secrets are padded to a multiple of. A dataset has 254 bytes at most, so all have one length.
  static let stateBlock = 16
  static let secretBlock = 256

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
    DamagedRecord(
      id: RecordID(id), home: home, hasSecret: hasSecret || secretTag != ItemID(high: 0, low: 0))
  }

  static func find(_ id: Int64, in tx: ReadTransaction) throws -> RecordRow? {
    try find(id, in: tx) { row, _ in row }
  }

  static func find<R>(
    _ id: Int64, in tx: ReadTransaction, _ body: (RecordRow, SQLiteRow) throws -> R
  ) throws -> R? {
    try tx.first(
      "SELECT id, home, version, secret_version, state, secret FROM records WHERE id = ?",
      .integer(id)
    ) { try body(RecordRow($0), $0) }
  }

  /// All of them, in the order of their ids, with the columns `state` (4) and `secret` (5).
  static func forEach(
    in tx: ReadTransaction, _ body: (RecordRow, SQLiteRow) throws -> Void
  ) throws {
    try tx.forEach(
      "SELECT id, home, version, secret_version, state, secret FROM records ORDER BY id", bound: []
    ) { row in
      try body(RecordRow(row), row)
      return true
    }
  }
}

/// Sealing and opening.
extension RecordRow {
  package enum Part: Sendable {
    case state, secret

    var block: Int { self == .state ? RecordRow.stateBlock : RecordRow.secretBlock }

    /// What `count` bytes become.
    package func sealedCount(_ count: Int) -> Int {
      Padding.paddedCount(count, block: block) + SealedPart.overhead
    }
  }

  func place(of part: Part, _ store: StoreID) -> SealedPart.Place {
    let subject = ItemID(high: UInt64(bitPattern: home), low: UInt64(bitPattern: id))
    switch part {
    case .state:
      return .init(
        role: .recordState, store: store, subject: subject, version: version,
        extra: withUnsafeBytes(of: secretVersion.bigEndian) { Array($0) })
    case .secret:
      return .init(
        role: .recordSecret, store: store, subject: subject, version: secretVersion)
    }
  }

  /// Seals `bytes` into `output`, which has room for `sealedCount`, and notes the tag.
  package mutating func seal(
    _ part: Part, _ bytes: UnsafeRawBufferPointer, of store: StoreID, by key: RootKeys.Root,
    nonce: UnsafeRawBufferPointer? = nil, into output: UnsafeMutableRawBufferPointer
  ) throws {
    try withScratchMemory(Padding.paddedCount(bytes.count, block: part.block)) { padded in
      padded.copyMemory(from: bytes)
      Padding.pad(padded, count: bytes.count)
      try key.key.withUnsafeBytes {
        try SealedPart.seal(
          UnsafeRawBufferPointer(padded), at: place(of: part, store), by: key.id, key: $0,
          nonce: nonce, into: output)
      }
    }
    let tag = SealedPart.tag(of: UnsafeRawBufferPointer(output))
    switch part {
    case .state: stateTag = ItemID(tag) ?? stateTag
    case .secret: secretTag = ItemID(tag) ?? secretTag
    }
  }

  func open<R>(
    _ part: Part, _ sealed: UnsafeRawBufferPointer, _ keychain: Keychain, in tx: ReadTransaction,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try open(
      part, sealed, of: keychain.storeID, by: { try keychain.keys.key($0, in: tx) }, body)
  }

  /// Opens a part, and lends it for the time of a call.
  ///
  /// - Parameter key: gives the key that the part names.
  /// - Throws: `decode` where it does not open.
  package func open<R>(
    _ part: Part, _ sealed: UnsafeRawBufferPointer, of store: StoreID,
    by key: (KeyID) throws -> GuardedKey, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try withScratchMemory(max(sealed.count, SealedPart.overhead) - SealedPart.overhead) { padded in
      let count: Int
      do {
        let id = try SealedPart.keyID(of: sealed)
        guard id.purpose == .records else { throw SodiumError.notAuthentic }
        try key(id).withUnsafeBytes {
          try SealedPart.open(sealed, at: place(of: part, store), key: $0, into: padded)
        }
        count = try Padding.unpaddedCount(UnsafeRawBufferPointer(padded), block: part.block)
      } catch let error where StoreHealth.isDamage(error) {
        throw KeychainError(
          .decode,
          "record \(id) of home \(home) was altered or is damaged. It is kept: restore a backup")
      }
      return try body(UnsafeRawBufferPointer(rebasing: padded[..<count]))
    }
  }

  /// The secret of the row that `columns` stands on; nil where it has none.
  ///
  /// - Throws: `decode` where state or secret does not open: the state says which secret it is.
  func secret(
    _ columns: SQLiteRow, _ keychain: Keychain, in tx: ReadTransaction
  ) throws -> SecretBytes? {
    try columns.withBlob(4) { try open(.state, $0, keychain, in: tx) { _ in } }
    guard hasSecret else { return nil }
    return try columns.withBlob(5) { sealed in
      try open(.secret, sealed, keychain, in: tx) { SecretBytes(copying: $0) }
    }
  }
}

extension Keychain {
  /// Opens both parts of all records.
  func openRecords(in tx: ReadTransaction) throws -> (count: Int, damaged: [DamagedRecord]) {
    var (count, damaged) = (0, [DamagedRecord]())
    try RecordRow.forEach(in: tx) { record, columns in
      count += 1
      if try !opens(record, columns, in: tx) { damaged.append(record.asDamaged) }
    }
    return (count, damaged)
  }

  private func opens(_ record: RecordRow, _ columns: SQLiteRow, in tx: ReadTransaction) throws
    -> Bool
  {
    do {
      _ = try record.secret(columns, self, in: tx)
      return true
    } catch let error as KeychainError where error.status == .decode {
      return false
    }
  }

  /// Seals all records again by the newest record key, row by row, and says how many.
  ///
  /// - Throws: `decode` where one of them does not open.
  func resealRecords(_ ledger: ChangeLedger, in tx: WriteTransaction) throws -> Int {
    let key = try keys.current(.records, ledger, in: tx)
    var (count, damaged, last) = (0, 0, Int64.min)
    while let id = try tx.first(
      "SELECT id FROM records WHERE id > ? ORDER BY id LIMIT 1", .integer(last),
      row: { $0.integer(0) })
    {
      last = id
      do {
        try reseal(id, by: key, ledger, in: tx)
        count += 1
      } catch let error as KeychainError where error.status == .decode {
        damaged += 1
      }
    }
    guard damaged == 0 else {
      throw KeychainError(
        .decode,
        "\(damaged) records do not open, so all keeps its keys: `threadkeeper store verify` names them;"
          + " restore a backup, or give them up with `threadkeeper store forget-damaged`")
    }
    return count
  }

  private func reseal(
    _ id: Int64, by key: RootKeys.Root, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    func sealed(
      _ part: RecordRow.Part, _ bytes: UnsafeRawBufferPointer, _ record: inout RecordRow
    ) throws -> [UInt8] {
      var output = [UInt8](repeating: 0, count: part.sealedCount(bytes.count))
      try output.withUnsafeMutableBytes {
        try record.seal(part, bytes, of: storeID, by: key, into: $0)
      }
      return output
    }
    let parts = try RecordRow.find(id, in: tx) { old, columns in
      var record = old
      let state = try columns.withBlob(4) { part in
        try old.open(.state, part, self, in: tx) { try sealed(.state, $0, &record) }
      }
      let secret = try old.secret(columns, self, in: tx)?.withUnsafeBytes {
        try sealed(.secret, $0, &record)
      }
      return (old, record, state, secret)
    }
    guard let (old, record, state, secret) = parts else { return }
    try tx.execute(
      "UPDATE records SET state = ?, secret = ? WHERE id = ?", .blob(state), .optional(secret),
      .integer(id))
    try ledger.remove(.record(old))
    try ledger.insert(.record(record))
  }
}
