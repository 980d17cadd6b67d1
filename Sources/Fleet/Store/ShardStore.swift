#if Fleet
import KeychainCore
import SodiumCrypto
import Synchronization

/// Until when a claim may be used, by the clock of this process. Asked before each write, and by each connection to the
/// broker, so it waits for nobody.
final class LeaseTerm: Sendable {
  typealias Instant = ContinuousClock.Instant

  private static let origin = Instant.now
  /// Nanoseconds after `origin`.
  private let nanoseconds: Atomic<Int64>

  init(_ end: Instant = .now) { nanoseconds = Atomic(Self.nanoseconds(end)) }

  var end: Instant {
    get { Self.origin + .nanoseconds(nanoseconds.load(ordering: .acquiring)) }
    set { nanoseconds.store(Self.nanoseconds(newValue), ordering: .releasing) }
  }

  var lasts: Bool { .now < end }

  private static func nanoseconds(_ end: Instant) -> Int64 { Int64((end - origin) / .nanoseconds(1)) }
}

/// The store of one shard, in PostgreSQL. Whoever has the shard's lease has the only one.
///
/// In memory is what each record's row says of itself, so a commit reads nothing; states are read once, by `load`, and
/// secrets when they are asked for.
final class ShardStore: DaemonStore {
  /// Rows that are read at a time.
  private static let page = 2_000

  let shard: Int
  let epoch: Int64
  let pool: PostgresPool
  let keys: ShardKeys
  let term: LeaseTerm
  let state = Locked(ShardState())
  /// One commit or `load` at a time.
  let turn = Locked(false)

  /// Reads nothing yet.
  ///
  /// - Parameters:
  ///   - epoch: of the claim.
  ///   - term: of the lease.
  init(shard: Int, epoch: Int64, pool: PostgresPool, keys: ShardKeys, term: LeaseTerm) {
    (self.shard, self.epoch, self.pool, self.keys, self.term) = (shard, epoch, pool, keys, term)
  }

  var id: StoreID { keys.store }
  var place: String { "shard \(shard)" }
  var condition: StoreCondition { state.withLock { $0.condition } }
  var notices: [StoreNotice] { noticed.withLock { $0 } }
  private let noticed = Locked<[StoreNotice]>([])
  /// Whether it is unknown what the database has: then this store refuses everything.
  var isLost: Bool { state.withLock { $0.lost != nil } }
  /// The number of commits that the database has for sure.
  var generation: Int64 { Int64(state.withLock { $0.manifest.generation }) }

  func hashKey() throws -> SecretBytes { keys.hashKey }
  /// They belong to the shard's key, so there are always some.
  func identitySecrets() throws -> SecretBytes? { try keys.daemonSecrets }
  func identitySecrets(madeBy actor: String) throws -> SecretBytes { try keys.daemonSecrets }

  func checkWritable() throws {
    try checkHeld()
    if case .readOnly(let reason) = condition { throw KeychainError(.readOnly, "\(place) takes no changes: \(reason)") }
  }

  func check() throws { try checkWritable() }
  func upkeep() {}
  func rest() {}
  func noteFailure(_ error: any Error) {}

  /// Of the broker's anchor.
  func note(_ notice: StoreNotice) { noticed.withLock { $0.append(notice) } }

  func checkHeld() throws(PostgresError) {
    if let lost = state.withLock({ $0.lost }) { throw lost }
    guard term.lasts else { throw PostgresError(.claimed, "the lease of \(place) is over") }
  }

  func lose(_ kind: PostgresError.Kind, _ message: String) -> PostgresError {
    state.withLock { state in
      let error = state.lost ?? PostgresError(kind, message)
      state.lost = error
      return error
    }
  }

  // MARK: Reading

  /// Reads what the shard's row says, without the records.
  func open() throws {
    try checkHeld()
    guard !state.withLock({ $0.isOpen }) else { return }
    let found = try pool.withConnection { try head($0) }
    state.withLock { if !$0.isOpen { $0 = found } }
  }

  func load(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord] {
    try turn.withLock { _ in try read(body) }
  }

  /// - Precondition: it has the turn.
  func read(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord] {
    var (found, damaged) = try snapshot(body)
    found.isLoaded = true
    let isSame = state.withLock { state in
      guard !state.isOpen || state.manifest == found.manifest else { return false }
      found.lost = state.lost
      state = found
      return true
    }
    guard isSame else { throw lose(.moved, "the database has another state of \(place) than before") }
    return damaged
  }

