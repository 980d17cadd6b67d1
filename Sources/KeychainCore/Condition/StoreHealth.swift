import SQLiteDatabase
import SodiumCrypto
import Synchronization

/// What is known to be wrong with an open store, and what that forbids. Knows neither keys nor tables.
final class StoreHealth: Sendable {
  private struct State {
    var condition = StoreCondition.healthy
    var quarantine: Set<Int64> = []
    var notices: [StoreNotice] = []
  }

  private let access: Keychain.Access
  private let state = Locked(State())
  /// Asked in every search, so it takes no lock. Once true, it stays true.
  private let isIncomplete = Atomic(false)

  init(access: Keychain.Access) { self.access = access }

  var condition: StoreCondition { state.withLock { $0.condition } }

  /// The rows that were found altered, by row id.
  var quarantine: Set<Int64> { state.withLock { $0.quarantine } }

  /// What a person should read once.
  var notices: [StoreNotice] { state.withLock { $0.notices } }

  /// Whether rows or indexes may be missing, so that only opened rows are believed.
  var hidesItems: Bool { isIncomplete.load(ordering: .acquiring) }

  /// Refuses a change of a store that is open for reading, or that is not what it should be.
  func checkWritable() throws(KeychainError) {
    guard access != .readOnly else { throw KeychainError(.readOnly, "the store is open for reading only") }
    if case .readOnly(let reason) = condition {
      throw KeychainError(.readOnly, "the store takes no changes: \(reason)")
    }
  }

  /// Where rows were taken out or altered, nobody knows what is missing from a list.
  func checkListing() throws(KeychainError) {
    if hidesItems {
      throw KeychainError(.decode, "the store was altered: what is missing from it is not known. Restore a backup")
    }
  }

  /// Makes the store read-only. The first reason stays.
  func fail(_ reason: StoreCondition.Reason) {
    state.withLock { state in
      // A rollback stays what it is: it has a remedy of its own.
      guard state.condition == .healthy else { return }
      state.condition = .readOnly(reason)
      if reason.hidesItems { isIncomplete.store(true, ordering: .releasing) }
    }
  }

  /// Takes a store that was rolled back for the true one.
  func acceptRollback() { state.withLock { $0.condition = .healthy } }

  func note(_ notice: StoreNotice) {
    state.withLock { state in if notice.mayRepeat || !state.notices.contains(notice) { state.notices.append(notice) } }
  }

  /// The answer for a row that does not open; the row is remembered.
  func corrupt(row: Int64, _ what: String) -> KeychainError {
    state.withLock { _ = $0.quarantine.insert(row) }
    return KeychainError(
      .decode, "item row \(row): \(what) was altered or is damaged. The row is kept: restore a backup")
  }

  /// Whether an error says that something was altered, rather than that it cannot be read now.
  static func isDamage(_ error: any Error) -> Bool {
    !(error is SQLiteError) && (error as? KeychainError)?.status ?? .decode == .decode
  }
}

/// What was found out about the anchor.
package enum StoreNotice: Equatable, Sendable, CustomStringConvertible {
  case anchorMissing(path: String)
  case anchorUnreadable(path: String)
  /// While the store was open; at its opening, of the anchor that a broker keeps.
  case anchorAltered(path: String)
  case anchorNotWritten(path: String, reason: String)

  /// Whether somebody may have put an old copy of the store in its place.
  package var mayHideRollback: Bool { if case .anchorNotWritten = self { false } else { true } }

  var mayRepeat: Bool { if case .anchorAltered = self { true } else { false } }

  package var description: String {
    switch self {
    case .anchorMissing(let path): "there was no anchor at \(path): a rollback before now cannot be noticed"
    case .anchorUnreadable(let path): "the anchor at \(path) could not be read: a rollback before now cannot be noticed"
    case .anchorAltered(let path):
      "the anchor at \(path) was altered or removed: a rollback before now cannot be noticed"
    case .anchorNotWritten(let path, let reason): "the anchor at \(path) could not be written: \(reason)"
    }
  }
}

/// Whether the store is what its manifest and its anchor say.
package enum StoreCondition: Equatable, Sendable {
  case healthy
  /// Reading goes on, writing is refused.
  case readOnly(Reason)

  package enum Reason: Equatable, Sendable, CustomStringConvertible {
    /// Rows were put in, taken out or replaced by older ones.
    case manifestMismatch
    /// The file itself is damaged: its indexes do not agree with its rows.
    case fileDamaged
    /// The manifest itself was altered or taken out.
    case manifestUnreadable
    /// The file is an older one than the anchor remembers.
    case rolledBack(behindBy: UInt64)

    /// Whether rows or indexes may be missing, so that nothing can be said about what is not found.
    var hidesItems: Bool {
      switch self {
      case .manifestMismatch, .fileDamaged, .manifestUnreadable: true
      case .rolledBack: false
      }
    }

    package var description: String {
      switch self {
      case .manifestMismatch: "rows of the store were added, removed or replaced behind its back: restore a backup"
      case .fileDamaged: "the file of the store is damaged: restore a backup"
      case .manifestUnreadable: "the manifest of the store was altered: restore a backup"
      case .rolledBack(let behindBy):
        "the store is \(behindBy) changes older than its anchor: an old copy was put in its place."
          + " If you did that, accept it with `threadkeeper store restore --in-place`"
      }
    }
  }
}

