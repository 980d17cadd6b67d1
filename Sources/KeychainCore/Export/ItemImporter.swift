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
        try plan.begin(tx)
        _ = try reader.forEachItem(progress: {
          try plan.progress(reader.length + $0, reader.length * 2)
        }) {
          try take($0, plan, &report, in: tx)
        }
        // They were named, and others would be missing from that.
        guard report.deleted == planned.deleted else { throw KeychainError.storeHasChanged() }
        items.audit.note(
          .imported,
          "\(report.items) items of store \(report.store): \(report.added) added,"
            + " \(report.replaced) replaced, \(report.kept) kept, \(report.unchanged) the same"
            + (report.leftOut > 0 ? ", \(report.leftOut) left out" : "")
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
    let index = BlindIndex(key: try items.keys.arena.randomKey())
    try transactions.read { tx in
      let end = try reader.forEachItem(progress: { try plan.progress($0, reader.length * 2) }) {
        item in
        report.items += 1
        let key = try index.primaryKey(
          of: RowForm(item.itemClass, item.attributes), item.attributes)
        guard let key = ItemID(key), keys.insert(key).inserted else {
          throw ExportFlaw("is an item that came before")
        }
        guard plan.isMeant(item) else {
          report.leftOut += 1
          return
        }
        if let reason = plan.rejectionReason(item) { throw ExportFlaw(reason) }
        guard let standing = try standing(of: item, ifNotLockedIn: tx) else {
          locked += 1
          return
        }
        let outcome = try outcome(of: item, standing, plan, in: tx)
        switch outcome {
        case .unchanged: report.unchanged += 1
        case .added: report.added += 1
        case .replaced: report.replaced += 1
        case .conflict(let differs, let rival):
          report.conflicts += 1
          if plan.onConflict == .keep { report.kept += 1 }
          if plan.onConflict == .replace {
            report.replaced += 1
            report.deleted += rival == nil ? 0 : 1
          }
          plan.found(
            ImportConflict(
              item: AuditLog.subject(item.itemClass, item.attributes), differs: differs,
              removes: (plan.onConflict == .keep ? [] : [rival]).compactMap {
                $0.map { AuditLog.subject($0.itemClass, $0.attributes) }
              }))
        }
        if outcome.comesIn(plan.onConflict) { plan.comesIn(item) }
      }
      report.notInExport = end.notInExport.mapValues { Int(clamping: $0) }
      report.damaged = Int(clamping: end.damaged)
    }
    guard locked == 0 else { throw KeychainError.lockedItems(locked, "imported") }
    return report
  }

  /// Nil for an item that cannot be compared while the store is locked.
  func standing(
    of item: NewItem, ifNotLockedIn tx: ReadTransaction
  ) throws -> ImportStanding? {
    if item.accessible.wrapper == .session, !items.keys.isUnlocked { return nil }
    return try items.search.standing(of: item, in: tx)
  }

  /// What becomes of an item, in both passes.
  func outcome(
    of item: NewItem, _ standing: ImportStanding, _ plan: ItemImport, in tx: ReadTransaction
  ) throws -> ItemOutcome {
    if case .same = standing { return .unchanged }
    let rival = try plan.rival(item, tx)
    var differs = standing.differences
    let group = ItemAttribute.accessGroup.description
    if rival != nil, !differs.contains(group) { differs.append(group) }
    guard !differs.isEmpty else { return .added }
    return plan.replacesAlways(item) ? .replaced : .conflict(differs, rival: rival)
  }
}

extension KeychainError {
  /// During an import, between its two passes.
  package static func storeHasChanged() -> KeychainError {
    KeychainError(.notAvailable, "the store has changed meanwhile: import again")
  }
}

/// What becomes of one item of an export.
enum ItemOutcome {
  case unchanged, added, replaced
  case conflict(_ differs: [String], rival: Item?)

  func comesIn(_ onConflict: ItemImport.OnConflict) -> Bool {
    switch self {
    case .unchanged: false
    case .added, .replaced: true
    case .conflict: onConflict == .replace
    }
  }
}
