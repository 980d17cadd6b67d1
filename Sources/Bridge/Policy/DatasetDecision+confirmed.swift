// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset

extension DatasetDecision {
  /// What a router reports that it was sent is stored, also where its timestamp is not the later one.
  init(stored: OperationalDataset?, confirmed: OperationalDataset) {
    self.init(stored: stored, incoming: confirmed)
    guard !isStored, let stored, confirmed != stored else { return }
    self = .update(confirmed.essentialDifferences(from: stored))
  }
}
