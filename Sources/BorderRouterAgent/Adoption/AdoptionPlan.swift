// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadDataset

/// How a router is given a dataset, so that no other router gets it.
///
/// There are two ways, and the wrong one hands the preferred network's key to routers without consent:
///
/// - *Alone*: Thread is disabled, the active dataset set, Thread enabled. The router leaves the network that it is on,
///   which stays as it is, and is on the other one a second later. Right for every other network, and for every dataset
///   with other keys, also where the Extended PAN ID is the same: whoever shares the router's present network does not
///   have these keys. Right, too, for a router whose Thread is stopped, or that is detached.
/// - *Pending*: the leader gives the dataset to every member of the router's present network, and after the delay all
///   change at once. Right only for a newer dataset of that very network, with the same keys: its members have them
///   already, and one that changed alone (its channel, say) would be cut off from them. It has to be complete, or the
///   leader invents what is missing, the key included; to have a later Active Timestamp, or the leader ignores it; and
///   a Pending Timestamp, or only the leader changes. A coming change to other keys is not overtaken: that would undo
///   what somebody else has begun.
///
/// *Refused* is everything else: while a change to another dataset is pending, nothing is done, and an order waits. It
/// outlives disabling, setting and enabling, and would undo the move later, or take the new network's routers along.
///
/// An active dataset is never set while Thread runs: on a router that is not the leader the whole network would get it,
/// 300 s later. REST answers 409 there.
package enum AdoptionPlan: Equatable, Sendable {
  /// It uses the dataset.
  case nothing
  case alone
  /// With the pending dataset.
  case pending(OperationalDataset)
  /// With the reason.
  case refused(String)

  /// Milliseconds until a pending dataset takes effect. 30 s is the least that OpenThread takes; sleepy devices need
  /// time to get it.
  package static let delay: UInt32 = 60_000

  package init(_ target: OperationalDataset, for report: RouterReport) {
    guard !report.uses(target) else {
      self = .nothing
      return
    }
    guard report.state.isAttached, let active = report.active,
      report.network == target.extendedPANID, active.extendedPANID == target.extendedPANID,
      Self.hasSameKeys(active, target),
      report.pending.map({ Self.hasSameKeys($0, target) }) != false,
      let current = active.activeTimestamp, let new = target.activeTimestamp, new > current,
      !report.hasUnreadablePending,
      let pending = Self.pending(target, new, after: report.pending?.pendingTimestamp)
    else {
      self = Self.obstacle(to: target, for: report).map { .refused($0) } ?? .alone
      return
    }
    self = .pending(pending)
  }

  /// Why it can't be moved alone: a change to another dataset is pending.
  static func obstacle(to target: OperationalDataset, for report: RouterReport) -> String? {
    let isOther = report.pending.map { !$0.essentialDifferences(from: target).isEmpty }
    guard isOther == true || report.hasUnreadablePending else { return nil }
    return "a change to another dataset is pending on it; nothing is done until that has landed"
  }

  private static func hasSameKeys(_ one: OperationalDataset, _ other: OperationalDataset) -> Bool {
    one.networkKey == other.networkKey && one.pskc == other.pskc
  }

  private static func pending(
    _ target: OperationalDataset, _ active: Timestamp, after last: Timestamp?
  ) -> OperationalDataset? {
    let timestamp = max(active, last?.later() ?? active)
    guard
      let pending = try? target.replacing(.pendingTimestamp(timestamp), .delayTimer(delay)),
      pending.kind == .pending
    else { return nil }
    return pending
  }
}
