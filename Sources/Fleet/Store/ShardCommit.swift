#if Fleet
import KeychainCore
import SodiumCrypto

/// What one commit writes, sealed, as one statement.
///
/// One statement, because a server does none of it before it has all of it: a process that is stopped while it sends
/// holds no lock for which the next owner of the shard would wait.
struct ShardCommit {
  let manifest: Manifest
  let rows: [RecordRow]
  let removed: [Int64]
  let lastAudit: AuditRow?
  let published: Int64
  let lastMessage: Int64
  /// By it a commit is known again whose answer was lost.
  let sealedManifest: [UInt8]
  let statement: PostgresConnection.Statement

  /// - Parameter copies: the secrets of records that others are given.
  init(
    _ changes: RecordChanges, on state: ShardState, _ copies: [RecordID: SecretBytes], shard: Int, epoch: Int64,
    by keys: ShardKeys
  ) throws {
    var manifest = state.manifest
    lastMessage = try changes.messages.reduce(state.lastMessage) { last, message in
      guard message.id > last else { throw KeychainError(.duplicateItem, "message \(message.id) comes after \(last)") }
      return message.id
    }
    guard manifest.advance(by: 1) else { throw KeychainError(.internalError, "shard \(shard) has no generation left") }
    var records = SealedParts(changes, Int64(manifest.generation), keys)
    for change in changes.records {
      let old = state.rows[change.id.rawValue]
      if let old { try manifest.remove(.record(old), key: keys.manifest.sum) }
      if let new = try records.add(change, old, copies) { try manifest.insert(.record(new), key: keys.manifest.sum) }
    }
    var draft = AuditDraft()
    draft.add(changes.audit)
    let lines = try draft.rows(
      after: state.lastAudit, by: "threadkeeper", at: KeychainOptions().now(), store: keys.store, key: keys.audit)
    if let last = lines.last {
      if let old = state.lastAudit { try manifest.remove(old.manifestElement, key: keys.manifest.sum) }
      try manifest.insert(last.manifestElement, key: keys.manifest.sum)
    }
    sealedManifest = try manifest.sealed(store: keys.store, by: keys.manifest)
    (self.manifest, lastAudit) = (manifest, lines.last ?? state.lastAudit)
    (rows, removed) = (records.rows, records.removed)
    published = max(state.published, changes.published)

    var audit = PostgresArray.blobs()
    for line in lines { audit.append(line.sealed.count) { $0.copyBytes(from: line.sealed) } }
    let messages = changes.messages
    statement = (
      rows.allSatisfy { state.rows[$0.id] == nil } ? Self.adding : Self.replacing,
      [
        .int(shard), .int(epoch), .int(Int64(state.manifest.generation)), .bytes(sealedManifest), .int(published),
        .int(state.published), .ints(rows.map(\.id)), .ints(rows.map(\.home)), .ints(rows.map(\.secretVersion)),
        records.states.value, records.secrets.value, .ints(removed), .ints(lines.map(\.number)), audit.value,
        .int(lastMessage), .bytes(messages.isEmpty ? nil : try MessageRow.seal(messages, by: keys)),
      ]
    )
  }

  /// Where all records are new, to look for each of them would cost a tenth of the whole.
  private static let adding = sql(onConflict: "")
  private static let replacing = sql(
    onConflict: """
      ON CONFLICT (shard, id) DO UPDATE SET version = excluded.version,
        secret_version = excluded.secret_version, state = excluded.state,
        secret = CASE WHEN excluded.secret_version = old.secret_version THEN old.secret
          ELSE excluded.secret END
      """)

  private static func sql(onConflict: String) -> String {
    """
    WITH fence AS MATERIALIZED (SELECT threadkeeper.advance($1, $2, $3, $4, $5)),
    record AS (INSERT INTO threadkeeper.record AS old
        (shard, id, home, version, secret_version, state, secret)
      SELECT $1, id, home, $3 + 1, secret_version, state, secret
      FROM unnest($7, $8, $9, $10, $11) AS new (id, home, secret_version, state, secret)
      \(onConflict)),
    removed AS (DELETE FROM threadkeeper.record WHERE shard = $1 AND id = ANY ($12)),
    audit AS (INSERT INTO threadkeeper.audit SELECT $1, * FROM unnest($13, $14)),
    message AS (INSERT INTO threadkeeper.outbox SELECT $1, $15, $16 WHERE $16 IS NOT NULL),
    published AS (DELETE FROM threadkeeper.outbox WHERE shard = $1 AND id > $6 AND id <= $5)
    SELECT 1 FROM fence
    """
  }
}

