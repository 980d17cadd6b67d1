// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore

/// What becomes of a router's adoption, given how far it is and what holds now.
enum AdoptionDecision: Hashable, Sendable {
  /// It goes on as it is; where there is none, none begins.
  case keep
  /// A person is to be asked, anew if one was asked already.
  case begin
  /// There is nothing to adopt any more.
  case end
  /// Nothing can be sealed for who would be told.
  case fail(AdoptionState)

  /// - Parameters:
  ///   - before: what the adoption is about; nil where nothing is stored of it.
  ///   - now: nil without a preferred network, or a dataset of the router.
  ///   - isRaised: whether the mismatch has lasted as long as its alert is held: a migration asks nobody.
  ///   - isSSIDNew: the Wi-Fi has another name just now. That asks at once, and anew, unless a question
  ///     waits: any login may say so, and must not have people asked again and again.
  init(
    state: AdoptionState?, isEnabled: Bool, check: PreferredCheck, before: AdoptionSituation?,
    now: AdoptionSituation?, isRaised: Bool, isSSIDNew: Bool
  ) {
    guard isEnabled, let now, check.name == "mismatch" else {
      self = state == nil ? .keep : .end
      return
    }
    // One that is behind on the preferred network follows by itself, and of two that differ at the same
    // age a person must choose one.
    var isElsewhere = false
    if case .mismatch = check { isElsewhere = true }
    let isSame = before?.isSame(as: now) == true
    if state?.needsKey == true, let obstacle = now.key.obstacle {
      self = isElsewhere ? .fail(obstacle) : .end
      return
    }
    switch state {
    case nil: self = isElsewhere && (isRaised || isSSIDNew) ? .begin : .keep
    // The clock looks after these, and finds things as they are then.
    case .due, .notEnrolled, .damagedKeys: self = isElsewhere ? .keep : .end
    // What the router says is what is waited for; its Wi-Fi does not matter meanwhile.
    case .sent:
      let isAwaited = before.map { $0.hasSamePreferred(as: now) && $0.hasSameKey(as: now) }
      self = isAwaited == true ? .keep : .begin
    case .asked, .agreed:
      self = !isElsewhere ? .end : isSame ? .keep : .begin
    case .denied, .expired, .timeout, .disagreement:
      let isOld = isSame && !(isSSIDNew && isElsewhere)
      self = isOld ? .keep : isElsewhere ? .begin : .end
    }
  }
}
