// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import ThreadDataset

/// Who belongs to the preferred network. The mark is a sealed attribute of the credential.
extension ThreadCredentialStore {
  /// The members of a preferred network: those whose mark holds and that are on it, all credentials on it that are
  /// damaged, and the routers that had its key when they left.
  ///
  /// An item whose attributes are damaged is found by the index of its Extended PAN ID, which does not tell
  /// the home: it counts in each home whose preferred network has this one.
  package func members(
    of preferred: OperationalDataset, in home: String, _ tx: ReadTransaction
  ) throws -> PreferredMembers {
    guard let network = preferred.extendedPANID else { return PreferredMembers() }
    var members = PreferredMembers()
    for item in try items(Self.query(network, in: home), noting: &members, tx) {
      guard let agent = BorderAgentID(hex: item[.account]?.string ?? "") else { continue }
      do {
        let credential = try credential(from: item, agent: agent, home: home, tx)
        guard credential.followsPreferred else { continue }
        members.readable.append(
          .init(agent: agent, team: credential.team, dataset: credential.dataset))
      } catch let error as KeychainError where error.isItemDamaged {
        members.damaged.append(.init(agent: agent, team: item.accessGroup))
      }
    }
    guard let key = NetworkKeyFingerprint.make(of: preferred) else { return members }
    let owners = ItemQuery(
      .genericPassword,
      [.service: .string(Self.ownerService(home)), .generic: .data(Array(key.utf8))])
    for item in try items(owners, noting: &members, tx) {
      // One that came back is judged by what it has now.
      guard let owner = OwnedID(item), try team(of: owner.agent, in: home, tx) == nil else {
        continue
      }
      members.departed.append(.init(agent: owner.agent, team: owner.team))
    }
    return members
  }

  /// What is damaged is noted.
  private func items(
    _ query: ItemQuery, noting members: inout PreferredMembers, _ tx: ReadTransaction
  ) throws -> [Item] {
    do throws(KeychainError) {
      return try keychain.items(matching: query, in: tx)
    } catch {
      guard error.isItemDamaged else { throw error }
      members.damaged.append(.init(agent: nil, team: nil))
      var query = query
      query.unreadable = .skip
      return try keychain.items(matching: query, in: tx)
    }
  }

  /// Other keys are another network: a router belongs to it that has them.
  package func recheckMembers(
    of preferred: OperationalDataset, in home: String, _ tx: WriteTransaction
  ) throws {
    guard let network = preferred.extendedPANID else { return }
    for credential in try all(in: home, on: network, tx).readable {
      let follows = Membership.follows(
        wasMember: false, dataset: credential.dataset, preferred: preferred)
      if follows != credential.followsPreferred {
        try update(credential, followsPreferred: follows, tx)
      }
    }
  }
}
