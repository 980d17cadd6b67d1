// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// Takes in the items of an export. First all of it is read, authenticated to its end, and compared with the
  /// store. Then it is read again, and written in one transaction: all of it or nothing. Nobody else can write
  /// during that.
  ///
  /// An item with the same contents is left as it is, whatever its dates. Dates of what comes in stay as they
  /// are in the export.
  ///
  /// - Parameters:
  ///   - descriptor: of the file, which stays open.
  ///   - name: of the file, for words.
  /// - Returns: with `isDone` false after a trial, and when there are conflicts and `onConflict` says `refuse`.
  /// - Throws: `decode` for what is no export or is damaged; `authFailed` for a wrong passphrase;
  ///   `interactionNotAllowed` when the store is locked and items need it unlocked; `readOnly` for a store
  ///   that takes no changes. Nothing has changed then.
  package func importItems(
    from descriptor: Int32, name: String, passphrase: SecretBytes, _ plan: ItemImport = .init()
  ) throws(KeychainError) -> ImportReport {
    try checkWritable()
    return try KeychainError.wrap("importing") {
      let file = try FileOctets(name, openAs: descriptor)
      let reader = try ExportReader(file, passphrase: passphrase, arena: arena)
      var report = try look(at: reader, name, plan)
      let isRefused = report.conflicts > 0 && plan.onConflict == .refuse
      guard !plan.isTrial, !isRefused else { return report }
      try write { tx in
        let planned = report
        report = ImportReport(store: planned.store, created: planned.created)
        (report.leftOut, report.damaged) = (planned.leftOut, planned.damaged)
        let ledger = try ledgerForChange(tx)
        if let actor = plan.actor { act(as: actor, in: tx) }
        // Before anything is written: what comes in must not decide about what comes after it.
        let staysOut = try plan.leavesOut(report.store, tx)
        _ = try reader.forEachItem(progress: {
          try plan.progress(reader.length + $0, reader.length * 2)
        }) {
          try take($0, plan, staysOut, &report, in: tx)
        }
        // They were told by name, and others would be missing from that.
        guard report.stayedOut == planned.stayedOut else { throw Self.changedMeanwhile() }
        note(
          .imported,
          "\(report.items) items of store \(report.store): \(report.added) added,"
            + " \(report.replaced) replaced, \(report.kept) kept, \(report.unchanged) the same"
            + (report.stayedOut > 0 ? ", \(report.stayedOut) left out" : ""),
          ledger)
        try plan.willCommit(tx)
      }
      report.isDone = true
      return report
    }
  }

  /// The first pass. Changes nothing.
  private func look(
    at reader: ExportReader, _ name: String, _ plan: ItemImport
  ) throws -> ImportReport {
    var report = ImportReport(store: reader.header.store, created: reader.header.created)
    var locked = 0
    // Two items of one primary key are no export of a store.
    var keys = Set<ItemID>()
    let index = BlindIndex(key: try arena.randomKey())
    try read { tx in
      let staysOut = try plan.leavesOut(report.store, tx)
      let end = try reader.forEachItem(progress: { try plan.progress($0, reader.length * 2) }) {
        item in
        report.items += 1
        let key = try index.primaryKey(
          of: RowForm(item.itemClass, item.attributes), item.attributes)
        guard let key = ItemID(key), keys.insert(key).inserted else {
          throw ExportFlaw("is an item that came before")
        }
        if let objection = plan.objection(item) { throw ExportFlaw(objection) }
        if item.accessible.wrapper == .session, !isUnlocked {
          locked += 1
          return
        }
        let standing = try standing(of: item, in: tx)
        if case .same = standing {
          report.unchanged += 1
          return
        }
        if staysOut(item) {
          report.stayedOut += 1
          return try plan.leftOut(item)
        }
        var differs = standing.differences
        for rival in try plan.rivals(item, tx) where !differs.contains(rival.differs.description) {
          differs.append(rival.differs.description)
        }
        if differs.isEmpty { report.added += 1 } else { try conflict(item, differs) }
      }
      report.leftOut = end.leftOut.mapValues { Int(clamping: $0) }
      report.damaged = Int(clamping: end.damaged)
    }
    guard locked == 0 else { throw Self.lockedItems(locked, "imported") }
    func conflict(_ item: NewItem, _ differs: [String]) throws {
      report.conflicts += 1
      switch plan.onConflict {
      case .refuse: break
      case .keep: report.kept += 1
      case .replace: report.replaced += 1
      }
      try plan.found(
        ImportConflict(item: Self.subject(item.itemClass, item.attributes), differs: differs))
    }
    return report
  }

  /// The second pass: one item.
  private func take(
    _ new: NewItem, _ plan: ItemImport, _ staysOut: (NewItem) -> Bool,
    _ report: inout ImportReport, in tx: WriteTransaction
  ) throws {
    report.items += 1
    let standing = try standing(of: new, in: tx)
    if case .same = standing {
      report.unchanged += 1
      return
    }
    guard !staysOut(new) else {
      report.stayedOut += 1
      return
    }
    let rivals = try plan.rivals(new, tx)
    if case .new = standing, rivals.isEmpty {
      plan.wrote(try add(new, in: tx))
      report.added += 1
      return
    }
    report.conflicts += 1
    switch plan.onConflict {
    case .refuse:
      throw Self.changedMeanwhile()
    case .keep:
      report.kept += 1
    case .replace:
      for rival in rivals {
        try delete(rival.item, in: tx)
        plan.removed(rival.item)
      }
      plan.wrote(try replace(standing, with: new, in: tx))
      report.replaced += 1
    }
  }

  private func replace(
    _ standing: ImportStanding, with new: NewItem, in tx: WriteTransaction
  ) throws -> Item {
    switch standing {
    case .other(let item, _):
      return try update(
        item, attributes: new.attributes,
        removing: Set(item.attributes.keys).subtracting(new.attributes.keys), secret: new.secret,
        accessible: new.accessible, in: tx)
    case .damaged(let reference):
      try remove(reference, in: tx)
      return try add(new, in: tx)
    case .new, .same:
      return try add(new, in: tx)
    }
  }

  private static func changedMeanwhile() -> KeychainError {
    KeychainError(
      .notAvailable,
      "the store has changed meanwhile, or items of the export contradict each other: import again")
  }

  /// Takes out a row that does not open.
  private func remove(_ reference: ItemReference, in tx: WriteTransaction) throws {
    guard let stored = try StoredRow(reference, in: tx) else { throw Self.notFound() }
    let ledger = try ledgerForChange(tx)
    try tx.execute("DELETE FROM items WHERE id = ?", .integer(stored.rowID))
    try ledger.remove(stored.manifestElement)
    note(.deleted, "the damaged item in row \(stored.rowID)", ledger)
    ledger.owesErasure = true
    tx.afterCommit("import \(stored.rowID)") {
      self.state.withLock { _ = $0.quarantine.remove(stored.rowID) }
    }
  }
}
