// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  /// Wrappers whose items are read and written in subscripts.
  @Suite struct SubscriptClientTests {
    @Test func subscriptsOptionsAndAttributes() throws {
      let store = try ProgramStore()
      let vault = SubscriptVault(.generic(service: "mail")).label("Mail")
      #expect(vault["anna"] == nil)
      vault["anna"] = "hunter2"
      #expect(vault["anna"] == "hunter2")
      vault["anna"] = "changed 👋"
      #expect(vault["anna"] == "changed 👋")
      let attributes = try #require(try vault.attributes(of: "anna"))
      #expect(attributes[String(kSecClass)] as? String == String(kSecClassGenericPassword))
      #expect(attributes[String(kSecAttrLabel)] as? String == "Mail")
      #expect(attributes[String(kSecAttrSynchronizable)] as? Bool == false)
      #expect(attributes[String(kSecValuePersistentRef)] as? Data != nil)
      #expect(attributes[String(kSecValueRef)] as? Data == nil)
      vault["anna"] = nil
      #expect(vault["anna"] == nil)
      #expect(try vault.attributes(of: "anna") == nil)
      withExtendedLifetime(store) {}
    }

    @Test func serversWithPortsAndProtocols() throws {
      let store = try ProgramStore()
      let url = try #require(URL(string: "https://example.com:443/login"))
      let vault = SubscriptVault(.internet(url, .https))
        .attributes([
          String(kSecAttrSecurityDomain): "domain", String(kSecAttrCreator): "Creator Test",
          String(kSecAttrType): "Type Test", String(kSecAttrIsInvisible): true,
        ])
      vault["anna"] = "hunter2"
      let other = SubscriptVault(.internet(url, .http))
      #expect(other["anna"] == nil)
      let attributes = try #require(try vault.attributes(of: "anna"))
      #expect(attributes[String(kSecAttrServer)] as? String == "example.com")
      #expect(attributes[String(kSecAttrPort)] as? Int == 443)
      #expect(attributes[String(kSecAttrPath)] as? String == "")
      #expect(attributes[String(kSecAttrCreator)] as? String == "Creator Test")
      #expect(attributes[String(kSecAttrIsInvisible)] as? Bool == true)
      let proto = attributes[String(kSecAttrProtocol)] as? String
      #expect(proto.flatMap(VaultProtocol.init(rawValue:)) == .https)
      try vault.removeAll()
      #expect(vault["anna"] == nil)
      withExtendedLifetime(store) {}
    }

    @Test func synchronizableItemsAndGroupsInSubscripts() throws {
      let store = try ProgramStore(groups: ["27AEDK3C9F.own", "27AEDK3C9F.shared"])
      let vault = SubscriptVault(.generic(service: "mail"))
      vault["local"] = "1"
      _ = vault.synchronizable(true)
      vault["away"] = "2"
      #expect(vault.allKeys().sorted() == ["away", "local"])
      let shared = SubscriptVault(.generic(service: "mail")).group("27AEDK3C9F.shared")
      #expect(shared.allKeys().isEmpty)
      shared["common"] = "3"
      #expect(vault.allKeys().count == 3)
      #expect(throws: VaultError(status: errSecMissingEntitlement)) {
        try SubscriptVault(.generic(service: "mail")).group("elsewhere").set(Data(), "a")
      }
      #expect(VaultError(status: errSecItemNotFound).localizedDescription.contains("no such item"))
      // The same key, synchronizable or not, is found and changed.
      vault["local"] = "changed"
      #expect(vault["local"] == "changed")
      withExtendedLifetime(store) {}
    }

    @Test func guardedItemsInSubscripts() throws {
      let store = try ProgramStore()
      let vault = SubscriptVault(.generic(service: "mail"))
        .accessibility(kSecAttrAccessibleAfterFirstUnlock, .userPresence)
      try vault.set(Data("1".utf8), "anna")
      #expect(throws: VaultError(status: errSecInteractionNotAllowed)) { try vault.get("anna") }
      #expect(throws: VaultError(status: errSecInteractionNotAllowed)) {
        try vault.set(Data("2".utf8), "anna")
      }
      #expect(throws: NSError.self) {
        try SubscriptVault(.generic(service: "x")).accessibility("zz", .userPresence)
          .set(Data(), "a")
      }
      store.use(groups: store.groups, confirmPresence: { _ in true })
      #expect(try vault.get("anna") == Data("1".utf8))
    }
  }
}
