/// How far a home is protected: nothing is well while a step is missing.
package struct Protection: Hashable, Sendable {
  /// In the order in which they are taken.
  package enum Step: UInt8, CaseIterable, Sendable {
    /// A border router is listed.
    case routers = 1
    /// A network is preferred.
    case preferred
    /// Its credentials are stored.
    case key
    /// A person has said that alerts arrive.
    case alerts
    /// A recovery code opens the store.
    case recoveryCode
  }

  package enum State: Sendable, CaseIterable {
    case notProtected
    /// Border routers are checked, and something is still missing.
    case watching
    case protected
  }

  /// Those that there are for this home.
  package let steps: [Step]
  package let missing: [Step]

  package var state: State {
    if missing.isEmpty { return .protected }
    return missing.contains(.routers) || missing.contains(.preferred) ? .notProtected : .watching
  }

  fileprivate init(_ home: Home) {
    let done: [(Step, Bool?)] = [
      (.routers, home.routers.totals.listed > 0), (.preferred, home.preferred != nil),
      (.key, home.preferredCredentials != nil), (.alerts, home.areAlertsConfirmed),
      (.recoveryCode, home.hasRecoveryCode),
    ]
    steps = done.filter { $0.1 != nil }.map(\.0)
    missing = done.filter { $0.1 == false }.map(\.0)
  }
}

extension Home {
  package var protection: Protection { Protection(self) }

  /// One that fires already would not be news.
  mutating func testAlert(_ facts: AlertFacts) -> HomeAnswer {
    for facts in [nil, facts] { setAlert(AlertKey(.testAlert), facts) }
    return .accepted(isChange: true, isKnown: true)
  }

  /// - Returns: whether that changes anything.
  mutating func confirmAlerts(_ isConfirmed: Bool) -> HomeAnswer {
    let isChange = areAlertsConfirmed != isConfirmed
    areAlertsConfirmed = isConfirmed
    // It has arrived, so it is over.
    if isConfirmed { setAlert(AlertKey(.testAlert), nil) }
    if isChange { noteRecord(.home) }
    return .accepted(isChange: isChange, isKnown: true)
  }

  mutating func noteRecoveryCode(_ isThere: Bool?) {
    guard hasRecoveryCode != isThere else { return }
    hasRecoveryCode = isThere
    noteRecord(.home)
  }
}
