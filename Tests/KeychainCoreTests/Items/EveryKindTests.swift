// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite struct EveryKindTests {
  private let store: TemporaryStore

  init() throws { store = try EveryKind.store() }

  private func open(_ secret: KeySlotSecret, access: Keychain.Access = .readWrite) throws
    -> Keychain
  {
    try Keychain.open(at: store.location, with: secret, access: access)
  }

  @Test(arguments: [Keychain.Access.readWrite, .readOnly, .shared])
  func thePassphraseOpensEveryItem(_ access: Keychain.Access) throws {
    let keychain = try open(EveryKind.passphrase, access: access)
    #expect(keychain.condition == .healthy)
    let found = try keychain.items(ItemQuery(synchronizable: .any))
    #expect(found.count == EveryKind.items.count)
    for (item, expected) in zip(found, EveryKind.items) {
      #expect(item.itemClass == expected.itemClass)
      #expect(item.accessible == expected.accessible)
      #expect(item.attributes == expected.attributes)
      #expect(try keychain.secret(of: item) == expected.secret)
    }
  }

  @Test func theKeyFileOpensWhatIsNotBoundToThePassphrase() throws {
    let keychain = try open(store.keyFile)
    #expect(keychain.condition == .healthy)
    var locked = 0
    for item in try keychain.items(ItemQuery(synchronizable: .any)) {
      if [.whenUnlocked, .whenPasscodeSetThisDeviceOnly].contains(item.accessible) {
        refuses(.interactionNotAllowed) { _ = try keychain.secret(of: item) }
        locked += 1
      } else {
        _ = try keychain.secret(of: item)
      }
    }
    #expect(locked == 2)
  }

  @Test func itsIndexesFindEveryItem() throws {
    let keychain = try open(store.keyFile)
    for expected in EveryKind.items {
      let isSynchronizable = expected.attributes[.synchronizable]?.bool ?? false
      var key = expected.attributes.filter { expected.itemClass.primaryKey.contains($0.key) }
      key[.synchronizable] = nil
      for attribute in expected.itemClass.primaryKey
      where key[attribute] == nil && attribute != .synchronizable {
        key[attribute] = .string("")
      }
      // The whole primary key, and each attribute alone.
      for attributes in [key] + key.map({ [$0.key: $0.value] }) {
        let query = ItemQuery(
          expected.itemClass, attributes, synchronizable: isSynchronizable ? .yes : .no)
        let found = try keychain.items(query)
        #expect(found.contains { $0.attributes == expected.attributes }, "\(attributes)")
        if attributes.count == key.count { #expect(found.count == 1) }
      }
    }
  }

  /// Its slots and classes are of every kind, so all of them are tried here.
  @Test(arguments: ["items", "keys", "key_slots"])
  func everyColumnOfEveryRowIsCounted(_ table: String) throws {
    let raw = try RawStore(store.location.databasePath)
    var tried = 0
    for column in try raw.columns(table) {
      for row in try raw.run("SELECT id, \(column) FROM \(table)") {
        let altered: RawStore.Value =
          switch row[1] {
          case .null: .blob([UInt8](repeating: 7, count: 16))
          case .integer(let number): .integer(number ^ 64)
          case .text(let bytes): .text(bytes + [63])
          case .blob(let bytes): .blob(bytes.dropLast() + [(bytes.last ?? 0) ^ 1])
          }
        let number = column == "id" ? altered : row[0]
        let update = "UPDATE \(table) SET \(column) = ? WHERE id = ?"
        try raw.run(update, [altered, row[0]])
        if let keychain = try? open(store.keyFile, access: .readOnly) {
          #expect(keychain.condition != .healthy, "\(table).\(column) of \(row[0])")
          keychain.close()
        }
        try raw.run(update, [row[1], number])
        tried += 1
      }
    }
    #expect(tried > 13)
    #expect(try open(store.keyFile, access: .readOnly).condition == .healthy)
  }
}

/// Items of every class and accessibility that a store treats differently, with attributes of every form.
private enum EveryKind {
  static let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse battery staple"))

  private static let added: Int64 = 1_700_000_000_000_000
  private static let changedAt: Int64 = 1_700_000_000_123_456
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

  private static let changed = item(
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

  /// A store of them that a key file and a passphrase open.
  static func store() throws -> TemporaryStore {
    let store = try TemporaryStore(slots: [passphrase])
    for item in items { try store.keychain.add(item) }
    store.keychain.close()
    return store
  }
}
