// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// `preferred/available`, `preferred/check`, `preferred/set` and `preferred/forget`: what they tell needs no
/// consent.
extension CredentialService {
  func isPreferredAvailable() throws -> AnswerData {
    var data = AnswerData()
    data.available = try preferredCredentials() != nil
    return data
  }

  func checkPreferred(_ request: ThreadRequest) throws -> AnswerData {
    let check = PreferredCheck.answer(about: request.dataset, preferred: try preferredNetwork())
    var data = AnswerData()
    data.result = check.answered
    data.differs = check.differences.map(\.rawValue)
    return data
  }

  func setPreferred(_ request: ThreadRequest) throws -> AnswerData {
    let before = try replacedNetwork()
    let dataset = try chosen(by: request, current: before)
    let former =
      before == dataset
      ? nil : try store.replacePreferredNetwork(of: home, to: dataset, tx)
    // Who claims other keys has heard the decision, also where only other parameters were chosen, and is no
    // member any more.
    try store.recheckMembers(of: dataset, in: home, tx)
    try registry.preferredSet(
      PreferredChange(from: before, to: dataset, cause: .person, formerID: former),
      context: context)
    var data = AnswerData()
    data.changed = before != dataset
    if !dataset.hasCredentials { data.available = false }
    return data
  }

  /// From then on no network is preferred until a person chooses one.
  func forgetPreferred() throws -> AnswerData {
    try requirePerson(for: "`threadkeeper preferred forget`")
    let before = try replacedNetwork()
    guard try store.hasPreferredNetwork(in: home, tx) else {
      throw AnswerFailure(.notFound, "no network is preferred")
    }
    let former = try store.forgetPreferredNetwork(of: home, tx)
    try registry.preferredSet(
      PreferredChange(from: before, to: nil, cause: .person, formerID: former), context: context)
    var data = AnswerData()
    data.changed = true
    data.forgotten = try store.formerNetworks(of: home, tx).filter { $0.id == former }
      .map(FormerNetworkRecord.init)
    return data
  }

  func requirePerson(for command: String) throws {
    guard !context.isAdministrator else { return }
    throw AnswerFailure(
      .notAuthorized, "only the daemon's own user and root may do this, with \(command)")
  }

  /// The current preferred network, if the requester may replace it: a person may, and so may a program on
  /// this machine whose team has a router that belongs to it, whose changes move it anyway. The first
  /// one anybody may set. Any other login could give the whole home a network of its own.
  private func replacedNetwork() throws -> OperationalDataset? {
    let preferred: OperationalDataset?
    do {
      preferred = try preferredNetwork()
    } catch let failure as AnswerFailure {
      // A damaged one is replaced like any other: that repairs the home without a backup.
      guard context.isAdministrator, failure.known == .damagedCredentials else { throw failure }
      return nil
    }
    guard !context.choosesPreferred else { return preferred }
    if let preferred, case .systemUser = context.requester {
      let members = try store.members(of: preferred, in: home, tx)
      if members.readable.contains(where: { isOwn($0.team) }) { return preferred }
    } else if try preferred == nil && !store.isPreferredForgotten(in: home, tx) {
      return nil
    }
    throw AnswerFailure(
      .notAuthorized,
      "only a person may choose the preferred network: with `threadkeeper preferred set`, or over "
        + "MQTT as one of `consent.approvers`")
  }
}
