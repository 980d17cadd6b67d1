// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadCredentialStore
import ThreadRequests

/// A record that is told only by consent, and whose it is.
struct DisclosedCredential {
  var record: CredentialRecord
  /// Nil: the dataset is that of the home's preferred network.
  var team: String?

  /// As a person is asked about it.
  var network: ConsentNetwork {
    .init(
      id: record.network, name: record.networkName, team: team,
      keyFingerprint: record.dataset.flatMap { NetworkKeyFingerprint.make(of: $0) })
  }
}