/// Compares the store with its manifest, and opens every item and record where that is asked for. What it finds goes to
/// `StoreHealth`.
extension Keychain {
  /// Compares the store with its manifest, on a snapshot: others can write meanwhile. A mismatch
  /// turns the store read-only. With `everything` the file is read again, and not what SQLite has in memory of it.
  @discardableResult package func verify(_ depth: VerificationDepth = .manifest) throws(KeychainError)
    -> VerificationReport
  {
    try KeychainError.wrap("verifying the store") {
      // With the keys as they are now: another process may have renewed them.
      try read { tx in
        var report = VerificationReport()
        if depth == .everything { try tx.forEach("PRAGMA shrink_memory", bound: []) { _ in true } }
        do {
          let (expected, key) = try manifest.read(in: tx)
          report.items = Int(clamping: expected.items)
          report.matchesManifest = try matches(expected, key: key.sum, in: tx)
          if !report.matchesManifest { health.fail(.manifestMismatch) }
          // The manifest speaks of the rows. Whether the indexes lead to them is SQLite's to say.
          report.isWhole = try tx.first("PRAGMA integrity_check(items)") { $0.text(0) } == "ok"
          if !report.isWhole { health.fail(.fileDamaged) }
        } catch let error as SQLiteError where error.kind == .corrupt {
          report.isWhole = false
          health.fail(.fileDamaged)
        } catch let error where StoreHealth.isDamage(error) {
          report.matchesManifest = false
          health.fail(.manifestUnreadable)
        }
        if depth == .everything { try openEverything(&report, in: tx) }
        return report
      }
    }
  }

  /// What is wrong with the audit, or nil. Everything is opened: the links, and that the last record is
  /// the one that the manifest counts.
  package func auditProblem() throws(KeychainError) -> String? {
    do { try forEachAuditRecord { _ in } } catch {
      guard error.status == .decode else { throw error }
      return error.message
    }
    guard try verify(.manifest).matchesManifest else {
      return "the chain is whole up to record \(try lastAuditRecord()), but the store is"
        + " not what its manifest says: records after it may have been cut off, or other rows were altered"
    }
    return nil
  }

  private func matches(_ manifest: Manifest, key: GuardedKey, in tx: ReadTransaction) throws -> Bool {
    var found = Manifest()
    do { try ManifestElement.forEach(in: tx, health) { try found.insert($0, key: key) } } catch let error
      where StoreHealth.isDamage(error)
    {
      // A row that cannot even be read as one.
      return false
    }
    return found.hasSameContents(as: manifest)
  }

  private func openEverything(_ report: inout VerificationReport, in tx: ReadTransaction) throws {
    try tx.forEach("SELECT id, uuid, class, version, metadata FROM items ORDER BY id", bound: []) { row in
      do { _ = try secret(of: item(from: row, in: tx), in: tx) } catch let error as KeychainError
        where error.status == .decode
      { report.unreadable.append(row.integer(0)) } catch let error as KeychainError
        where error.status == .interactionNotAllowed || error.status == .notAvailable
      { report.locked += 1 }
      return true
    }
    (report.records, report.unreadableRecords) = try openRecords(in: tx)
    report.impossibleMessages =
      try tx.first(
        "SELECT count(*) FROM messages WHERE id NOT BETWEEN ? AND ?", .integer(RowNumber.all.lowerBound),
        .integer(RowNumber.all.upperBound)
      ) { Int($0.integer(0)) } ?? 0
  }
}

/// What a verification found.
package struct VerificationReport: Equatable, Sendable {
  /// The items that there should be.
  package var items: Int
  /// Whether the rows are those that the manifest counted.
  package var matchesManifest = true
  /// Whether the indexes agree with the rows.
  package var isWhole = true
  /// Rows whose metadata or secret does not open.
  package var unreadable: [Int64] = []
  /// Items whose secret could not be tried, because their class is locked.
  package var locked = 0
  /// The records that there are, where everything was opened.
  package var records = 0
  /// Those whose state or secret does not open.
  package var unreadableRecords: [DamagedRecord] = []
  /// Messages for the broker with numbers that none can have. They are never sent.
  package var impossibleMessages = 0

  package init(items: Int = 0) { self.items = items }
}

extension Keychain {
  package enum VerificationDepth: Sendable {
    /// The rows against the manifest, the indexes against the rows; nothing is opened. Some 3 µs an
    /// item.
    case manifest
    /// Everything is opened as well.
    case everything
  }
}
