// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct AccessGroupTests {
    @Test func twoProgramsShareAGroupAndKeepTheRest() throws {
      let store = try ProgramStore(groups: ["one", "shared"])
      #expect(add(password("private", secret("1"))) == errSecSuccess)
      #expect(
        add(password("common", secret("2").merging([kSecAttrAccessGroup: "shared"]) { $1 }))
          == errSecSuccess)
      store.use(groups: ["two", "shared"])
      #expect(copy(password("private")).status == errSecItemNotFound)
      #expect(copy(password("common", [kSecReturnData: true])).data == Data("2".utf8))
      // The same primary key but for the group.
      #expect(add(password("private", secret("3"))) == errSecSuccess)
      store.use(groups: ["one", "two", "shared"])
      #expect(count() == 3)
    }

    @Test func aProgramWithoutAGroupHasNothing() throws {
      let store = try ProgramStore(groups: ["one"])
      #expect(add(password("a")) == errSecSuccess)
      var settings = LinuxKeychain.settings
      settings.accessGroups = []
      LinuxKeychain.bootstrap(settings)
      #expect(add(password("b")) == errSecMissingEntitlement)
      #expect(copy(password("a")).status == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func theInternalGroupCannotBeHad() throws {
      let store = try ProgramStore(groups: ["threadkeeper.internal", "one"])
      #expect(
        add(password("a", [kSecAttrAccessGroup: "threadkeeper.internal"]))
          == errSecMissingEntitlement)
      let item = addAndCopy(password("a", [kSecReturnAttributes: true])).dictionary
      #expect(item?[kSecAttrAccessGroup] as? String == "one")
      withExtendedLifetime(store) {}
    }
  }
}
