// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// How a router whose move has failed gets back to what it was, one request at a time.
enum AdoptionRestoration {
  /// What is to be done next, seen what the router is now; nil: nothing.
  static func step(
    from report: RouterReport, to before: RouterReport, without new: OperationalDataset,
    isGivenBack: Bool, hasEnabled: Bool
  ) -> HTTPRequest? {
    let isStopped = report.state == .disabled
    if !isGivenBack, report.hasNew(new, besides: before) {
      guard isStopped else { return .setThread(enabled: false) }
      return before.active.map { .setActive($0) }
    }
    if before.state == .disabled {
      // Something else may have started it meanwhile.
      return hasEnabled && !isStopped ? .setThread(enabled: false) : nil
    }
    return isStopped ? .setThread(enabled: true) : nil
  }
}

extension RouterReport {
  /// Whether it has the dataset that it was given, and not the one that it had.
  func hasNew(_ new: OperationalDataset, besides before: RouterReport) -> Bool {
    guard let active, active.essentialDifferences(from: new).isEmpty else { return false }
    return !active.hasSameTLVs(as: before.active)
  }
}
