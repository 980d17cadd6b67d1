// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore
import ThreadDataset

/// What a router says that was sent the preferred credentials.
extension BatchApplier {
  /// Judges a reported dataset. It is compared with what is stored, like any other, whatever it says here.
  ///
  /// - Returns: nil where nothing is waited for.
  func judgeReport(
    _ incoming: OperationalDataset?, of router: inout RouterRecord, home: HomeContext
  ) throws -> AdoptionReport? {
    guard let incoming else { return nil }
    let awaited = try awaited(router, home: home)
    guard let adoption = try awaited ?? givenUp(router, home: home) else { return nil }
    let report = AdoptionReport(
      incoming, sent: adoption.preferred, preferred: try preferredNetwork(of: home),
      before: adoption.reported, isAttached: router.isAttached(to: incoming.extendedPANID))
    switch report {
    case .confirmed:
      try store.deleteAdoption(of: router.agent, in: home.record.name, tx)
      router.adoption = nil
    case .configured: break
    case .notYet, .disagreement:
      guard awaited != nil else { return nil }
      if report == .disagreement { router.adoption = .disagreement }
    }
    return report
  }

  /// The adoption of a router that was sent the preferred credentials and whose word is waited for no more:
  /// when it comes after all, it counts as it would have in time.
  private func givenUp(_ router: RouterRecord, home: HomeContext) throws -> Adoption? {
    switch router.adoption {
    case .timeout, .disagreement: try adoption(of: router.agent, home: home)
    default: nil
    }
  }

  /// A router that is configured with what it was sent may report later, in a heartbeat, that it is attached.
  func judgeHeartbeat(of router: inout RouterRecord, home: HomeContext) throws {
    guard router.adoption != nil, router.threadState != nil || router.currentNetwork != nil else {
      return
    }
    let dataset = try readableDataset(of: router.agent, home: home)
    _ = try judgeReport(dataset, of: &router, home: home)
  }

  /// Takes note of what the router says: the same network may have another timestamp by now, and nobody is
  /// asked about just what it says instead.
  ///
  /// - Parameter reported: what is stored for it now.
  func note(
    _ report: AdoptionReport?, of router: RouterRecord, reported: OperationalDataset?,
    home: HomeContext
  ) throws {
    guard let report, report != .confirmed, let reported,
      var adoption = try adoption(of: router.agent, home: home)
    else { return }
    if report == .disagreement {
      adoption.phase = .over
    } else if adoption.reported == reported {
      return
    }
    adoption.reported = reported
    try store.save(adoption, tx)
  }
}