  /// Opens everything there is, and compares it with the manifest. Commits go on meanwhile.
  func unreadable() throws -> [DamagedRecord] {
    var lost: [DamagedRecord] = []
    let (found, damaged) = try snapshot(withSecrets: true) { _ in
    } secret: { row, sealed in
      if try sealed.withUnsafeBytes({ try opened(.recordSecret, $0, row) }) == nil { lost.append(row.asDamaged) }
    }
    state.withLock { if $0.condition == .healthy { $0.condition = found.condition } }
    return damaged + lost
  }

  private func head(_ connection: PostgresConnection) throws -> ShardState {
    let rows = try connection.query(
      """
      SELECT epoch, generation, manifest, published,
        (SELECT min(id) FROM threadkeeper.outbox WHERE shard = $1),
        (SELECT max(id) FROM threadkeeper.outbox WHERE shard = $1)
      FROM threadkeeper.shard WHERE id = $1
      """, [.int(shard)])
    guard let row = rows.first, row[0]?.int == epoch else { throw lose(.claimed, "another process has \(place)") }
    var state = ShardState()
    state.isOpen = true
    // Where no message waits, a bridge numbers them from 1 again.
    if let first = row[4]?.int, let last = row[5]?.int {
      state.published = row[3]?.int ?? 0
      state.lastMessage = max(state.published, last)
      guard RowNumber(stored: first) != nil, let found = RowNumber(stored: state.lastMessage) else {
        throw KeychainError(
          .decode, "\(place) was altered: messages \(first) to \(state.lastMessage) have numbers that none can have")
      }
      state.lastMessage = found.rawValue
    }
    do {
      // A shard that is new has none.
      if let sealed = row[2]?.bytes {
        state.manifest = try Manifest(opening: sealed, store: keys.store, by: keys.manifest)
      }
      if Int64(state.manifest.generation) != row[1]?.int { state.condition = .readOnly(.manifestMismatch) }
    } catch is SodiumError { state.condition = .readOnly(.manifestUnreadable) }
    return state
  }

