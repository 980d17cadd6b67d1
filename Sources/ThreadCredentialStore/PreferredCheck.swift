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
    // Of a network that is preferred by its Extended PAN ID alone nothing else is known.
    let differences =
      preferred.hasCredentials
      ? dataset.essentialDifferences(from: preferred)
      : dataset.extendedPANID == preferred.extendedPANID ? [] : [.extendedPANID]
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

  /// What is answered to who asks about a dataset. Without the key of the preferred network nobody can vouch for
  /// one of it: then the answer is `none`.
  package static func answer(
    about dataset: OperationalDataset?, preferred: OperationalDataset?
  ) -> PreferredCheck {
    let check = PreferredCheck(dataset, preferred: preferred)
    return check == .match && preferred?.hasCredentials == false ? .none : check
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
