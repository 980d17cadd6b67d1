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
  /// Why an item must not come in; nil: it may. Completes "record 7 …". Asked once of each, in order, in the first
  /// pass: who has seen the ones before it can say what contradicts them.
  package var objection: (NewItem) -> String? = { _ in nil }
  /// Which items stay out, whatever is wrong with them, from the store that was exported. Asked once in each
  /// pass, before anything is written. An item that is here already, the same, is none of them.
  package var staysOut: (StoreID, ReadTransaction) throws -> (NewItem) -> Bool = { _, _ in
    { _ in false }
  }
  /// Told every item that stays out, before anything is changed.
  package var stayedOut: (NewItem) throws -> Void = { _ in }
  /// Told every item that is to come in, new or in the place of another one, before anything is changed.
  package var comesIn: (NewItem) throws -> Void = { _ in }
  /// Whether the store's item goes for one of its primary key that comes in, whatever `onConflict` says. Asked in
  /// both passes, of items that are to be replaced only, with what is different, as conflicts have it. Then it is no
  /// conflict.
  package var givesWay: (Item, _ differs: [String]) -> Bool = { _, _ in false }
  /// Items of the store, of other primary keys, that an item cannot stand beside. They are a conflict like one
  /// of its own key: it stays out, or takes their place.
  package var rivals: (NewItem, ReadTransaction) throws -> [ItemRival] = { _, _ in [] }
  /// Told every conflict, before anything is changed.
  package var found: (ImportConflict) throws -> Void = { _ in }
  /// Told every item that is written, in the transaction.
  package var wrote: (Item) -> Void = { _ in }
  /// Told every rival that is deleted, in the transaction.
  package var removed: (Item) -> Void = { _ in }
  /// Called before the transaction, when all of the export was read and is to come in.
  package var willWrite: () throws -> Void = {}
  /// The last of the transaction. What it throws undoes all.
  package var willCommit: (WriteTransaction) throws -> Void = { _ in }
  /// Told how far it is, of two passes; what it throws undoes all.
  package var progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }

  package init() {}
}

/// An item of the store that cannot stay beside one that comes in.
package struct ItemRival {
  package let item: Item
  /// Of the one that comes in: what they do not agree about.
  package let differs: ItemAttribute

  package init(_ item: Item, differs: ItemAttribute) {
    self.item = item
    self.differs = differs
  }
}

/// An item that the store has, with other contents. No secret is in it.
package struct ImportConflict: Codable, Equatable, Sendable {
  /// Class, names and group, as the audit has it.
  package let item: String
  /// What is different: `secret`, `accessible`, four letters of an attribute, or `damaged` for one that
  /// does not open here.
  package let differs: [String]
  /// Items of other primary keys that it cannot stand beside, by the same names: to replace it deletes them. None
  /// where those that are here are kept.
  package let removes: [String]

  package init(item: String, differs: [String], removes: [String] = []) {
    self.item = item
    self.differs = differs
    self.removes = removes
  }

  /// A daemon of an earlier version does not name what it deletes.
  package init(from decoder: any Decoder) throws {
    let conflict = try decoder.container(keyedBy: CodingKeys.self)
    item = try conflict.decode(String.self, forKey: .item)
    differs = try conflict.decode([String].self, forKey: .differs)
    removes = try conflict.decodeIfPresent([String].self, forKey: .removes) ?? []
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
  /// That `staysOut` has named.
  package var stayedOut = 0
  /// What the export itself says that it does not have.
  package var notInExport: [Accessibility: Int] = [:]
  package var damaged = 0
  /// Whether the store has it now.
  package var isDone = false
}
