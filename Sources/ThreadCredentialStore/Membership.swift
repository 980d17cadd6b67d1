// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Whether a router follows the preferred network after its credentials were stored.
///
/// A router that merely names the preferred network's Extended PAN ID is no member: it must have the keys, or have had
/// them. Whatever else its dataset says: one that was left behind, or comes back, still speaks against other keys.
/// A network that is preferred by its Extended PAN ID alone has no keys, and no members.
package enum Membership {
  package static func follows(
    wasMember: Bool, dataset: OperationalDataset, preferred: OperationalDataset?
  ) -> Bool {
    guard let preferred, preferred.hasCredentials,
      dataset.extendedPANID == preferred.extendedPANID
    else { return false }
    return wasMember || dataset.hasKeys(of: preferred)
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

  /// Seconds that the timestamp of a change may be ahead of the clock: no later change would be followed before that
  /// time has come.
  package static let mostAhead: UInt64 = 365 * 86_400

  /// Whether a router reports the preferred network, with its keys, at a time that is too far ahead. It may have any
  /// other age: timestamps that count 1, 2, 3 are in use, too.
  ///
  /// - Parameter now: seconds since 1970.
  package static func isTooFarAhead(
    _ incoming: OperationalDataset, preferred: OperationalDataset?, now: Int64
  ) -> Bool {
    guard let preferred, incoming.hasKeys(of: preferred),
      incoming.relation(to: preferred) == .newer, let timestamp = incoming.activeTimestamp
    else { return false }
    return timestamp.seconds > UInt64(max(now, 0)) + mostAhead
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
