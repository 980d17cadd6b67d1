// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import KeychainCore
import SQLiteDatabase
import SodiumCrypto

/// How a record of the ledger lies in the keychain: a generic password whose account is the record's
/// id, and whose attribute `gena` holds the record as JSON. The secret is empty: attributes are sealed
/// too, and many of them are read at once.
struct ConsentItem<Record: Codable> {
  let service: String
  let keychain: Keychain

  init(_ service: ConsentLedger.Service, _ keychain: Keychain) {
    self.service = service.rawValue
    self.keychain = keychain
  }

  /// All that can be read, in the order in which they came. What was altered is left out, which is the
  /// safe side: no request, no grant. `store verify` names it.
  func all(_ tx: ReadTransaction) throws -> [(item: Item, record: Record)] {
    try items(account: nil, tx)
  }

  /// The last ones, newest first. No more are opened, unless some of them cannot be read.
  func newest(_ limit: Int, _ tx: ReadTransaction) throws -> [Record] {
    guard limit > 0 else { return [] }
    var query = query(account: nil)
    query.limit = limit
    query.isNewestFirst = true
    let items = try keychain.items(matching: query, in: tx)
    let records = items.compactMap { record(of: $0) }
    guard records.count < items.count else { return records }
    // A record of a later version is none of those that are wanted.
    return Array(try all(tx).map(\.record).reversed().prefix(limit))
  }

  /// Another text when one was added; opens none. See `Keychain.newestMark`.
  func mark(_ tx: ReadTransaction) throws -> String? {
    try keychain.newestMark(matching: query(account: nil), in: tx)
  }

  func find(_ id: ConsentID, _ tx: ReadTransaction) throws -> (item: Item, record: Record)? {
    try items(account: id, tx).first
  }

  func add(_ record: Record, as id: ConsentID, _ tx: WriteTransaction) throws {
    try keychain.add(
      NewItem(
        .genericPassword,
        attributes: [
          .service: .string(service), .account: .string(id.description),
          .accessGroup: .string(ConsentLedger.group), .generic: .data(try encode(record)),
        ], secret: SecretBytes(copying: []), accessible: .afterFirstUnlock), in: tx)
  }

  func replace(_ item: Item, by record: Record, _ tx: WriteTransaction) throws {
    try keychain.update(item, attributes: [.generic: .data(try encode(record))], in: tx)
  }

  private func items(
    account: ConsentID?, _ tx: ReadTransaction
  ) throws -> [(item: Item, record: Record)] {
    try keychain.items(matching: query(account: account), in: tx)
      .compactMap { item in record(of: item).map { (item, $0) } }
  }

  private func query(account: ConsentID?) -> ItemQuery {
    var attributes: ItemAttributes = [
      .service: .string(service), .accessGroup: .string(ConsentLedger.group),
    ]
    if let account { attributes[.account] = .string(account.description) }
    return ItemQuery(.genericPassword, attributes, unreadable: .skip)
  }

  private func record(of item: Item) -> Record? {
    item[.generic]?.data.flatMap { try? JSONDecoder().decode(Record.self, from: Data($0)) }
  }

  private func encode(_ record: Record) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(record))
  }
}
