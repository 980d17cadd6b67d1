// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

extension ItemImporter {
  /// The second pass: one item.
  func take(
    _ new: NewItem, _ plan: ItemImport, _ report: inout ImportReport, in tx: WriteTransaction
  ) throws {
    report.items += 1
    guard plan.isMeant(new) else {
      report.leftOut += 1
      return
    }
    // It was locked meanwhile.
    guard let standing = try standing(of: new, ifNotLockedIn: tx) else {
      throw KeychainError.lockedItems(1, "imported")
    }
    switch try outcome(of: new, standing, plan, in: tx) {
    case .unchanged:
      report.unchanged += 1
    case .added:
      plan.wrote(try items.add(new, in: tx))
      report.added += 1
    case .replaced:
      plan.wrote(try replace(standing, with: new, in: tx))
      report.replaced += 1
    case .conflict(_, let rival):
      report.conflicts += 1
      switch plan.onConflict {
      case .refuse:
        throw KeychainError.storeHasChanged()
      case .keep:
        report.kept += 1
      case .replace:
        if let rival {
          try items.delete(rival, in: tx)
          report.deleted += 1
        }
        plan.wrote(try replace(standing, with: new, in: tx))
        report.replaced += 1
      }
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
