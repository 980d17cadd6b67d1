// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Takes in the items of an export, in two passes: what it would come to, then the writing.
struct ItemImporter {
  let items: ItemTable
  let transactions: StoreTransactions

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
  func run(
    from descriptor: Int32, name: String, passphrase: SecretBytes, _ plan: ItemImport
  ) throws(KeychainError) -> ImportReport {
    try items.health.checkWritable()
    return try KeychainError.wrap("importing") {
      let file = try FileBytes(name, openAs: descriptor)
      let reader = try ExportReader(file, passphrase: passphrase, arena: items.keys.arena)
      var report = try look(at: reader, name, plan)
      let isRefused = report.conflicts > 0 && plan.onConflict == .refuse
      guard !plan.isTrial, !isRefused else { return report }
      try plan.willWrite()
      try transactions.write { tx in
        let planned = report
        report = ImportReport(store: planned.store, created: planned.created)
        (report.notInExport, report.damaged) = (planned.notInExport, planned.damaged)
        let ledger = try items.changes.ledger(tx)
        if let actor = plan.actor { ledger.audit.actor = actor }
        // Before anything is written: what comes in must not decide about what comes after it.
        let staysOut = try plan.staysOut(report.store, tx)
        _ = try reader.forEachItem(progress: {
          try plan.progress(reader.length + $0, reader.length * 2)
        }) {
          try take($0, plan, staysOut, &report, in: tx)
        }
        // They were told by name, and others would be missing from that.
        guard report.stayedOut == planned.stayedOut, report.deleted == planned.deleted else {
          throw Self.changedMeanwhile()
        }
        items.audit.note(
          .imported,
          "\(report.items) items of store \(report.store): \(report.added) added,"
            + " \(report.replaced) replaced, \(report.kept) kept, \(report.unchanged) the same"
            + (report.stayedOut > 0 ? ", \(report.stayedOut) left out" : "")
            + (report.deleted > 0 ? ", \(report.deleted) deleted" : ""),
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
    var foreseen = ImportForecast()
    let index = BlindIndex(key: try items.keys.arena.randomKey())
    try transactions.read { tx in
      let staysOut = try plan.staysOut(report.store, tx)
      let end = try reader.forEachItem(progress: { try plan.progress($0, reader.length * 2) }) {
        item in
        report.items += 1
        let key = try index.primaryKey(
          of: RowForm(item.itemClass, item.attributes), item.attributes)
        guard let key = ItemID(key), keys.insert(key).inserted else {
          throw ExportFlaw("is an item that came before")
        }
        let standing = foreseen.standing(try standing(of: item, ifNotLockedIn: tx))
        let isSame = if case .same? = standing { true } else { false }
        // What does not come in refuses nothing.
        if !isSame, staysOut(item) {
          report.stayedOut += 1
          return try plan.stayedOut(item)
        }
        if let objection = plan.objection(item) { throw ExportFlaw(objection) }
        guard let standing else {
          locked += 1
          return
        }
        if isSame {
          report.unchanged += 1
          return
        }
        if case .other(let here, let differs) = standing, plan.givesWay(here, differs) {
          report.replaced += 1
          return try plan.comesIn(item)
        }
        let rivals = try plan.rivals(item, tx).filter(foreseen.leaves)
        var differs = standing.differences
        for rival in rivals where !differs.contains(rival.differs.description) {
          differs.append(rival.differs.description)
        }
        guard differs.isEmpty else { return try conflict(item, standing, differs, rivals) }
        report.added += 1
        try plan.comesIn(item)
      }
      report.notInExport = end.notInExport.mapValues { Int(clamping: $0) }
      report.damaged = Int(clamping: end.damaged)
    }
    guard locked == 0 else { throw KeychainError.lockedItems(locked, "imported") }
    func conflict(
      _ item: NewItem, _ standing: ImportStanding, _ differs: [String], _ rivals: [ItemRival]
    ) throws {
      report.conflicts += 1
      switch plan.onConflict {
      case .refuse: break
      case .keep: report.kept += 1
      case .replace:
        report.replaced += 1
        report.deleted += rivals.count
        foreseen.deletes(rivals)
        foreseen.replaces(standing)
      }
      let removes =
        plan.onConflict == .keep
        ? [] : rivals.map { AuditLog.subject($0.item.itemClass, $0.item.attributes) }
      try plan.found(
        ImportConflict(
          item: AuditLog.subject(item.itemClass, item.attributes), differs: differs,
          removes: removes))
      if plan.onConflict == .replace { try plan.comesIn(item) }
    }
    return report
  }

  /// Nil for an item that cannot be compared while the store is locked.
  func standing(
    of item: NewItem, ifNotLockedIn tx: ReadTransaction
  ) throws -> ImportStanding? {
    if item.accessible.wrapper == .session, !items.keys.isUnlocked { return nil }
    return try items.search.standing(of: item, in: tx)
  }

  static func changedMeanwhile() -> KeychainError {
    KeychainError(.notAvailable, "the store has changed meanwhile: import again")
  }
}
