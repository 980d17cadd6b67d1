import Foundation
import Security
import Testing

extension OwnKeychain {
  /// Wrappers in the styles that programs use, compiled as they stand and at work.
  @Suite struct ClientTests {
    private let store = ProgramStore()

    @Test func aBoxWithPointersAndTheLastStatus() {
      let box = PasswordBox(prefix: "test_")
      #expect(box.set("hello :)", "one"))
      #expect(box.string("one") == "hello :)")
      for access in BoxAccess.allCases { #expect(box.set("again", "one", access: access)) }
      #expect(box.string("none") == nil)
      #expect(box.lastStatus == errSecItemNotFound)
      #expect(box.set(Data([0xFF, 0xFE]), "binary"))
      #expect(box.string("binary") == nil)
      #expect(box.lastStatus == errSecInvalidEncoding)
      #expect(box.set(true, "yes") && box.set(false, "no"))
      #expect(box.bool("yes") == true && box.bool("no") == false && box.bool("none") == nil)
      #expect(box.data("one", asReference: true) != box.data("one"))
      #expect(box.allKeys == ["test_one", "test_binary", "test_yes", "test_no"])
      #expect(box.delete("one"))
      #expect(!box.delete("one"))
      #expect(box.set("", "empty"))
      #expect(box.string("empty") == "")
      box.synchronizable = true
      #expect(box.set("away", "away"))
      #expect(box.string("away") == "away")
      #expect(box.clear())
      #expect(box.allKeys.isEmpty)
      #expect(!box.clear())
      box.group = "elsewhere"
      #expect(!box.set("x", "x"))
      #expect(box.lastStatus == errSecMissingEntitlement)
    }

    @Test func callsThatCanBeReplaced() throws {
      var client = InjectedStore(service: "mail")
      #expect(try !client.has("anna"))
      #expect(throws: StoreError(.notFound)) { try client.data("anna") }
      try client.set(Data("1".utf8), "anna")
      try client.set(Data("2".utf8), "anna")
      #expect(try client.data("anna") == Data("2".utf8))
      try client.set(Data(), "empty")
      #expect(try client.data("empty") == Data())
      #expect(try client.keys() == ["anna", "empty"])
      try client.remove("anna")
      #expect(throws: StoreError(.notFound)) { try client.remove("anna") }
      client.isSynchronizable = true
      try client.set(Data("3".utf8), "anna")
      #expect(try client.keys() == ["anna"])
      client.isSynchronizable = false
      #expect(try client.keys() == ["empty"])
      try client.removeAll()
      try client.removeAll()
      client.flags = .userPresence
      try client.set(Data("4".utf8), "guarded")
      #expect(throws: StoreError(.interactionNotAllowed)) { try client.data("guarded") }
      client.copy = { _, result in
        result?.pointee = "not data" as AnyObject
        return errSecSuccess
      }
      #expect(throws: StoreError(.decode)) { try client.data("guarded") }
    }

    @Test func queriesOfHashableValuesAndMigration() throws {
      store.use(groups: ["9XUJ7M53NG.app", "9XUJ7M53NG.shared"])
      #expect(HashableQueries.groupPrefix == "9XUJ7M53NG")
      #expect(HashableQueries.groupPrefix == "9XUJ7M53NG")
      let old = HashableQueries.base("old")
      let new = HashableQueries.base("new", kSecAttrAccessibleAfterFirstUnlock, group: "9XUJ7M53NG.shared")
      let pairs = ["yo": "dawg", "we": "heard", "emoji": "👩‍👩‍👧"]
      for (key, value) in pairs { try HashableQueries.set(value, key, old) }
      #expect(try HashableQueries.allKeys(old) == Set(pairs.keys))
      #expect(try HashableQueries.allKeys(new).isEmpty)
      // Another accessibility is another set of items.
      #expect(try HashableQueries.allKeys(HashableQueries.base("old", kSecAttrAccessibleAlways)).isEmpty)
      try HashableQueries.migrate(old, to: new, removing: true)
      #expect(try HashableQueries.allKeys(old).isEmpty)
      for (key, value) in pairs { #expect(try HashableQueries.get(key, new) == value) }
      #expect(throws: HashableQueries.Failure.notFound) { try HashableQueries.migrate(old, to: new, removing: false) }
      try HashableQueries.set("again", "yo", old)
      #expect(throws: HashableQueries.Failure.conflict) { try HashableQueries.migrate(old, to: new, removing: true) }
      #expect(try HashableQueries.get("yo", old) == "again")
      // An access control in a hashable query.
      let guarded = HashableQueries.base("guarded", flags: .userPresence)
      try HashableQueries.set("hidden", "a", guarded)
      #expect(try HashableQueries.allKeys(guarded) == ["a"])
      #expect(throws: HashableQueries.Failure.status(errSecInteractionNotAllowed)) {
        try HashableQueries.get("a", guarded)
      }
    }

    @Test func protocolsAndFoundationsClasses() throws {
      struct Login: ServiceStorable {
        let account: String
        let service: String
        var itemClass: CFString { kSecClassGenericPassword }
      }
      struct Site: ServerStorable {
        let account: String
        let server: String
        let port: Int
        var itemClass: CFString { kSecClassInternetPassword }
      }
      let login = Login(account: "anna", service: "mail")
      #expect(login.read() == nil)
      #expect(login.update(NSData(data: Data([1]))) == errSecItemNotFound)
      let creator: UInt = 5
      #expect(login.create(NSData(data: Data([1])), comment: "a comment", creator: creator) == errSecSuccess)
      #expect(login.update(NSData(data: Data([2]))) == errSecSuccess)
      let item = try #require(login.read())
      #expect(item[String(kSecValueData)] as? NSData == NSData(data: Data([2])))
      #expect(item[String(kSecAttrComment)] as? String == "a comment")
      #expect(item[String(kSecAttrCreator)] as? UInt == creator)
      #expect(item[String(kSecAttrGeneric)] as? NSData == nil)
      let site = Site(account: "anna", server: "mail.example", port: 8080)
      #expect(site.create(NSData(data: Data([3]))) == errSecSuccess)
      #expect(site.read()?[String(kSecAttrPort)] as? Int == 8080)
      #expect(login.remove() == errSecSuccess && site.remove() == errSecSuccess)
      #expect(site.read() == nil)
    }

    @Test func accountsAsDataAndAnotherAccessibility() {
      let client = DataAccounts(service: "mail")
      #expect(client.set(Data("1".utf8), "anna"))
      #expect(client.set(Data("2".utf8), "anna"))
      #expect(client.data("anna") == Data("2".utf8))
      #expect(client.allKeys() == ["anna"])
      for accessible in [kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways] {
        #expect(client.migrate("anna", to: accessible) == errSecSuccess)
        #expect(client.accessibility(of: "anna") == accessible)
        #expect(client.data("anna") == Data("2".utf8))
        // There is one, but not of the accessibility that the update looks for.
        #expect(!client.set(Data("3".utf8), "anna", kSecAttrAccessibleWhenUnlocked))
        #expect(client.set(Data("2".utf8), "anna", accessible))
      }
      #expect(client.set(Data("👋".utf8), "👋"))
      #expect(client.allKeys() == ["anna", "👋"])
      DataAccounts.wipe()
      #expect(client.allKeys().isEmpty)
    }
  }
}
