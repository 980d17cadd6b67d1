// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// A store with items of every form, for tests of the rotation.
struct RotatedStore {
  let store: TemporaryStore
  var keychain: Keychain { store.keychain }

  static var options: KeychainOptions {
    var options = KeychainOptions()
    options.passwordHash = .floor
    return options
  }

  init(items: Int = 18, options: KeychainOptions = Self.options) throws {
    store = try TemporaryStore(options: options)
    try store.keychain.database.write { tx in
      for number in 0..<items { _ = try store.keychain.add(Self.item(number), in: tx) }
    }
  }

  @discardableResult
  func rotate() throws -> RotationReport { try keychain.rotateKeys([store.keyFile]) }

  static func name(_ number: Int) -> String { "user \(number)" }

  static func item(_ number: Int, secret: String? = nil) -> NewItem {
    let secret = secret ?? "secret \(number)"
    switch number % 6 {
    case 0: return Sample.credential("router \(number)", secret: secret)
    case 1:
      return NewItem(
        .internetPassword,
        attributes: [
          .account: .string(name(number)), .server: .string("example.org"),
          .accessGroup: .string("own"),
        ], secret: Sample.secret(secret), accessible: .always)
    case 2:
      return Sample.password(name(number), secret: secret, accessible: .whenUnlocked)
    default: return Sample.password(name(number), service: "mail", secret: secret)
    }
  }

  /// Every secret, with the account that it belongs to.
  static func contents(_ keychain: Keychain, in tx: ReadTransaction) throws -> [String: String] {
    var found: [String: String] = [:]
    for item in try keychain.items(matching: ItemQuery(), in: tx) {
      let account = item[.account]?.string ?? ""
      try #require(found[account] == nil, "\(account) is there twice")
      found[account] = try keychain.secret(of: item, in: tx).withUnsafeBytes {
        String(decoding: $0, as: UTF8.self)
      }
    }
    return found
  }

  func contents() throws -> [String: String] {
    try keychain.database.read { try Self.contents(keychain, in: $0) }
  }

  static func expected(_ numbers: some Sequence<Int>) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: numbers.map { number in
        (number % 6 == 0 ? "router \(number)" : name(number), "secret \(number)")
      })
  }

  /// Finds an item by its whole primary key and by a side index.
  static func expectFound(_ number: Int, _ keychain: Keychain, in tx: ReadTransaction) throws {
    let attributes = item(number).attributes
    let itemClass = item(number).itemClass
    var queries = [ItemQuery(itemClass, attributes)]
    if number % 6 != 0 {
      queries.append(ItemQuery(itemClass, [.account: .string(name(number))]))
    }
    for query in queries {
      let found = try keychain.items(matching: query, in: tx)
      #expect(found.count == 1, "item \(number)")
      guard let first = found.first else { continue }
      #expect(try keychain.secret(of: first, in: tx) == Sample.secret("secret \(number)"))
    }
  }

  /// The ids of the key records, as `purpose.epoch`.
  func keyRecords() throws -> [String] {
    try keychain.database.read { tx in
      try tx.all("SELECT id FROM keys ORDER BY id") {
        let id = KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0)))
        return "\(id.purpose.rawValue).\(id.epoch)"
      }
    }
  }

  /// The epochs of the newest keys, roots aside: all are one.
  func newestEpochs() throws -> Set<UInt32> {
    try keychain.database.read { tx in
      Set(
        try
          ([.metadata, .blindIndex, .manifest, .audit, .records]
          + Accessibility.allCases.map(\.keyPurpose))
          .compactMap { try KeyTable.newest($0, in: tx)?.epoch })
    }
  }

  /// The epoch of the session key that lies beside the others.
  func session() throws -> UInt32? {
    try keychain.database.read { try KeyTable.newest(.session, in: $0)?.epoch }
  }
}
