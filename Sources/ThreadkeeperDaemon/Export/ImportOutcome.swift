// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore

/// What an import came to, or would come to.
package struct ImportOutcome: Codable, Sendable {
  /// The store that was exported.
  package var storeID: String
  /// When. RFC 3339.
  package var created: String
  /// Of the export.
  package var items: Int
  package var added: Int
  package var unchanged: Int
  package var kept: Int
  package var replaced: Int
  /// Of the store, that were in the way of what was replaced.
  package var deleted: Int
  package var conflicts: Int
  /// That an import leaves out, see `ImportedKind`.
  package var leftOut: Int
  /// What the export does not have.
  package var notInExport: [String: Int]
  package var damagedThere: Int
  /// Homes that the settings do not name: what is of them waits until they do.
  package var unknownHomes: [String]
  package var imported: Bool

  private enum CodingKeys: String, CodingKey {
    case storeID = "storeId"
    case created, items, added, unchanged, kept, replaced, deleted, conflicts
    case leftOut, notInExport, damagedThere, unknownHomes, imported
  }

  init(_ report: ImportReport, unknownHomes: [String]) {
    storeID = report.store.description
    created = WireTime(milliseconds: report.created / 1_000).description
    items = report.items
    added = report.added
    unchanged = report.unchanged
    kept = report.kept
    replaced = report.replaced
    deleted = report.deleted
    conflicts = report.conflicts
    leftOut = report.leftOut
    notInExport = Accessibility.names(report.notInExport)
    damagedThere = report.damaged
    self.unknownHomes = unknownHomes
    imported = report.isDone
  }
}
