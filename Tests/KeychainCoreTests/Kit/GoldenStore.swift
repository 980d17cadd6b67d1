// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// A store of format 1 as the first version wrote it, kept as SQL in `Golden/format-1.sql`. It is never
/// recreated: a version that cannot open it cannot open the stores that people have.
final class GoldenStore {
  /// The keys that open it. They were made for it, and open nothing else.
  static let keyFile = String(repeating: "5eed0fbe7c4b1a60", count: 4)
  static let deviceKey = String(repeating: "a1b2c3d4e5f60718", count: 4)
  static let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse battery staple"))

  /// When the items were added, and when `changed` was changed.
  static let added: Int64 = 1_700_000_000_000_000
  static let changedAt: Int64 = 1_700_000_000_123_456
  /// What the item was before it was changed.
  static let beforeTheChange = "the first secret"

  /// All of its items, in the order of their rows. Between the fourth and the fifth, one was deleted.
  static let items: [NewItem] = [
    item(.genericPassword, ["account": "anna", "service": "mail"], secret: "s3cret"),
    item(
      .genericPassword, ["account": "zoë 🔑", "service": "", "label": "no service"],
      secret: "", accessible: .always),
    credential,
    changed,
    item(
      .internetPassword, ["account": "berta", "server": "example.org", "protocol": "htps"],
      more: [.port: .integer(443)], secret: String(repeating: "x", count: 200)),
    item(
      .certificate, ["label": "a certificate"],
      more: [.issuer: .data([0x30, 1, 2]), .serialNumber: .data([0xFF, 0]), .subject: .data([])],
      secret: "not really DER"),
    item(
      .key, ["label": "a key"],
      more: [.applicationLabel: .data([7, 7, 7]), .keySize: .integer(256)], secret: "not a key"),
    item(
      .genericPassword, ["account": "unlocked", "service": "mail"], secret: "when unlocked",
      accessible: .whenUnlocked),
    item(
      .genericPassword, ["account": "device", "service": "mail"], secret: "this device",
      accessible: .afterFirstUnlockThisDeviceOnly),
    item(
      .genericPassword, ["account": "passcode", "service": "mail"], secret: "with a passcode",
      accessible: .whenPasscodeSetThisDeviceOnly),
    item(
      .genericPassword, ["account": "anna", "service": "mail"],
      more: [.synchronizable: .bool(true)], secret: "another anna"),
  ]

  private static let credential = item(
    .genericPassword,
    ["account": "a1b2c3d4e5f60718", "service": "thread-network/home", "label": "MyHome"],
    more: [.generic: .data([1, 2, 3, 4, 5, 6, 7, 8]), .preferredMember: .bool(true)],
    secret: "a dataset")

  /// Its third version: first the secret was changed, then the comment was added.
  static let changed = item(
    .genericPassword, ["account": "clara", "service": "mail", "comment": "changed twice"],
    more: [.modificationDate: .date(microseconds: changedAt)], secret: "the second secret")

  private static let names: [String: ItemAttribute] = [
    "account": .account, "service": .service, "label": .label, "server": .server,
    "protocol": .protocolType, "comment": .comment,
  ]

  private static func item(
    _ itemClass: ItemClass, _ texts: [String: String],
    more: ItemAttributes = [:], secret: String,
    accessible: Accessibility = .afterFirstUnlock
  ) -> NewItem {
    var attributes: ItemAttributes = [
      .accessGroup: .string("own"), .creationDate: .date(microseconds: added),
      .modificationDate: .date(microseconds: added),
    ]
    for (name, text) in texts { if let name = names[name] { attributes[name] = .string(text) } }
    attributes = attributes.merging(more) { $1 }
    return NewItem(
      itemClass, attributes: attributes, secret: Sample.secret(secret), accessible: accessible)
  }

  let home: TemporaryDirectory
  let location: StoreLocation
  var keySlot: KeySlotSecret { .keyFile(path: home.file("store.key")) }

  /// Builds the store of its SQL, with its key file and its device key beside it.
  init() throws {
    home = try TemporaryDirectory()
    location = StoreLocation(directory: home.file("store"))
    try Self.write(Self.keyFile, to: home.file("store.key"))
    try Self.write(Self.deviceKey, to: location.deviceKeyPath)
    try FileManager.default.createDirectory(
      atPath: location.directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    let resource = Bundle.module.url(
      forResource: "format-1", withExtension: "sql", subdirectory: "Golden")
    let sql = try String(contentsOf: try #require(resource), encoding: .utf8)
    #expect(FileManager.default.createFile(atPath: location.databasePath, contents: nil))
    let raw = try RawStore(location.databasePath)
    // Statement by statement: each ends with its line.
    for statement in sql.components(separatedBy: ";\n") where !statement.allSatisfy(\.isWhitespace)
    {
      try raw.run(statement)
    }
    raw.close()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: location.databasePath)
  }

  private static func write(_ text: String, to path: String) throws {
    #expect(
      FileManager.default.createFile(
        atPath: path, contents: Data((text + "\n").utf8), attributes: [.posixPermissions: 0o400]))
  }
}
