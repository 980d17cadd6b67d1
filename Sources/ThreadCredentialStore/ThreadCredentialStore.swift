// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import ThreadDataset

/// Thread credentials, their owners and the preferred network of every home, as keychain items.
///
/// | what | service | account | group | secret |
/// |---|---|---|---|---|
/// | credential | `thread-network/<home>` | border agent id | the team | dataset |
/// | owner of a router that left, and which key it had | `thread-owner/<home>` | border agent id | internal | empty |
/// | preferred network | `thread-preferred/<home>` | empty | internal | dataset |
/// | networks that were preferred | `thread-preferred-history/<home>` | `p-…` | internal | dataset |
/// | that no network is preferred | `thread-preferred-forgotten/<home>` | empty | internal | empty |
/// | adoption | `thread-adoption/<home>` | border agent id | internal | two datasets |
///
/// Every call takes the transaction that it belongs to.
package struct ThreadCredentialStore: Sendable {
  /// Items in this group decide who may do what; no client of the keychain can name it.
  package static let internalGroup = "threadkeeper.internal"

  package let keychain: Keychain

  package init(_ keychain: Keychain) {
    self.keychain = keychain
  }

  /// - Throws: `KeychainError` with `readOnly` when the store is not what its manifest and anchor say:
  ///   then nothing may be decided by it, nor written beside it.
  package func checkWritable() throws {
    if case .readOnly(let reason) = keychain.condition {
      throw KeychainError(.readOnly, "\(reason)")
    }
  }

  /// The credential of a border router, whichever team owns it.
  package func credential(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> ThreadCredential? {
    guard let found = try keychain.first(matching: Self.query(agent, in: home), in: tx) else {
      return nil
    }
    return try Self.credential(from: found.item, found.secret, agent: agent, home: home)
  }

  /// The same; nil also where it is damaged. For work that is not about one message and has to continue with the other
  /// routers.
  package func readableCredential(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> ThreadCredential? {
    try Self.readable { try credential(of: agent, in: home, tx) }
  }

  private static func readable(
    _ read: () throws -> ThreadCredential?
  ) throws -> ThreadCredential? {
    do {
      return try read()
    } catch let error as KeychainError where error.isItemDamaged {
      return nil
    }
  }

  /// All credentials of a home, in the order in which they came.
  ///
  /// - Returns: the credentials, and the routers whose datasets are damaged. An item whose attributes
  ///   are damaged is in neither: it is not known whose it is.
  package func all(
    in home: String, _ tx: ReadTransaction
  ) throws -> (readable: [ThreadCredential], damaged: [BorderAgentID]) {
    try all(in: home, of: nil, limit: nil, tx)
  }

  package func count(in home: String, _ tx: ReadTransaction) throws -> Int {
    try items(in: home, tx).count
  }

  /// The team that owns a border agent id: it holds its credentials, or held them when it left.
  package func owner(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> String? {
    if let team = try team(of: agent, in: home, tx) { return team }
    return try formerOwner(of: agent, in: home, tx)
  }

  /// The team that holds the credentials of a border agent id; nil where none are stored. The dataset
  /// is not opened and may be damaged.
  package func team(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> String? {
    try item(of: agent, in: home, tx)?.accessGroup
  }

  /// The team that held the credentials of a border agent id that has none now.
  package func formerOwner(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> String? {
    try formerOwnerItem(of: agent, in: home, tx)?[.label]?.string
  }

  /// Whether border routers have left that belonged to a team.
  package func hasFormerOwners(in home: String, _ tx: ReadTransaction) throws -> Bool {
    try !keychain.items(
      matching: ItemQuery(
        .genericPassword,
        [
          .service: .string(Self.ownerService(home)), .accessGroup: .string(Self.internalGroup),
        ], limit: 1, unreadable: .skip), in: tx
    ).isEmpty
  }

  /// - Throws: `KeychainError` with `duplicateItem` when any team holds this border agent id.
  package func add(
    _ dataset: OperationalDataset, of agent: BorderAgentID, team: String, in home: String,
    followsPreferred: Bool, _ tx: WriteTransaction
  ) throws {
    var attributes = Self.attributes(of: dataset)
    attributes[.service] = .string(Self.service(home))
    attributes[.account] = .string(agent.description)
    attributes[.accessGroup] = .string(team)
    attributes[.preferredMember] = .bool(followsPreferred)
    _ = try keychain.add(
      NewItem(
        .genericPassword, attributes: attributes, secret: SecretBytes(copying: dataset.bytes),
        accessible: .afterFirstUnlock), in: tx)
  }

  package func update(
    _ credential: ThreadCredential, to dataset: OperationalDataset, followsPreferred: Bool,
    _ tx: WriteTransaction
  ) throws {
    var attributes = Self.attributes(of: dataset)
    attributes[.preferredMember] = .bool(followsPreferred)
    _ = try keychain.update(
      credential.item, attributes: attributes, secret: SecretBytes(copying: dataset.bytes), in: tx)
  }

  package func update(
    _ credential: ThreadCredential, followsPreferred: Bool, _ tx: WriteTransaction
  ) throws {
    _ = try keychain.update(
      credential.item, attributes: [.preferredMember: .bool(followsPreferred)], secret: nil, in: tx)
  }

  /// Deletes the credential; the border agent id continues to belong to its team.
  package func delete(_ credential: ThreadCredential, _ tx: WriteTransaction) throws {
    try delete(credential.item, credential, of: credential.agent, in: credential.home, tx)
  }

  /// Deletes the credential of a border agent id without opening its dataset, which may be damaged.
  ///
  /// - Returns: whether there was one.
  package func delete(
    of agent: BorderAgentID, in home: String, _ tx: WriteTransaction
  ) throws -> Bool {
    guard let item = try item(of: agent, in: home, tx) else { return false }
    let found = try Self.readable { try credential(from: item, agent: agent, home: home, tx) }
    try delete(item, found, of: agent, in: home, tx)
    return true
  }

  private func delete(
    _ item: Item, _ credential: ThreadCredential?, of agent: BorderAgentID, in home: String,
    _ tx: WriteTransaction
  ) throws {
    let key = credential.flatMap { NetworkKeyFingerprint.make(of: $0.dataset) }
    try keychain.delete(item, in: tx)
    if let former = try formerOwnerItem(of: agent, in: home, tx) {
      // Since when it has none is the item's date.
      let changes = Self.formerOwnerAttributes(item.accessGroup, key: key)
      _ = try keychain.update(former, attributes: changes, in: tx)
    } else {
      try addFormerOwner(item.accessGroup, key: key, of: agent, in: home, tx)
    }
  }

  // MARK: - Items

  static func service(_ home: String) -> String { "thread-network/\(home)" }
  static func ownerService(_ home: String) -> String { "thread-owner/\(home)" }
  static func preferredService(_ home: String) -> String { "thread-preferred/\(home)" }

  static func attributes(of dataset: OperationalDataset) -> ItemAttributes {
    [
      .generic: .data(dataset.extendedPANID?.bytes ?? []),
      .label: .string(dataset.networkName ?? ""),
    ]
  }

  private func items(in home: String, _ tx: ReadTransaction) throws -> [Item] {
    try keychain.items(
      matching: ItemQuery(
        .genericPassword, [.service: .string(Self.service(home))], unreadable: .skip), in: tx)
  }

  func item(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> Item? {
    try keychain.items(matching: Self.query(agent, in: home), in: tx).first
  }

  static func query(_ agent: BorderAgentID, in home: String) -> ItemQuery {
    ItemQuery(
      .genericPassword,
      [.service: .string(service(home)), .account: .string(agent.description)], limit: 1)
  }

  func formerOwnerItem(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> Item? {
    try keychain.items(matching: Self.formerOwnerQuery(agent, in: home), in: tx).first
  }

  static func formerOwnerQuery(_ agent: BorderAgentID, in home: String) -> ItemQuery {
    ItemQuery(
      .genericPassword,
      [
        .service: .string(ownerService(home)), .account: .string(agent.description),
        .accessGroup: .string(internalGroup),
      ], limit: 1)
  }

  func credential(
    from item: Item, agent: BorderAgentID, home: String, _ tx: ReadTransaction
  ) throws -> ThreadCredential {
    try Self.credential(
      from: item, keychain.secret(of: item, in: tx), agent: agent, home: home)
  }

  private static func credential(
    from item: Item, _ secret: SecretBytes, agent: BorderAgentID, home: String
  ) throws -> ThreadCredential {
    ThreadCredential(
      home: home, agent: agent, team: item.accessGroup,
      dataset: try dataset(secret, of: "the credentials of \(agent)"),
      followsPreferred: item[.preferredMember]?.bool ?? false, item: item)
  }

  /// - Throws: `KeychainError` with `decode` where the secret is no dataset: the item is damaged like one
  ///   that does not open.
  static func dataset(_ secret: SecretBytes, of what: String) throws -> OperationalDataset {
    do throws(DatasetError) {
      return try OperationalDataset(bytes: secret.withUnsafeBytes { Array($0) })
    } catch {
      throw KeychainError(.decode, "\(what) are damaged: \(error.code.rawValue)")
    }
  }
}
