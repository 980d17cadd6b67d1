// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// How an import goes.
package struct ItemImport {
  /// What becomes of an item whose primary key the store has, with other contents.
  package enum OnConflict: String, Codable, CaseIterable, Sendable {
    /// Then nothing is imported.
    case refuse
    /// The store's stays.
    case keep
    /// That of the export takes its place.
    case replace
  }

  package var onConflict = OnConflict.refuse
  /// Who asks for it, for the audit; nil: the keychain's own auditor.
  package var actor: String?
  /// Look, and change nothing.
  package var isTrial = false
  /// Whether an item is to come in. Others are left out, whatever is wrong with them, and counted.
  package var isMeant: (NewItem) -> Bool = { _ in true }
  /// Why an item must not come in; nil: it may. Completes "record 7 …".
  package var rejectionReason: (NewItem) -> String? = { _ in nil }
  /// Whether an item takes the place of one with its primary key whatever `onConflict` says.
  package var replacesAlways: (NewItem) -> Bool = { _ in false }
  /// An item of the store, with another primary key, that gives an item to another access group. Then that is a
  /// conflict: the item stays out, or takes the place of the store's.
  package var rival: (NewItem, ReadTransaction) throws -> Item? = { _, _ in nil }
  /// Gets every item that is to come in, new or in the place of another one, before anything is changed.
  package var comesIn: (NewItem) -> Void = { _ in }
  /// Gets every conflict, before anything is changed.
  package var found: (ImportConflict) -> Void = { _ in }
  /// Called before the transaction, when all of the export was read and is to come in.
  package var willWrite: () throws -> Void = {}
  /// The first of the transaction. What it throws undoes all.
  package var begin: (ReadTransaction) throws -> Void = { _ in }
  /// Gets every item that is written, in the transaction.
  package var wrote: (Item) -> Void = { _ in }
  /// The last of the transaction. What it throws undoes all.
  package var willCommit: (WriteTransaction) throws -> Void = { _ in }
  /// Gets how far it is, of two passes; what it throws undoes all.
  package var progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }

  package init() {}
}

/// An item that the store has, with other contents. No secret is in it.
package struct ImportConflict: Codable, Equatable, Sendable {
  /// Class, names and group, as the audit has it.
  package let item: String
  /// What is different: `secret`, `accessible`, four letters of an attribute, or `damaged` for one that
  /// does not open here.
  package let differs: [String]
  /// Items with other primary keys that it cannot stand beside, by the same names: to replace it deletes them. None
  /// where those that are here are kept.
  package let removes: [String]

  package init(item: String, differs: [String], removes: [String] = []) {
    self.item = item
    self.differs = differs
    self.removes = removes
  }
}

/// What an import came to, or would come to.
package struct ImportReport: Equatable, Sendable {
  /// The store that was exported.
  package var store: StoreID
  /// When, in microseconds since 1970.
  package var created: Int64
  /// Of the export.
  package var items = 0
  package var added = 0
  /// That were here already, the same.
  package var unchanged = 0
  package var kept = 0
  package var replaced = 0
  /// Of the store, that were in the way of what was replaced.
  package var deleted = 0
  package var conflicts = 0
  /// That `isMeant` has left out.
  package var leftOut = 0
  /// What the export itself says that it does not have.
  package var notInExport: [Accessibility: Int] = [:]
  package var damaged = 0
  /// Whether the store has it now.
  package var isDone = false
}
