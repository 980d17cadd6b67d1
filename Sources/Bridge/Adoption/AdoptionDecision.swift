// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore

/// What becomes of a router's adoption when the router is checked against the preferred network.
enum AdoptionDecision: Hashable, Sendable {
  /// It continues as it is; where there is none, none begins.
  case keep
  /// A person is to be asked, again if one was asked already.
  case begin
  /// There is nothing to adopt any more.
  case end
  /// Nothing can be sealed for the login that it would be sent to.
  case fail(AdoptionState)

  init(_ state: AdoptionState?, _ found: AdoptionCheck) {
    guard found.isEnabled, let now = found.now, found.check.isMismatch else {
      self = state == nil ? .keep : .end
      return
    }
    // One that is behind on the preferred network follows by itself, and of two that differ at the same
    // age a person must choose one.
    var isElsewhere = false
    if case .mismatch = found.check { isElsewhere = true }
    let isSame = found.before?.isSame(as: now) == true
    if state?.needsKey == true, let obstacle = now.key.obstacle {
      self = isElsewhere ? .fail(obstacle) : .end
      return
    }
    switch state {
    case nil: self = isElsewhere && (found.isRaised || found.isSSIDNew) ? .begin : .keep
    // The clock continues these, with what holds then.
    case .due, .notEnrolled, .damagedKeys: self = isElsewhere ? .keep : .end
    // The router's report is waited for; its Wi-Fi does not matter meanwhile.
    case .sent:
      let isAwaited = found.before.map { $0.hasSamePreferred(as: now) && $0.hasSameKey(as: now) }
      self = isAwaited == true ? .keep : .begin
    case .asked, .agreed:
      self = !isElsewhere ? .end : isSame ? .keep : .begin
    case .denied, .expired, .timeout, .disagreement, .pendingChange, .refused, .noAnswer,
      .notAttached:
      let isOld = isSame && !(found.isSSIDNew && isElsewhere)
      self = isOld ? .keep : isElsewhere ? .begin : .end
    }
  }
}
