// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import ThreadDataset

/// Changes to whom a border agent id belongs.
extension ThreadCredentialStore {
  /// The team of each border agent id of a home. What is damaged is left out.
  package func owners(in home: String, _ tx: ReadTransaction) throws -> [BorderAgentID: String] {
    var owners: [BorderAgentID: String] = [:]
    func read(_ service: String, _ team: (Item) -> String?) throws {
      let query = ItemQuery(.genericPassword, [.service: .string(service)], unreadable: .skip)
      for item in try keychain.items(matching: query, in: tx) {
        guard let agent = BorderAgentID(hex: item[.account]?.string ?? "") else { continue }
        owners[agent] = team(item)
      }
    }
    try read(Self.ownerService(home)) {
      $0.accessGroup == Self.internalGroup ? $0[.label]?.string : nil
    }
    // Whoever holds the credentials owns the id.
    try read(Self.service(home)) { $0.accessGroup }
    return owners
  }

  /// Deletes the credentials of a border agent id and who owns it, damaged or not: it then belongs to no team.
  package func deleteOwner(
    of agent: BorderAgentID, in home: String, _ tx: WriteTransaction
  ) throws {
    for query in [Self.query(agent, in: home), Self.formerOwnerQuery(agent, in: home)] {
      try keychain.deleteDamaged(matching: query, in: tx)
      if let item = try keychain.items(matching: query, in: tx).first {
        try keychain.delete(item, in: tx)
      }
    }
  }

  /// - Parameter key: of the Network Key that it had (`NetworkKeyFingerprint`); nil where it is not known.
  func addFormerOwner(
    _ team: String, key: String? = nil, of agent: BorderAgentID, in home: String,
    _ tx: WriteTransaction
  ) throws {
    var attributes = Self.formerOwnerAttributes(team, key: key)
    attributes[.service] = .string(Self.ownerService(home))
    attributes[.account] = .string(agent.description)
    attributes[.accessGroup] = .string(Self.internalGroup)
    try keychain.add(
      NewItem(
        .genericPassword, attributes: attributes, secret: SecretBytes(copying: []),
        accessible: .afterFirstUnlock), in: tx)
  }

  static func formerOwnerAttributes(_ team: String, key: String?) -> ItemAttributes {
    [.label: .string(team), .generic: .data(Array((key ?? "").utf8))]
  }
}
