// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("The broker's password as a keychain item")
struct BrokerLoginStoreTests {
  private let store: TemporaryStore
  private let address = BrokerAddress(host: "Broker.local", port: 1883, isEncrypted: false)
  private var keychain: Keychain { store.keychain }
  private var logins: BrokerLoginStore { BrokerLoginStore(keychain, address) }

  init() throws { store = try TemporaryStore() }

  private func login(_ user: String, _ password: String) -> BrokerLogin {
    BrokerLogin(username: user, password: SecretBytes(copying: password.utf8))
  }

  private func find(_ user: String? = nil) throws -> BrokerLogin? {
    try keychain.database.read { try logins.find(username: user, $0) }
  }

  @discardableResult
  private func save(_ login: BrokerLogin) throws -> BrokerLoginStore.Change {
    try keychain.database.write { try logins.save(login, $0) }
  }

  @Test("What is stored is found, with and without its user's name, and after reopening")
  func stored() throws {
    #expect(try find() == nil)
    #expect(try save(login("keeper", "Sesame-9c1d")) == .added)
    for user in [nil, "keeper"] {
      let found = try #require(try find(user))
      #expect(found.username == "keeper")
      #expect(found.password == SecretBytes(copying: "Sesame-9c1d".utf8))
    }
    #expect(try find("other") == nil)
    try store.reopen()
    #expect(try find()?.username == "keeper")
  }

  @Test("It is an internet password with the attributes that the documentation names")
  func attributes() throws {
    try save(login("keeper", "Sesame-9c1d"))
    let items = try keychain.database.read {
      try keychain.items(matching: ItemQuery(.internetPassword), in: $0)
    }
    let item = try #require(items.first)
    #expect(items.count == 1)
    #expect(item[.server] == .string("broker.local"))
    #expect(item[.port] == .integer(1883))
    #expect(item[.protocolType] == .string("mqtt"))
    #expect(item[.authenticationType] == .string("dflt"))
    #expect(item[.account] == .string("keeper"))
    #expect(item.accessGroup == "threadkeeper.internal")
    #expect(item.accessible == .afterFirstUnlock)
    #expect(item[.label] == .string("Broker.local:1883"))
  }

  @Test("Another host, port or a connection in plaintext finds nothing")
  func otherBrokers() throws {
    let encrypted = BrokerAddress(host: "broker.local", port: 1883, isEncrypted: true)
    let others = [
      encrypted, BrokerAddress(host: "broker.local", port: 1884, isEncrypted: false),
      BrokerAddress(host: "other.local", port: 1883, isEncrypted: false),
    ]
    try save(login("keeper", "Sesame-9c1d"))
    for other in others {
      #expect(
        try keychain.database.read { try BrokerLoginStore(keychain, other).find($0) } == nil)
    }
    try keychain.database.write {
      try BrokerLoginStore(keychain, encrypted).save(login("keeper", "two"), $0)
    }
    #expect(try find()?.password == SecretBytes(copying: "Sesame-9c1d".utf8))
  }

  @Test("A new password replaces the old one")
  func update() throws {
    try save(login("keeper", "old"))
    #expect(try save(login("keeper", "new")) == .updated)
    #expect(try find()?.password == SecretBytes(copying: "new".utf8))
    #expect(try keychain.database.read { try keychain.count(in: $0) } == 1)
  }

  @Test("A login of another user takes the place of the old one")
  func otherUser() throws {
    try save(login("keeper", "old"))
    #expect(try save(login("second", "new")) == .added)
    #expect(try find("keeper") == nil)
    #expect(try find()?.username == "second")
  }

  @Test("What is deleted is gone, and deleting nothing says so")
  func delete() throws {
    try save(login("keeper", "old"))
    #expect(try keychain.database.write { try logins.deleteAll($0) } == ["keeper"])
    #expect(try keychain.database.write { try logins.deleteAll($0) }.isEmpty)
    #expect(try find() == nil)
  }

  @Test("A broker's name tells how it is spoken to")
  func url() {
    #expect(address.url == "mqtt://broker.local:1883")
    #expect(BrokerAddress(host: "::1", port: 8883, isEncrypted: true).url == "mqtts://[::1]:8883")
  }

  @Test("No description shows the password")
  func descriptions() {
    let login = login("keeper", "Sesame-9c1d")
    var dumped = ""
    dump(login, to: &dumped)
    for text in ["\(login)", String(reflecting: login), dumped] {
      #expect(!text.contains("Sesame"))
    }
  }
}
