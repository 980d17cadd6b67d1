// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset

/// What becomes of the credentials of a router for which a program stores a dataset.
///
/// Unlike an event, which tells what a router has seen, a request says what holds now: it replaces
/// what is stored whatever its timestamp. What becomes of the preferred network is `PreferredDecision`'s.
package enum StoreDecision {
  /// - Returns: `store`, `keep`, `update` or `move`.
  package static func change(
    stored: OperationalDataset?, incoming: OperationalDataset
  ) -> DatasetDecision {
    guard let stored else { return .store }
    // Byte by byte: a channel mask or an unknown TLV is also something to keep.
    if stored == incoming { return .keep }
    let differences = incoming.essentialDifferences(from: stored)
    guard incoming.extendedPANID == stored.extendedPANID else {
      return .move(from: stored.extendedPANID, differences)
    }
    return .update(differences)
  }
}
