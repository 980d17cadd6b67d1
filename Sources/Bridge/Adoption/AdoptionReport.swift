// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What a router reports that was sent the preferred credentials.
enum AdoptionReport: Hashable, Sendable {
  /// It uses them, and is attached with them where it reports that.
  case confirmed
  /// It is configured with them, and reports that it is still elsewhere or not attached.
  case configured
  /// What it reported before: that may have been on its way already, or is repeated.
  case notYet
  /// Something else.
  case disagreement

  /// - Parameters:
  ///   - sent: what it was sent.
  ///   - preferred: the current one; what follows from a change of it is decided elsewhere.
  ///   - before: what it reported last.
  ///   - isAttached: whether the router takes part in the network of `incoming`, as far as it reports that.
  init(
    _ incoming: OperationalDataset, sent: OperationalDataset, preferred: OperationalDataset?,
    before: OperationalDataset, isAttached: Bool
  ) {
    let isPreferred = preferred.map { incoming.essentialDifferences(from: $0).isEmpty } ?? false
    if isPreferred || incoming.essentialDifferences(from: sent).isEmpty {
      self = isAttached ? .confirmed : .configured
    } else {
      self = incoming.essentialDifferences(from: before).isEmpty ? .notYet : .disagreement
    }
  }
}
