// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  package enum VerificationDepth: Sendable {
    /// The rows against the manifest, the indexes against the rows; nothing is opened. Some 3 µs an
    /// item.
    case manifest
    /// Everything is opened as well.
    case everything
  }

  /// Compares the store with its manifest, on a snapshot: others can write meanwhile. A mismatch
  /// turns the store read-only.
  @discardableResult
  package func verify(
    _ depth: VerificationDepth = .manifest
  ) throws(KeychainError) -> VerificationReport {
    try KeychainError.wrap("verifying the store") {
      try database.read { tx in
        var report = VerificationReport()
        do {
          let (manifest, key) = try readManifest(in: tx)
          report.items = Int(clamping: manifest.items)
          report.matchesManifest = try matches(manifest, key: key.sum, in: tx)
          if !report.matchesManifest { fail(.manifestMismatch) }
          // The manifest speaks of the rows. Whether the indexes lead to them is SQLite's to say.
          report.isWhole = try tx.first("PRAGMA integrity_check(items)") { $0.text(0) } == "ok"
          if !report.isWhole { fail(.fileDamaged) }
        } catch let error as SQLiteError where error.kind == .corrupt {
          report.isWhole = false
          fail(.fileDamaged)
        } catch let error where Self.isDecode(error) {
          report.matchesManifest = false
          fail(.manifestUnreadable)
        }
        if depth == .everything { try openEverything(&report, in: tx) }
        return report
      }
    }
  }

  private static func isDecode(_ error: any Error) -> Bool {
    !(error is SQLiteError) && (error as? KeychainError)?.status ?? .decode == .decode
  }

  /// Where rows were taken out or altered, nobody can tell what is missing from a list.
  func checkListing() throws(KeychainError) {
    if case .readOnly(let reason) = condition, reason.hidesItems {
      throw KeychainError(
        .decode, "the store was altered: what is missing from it cannot be told. Restore a backup")
    }
  }

  func fail(_ reason: StoreCondition.Reason) {
    state.withLock { state in
      // A rollback stays what it is: it has a remedy of its own.
      guard state.condition == .healthy else { return }
      state.condition = .readOnly(reason)
    }
  }

  private func matches(
    _ manifest: Manifest, key: GuardedKey, in tx: ReadTransaction
  ) throws -> Bool {
    var found = Manifest()
    do {
      try addAll(to: &found, key: key, in: tx)
    } catch let error where Self.isDecode(error) {
      // A row that cannot even be read as one.
      return false
    }
    return found.hasSameContents(as: manifest)
  }

  private func addAll(
    to manifest: inout Manifest, key: GuardedKey, in tx: ReadTransaction
  ) throws {
    try tx.forEach(
      """
      SELECT id, class, uuid, version, metadata, secret, index_epoch, primary_index, index_1,
        index_2, class_key, wrapped_key
      FROM items
      """, bound: []
    ) { row in
      guard let id = row.withBlob(2, { ItemID($0) }), let form = UInt8(exactly: row.integer(1)),
        let indexEpoch = UInt32(exactly: row.integer(6)),
        let classKey = UInt32(exactly: row.integer(10))
      else { throw corrupt(row: row.integer(0), "what names it") }
      let element = ManifestElement.ItemRow(
        rowID: row.integer(0), form: form, id: id,
        version: row.integer(3), metadataTag: row.tag(4), secretTag: row.tag(5),
        indexEpoch: indexEpoch,
        primaryIndex: row.withBlob(7) { ItemID($0) },
        index1: row.isNull(8) ? nil : row.withBlob(8) { ItemID($0) },
        index2: row.isNull(9) ? nil : row.withBlob(9) { ItemID($0) },
        classKey: KeyID(rawValue: classKey), wrappedKeyTag: row.tag(11))
      try manifest.insert(.item(element), key: key)
      return true
    }
    try tx.forEach(
      "SELECT id, uuid, payload, kind, created, label, parameters FROM key_slots", bound: []
    ) { row in
      guard let id = row.withBlob(1, { ItemID($0) }) else { return true }
      let columns = KeySlotRow.columns(
        kind: row.integer(3), created: row.integer(4), label: row.text(5), parameters: row.blob(6))
      try manifest.insert(
        .slot(id: id, number: row.integer(0), tag: row.tag(2), columns: columns), key: key)
      return true
    }
    try tx.forEach("SELECT id, wrapped FROM keys", bound: []) { row in
      guard let id = UInt32(exactly: row.integer(0)) else { throw SodiumError.notAuthentic }
      try manifest.insert(.key(KeyID(rawValue: id), tag: row.tag(1)), key: key)
      return true
    }
  }

  private func openEverything(_ report: inout VerificationReport, in tx: ReadTransaction) throws {
    try tx.forEach(
      "SELECT id, uuid, class, version, metadata FROM items ORDER BY id", bound: []
    ) { row in
      do {
        _ = try secret(of: item(from: row, in: tx), in: tx)
      } catch let error as KeychainError where error.status == .decode {
        report.unreadable.append(row.integer(0))
      } catch let error as KeychainError
        where error.status == .interactionNotAllowed || error.status == .notAvailable
      {
        report.locked += 1
      }
      return true
    }
  }
}

extension SQLiteRow {
  fileprivate func tag(_ column: Int32) -> ItemID {
    withBlob(column) { octets in
      ItemID(UnsafeRawBufferPointer(rebasing: octets.suffix(16))) ?? ItemID(high: 0, low: 0)
    }
  }
}
