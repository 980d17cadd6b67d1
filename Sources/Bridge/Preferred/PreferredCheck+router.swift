// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset

extension PreferredCheck {
  /// A router's dataset and where it reports to be, against the preferred network.
  ///
  /// A router that was sent the preferred credentials matches only when it is attached with them, where it
  /// reports that.
  init(_ dataset: OperationalDataset?, of router: RouterRecord, preferred: OperationalDataset?) {
    if router.source == .mdns, router.credential == .missing, let network = router.network {
      self.init(advertised: network, at: router.activeSeconds, preferred: preferred)
      return
    }
    self.init(dataset, preferred: preferred, current: router.currentNetwork)
    if self == .match, router.mustAttach { self = .mismatch([]) }
  }

  /// A router of which only its record on the local network says where it is. It has no keys that could be compared.
  ///
  /// - Parameter seconds: of its active timestamp; nil where it does not say.
  private init(
    advertised network: ExtendedPANID, at seconds: UInt64?, preferred: OperationalDataset?
  ) {
    guard let preferred, let id = preferred.extendedPANID else {
      self = .none
      return
    }
    guard network == id else {
      self = .mismatch([.extendedPANID])
      return
    }
    if let seconds, let current = preferred.activeTimestamp?.seconds, seconds < current {
      self = .stale([])
    } else {
      self = .match
    }
  }
}
