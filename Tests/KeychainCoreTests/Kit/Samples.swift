// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// Items for tests.
enum Sample {
  static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

  static func password(
    _ account: String, service: String = "mail", group: String = "own", secret: String = "secret",
    accessible: Accessibility = .afterFirstUnlock
  ) -> NewItem {
    NewItem(
      .genericPassword,
      attributes: [
        .account: .string(account), .service: .string(service), .accessGroup: .string(group),
      ],
      secret: Sample.secret(secret), accessible: accessible)
  }

  static func credential(
    _ router: String, team: String = "team-a", home: String = "home",
    network: [UInt8] = [0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22],
    secret: String = "a dataset"
  ) -> NewItem {
    NewItem(
      .genericPassword,
      attributes: [
        .account: .string(router), .service: .string("thread-network/\(home)"),
        .accessGroup: .string(team), .generic: .data(network), .label: .string("MyHome"),
        .isInvisible: .bool(true),
      ],
      secret: Sample.secret(secret), accessible: .afterFirstUnlock)
  }

  static func internetPassword(_ account: String, server: String, port: Int64 = 443) -> NewItem {
    NewItem(
      .internetPassword,
      attributes: [
        .account: .string(account), .server: .string(server), .port: .integer(port),
        .protocolType: .string("htps"), .accessGroup: .string("own"),
      ],
      secret: Sample.secret("secret of \(account)"), accessible: .always)
  }
}

extension Keychain {
  /// Adds in a transaction of its own.
  @discardableResult
  func add(_ item: NewItem) throws -> Item { try database.write { try add(item, in: $0) } }

  func items(_ query: ItemQuery) throws -> [Item] {
    try database.read { try items(matching: query, in: $0) }
  }

  func first(_ query: ItemQuery) throws -> (item: Item, secret: SecretBytes)? {
    try database.read { try first(matching: query, in: $0) }
  }

  func secret(of item: Item) throws -> SecretBytes {
    try database.read { try secret(of: item, in: $0) }
  }

  @discardableResult
  func update(
    _ item: Item, attributes: ItemAttributes? = nil,
    removing: Set<ItemAttribute> = [], secret: SecretBytes? = nil,
    accessible: Accessibility? = nil
  ) throws -> Item {
    try database.write {
      try update(
        item, attributes: attributes, removing: removing, secret: secret, accessible: accessible,
        in: $0)
    }
  }

  func delete(_ item: Item) throws { try database.write { try delete(item, in: $0) } }
}
