// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// `preferred/available`, `preferred/check` and `preferred/set`: what they tell needs no consent.
extension CredentialService {
  func isPreferredAvailable() throws -> AnswerData {
    var data = AnswerData()
    data.available = try preferredNetwork() != nil
    return data
  }

  func checkPreferred(_ request: ThreadRequest) throws -> AnswerData {
    let check = PreferredCheck(request.dataset, preferred: try preferredNetwork())
    var data = AnswerData()
    data.result = check.answered
    data.differs = check.differences.map(\.rawValue)
    return data
  }

  func setPreferred(_ request: ThreadRequest) throws -> AnswerData {
    let dataset = try request.dataset ?? newest(on: request.network)
    let before = try replacedNetwork()
    var data = AnswerData()
    data.changed = before != dataset
    if before != dataset {
      try store.setPreferredNetwork(of: home, to: dataset, tx)
      try registry.preferredSet(PreferredChange(from: before, to: dataset), context: context)
    }
    return data
  }

  /// A damaged one is replaced like any other: that mends the home without a backup.
  private func replacedNetwork() throws -> OperationalDataset? {
    do {
      return try preferredNetwork()
    } catch let failure as AnswerFailure where failure.known == .damagedCredentials {
      return nil
    }
  }

  /// The newest dataset of a network that the own team has stored.
  private func newest(on network: ExtendedPANID?) throws -> OperationalDataset {
    var newest: OperationalDataset?
    if let network {
      for credential in try store.all(in: home, on: network, tx).readable
      where context.isAdministrator || isOwn(credential.team) {
        if let best = newest?.activeTimestamp, let its = credential.dataset.activeTimestamp,
          its <= best
        {
          continue
        }
        newest = credential.dataset
      }
    }
    guard let newest else {
      throw AnswerFailure(
        .notFound, field: "ext_pan_id", "no credentials of this network are stored",
        help: "`threadkeeper credentials list` shows what is stored")
    }
    return newest
  }
}
