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
    let before = try replacedNetwork()
    let dataset = try request.dataset ?? newest(on: request.network)
    var data = AnswerData()
    data.changed = before != dataset
    if before != dataset {
      try store.setPreferredNetwork(of: home, to: dataset, tx)
      try registry.preferredSet(PreferredChange(from: before, to: dataset), context: context)
    }
    return data
  }

  /// The preferred network of now, if the requester may replace it: the first one anybody may set, and
  /// later ones whose team has a router that belongs to it. Such a router's changes move it anyway; all
  /// others could give the whole home a network of their own.
  private func replacedNetwork() throws -> OperationalDataset? {
    let preferred: OperationalDataset?
    do {
      preferred = try preferredNetwork()
    } catch let failure as AnswerFailure {
      // A damaged one is replaced like any other: that mends the home without a backup.
      guard context.isAdministrator, failure.known == .damagedCredentials else { throw failure }
      return nil
    }
    guard let preferred, !context.isAdministrator else { return preferred }
    let onIt = try preferred.extendedPANID.map { try store.all(in: home, on: $0, tx).readable }
    guard onIt?.contains(where: { isOwn($0.team) && isMember($0, of: preferred) }) == true
    else {
      throw AnswerFailure(
        .notAuthorized,
        "no router of this team belongs to the preferred network; "
          + "`threadkeeper preferred set` chooses another one")
    }
    return preferred
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
