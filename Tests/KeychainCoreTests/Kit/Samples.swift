import Foundation
import KeychainCore
import SQLiteDatabase
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
      attributes: [.account: .string(account), .service: .string(service), .accessGroup: .string(group)],
      secret: Sample.secret(secret), accessible: accessible)
  }

  /// Finds a password by what can be its whole primary key.
  static func query(_ account: String, service: String = "mail") -> ItemQuery {
    ItemQuery(.genericPassword, [.account: .string(account), .service: .string(service)])
  }

  static func credential(
    _ router: String, team: String = "team-a", home: String = "home",
    network: [UInt8] = [0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22], secret: String = "a dataset"
  ) -> NewItem {
    NewItem(
      .genericPassword,
      attributes: [
        .account: .string(router), .service: .string("thread-network/\(home)"), .accessGroup: .string(team),
        .generic: .data(network), .label: .string("MyHome"), .isInvisible: .bool(true),
      ], secret: Sample.secret(secret), accessible: .afterFirstUnlock)
  }

  static func internetPassword(_ account: String, server: String, port: Int64 = 443) -> NewItem {
    NewItem(
      .internetPassword,
      attributes: [
        .account: .string(account), .server: .string(server), .port: .integer(port), .protocolType: .string("htps"),
        .accessGroup: .string("own"),
      ], secret: Sample.secret("secret of \(account)"), accessible: .always)
  }
}

extension Keychain {
  /// Adds in a transaction of its own.
  @discardableResult func add(_ item: NewItem) throws -> Item { try database.write { try add(item, in: $0) } }

  /// Adds a password.
  @discardableResult func add(
    _ account: String, service: String = "mail", secret: String = "secret",
    accessible: Accessibility = .afterFirstUnlock
  ) throws -> Item { try add(Sample.password(account, service: service, secret: secret, accessible: accessible)) }

  @discardableResult func add(
    _ account: String, secret: String = "secret", accessible: Accessibility = .afterFirstUnlock, in tx: WriteTransaction
  ) throws -> Item { try add(Sample.password(account, secret: secret, accessible: accessible), in: tx) }

  func items(_ query: ItemQuery) throws -> [Item] { try database.read { try items(matching: query, in: $0) } }

  func first(_ query: ItemQuery) throws -> (item: Item, secret: SecretBytes)? { try first(matching: query) }

  func secret(of item: Item) throws -> SecretBytes { try database.read { try secret(of: item, in: $0) } }

  func text(of item: Item) throws -> String { try secret(of: item).text }

  func accounts() throws -> Set<String> { Set(try items(ItemQuery()).compactMap { $0[.account]?.string }) }

  @discardableResult func update(
    _ item: Item, attributes: ItemAttributes? = nil, removing: Set<ItemAttribute> = [], secret: SecretBytes? = nil,
    accessible: Accessibility? = nil
  ) throws -> Item {
    try database.write {
      try update(item, attributes: attributes, removing: removing, secret: secret, accessible: accessible, in: $0)
    }
  }

  func delete(_ item: Item) throws { try database.write { try delete(item, in: $0) } }
}

extension SecretBytes { var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } } }

extension TemporaryStore {
  @discardableResult func add(_ item: NewItem) throws -> Item { try keychain.add(item) }

  @discardableResult func add(
    _ account: String, service: String = "mail", secret: String = "secret",
    accessible: Accessibility = .afterFirstUnlock
  ) throws -> Item { try keychain.add(account, service: service, secret: secret, accessible: accessible) }

  func text(of item: Item) throws -> String { try keychain.text(of: item) }

  /// The file as somebody without the keys sees it.
  func raw() throws -> RawStore { try RawStore(location.databasePath) }

  /// Has somebody without the keys alter the file while the store is closed.
  func alter(_ sql: String, _ values: [RawStore.Value] = []) throws { try reopen { try raw().run(sql, values) } }

  /// Opens a store again by the directory that all of it lies in, as another process does.
  static func open(
    in path: String, access: Keychain.Access = .readWrite, _ change: (inout KeychainOptions) -> Void = { _ in }
  ) throws -> Keychain {
    var options = KeychainOptions()
    change(&options)
    return try Keychain.open(
      at: StoreLocation(directory: path + "/store"), with: .keyFile(path: path + "/store.key"), access: access,
      options: options)
  }
}

/// The permissions of a file.
func mode(_ path: String) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}
