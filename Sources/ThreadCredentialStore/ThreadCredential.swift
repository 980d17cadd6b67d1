// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import ThreadDataset

/// The Thread credentials of one border router, as they lie in the store.
package struct ThreadCredential: Sendable {
  package let home: String
  package let agent: BorderAgentID
  /// The team that stored it first; no other team may change it.
  package let team: String
  package let dataset: OperationalDataset
  /// Whether the router was seen on the preferred network with the preferred network's own key, and
  /// has stayed on that Extended PAN ID since. Only such a router can move the preferred network.
  package let followsPreferred: Bool

  let item: Item

  /// Microseconds since 1970.
  package var created: Int64 { item.created }
  /// Microseconds since 1970.
  package var modified: Int64 { item.modified }
}
