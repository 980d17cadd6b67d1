// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What becomes of a dataset that a router reports, given what is stored for that router.
package enum DatasetDecision: Hashable, Sendable {
  /// The first one of this router.
  case store
  /// Says what is stored already.
  case keep
  /// The same network, newer. The names are those of the essential parameters that changed.
  case update([DatasetParameter])
  /// Another network: stored whatever its timestamp, which counts within one network only.
  case move(from: ExtendedPANID?, [DatasetParameter])
  /// The same network, older: ignored, with an event.
  case ignoreOlder
  /// The same network and age, with other content: not stored, and never dropped in silence.
  case conflict([DatasetParameter])

  package init(stored: OperationalDataset?, incoming: OperationalDataset) {
    guard let stored else {
      self = .store
      return
    }
    switch incoming.relation(to: stored) {
    case .match: self = .keep
    case .older: self = .ignoreOlder
    case .newer: self = .update(incoming.essentialDifferences(from: stored))
    case .conflict(let names): self = .conflict(names)
    case .mismatch(let names): self = .move(from: stored.extendedPANID, names)
    }
  }

  /// Whether the incoming dataset becomes the stored one.
  package var isStored: Bool {
    switch self {
    case .store, .update, .move: true
    case .keep, .ignoreOlder, .conflict: false
    }
  }
}
