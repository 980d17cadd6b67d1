import KeychainCore
import Synchronization
import Testing

/// A store that keeps nothing on disk, does what the contract says, and checks that the caller does.
final class MemoryStore: RecordStore {
  struct Failure: Error {}
  struct BrokenContract: Error {}

  struct Row {
    var home: Int64
    var state: [UInt8]
    var secret: [UInt8]?
  }

  struct Contents {
    var rows: [Int64: Row] = [:]
    var messages: [StoredMessage] = []
    var audit: [RecordChanges.AuditLine] = []
    var commits = 0
    var published: Int64 = 0
    /// Commits that succeed before the others fail; nil: all do.
    var left: Int?
    /// Records whose state does not open, and those whose secret does not.
    var damaged: Set<Int64> = []
    var damagedSecrets: Set<Int64> = []
    var last: RecordChanges?
    /// How often messages were read, and whether that fails.
    var reads = 0
    var failsReads = false
  }

  let contents = Mutex(Contents())
  /// A value of its own: a lock that had the closure itself would wrap it in two more each time that it lends it.
  struct Reading { var begins: @Sendable () -> Void = {} }
  let reading = Mutex(Reading())

  var commits: Int { contents.withLock { $0.commits } }
  var rows: [Int64: Row] { contents.withLock { $0.rows } }
  var messages: [[UInt8]] { contents.withLock { $0.messages.map(\.bytes) } }
  var audit: [RecordChanges.AuditLine] { contents.withLock { $0.audit } }

  /// All commits in the call but the first ones fail.
  func failing<R>(after commits: Int = 0, _ body: () throws -> R) rethrows -> R {
    contents.withLock { $0.left = commits }
    defer { contents.withLock { $0.left = nil } }
    return try body()
  }

  /// The call fails with the store, of which all commits but the first ones fail.
  func refuses<R>(after commits: Int = 0, at place: SourceLocation = #_sourceLocation, _ body: () throws -> R) {
    #expect(throws: Failure.self, sourceLocation: place) { _ = try failing(after: commits, body) }
  }

  /// These rows cannot be read.
  func damage(_ rows: some Sequence<Int64>) { contents.withLock { $0.damaged = Set(rows) } }
  /// Their secrets do not open.
  func damageSecrets(_ rows: [Int64]) { contents.withLock { $0.damagedSecrets = Set(rows) } }

  func load(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord] {
    let (rows, damaged) = contents.withLock { ($0.rows, $0.damaged) }
    var lost: [DamagedRecord] = []
    for (id, row) in rows.sorted(by: { $0.key < $1.key }) {
      if damaged.contains(id) {
        lost.append(DamagedRecord(id: RecordID(id), home: row.home, hasSecret: row.secret != nil))
        continue
      }
      try body(StoredRecord(id: RecordID(id), home: row.home, state: row.state, hasSecret: row.secret != nil))
    }
    return lost
  }

  func commit(_ changes: RecordChanges) throws {
    try contents.withLock { contents in
      if let left = contents.left {
        guard left > 0 else { throw Failure() }
        contents.left = left - 1
      }
      let before = contents.rows
      guard Set(changes.records.map(\.id)).count == changes.records.count, !changes.isEmpty,
        changes.messages.map(\.id) == changes.messages.map(\.id).sorted(),
        changes.messages.first.map({ $0.id > contents.messages.last?.id ?? 0 }) ?? true
      else { throw BrokenContract() }
      for record in changes.records {
        let id = record.id.rawValue
        contents.damaged.remove(id)
        if case .keep = record.secret {} else { contents.damagedSecrets.remove(id) }
        guard before[id].map({ $0.home == record.home }) ?? true, id > 0 else { throw BrokenContract() }
        guard let state = record.state else {
          contents.rows[id] = nil
          continue
        }
        let secret: [UInt8]? =
          switch record.secret {
          case .keep: before[id]?.secret
          case .none: nil
          case .new(let bytes): bytes.withUnsafeBytes { Array($0) }
          case .copy(let other): before[other.rawValue]?.secret
          }
        contents.rows[id] = Row(home: record.home, state: state, secret: secret)
      }
      contents.messages += changes.messages
      contents.messages.removeAll { $0.id <= changes.published }
      contents.published = max(contents.published, changes.published)
      contents.audit += changes.audit
      contents.commits += 1
      contents.last = changes
    }
  }

  func withSecret<R>(of id: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
    reading.withLock { $0.begins }()
    guard let secret = rows[id.rawValue]?.secret else { return nil }
    return try secret.withUnsafeBytes { try body($0) }
  }

  func unreadable() throws -> [DamagedRecord] {
    contents.withLock { contents in
      contents.damaged.union(contents.damagedSecrets).sorted().compactMap { id in
        contents.rows[id].map { DamagedRecord(id: RecordID(id), home: $0.home, hasSecret: $0.secret != nil) }
      }
    }
  }

  func messages(after id: Int64, limit: Int) throws -> [StoredMessage] {
    try contents.withLock { contents in
      if contents.failsReads { throw Failure() }
      contents.reads += 1
      return Array(contents.messages.filter { $0.id > id }.prefix(limit))
    }
  }

  /// Messages that a commit has left.
  func add(_ messages: [[UInt8]], from id: Int64) {
    contents.withLock { contents in
      contents.messages += messages.enumerated().map { StoredMessage(id: id + Int64($0.offset), bytes: $0.element) }
    }
  }
}
