// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import ThreadDataset

/// Adoptions, as keychain items: service `thread-adoption/<home>`, account the border agent id, group
/// internal. What is not secret is JSON in the sealed attribute `gena`; the secret is the number of
/// bytes of the reported dataset, that dataset, and the preferred one.
extension ThreadCredentialStore {
  private struct Outside: Codable {
    var user: String
    var key: String
    var phase: Adoption.Phase
    var consent: String
    var id: String
    var deadline: Int64
  }

  /// - Throws: `KeychainError` with `decode` when it is damaged.
  package func adoption(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> Adoption? {
    guard let item = try adoptionItem(of: agent, in: home, tx) else { return nil }
    guard let bytes = item[.generic]?.data,
      let outside = try? JSONDecoder().decode(Outside.self, from: Data(bytes)),
      let datasets = try keychain.secret(of: item, in: tx).withUnsafeBytes(Self.datasets)
    else { throw KeychainError(.decode, "the adoption of \(agent) cannot be read") }
    return Adoption(
      home: home, agent: agent, user: outside.user, key: outside.key, phase: outside.phase,
      consent: outside.consent,
      id: outside.id, deadline: outside.deadline,
      preferred: datasets.preferred, reported: datasets.reported)
  }

  /// One for each router: it takes the place of an earlier one.
  package func save(_ adoption: Adoption, _ tx: WriteTransaction) throws {
    let outside = Outside(
      user: adoption.user, key: adoption.key, phase: adoption.phase, consent: adoption.consent,
      id: adoption.id,
      deadline: adoption.deadline)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var attributes: ItemAttributes = [
      .generic: .data(Array(try encoder.encode(outside)))
    ]
    var bytes: [UInt8] = []
    defer { wipe(&bytes) }
    bytes.reserveCapacity(1 + 2 * OperationalDataset.maximumLength)
    bytes.append(UInt8(adoption.reported.bytes.count))
    bytes.append(contentsOf: adoption.reported.bytes)
    bytes.append(contentsOf: adoption.preferred.bytes)
    let secret = SecretBytes(copying: bytes)
    if let item = try soundItem(of: adoption.agent, in: adoption.home, tx) {
      _ = try keychain.update(item, attributes: attributes, secret: secret, in: tx)
    } else {
      attributes[.service] = .string(Self.adoptionService(adoption.home))
      attributes[.account] = .string(adoption.agent.description)
      attributes[.accessGroup] = .string(Self.internalGroup)
      _ = try keychain.add(
        NewItem(
          .genericPassword, attributes: attributes, secret: secret, accessible: .afterFirstUnlock),
        in: tx)
    }
  }

  /// Also of a damaged one. Without one nothing is done.
  package func deleteAdoption(
    of agent: BorderAgentID, in home: String, _ tx: WriteTransaction
  ) throws {
    guard let item = try soundItem(of: agent, in: home, tx) else { return }
    try keychain.delete(item, in: tx)
  }

  /// The item of an adoption. One that cannot be opened is deleted: it must not keep the next
  /// one from its place.
  private func soundItem(
    of agent: BorderAgentID, in home: String, _ tx: WriteTransaction
  ) throws -> Item? {
    do {
      return try adoptionItem(of: agent, in: home, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      try keychain.deleteDamaged(matching: Self.adoptionQuery(agent, in: home), in: tx)
      return nil
    }
  }

  static func adoptionService(_ home: String) -> String { "thread-adoption/\(home)" }

  private static func datasets(
    _ bytes: UnsafeRawBufferPointer
  ) -> (reported: OperationalDataset, preferred: OperationalDataset)? {
    guard let length = bytes.first.map(Int.init), length > 0, bytes.count > length,
      let reported = try? OperationalDataset(bytes: Array(bytes[1...length])),
      let preferred = try? OperationalDataset(bytes: Array(bytes[(length + 1)...]))
    else { return nil }
    return (reported, preferred)
  }

  private func adoptionItem(
    of agent: BorderAgentID, in home: String, _ tx: ReadTransaction
  ) throws -> Item? {
    try keychain.items(matching: Self.adoptionQuery(agent, in: home), in: tx).first
  }

  private static func adoptionQuery(_ agent: BorderAgentID, in home: String) -> ItemQuery {
    ItemQuery(
      .genericPassword,
      [
        .service: .string(adoptionService(home)), .account: .string(agent.description),
        .accessGroup: .string(internalGroup),
      ], limit: 1)
  }
}
