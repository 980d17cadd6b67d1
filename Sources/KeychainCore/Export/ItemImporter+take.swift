// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension ItemImporter {
  /// The second pass: one item.
  func take(
    _ new: NewItem, _ plan: ItemImport, _ staysOut: (NewItem) -> Bool,
    _ report: inout ImportReport, in tx: WriteTransaction
  ) throws {
    report.items += 1
    let found = try standing(of: new, ifNotLockedIn: tx)
    if case .same? = found {
      report.unchanged += 1
      return
    }
    guard !staysOut(new) else {
      report.stayedOut += 1
      return
    }
    // It was locked meanwhile.
    guard let standing = found else { throw KeychainError.lockedItems(1, "imported") }
    if case .other(let here, let differs) = standing, plan.givesWay(here, differs) {
      plan.wrote(try replace(standing, with: new, in: tx))
      report.replaced += 1
      return
    }
    let rivals = try plan.rivals(new, tx)
    if case .new = standing, rivals.isEmpty {
      plan.wrote(try items.add(new, in: tx))
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
        try items.delete(rival.item, in: tx)
        plan.removed(rival.item)
        report.deleted += 1
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
      return try items.update(
        item, attributes: new.attributes,
        removing: Set(item.attributes.keys).subtracting(new.attributes.keys), secret: new.secret,
        accessible: new.accessible, in: tx)
    case .damaged(let reference):
      try items.remove(damaged: reference, in: tx)
      return try items.add(new, in: tx)
    case .new, .same:
      return try items.add(new, in: tx)
    }
  }
}
