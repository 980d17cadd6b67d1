// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What one dataset is to another, for scripts and for people.
struct DatasetRelationReport: Encodable {
  /// `match`, `newer`, `older`, `conflict` or `mismatch`.
  let relation: String
  /// The names of all essential parameters that differ, whatever the relation.
  let differs: [String]

  init(of dataset: OperationalDataset, to other: OperationalDataset) {
    relation =
      switch dataset.relation(to: other) {
      case .match: "match"
      case .newer: "newer"
      case .older: "older"
      case .conflict: "conflict"
      case .mismatch: "mismatch"
      }
    differs = dataset.essentialDifferences(from: other).map(\.rawValue)
  }

  var isMatch: Bool { relation == "match" }

  /// For instance `mismatch: network_key, ext_pan_id`. Of two ages of a network only the age is said.
  var line: String {
    let isAge = relation == "newer" || relation == "older"
    return isAge || differs.isEmpty
      ? "\(relation)\n" : "\(relation): \(differs.joined(separator: ", "))\n"
  }
}
