import DaemonTestKit
import KeychainCore
import LocalAPI
import SodiumCrypto
import TestKit
import Testing

@testable import Threadkeeper

@Suite("The broker's password as a keychain item") struct BrokerLoginStoreTests {
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

  @discardableResult private func save(_ login: BrokerLogin) throws -> BrokerLoginStore.Change {
    try keychain.database.write { try logins.save(login, $0) }
  }

  @Test("What is stored is found, with and without its user's name, and after reopening") func stored() throws {
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

  @Test("It is an internet password with the attributes that the documentation names") func attributes() throws {
    try save(login("keeper", "Sesame-9c1d"))
    let items = try keychain.database.read { try keychain.items(matching: ItemQuery(.internetPassword), in: $0) }
    let item = try #require(items.first)
    #expect(items.count == 1 && item[.port] == .integer(1883))
    for (attribute, value) in [
      (ItemAttribute.server, "broker.local"), (.protocolType, "mqtt"), (.authenticationType, "dflt"),
      (.account, "keeper"), (.label, "Broker.local:1883"),
    ] { #expect(item[attribute] == .string(value)) }
    #expect(item.accessGroup == "threadkeeper.internal" && item.accessible == .afterFirstUnlock)
  }

  @Test("Another host, port or a connection in plaintext finds nothing") func otherBrokers() throws {
    let encrypted = BrokerAddress(host: "broker.local", port: 1883, isEncrypted: true)
    let others = [
      encrypted, BrokerAddress(host: "broker.local", port: 1884, isEncrypted: false),
      BrokerAddress(host: "other.local", port: 1883, isEncrypted: false),
    ]
    try save(login("keeper", "Sesame-9c1d"))
    for other in others {
      #expect(try keychain.database.read { try BrokerLoginStore(keychain, other).find($0) } == nil)
    }
    try keychain.database.write { try BrokerLoginStore(keychain, encrypted).save(login("keeper", "two"), $0) }
    #expect(try find()?.password == SecretBytes(copying: "Sesame-9c1d".utf8))
  }

  @Test("A new password replaces the old one, and a login of another user that of the old one") func replaced() throws {
    try save(login("keeper", "old"))
    #expect(try save(login("keeper", "new")) == .updated)
    #expect(try find()?.password == SecretBytes(copying: "new".utf8))
    let rows = try keychain.database.read { try keychain.items(matching: ItemQuery(), in: $0) }
    #expect(rows.count == 1)
    #expect(try save(login("second", "new")) == .added)
    #expect(try find("keeper") == nil && find()?.username == "second")
  }

  @Test("What is deleted is gone, and deleting nothing says so") func delete() throws {
    try save(login("keeper", "old"))
    for deleted in [["keeper"], []] { #expect(try keychain.database.write { try logins.deleteAll($0) } == deleted) }
    #expect(try find() == nil)
  }

  @Test("A broker's name tells how it is spoken to") func url() {
    #expect(address.url == "mqtt://broker.local:1883")
    #expect(BrokerAddress(host: "::1", port: 8883, isEncrypted: true).url == "mqtts://[::1]:8883")
  }

  @Test("No description shows the password") func descriptions() {
    let login = login("keeper", "Sesame-9c1d")
    var dumped = ""
    dump(login, to: &dumped)
    for text in ["\(login)", String(reflecting: login), dumped] { #expect(!text.contains("Sesame")) }
  }
}

@Suite("What a login is made of") struct LoginValuesTests {
  @Test("Passwords that MQTT cannot carry are refused, and not repeated") func refused() throws {
    #expect(try Password.checked([UInt8](repeating: 97, count: 65_535)[...]).count == 65_535)
    for bytes in [[], [97, 0, 98], [0xFF, 97, 98], [UInt8](repeating: 97, count: 65_536)] {
      let failure = #expect(throws: CommandFailure.self) { try Password.checked(bytes[...]) }
      #expect(failure?.status == .badInput)
      #expect(failure?.message.contains("aaa") == false)
    }
  }

  @Test("User names are what `mqtt.username` may be", arguments: ["", "a\u{0}b", "a\nb", "\u{85}", "a/b", "a+b", "#a"])
  func names(name: String) throws {
    #expect(throws: CommandFailure.self) { try Username.checked(name) }
    #expect(throws: CommandFailure.self) { try Username.checked(String(repeating: "n", count: 257)) }
    #expect(try Username.checked("über keeper") == "über keeper")
  }

  @Test("A request shows no password but in its message") func request() throws {
    let request = StoreLogin(broker: "broker.local:1883", username: "keeper", password: "Sesame-9c1d")
    var dumped = ""
    dump(request, to: &dumped)
    #expect(!"\(request)\(dumped)\(String(reflecting: request))".contains("Sesame"))
    let call = try VarlinkCall.encode("io.threadkeeper.Admin.Perform", OperationCall(request))
    #expect(String(decoding: call, as: UTF8.self).contains("Sesame-9c1d"))
  }
}

@Suite("What a new key slot may be made of") struct NewSecretTests {
  @Test(
    "A short passphrase, a relative path and an open kind are refused, and nothing is added",
    arguments: [
      StoreSecret(kind: .passphrase, value: "seven c"), StoreSecret(kind: .keyFile, value: "store-2.key"),
      StoreSecret(kind: .passphraseOrCode, value: "long enough"),
    ]) func refused(secret: StoreSecret) throws
  {
    var options = KeychainOptions()
    options.passwordHash = .floor
    let store = try TemporaryStore(options: options)
    let opened = OpenedStore(keychain: store.keychain, settings: MovedStore.settings(store))
    let failure = #expect(throws: CommandFailure.self) { try AddKeySlot(secret: secret).perform(opened) }
    #expect(failure.map(VarlinkError.init(failing:))?.code == "invalid_payload")
    #expect(try store.keychain.slots().count == 1)
  }

  @Test("A passphrase of eight characters and an absolute path are taken") func taken() throws {
    try StoreSecret(kind: .passphrase, value: "eight ch").checkAsNew()
    try StoreSecret(kind: .keyFile, value: "/media/stick/store.key").checkAsNew()
  }
}
