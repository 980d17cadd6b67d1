// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset

/// What a person is asked about. The same is asked once.
struct AdoptionSituation {
  let preferred: OperationalDataset
  /// What the router reports that it uses.
  let reported: OperationalDataset
  /// The login that it would be sent to.
  let user: String
  /// What it would be sealed to.
  let key: AdoptionKey

  /// Timestamps make no other network.
  func isSame(as other: AdoptionSituation) -> Bool {
    hasSamePreferred(as: other)
      && reported.essentialDifferences(from: other.reported).isEmpty
      && hasSameKey(as: other)
  }

  func hasSameKey(as other: AdoptionSituation) -> Bool {
    BrokerUser.isSame(user, other.user) && key.isSame(as: other.key)
  }

  func hasSamePreferred(as other: AdoptionSituation) -> Bool {
    preferred.essentialDifferences(from: other.preferred).isEmpty
  }
}

extension AdoptionSituation {
  init(_ adoption: Adoption) {
    self.init(
      preferred: adoption.preferred, reported: adoption.reported, user: adoption.user,
      key: .enrolled(adoption.key))
  }
}
