// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

extension IngestRule {
  /// `seq` or `id`, where both rules would take it from one message for one router: the second event would be a
  /// repetition to the daemon, and be ignored.
  package func sharedOrder(with other: IngestRule) -> InboundEventField? {
    guard home == other.home, user == other.user,
      fields[.borderAgentID] == other.fields[.borderAgentID],
      filter.covers(other.filter) || other.filter.covers(filter),
      !conditions.contains(where: { one in other.conditions.contains(where: one.excludes) })
    else { return nil }
    return [.sequence, .identifier].first {
      fields[$0] != nil && fields[$0] == other.fields[$0]
    }
  }
}

extension IngestCondition {
  /// Whether no message meets both.
  fileprivate func excludes(_ other: IngestCondition) -> Bool {
    pointer == other.pointer && !values.contains(Self.anything)
      && !other.values.contains(Self.anything) && Set(values).isDisjoint(with: other.values)
  }
}
