// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Whether a router follows the preferred network after its credentials were stored.
///
/// A router that merely names the preferred network's Extended PAN ID is no member: it must once have
/// held the preferred dataset itself, which nobody can who does not know the network key.
package enum Membership {
  package static func follows(
    wasMember: Bool, dataset: OperationalDataset, preferred: OperationalDataset?
  ) -> Bool {
    guard let preferred, dataset.extendedPANID == preferred.extendedPANID else { return false }
    return wasMember || dataset.essentialDifferences(from: preferred).isEmpty
  }
}
