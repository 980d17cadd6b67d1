// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// A router's dataset against the preferred network of its home.
package enum PreferredCheck: Hashable, Sendable {
  /// There is no preferred network, or the router has no dataset.
  case none
  /// All essential parameters are equal; the timestamps need not be.
  case match
  /// Another Extended PAN ID, or content that a later timestamp makes newer than the preferred.
  case mismatch([DatasetParameter])
  /// The preferred network with an older dataset: the router has not followed.
  case stale([DatasetParameter])
  /// The preferred network with other content of the same age.
  case conflict([DatasetParameter])

  /// - Parameter current: the network that the router reports to be on; nil where that is not known. A router
  ///   that is configured for one network and runs on another does not match, whichever is preferred.
  package init(
    _ dataset: OperationalDataset?, preferred: OperationalDataset?, current: ExtendedPANID? = nil
  ) {
    guard let dataset, let preferred else {
      self = .none
      return
    }
    let differences = dataset.essentialDifferences(from: preferred)
    if let current, let configured = dataset.extendedPANID, current != configured {
      self = .mismatch(differences.isEmpty ? [.extendedPANID] : differences)
      return
    }
    if differences.isEmpty {
      self = .match
      return
    }
    switch dataset.relation(to: preferred) {
    case .older: self = .stale(differences)
    case .conflict: self = .conflict(differences)
    case .match, .newer, .mismatch: self = .mismatch(differences)
    }
  }

  /// `match`, `mismatch` or `none`, as it is published.
  package var name: String {
    switch self {
    case .none: "none"
    case .match: "match"
    case .mismatch, .stale, .conflict: "mismatch"
    }
  }

  /// Whether `mismatch` is published of it.
  package var isMismatch: Bool {
    switch self {
    case .none, .match: false
    case .mismatch, .stale, .conflict: true
    }
  }

  /// Names of the essential parameters that differ.
  package var differences: [DatasetParameter] {
    switch self {
    case .none, .match: []
    case .mismatch(let names), .stale(let names), .conflict(let names): names
    }
  }
}
