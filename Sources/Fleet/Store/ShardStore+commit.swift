#if Fleet
import Glibc
import KeychainCore
import SodiumCrypto

/// Writing. A commit goes through if the database has the epoch of this claim, and the generation that this store has
/// read or written last (`advance` in `FleetSchema`). Where its outcome is not known, the database is asked:
///
/// | the commit | the database has | then |
/// |---|---|---|
/// | was refused | – | nothing has changed |
/// | got no connection | – | nothing has changed |
/// | got no answer | the next generation, with the manifest that was sent | it is committed |
/// | got no answer | the same generation | it is sent again |
/// | got no answer | another epoch, or another generation | the store is lost |
/// | got no answer | does not answer while the lease lasts, or refuses | the store is lost |
///
/// Who has lost a store claims the shard again, and reads it.
extension ShardStore {
  /// For one answer.
  private static let answerLimit = Duration.seconds(4)
  /// Microseconds, before the database is asked again.
  private static let pause: UInt32 = 50_000

  func commit(_ changes: RecordChanges) throws {
    guard !changes.isEmpty else { return }
    try turn.withLock { _ in
      if !state.withLock({ $0.isLoaded }) { _ = try read { _ in } }
      try checkWritable()
      let copies = try copies(for: changes.records)
      let commit = try state.withLock { try ShardCommit(changes, on: $0, copies, shard: shard, epoch: epoch, by: keys) }
      try send(commit)
      state.withLock { $0.apply(commit) }
    }
  }

  /// Of what does not open there are none: it is lost, whether this commit fails or not.
  private func copies(for records: [RecordChanges.Record]) throws -> [RecordID: SecretBytes] {
    let sources = Set(records.compactMap { if case .copy(let source) = $0.secret { source.rawValue } else { nil } })
    guard !sources.isEmpty else { return [:] }
    let rows = state.withLock { state in
      sources.subtracting(state.damaged).compactMap { state.rows[$0] }.filter(\.hasSecret)
    }
    return try pool.withConnection(until: limit) { try secrets(of: rows, $0) }
  }

  private func send(_ commit: ShardCommit) throws {
    var maybeDone = false
    repeat {
      do {
        _ = try pool.withConnection(until: limit) {
          try $0.pipeline([("BEGIN", []), commit.statement, ("COMMIT", [])])
        }
        return
      } catch let error as PostgresError {
        switch error.kind {
        case .refused where !maybeDone: throw error
        case .refused: throw loseUnknown(error)
        case .claimed: throw lose(.claimed, "another process has \(place)")
        case .connection where error.isUnsent && !maybeDone: throw error
        case .connection, .moved: maybeDone = true
        }
      }
    } while try !isDone(commit)
  }

  /// Asks for what is true: the lock waits until the transaction of before has ended.
  private func isDone(_ commit: ShardCommit) throws -> Bool {
    while term.lasts {
      let row: PostgresRow?
      do {
        row = try pool.withConnection(until: limit) {
          try $0.query(
            "SELECT epoch, generation, manifest FROM threadkeeper.shard WHERE id = $1 FOR UPDATE", [.int(shard)]
          ).first
        }
      } catch let error as PostgresError {
        // A wait for a lock has ended.
        guard error.kind == .connection || error.sqlState == "55P03" else { throw loseUnknown(error) }
        usleep(Self.pause)
        continue
      }
      guard let row, row[0]?.int == epoch, let found = row[1]?.int else {
        throw lose(.claimed, "another process has \(place)")
      }
      let next = Int64(commit.manifest.generation)
      if found == next, row[2]?.bytes == commit.sealedManifest { return true }
      if found == next - 1 { return false }
      throw lose(.moved, "the database has generation \(found) of \(place), not \(next - 1)")
    }
    throw lose(.connection, "it is not known whether \(place) was written before its lease was over")
  }

  private func loseUnknown(_ error: PostgresError) -> PostgresError {
    lose(.connection, "it is not known whether \(place) was written: \(error.message)")
  }

  private var limit: ContinuousClock.Instant { min(.now + Self.answerLimit, term.end) }
}

/// The anchor.
extension ShardStore {
  enum AnchorFinding: Equatable {
    /// It is of this state, or of an earlier one.
    case fits
    /// The shard has had a newer state, or another one of the same generation.
    case rolledBack(by: Int64)
    /// Whoever wrote it did not have the shard's key.
    case notGenuine
  }

  /// What the broker is to keep of what the database has for sure. After `open` or `load`.
  var anchor: (generation: Int64, hash: String) {
    get throws {
      let manifest = state.withLock { $0.manifest }
      return (Int64(manifest.generation), try keys.anchorHash(of: manifest))
    }
  }

  func compare(anchorOf generation: Int64, hash: String) throws -> AnchorFinding {
    try open()
    guard try keys.isGenuine(hash, of: generation) else { return .notGenuine }
    let own = try anchor
    return generation > own.generation || (generation == own.generation && hash != own.hash)
      ? .rolledBack(by: generation - own.generation) : .fits
  }
}

/// The audit.
extension ShardStore {
  func lastAuditRecord() throws -> Int64 {
    try checkHeld()
    return try pool.withConnection { try auditRows($0, "ORDER BY id DESC LIMIT 1") }.first?.number ?? 0
  }

  func forEachAuditRecord(after number: Int64, limit: Int, _ body: (AuditRecord) throws -> Void) throws {
    try checkHeld()
    var (previous, left) = (nil as AuditRow?, limit)
    if number > 0 {
      previous = try pool.withConnection { try auditRows($0, "AND id = $2", number) }.first
      guard previous != nil else { throw AuditRow.missing(number) }
    }
    while left > 0 {
      let count = min(left, 1_000)
      let rows = try pool.withConnection {
        try auditRows($0, "AND id > $2 ORDER BY id LIMIT \(count)", previous?.number ?? 0)
      }
      for row in rows {
        let expected = (previous?.number ?? 0) + 1
        guard row.number == expected else { throw AuditRow.missing(expected) }
        try body(row.opened(after: previous, store: keys.store) { _ in keys.audit })
        previous = row
      }
      if rows.count < count { return }
      left -= count
    }
  }

  func auditProblem() throws -> String? {
    let known = state.withLock { $0.lastAudit?.number ?? 0 }
    var last: Int64 = 0
    do { try forEachAuditRecord(after: 0, limit: .max) { last = $0.number } } catch let error as KeychainError
      where error.status == .decode
    { return error.message }
    guard condition == .healthy, last >= known else {
      return "the chain is whole up to record \(last), but \(place) is not what its manifest says:"
        + " records after it may have been cut off, or other rows were altered"
    }
    return nil
  }

  func auditRows(_ connection: PostgresConnection, _ condition: String, _ number: Int64? = nil) throws -> [AuditRow] {
    try connection.query(
      "SELECT id, sealed FROM threadkeeper.audit WHERE shard = $1 \(condition)",
      [.int(shard)] + (number.map { [.int($0)] } ?? [])
    ).map { try AuditRow(stored: $0[0]?.int ?? 0, sealed: $0[1]?.bytes ?? []) }
  }
}

#endif
