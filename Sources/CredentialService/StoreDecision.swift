// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset

/// What becomes of a dataset that a program stores for a router.
///
/// Unlike an event, which tells what a router has seen, a request says what holds now: it replaces
/// what is stored whatever its timestamp. And whatever a member stores moves the preferred network.
package struct StoreDecision: Hashable, Sendable {
  /// `store`, `keep`, `update` or `move`.
  package let change: DatasetDecision
  package let preferred: PreferredDecision

  /// - Parameter isMember: whether the router belonged to the preferred network before.
  package init(
    stored: OperationalDataset?, incoming: OperationalDataset, preferred: OperationalDataset?,
    isMember: Bool
  ) {
    change = Self.change(stored: stored, incoming: incoming)
    if preferred == nil {
      self.preferred = .establish
    } else if isMember, change.isStored {
      self.preferred = .follow
    } else {
      self.preferred = .keep
    }
  }

  private static func change(
    stored: OperationalDataset?, incoming: OperationalDataset
  ) -> DatasetDecision {
    guard let stored else { return .store }
    // Octet by octet: a channel mask or an unknown TLV is also something to keep.
    if stored == incoming { return .keep }
    let differences = incoming.essentialDifferences(from: stored)
    guard incoming.extendedPANID == stored.extendedPANID else {
      return .move(from: stored.extendedPANID, differences)
    }
    return .update(differences)
  }
}
