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

extension ImportOutcome {
  private enum CodingKeys: String, CodingKey {
    case storeID, created, items, added, unchanged, kept, replaced, deleted, conflicts
    case stayedOut = "leftOut"
    case takenOver, replacesKeys, notInExport, damagedThere, unknownHomes, imported
  }

  /// A daemon of an earlier version does not say all of it, and what it has done is done.
  package init(from decoder: any Decoder) throws {
    let outcome = try decoder.container(keyedBy: CodingKeys.self)
    func number(_ key: CodingKeys) throws -> Int { try outcome.decode(Int.self, forKey: key) }
    func counts(_ key: CodingKeys) throws -> [String: Int] {
      try outcome.decodeIfPresent([String: Int].self, forKey: key) ?? [:]
    }
    storeID = try outcome.decode(String.self, forKey: .storeID)
    created = try outcome.decode(String.self, forKey: .created)
    (items, added, unchanged) = try (number(.items), number(.added), number(.unchanged))
    (kept, replaced) = try (number(.kept), number(.replaced))
    deleted = try outcome.decodeIfPresent(Int.self, forKey: .deleted) ?? 0
    (conflicts, damagedThere) = try (number(.conflicts), number(.damagedThere))
    (stayedOut, takenOver) = try (counts(.stayedOut), counts(.takenOver))
    replacesKeys = try outcome.decodeIfPresent(Bool.self, forKey: .replacesKeys) ?? false
    notInExport = try counts(.notInExport)
    unknownHomes = try outcome.decodeIfPresent([String].self, forKey: .unknownHomes) ?? []
    imported = try outcome.decode(Bool.self, forKey: .imported)
  }
}
