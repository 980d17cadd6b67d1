// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import ThreadDataset

/// Networks that were preferred, as keychain items: service `thread-preferred-history/<home>`, account the
/// id, group internal, secret the dataset.
extension ThreadCredentialStore {
  /// The newest first.
  package func formerNetworks(
    of home: String, _ tx: ReadTransaction
  ) throws -> [FormerNetwork] {
    try formerItems(of: home, tx).map { item in
      FormerNetwork(
        id: item[.account]?.string ?? "",
        network: item[.generic]?.data.flatMap(ExtendedPANID.init(bytes:)),
        networkName: item[.label]?.string ?? "", dataset: try dataset(of: item, tx),
        until: item.created)
    }
  }

  /// Whether a person has decided that no network is preferred.
  package func isPreferredForgotten(in home: String, _ tx: ReadTransaction) throws -> Bool {
    try forgottenItem(of: home, tx) != nil
  }

  /// Makes a dataset the preferred network.
  ///
  /// - Returns: the id under which the former one is kept; nil where no essential parameter differs.
  @discardableResult
  package func replacePreferredNetwork(
    of home: String, to dataset: OperationalDataset, _ tx: WriteTransaction
  ) throws -> String? {
    let former = try readablePreferred(of: home, tx)
    if let item = try forgottenItem(of: home, tx) { try keychain.delete(item, in: tx) }
    try setPreferredNetwork(of: home, to: dataset, tx)
    if former?.isSameNetwork(as: dataset) != true {
      try recheckMembers(of: dataset, in: home, tx)
    }
    guard let former, !former.essentialDifferences(from: dataset).isEmpty else { return nil }
    try dropFormer(sameAs: dataset, in: home, tx)
    guard !former.isCovered(by: dataset) else { return nil }
    return try keep(former, in: home, tx)
  }

  /// Leaves the home without a preferred network, until a person chooses one.
  ///
  /// - Returns: the id under which the former network is kept.
  package func forgetPreferredNetwork(of home: String, _ tx: WriteTransaction) throws -> String? {
    let former = try readablePreferred(of: home, tx)
    try deletePreferredNetwork(of: home, tx)
    if try forgottenItem(of: home, tx) == nil {
      _ = try keychain.add(
        NewItem(
          .genericPassword,
          attributes: [
            .service: .string(Self.forgottenService(home)), .account: .string(""),
            .accessGroup: .string(Self.internalGroup),
          ], secret: SecretBytes(copying: []), accessible: .afterFirstUnlock), in: tx)
    }
    return try former.map { try keep($0, in: home, tx) }
  }

  /// Keeps a network that was preferred, under a new id, and lets the oldest go.
  private func keep(
    _ former: OperationalDataset, in home: String, _ tx: WriteTransaction
  ) throws -> String {
    try dropFormer(sameAs: former, in: home, tx)
    let id = "p-\(Hexadecimal.encode(RandomBytes.make(4)))"
    var attributes = Self.attributes(of: former)
    attributes[.service] = .string(Self.historyService(home))
    attributes[.account] = .string(id)
    attributes[.accessGroup] = .string(Self.internalGroup)
    _ = try keychain.add(
      NewItem(
        .genericPassword, attributes: attributes, secret: SecretBytes(copying: former.bytes),
        accessible: .afterFirstUnlock), in: tx)
    try trimHistory(of: home, tx)
    return id
  }

  /// The oldest goes first; before it one with the same keys as another: whoever changes other parameters again and
  /// again must push out neither the keys of earlier networks nor what they began with. So of those with the same keys
  /// the oldest stays, and where there are more than two the newest, too.
  private func trimHistory(of home: String, _ tx: WriteTransaction) throws {
    var items = try formerItems(of: home, tx)
    guard items.count > FormerNetwork.limit else { return }
    var datasets = try items.map { try dataset(of: $0, tx) }
    func isRepeated(_ index: Int, in others: Range<Int>) -> Bool {
      guard let dataset = datasets[index] else { return false }
      return datasets[others].contains { $0?.isSameNetwork(as: dataset) == true }
    }
    func hasOlder(_ index: Int) -> Bool { isRepeated(index, in: (index + 1)..<datasets.count) }
    while items.count > FormerNetwork.limit {
      // The first was kept just now, and an alert names it.
      let earlier = 1..<items.count
      let middle = earlier.last { isRepeated($0, in: 0..<$0) && hasOlder($0) }
      let index = middle ?? earlier.last { hasOlder($0) } ?? items.count - 1
      try keychain.delete(items.remove(at: index), in: tx)
      datasets.remove(at: index)
    }
  }

  /// Deletes networks that were preferred.
  ///
  /// - Returns: what is deleted.
  package func deleteFormerNetworks(
    of home: String, where isMeant: (FormerNetwork) -> Bool, _ tx: WriteTransaction
  ) throws -> [FormerNetwork] {
    let meant = try formerNetworks(of: home, tx).filter(isMeant)
    let ids = Set(meant.map(\.id))
    for item in try formerItems(of: home, tx) where ids.contains(item[.account]?.string ?? "") {
      try keychain.delete(item, in: tx)
    }
    return meant
  }

  // MARK: - Items

  static func historyService(_ home: String) -> String { "thread-preferred-history/\(home)" }
  static func forgottenService(_ home: String) -> String { "thread-preferred-forgotten/\(home)" }

  /// The history has each once, whatever its timestamp.
  private func dropFormer(
    sameAs dataset: OperationalDataset, in home: String, _ tx: WriteTransaction
  ) throws {
    for item in try formerItems(of: home, tx)
    where try self.dataset(of: item, tx)?.isCovered(by: dataset) == true {
      try keychain.delete(item, in: tx)
    }
  }

  /// A damaged one can be replaced, and not kept.
  private func readablePreferred(
    of home: String, _ tx: ReadTransaction
  ) throws -> OperationalDataset? {
    do {
      return try preferredNetwork(of: home, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      return nil
    }
  }

  private func dataset(of item: Item, _ tx: ReadTransaction) throws -> OperationalDataset? {
    let bytes: [UInt8]
    do {
      bytes = try keychain.secret(of: item, in: tx).withUnsafeBytes { Array($0) }
    } catch {
      guard error.isItemDamaged else { throw error }
      return nil
    }
    return try? OperationalDataset(bytes: bytes)
  }

  private func formerItems(of home: String, _ tx: ReadTransaction) throws -> [Item] {
    try keychain.items(
      matching: ItemQuery(
        .genericPassword,
        [
          .service: .string(Self.historyService(home)), .accessGroup: .string(Self.internalGroup),
        ], unreadable: .skip), in: tx
    ).reversed()
  }

  private func forgottenItem(of home: String, _ tx: ReadTransaction) throws -> Item? {
    try keychain.items(
      matching: ItemQuery(
        .genericPassword,
        [
          .service: .string(Self.forgottenService(home)), .account: .string(""),
          .accessGroup: .string(Self.internalGroup),
        ], limit: 1), in: tx
    ).first
  }
}
