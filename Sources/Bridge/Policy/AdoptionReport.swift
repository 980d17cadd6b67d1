// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What a router says that was sent the preferred credentials.
enum AdoptionReport: Hashable, Sendable {
  /// It uses them.
  case confirmed
  /// What it said before: that may have been on its way already, or is said again and again.
  case notYet
  /// Something else.
  case disagreement

  /// - Parameters:
  ///   - sent: what it was sent.
  ///   - preferred: of now; what follows from a change of it is decided elsewhere.
  ///   - before: what it said last.
  init(
    _ incoming: OperationalDataset, sent: OperationalDataset, preferred: OperationalDataset?,
    before: OperationalDataset
  ) {
    let isPreferred = preferred.map { incoming.essentialDifferences(from: $0).isEmpty } ?? false
    if isPreferred || incoming.essentialDifferences(from: sent).isEmpty {
      self = .confirmed
    } else {
      self = incoming.essentialDifferences(from: before).isEmpty ? .notYet : .disagreement
    }
  }
}
