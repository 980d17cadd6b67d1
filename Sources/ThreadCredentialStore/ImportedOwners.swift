// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import ThreadDataset

/// Whose border router each is, by the items of one import. A border agent id belongs to one team in any store, so
/// items that give it to two are of none, and cannot come in both.
package struct ImportedOwners: Sendable {
  /// By home and border agent id. Byte by byte, as groups are compared everywhere.
  private var teams: [[UInt8]: [BorderAgentID: [UInt8]]] = [:]

  package init() {}

  /// Why an item cannot come in beside those before it; nil: it can. Completes "record 7 …".
  package mutating func objection(to item: NewItem) -> String? {
    guard let place = ImportedPlace(item.itemClass, item.attributes),
      let agent = BorderAgentID(hex: item.attributes[.account]?.string ?? "")
    else { return nil }
    let team: AttributeValue?
    switch place.kind {
    case .credential: team = item.attributes[.accessGroup]
    case .owner: team = item.attributes[.label]
    case .preferred, .former, .forgotten, .adoption: return nil
    }
    let (home, bytes) = (Array(place.home.utf8), Array((team?.string ?? "").utf8))
    guard let known = teams[home]?[agent] else {
      teams[home, default: [:]][agent] = bytes
      return nil
    }
    return known == bytes ? nil : "gives a border router to another team than a record before it"
  }
}
