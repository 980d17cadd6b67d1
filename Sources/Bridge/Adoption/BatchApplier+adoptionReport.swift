// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore
import ThreadDataset

/// What a router says that was sent the preferred credentials.
extension BatchApplier {
  /// Judges a reported dataset. Where the wait is over by it, what was stored before the adoption is
  /// stored again, so that the report is compared with what the router said last, like any other.
  ///
  /// - Returns: nil where nothing is waited for.
  func judgeReport(
    _ incoming: OperationalDataset?, of router: inout RouterRecord, home: HomeContext
  ) throws -> AdoptionReport? {
    guard let incoming, var adoption = try awaited(router, home: home) else { return nil }
    let report = AdoptionReport(
      incoming, sent: adoption.preferred, preferred: try preferredNetwork(of: home),
      before: adoption.reported)
    switch report {
    case .notYet:
      // The same network may have another timestamp by now.
      if DatasetDecision(stored: adoption.reported, incoming: incoming).isStored {
        adoption.reported = incoming
        try store.save(adoption, tx)
      }
    case .confirmed:
      try putBack(adoption, home: home)
      try store.deleteAdoption(of: router.agent, in: home.record.name, tx)
      router.adoption = nil
    case .disagreement:
      try putBack(adoption, home: home)
      router.adoption = .disagreement
    }
    return report
  }

  /// Takes note of what the router says instead, so that nobody is asked about just that.
  ///
  /// - Parameter reported: what is stored for it now.
  func noteDisagreement(
    of router: RouterRecord, reported: OperationalDataset?, home: HomeContext
  ) throws {
    guard var adoption = try adoption(of: router.agent, home: home), let reported else { return }
    adoption.phase = .over
    adoption.user = router.user
    adoption.reported = reported
    try store.save(adoption, tx)
  }
}

extension DatasetDecision {
  /// What a router says that it was told to use is stored, also where its timestamp is not the later one.
  func stored(_ incoming: OperationalDataset, over before: OperationalDataset?) -> DatasetDecision {
    guard !isStored, let before, incoming != before else { return self }
    return .update(incoming.essentialDifferences(from: before))
  }
}