/// Sealed in the arrays that are sent.
private struct SealedParts {
  private(set) var rows: [RecordRow] = []
  private(set) var removed: [Int64] = []
  private(set) var states = PostgresArray.blobs()
  private(set) var secrets = PostgresArray.blobs()
  private let version: Int64
  private let keys: ShardKeys
  /// Drawn at once, because that takes a system call each time.
  private var nonces: ArraySlice<UInt8>

  init(_ changes: RecordChanges, _ version: Int64, _ keys: ShardKeys) {
    (self.version, self.keys) = (version, keys)
    nonces = RandomBytes.make(2 * changes.records.count * XChaCha20Poly1305.nonceLength)[...]
    rows.reserveCapacity(changes.records.count)
  }

  private mutating func nonce() -> ArraySlice<UInt8> {
    defer { nonces = nonces.dropFirst(XChaCha20Poly1305.nonceLength) }
    return nonces.prefix(XChaCha20Poly1305.nonceLength)
  }

  /// - Returns: nil where the record is deleted.
  mutating func add(_ change: RecordChanges.Record, _ old: RecordRow?, _ copies: [RecordID: SecretBytes]) throws
    -> RecordRow?
  {
    guard let state = change.state, case (var row, let secret)? = try change.row(over: old, version: version, copies)
    else {
      if let old { removed.append(old.id) }
      return nil
    }
    let keys = keys
    func seal(
      _ part: SealedPart.Role, _ bytes: UnsafeRawBufferPointer, _ nonce: ArraySlice<UInt8>,
      into array: inout PostgresArray
    ) throws {
      try array.append(part.sealedCount(bytes.count)) { output in
        try nonce.withUnsafeBytes {
          try row.seal(part, bytes, of: keys.store, by: keys.records, nonce: $0, into: output)
        }
      }
    }
    if let secret {
      let nonce = nonce()
      try secret.withUnsafeBytes { try seal(.recordSecret, $0, nonce, into: &secrets) }
    } else {
      secrets.appendNull()
    }
    let nonce = nonce()
    try state.withUnsafeBytes { try seal(.recordState, $0, nonce, into: &states) }
    rows.append(row)
    return row
  }
}

/// The messages of one commit, sealed together at the number of the last: a row for each would cost more than all else.
///
///     { number 8 | length 4 | bytes }…
enum MessageRow {
  static func seal(_ messages: [StoredMessage], by keys: ShardKeys) throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(messages.reduce(0) { $0 + 12 + $1.bytes.count })
    for message in messages {
      bytes += message.id.bigEndianBytes + UInt32(message.bytes.count).bigEndianBytes
      bytes += message.bytes
    }
    return try bytes.withUnsafeBytes { bytes in
      try SealedPart.seal(bytes, at: .message(messages.last?.id ?? 0, keys.store), by: keys.messages)
    }
  }

  /// - Throws: `SodiumError` where it does not open.
  static func open(_ row: PostgresRow, by keys: ShardKeys) throws -> [StoredMessage] {
    let (last, sealed) = (row[0]?.int ?? 0, row[1]?.bytes ?? [])
    return try sealed.withUnsafeBytes { sealed in
      try SealedPart.open(sealed, at: .message(last, keys.store), by: { _ in keys.messages.key }) { bytes in
        var (messages, rest) = ([StoredMessage](), bytes[...])
        while rest.count >= 12 {
          let head = rest.prefix(12)
          let id = head.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
          let message = rest.dropFirst(12).prefix(head.dropFirst(8).reduce(0) { $0 << 8 | Int($1) })
          messages.append(StoredMessage(id: id, bytes: Array(message)))
          rest = rest.dropFirst(12 + message.count)
        }
        return messages
      }
    }
  }
}

#endif
