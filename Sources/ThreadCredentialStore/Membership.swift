// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Whether a router follows the preferred network after its credentials were stored.
///
/// A router that merely names the preferred network's Extended PAN ID is no member: it must once have
/// held the preferred dataset itself, which takes the network key.
package enum Membership {
  package static func follows(
    wasMember: Bool, dataset: OperationalDataset, preferred: OperationalDataset?
  ) -> Bool {
    guard let preferred, dataset.extendedPANID == preferred.extendedPANID else { return false }
    return wasMember || dataset.essentialDifferences(from: preferred).isEmpty
  }

  /// Whether what is reported of a member may move the preferred network.
  ///
  /// A member whose stored dataset has the preferred keys, is newer than the preferred one and differs from
  /// it was left behind by what a person has chosen since: what it continues to report must not undo that. Other
  /// keys are a claim that no person has decided upon, because a person's choice ends the membership of
  /// claimants. All of it is sealed: the registry's rows can be edited, and may be stale.
  ///
  /// - Parameters:
  ///   - stored: the dataset that is stored for the member.
  ///   - incoming: the one that is reported.
  package static func leads(
    stored: OperationalDataset?, incoming: OperationalDataset, preferred: OperationalDataset?
  ) -> Bool {
    guard let stored, let preferred, stored.hasKeys(of: preferred),
      case .mismatch = PreferredCheck(stored, preferred: preferred)
    else { return true }
    return incoming.essentialDifferences(from: preferred).isEmpty
  }

  /// Whether a member is still one after a report. One that may not move the preferred network is none with
  /// other keys: as a claim they could move it later.
  package static func stays(
    _ leads: Bool, dataset: OperationalDataset, preferred: OperationalDataset?
  ) -> Bool {
    guard !leads, let preferred else { return true }
    return dataset.hasKeys(of: preferred)
  }
}