  /// All of it as it was at one time, in the order of the ids.
  ///
  /// - Parameter secret: gets the secret of each record of which the state opens.
  private func snapshot(
    withSecrets: Bool = false, _ body: (StoredRecord) throws -> Void,
    secret: (RecordRow, PostgresField) throws -> Void = { _, _ in }
  ) throws -> (ShardState, [DamagedRecord]) {
    try checkHeld()
    return try pool.withConnection { connection in
      try connection.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") { _ in
        var (state, damaged) = (try head(connection), [DamagedRecord]())
        var found = Manifest()
        // Of a secret its tag is enough to count it.
        let column = withSecrets ? "secret" : "substring(secret FROM length(secret) - 15)"
        try connection.query(
          """
          DECLARE rows NO SCROLL CURSOR FOR SELECT id, home, version, secret_version, state, \(column)
          FROM threadkeeper.record WHERE shard = $1 ORDER BY id
          """, [.int(shard)])
        while case let rows = try connection.query("FETCH \(Self.page) FROM rows"), !rows.isEmpty {
          for fields in rows {
            guard let (row, sealed) = Self.row(fields) else { continue }
            try found.insert(.record(row), key: keys.manifest.sum)
            state.rows[row.id] = row
            guard RowNumber(stored: row.id) != nil,
              let bytes = try sealed.withUnsafeBytes({ try opened(.recordState, $0, row) })
            else {
              state.damaged.insert(row.id)
              damaged.append(row.asDamaged)
              continue
            }
            if withSecrets, let sealed = fields[5] { try secret(row, sealed) }
            try body(
              StoredRecord(
                id: RecordID(row.id), home: row.home, state: bytes.withUnsafeBytes { Array($0) },
                hasSecret: row.hasSecret))
          }
        }
        state.lastAudit = try auditRows(connection, "ORDER BY id DESC LIMIT 1").first
        if let last = state.lastAudit { try found.insert(last.manifestElement, key: keys.manifest.sum) }
        if state.condition == .healthy, !found.hasSameContents(as: state.manifest) {
          state.condition = .readOnly(.manifestMismatch)
        }
        return (state, damaged)
      }
    }
  }

  /// With its sealed state.
  private static func row(_ fields: PostgresRow) -> (RecordRow, PostgresField)? {
    guard let id = fields[0]?.int, let home = fields[1]?.int, let version = fields[2]?.int,
      let secretVersion = fields[3]?.int, let state = fields[4]
    else { return nil }
    var row = RecordRow(id: id, home: home, version: version, secretVersion: secretVersion)
    row.stateTag = state.bytes.tag
    if let secret = fields[5] { row.secretTag = secret.bytes.tag }
    return (row, state)
  }

  /// Nil where it does not open.
  private func opened(_ part: SealedPart.Role, _ sealed: UnsafeRawBufferPointer, _ row: RecordRow) throws
    -> SecretBytes?
  {
    do {
      return try row.open(part, sealed, of: keys.store, by: { _ in keys.records.key }) { SecretBytes(copying: $0) }
    } catch let error as KeychainError where error.isItemDamaged { return nil }
  }

  func withSecret<R>(of id: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
    if !state.withLock({ $0.isLoaded }) { _ = try load { _ in } }
    while true {
      try checkHeld()
      let (row, isDamaged, condition) = state.withLock { state in
        (state.rows[id.rawValue], state.damaged.contains(id.rawValue), state.condition)
      }
      guard let row, row.hasSecret else {
        if row == nil, condition != .healthy {
          throw KeychainError(.decode, "\(place) was altered: what is missing is not known")
        }
        return nil
      }
      let secret = isDamaged ? nil : try pool.withConnection { try secrets(of: [row], $0) }[id]
      if let secret { return try secret.withUnsafeBytes(body) }
      // Or a commit has replaced it in this moment, perhaps one whose outcome is asked for.
      guard turn.withLock({ _ in state.withLock { $0.rows[id.rawValue]?.version } }) != row.version else {
        throw KeychainError(
          .decode, "record \(row.id) of home \(row.home) was altered or is damaged. It is kept: restore a backup")
      }
    }
  }

  /// Those that open, and are what this store has read or written.
  func secrets(of rows: [RecordRow], _ connection: PostgresConnection) throws -> [RecordID: SecretBytes] {
    let found = try connection.query(
      "SELECT id, secret FROM threadkeeper.record WHERE shard = $1 AND id = ANY ($2)",
      [.int(shard), .ints(rows.map(\.id))])
    let sealed = Dictionary(found.map { ($0[0]?.int ?? 0, $0[1]) }, uniquingKeysWith: { first, _ in first })
    var secrets: [RecordID: SecretBytes] = [:]
    for row in rows {
      guard let sealed = sealed[row.id] ?? nil, sealed.bytes.tag == row.secretTag else { continue }
      secrets[RecordID(row.id)] = try sealed.withUnsafeBytes { try opened(.recordSecret, $0, row) }
    }
    return secrets
  }

  func messages(after id: Int64, limit: Int) throws -> [StoredMessage] {
    try open()
    let first = max(id, state.withLock { $0.published })
    var (messages, last, isMore) = ([StoredMessage](), first, true)
    while isMore, messages.count < limit {
      let rows = try pool.withConnection {
        try $0.query(
          "SELECT id, sealed FROM threadkeeper.outbox WHERE shard = $1 AND id > $2 ORDER BY id LIMIT 16",
          [.int(shard), .int(last)])
      }
      isMore = rows.count == 16
      for row in rows {
        last = row[0]?.int ?? 0
        do { messages += try MessageRow.open(row, by: keys).filter { $0.id > first } } catch is SodiumError {
          throw KeychainError(
            .decode, "messages up to \(last) of \(place) were altered or are damaged. They are kept: restore a backup")
        }
      }
    }
    return Array(messages.prefix(limit))
  }
}

/// What the database has, as far as a store knows.
struct ShardState {
  var manifest = Manifest()
  var rows: [Int64: RecordRow] = [:]
  /// Their states did not open, so what their rows say of secrets may not be true.
  var damaged: Set<Int64> = []
  var lastAudit: AuditRow?
  /// All messages up to this one are deleted.
  var published: Int64 = 0
  var lastMessage: Int64 = 0
  var condition = StoreCondition.healthy
  var isOpen = false
  var isLoaded = false
  var lost: PostgresError?

  mutating func apply(_ commit: ShardCommit) {
    (manifest, lastAudit) = (commit.manifest, commit.lastAudit)
    (published, lastMessage) = (commit.published, commit.lastMessage)
    for row in commit.rows { rows[row.id] = row }
    for id in commit.removed { rows[id] = nil }
    if !damaged.isEmpty { damaged.subtract(commit.rows.map(\.id) + commit.removed) }
  }
}

#endif
