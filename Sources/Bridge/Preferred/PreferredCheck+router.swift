// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset

extension PreferredCheck {
  /// A router's dataset and where it reports to be, against the preferred network.
  ///
  /// A router that was sent the preferred credentials matches only when it is attached with them, where it
  /// reports that.
  init(_ dataset: OperationalDataset?, of router: RouterRecord, preferred: OperationalDataset?) {
    self.init(dataset, preferred: preferred, current: router.currentNetwork)
    if self == .match, router.mustAttach { self = .mismatch([]) }
  }
}
