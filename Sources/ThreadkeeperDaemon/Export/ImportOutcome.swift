// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore

/// What an import came to, or would come to.
package struct ImportOutcome: Codable, Sendable {
  /// What it brings that decides who may have credentials, by what it is.
  package struct Access {
    package var stayedOut: [ImportedAccess: Int] = [:]
    package var takenOver: [ImportedAccess: Int] = [:]
    package var replacesKeys = false
  }

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
  /// That stay out, by what they are.
  package var stayedOut: [String: Int]
  /// That come in and decide who may have credentials, by what they are.
  package var takenOver: [String: Int]
  /// Whether the keys of the export take the place of keys that this daemon has shown.
  package var replacesKeys: Bool
  /// What the export does not have.
  package var notInExport: [String: Int]
  package var damagedThere: Int
  /// Homes that the settings do not name: what is of them waits until they do.
  package var unknownHomes: [String]
  package var imported: Bool

  private enum CodingKeys: String, CodingKey {
    case storeID = "storeId"
    case created, items, added, unchanged, kept, replaced, deleted, conflicts
    case stayedOut = "leftOut"
    case takenOver, replacesKeys, notInExport, damagedThere, unknownHomes, imported
  }

  init(_ report: ImportReport, _ access: Access, unknownHomes: [String]) {
    storeID = report.store.description
    created = WireTime(milliseconds: report.created / 1_000).description
    items = report.items
    added = report.added
    unchanged = report.unchanged
    kept = report.kept
    replaced = report.replaced
    deleted = report.deleted
    conflicts = report.conflicts
    stayedOut = Self.names(access.stayedOut)
    takenOver = Self.names(access.takenOver)
    replacesKeys = access.replacesKeys
    notInExport = Accessibility.names(report.notInExport)
    damagedThere = report.damaged
    self.unknownHomes = unknownHomes
    imported = report.isDone
  }

  private static func names(_ counts: [ImportedAccess: Int]) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
  }
}
