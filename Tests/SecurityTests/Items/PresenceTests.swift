// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Security
import Synchronization
import Testing

extension OwnKeychain {
  @Suite struct PresenceTests {
    private func control(
      _ flags: SecAccessControlCreateFlags = .userPresence
    ) throws -> SecAccessControl {
      var error: Unmanaged<CFError>?
      let control = SecAccessControlCreateWithFlags(
        kCFAllocatorDefault, kSecAttrAccessibleAfterFirstUnlock, flags, &error)
      #expect(error == nil)
      return try #require(control)
    }

    private func addGuarded(_ account: String = "guarded") throws {
      #expect(
        add(
          password(account, secret("hidden").merging([kSecAttrAccessControl: try control()]) { $1 })
        )
          == errSecSuccess)
    }

    private static var fail: [String: Any] {
      [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]
    }
    private static var skip: [String: Any] {
      [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]
    }

    @Test func whereNobodyCanBeAskedTheSecretStaysIn() throws {
      let store = try ProgramStore()
      try addGuarded()
      #expect(
        copy(password("guarded", [kSecReturnData: true])).status == errSecInteractionNotAllowed)
      #expect(errSecInteractionNotAllowed == -25308)
      #expect(
        SecItemUpdate(password("guarded") as CFDictionary, secret("x") as CFDictionary)
          == errSecInteractionNotAllowed)
      // What is no secret, and what gives nothing out, asks nobody.
      let item = copy(password("guarded", [kSecReturnAttributes: true])).dictionary
      #expect(item?[kSecAttrAccessible] as? String == kSecAttrAccessibleAfterFirstUnlock)
      #expect(item?[kSecAttrAccessControl] as? SecAccessControl == (try control()))
      #expect(copy(password("guarded")).status == errSecSuccess)
      #expect(SecItemDelete(password("guarded") as CFDictionary) == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test(
      "The attributes of an item with an accessibility only have an access control without conditions, and can be stored again"
    )
    func accessControlOfEveryItem() throws {
      let store = try ProgramStore()
      let attributes = secret("plain").merging([
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock
      ]) { $1 }
      #expect(add(password("plain", attributes)) == errSecSuccess)
      let found = try #require(
        copy(password("plain", [kSecReturnAttributes: true, kSecReturnData: true])).dictionary)
      #expect(found[kSecAttrAccessControl] as? SecAccessControl == (try control([])))
      #expect(SecItemDelete(password("plain") as CFDictionary) == errSecSuccess)
      #expect(add(found) == errSecSuccess)
      #expect(copy(password("plain", [kSecReturnData: true])).status == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test(arguments: [
      SecAccessControlCreateFlags.userPresence, .biometryAny, .touchIDAny, .biometryCurrentSet,
      .devicePasscode, .companion, [.biometryAny, .or, .devicePasscode],
    ])
    func everyConditionNeedsAPerson(_ flags: SecAccessControlCreateFlags) throws {
      let store = try ProgramStore()
      #expect(
        add(password("a", [kSecAttrAccessControl: try control(flags)])) == errSecSuccess)
      #expect(copy(password("a", [kSecReturnData: true])).status == errSecInteractionNotAllowed)
      withExtendedLifetime(store) {}
    }

    @Test func noConditionNeedsNobody() throws {
      let store = try ProgramStore()
      for (account, flags) in [("a", []), ("b", .privateKeyUsage)]
        as [(String, SecAccessControlCreateFlags)]
      {
        #expect(
          add(password(account, [kSecAttrAccessControl: try control(flags)])) == errSecSuccess)
        #expect(copy(password(account, [kSecReturnData: true])).status == errSecSuccess)
      }
      withExtendedLifetime(store) {}
    }

    @Test func failAnswersForItemsThatNeedAPersonOnly() throws {
      let store = try ProgramStore(confirmPresence: { _ in true })
      try addGuarded()
      #expect(add(password("open", secret("open"))) == errSecSuccess)
      for more in [[:], [kSecReturnData: true], [kSecReturnAttributes: true]] as [[String: Any]] {
        let query = Self.fail.merging(more) { $1 }
        #expect(copy(password("guarded", query)).status == errSecInteractionNotAllowed)
        #expect(copy(password("open", query)).status == errSecSuccess)
        #expect(copy(password("none", query)).status == errSecItemNotFound)
      }
      #expect(
        copy(password("guarded", [kSecUseNoAuthenticationUI: true])).status
          == errSecInteractionNotAllowed)
      #expect(
        SecItemUpdate(password("guarded", Self.fail) as CFDictionary, secret("x") as CFDictionary)
          == errSecInteractionNotAllowed)
      withExtendedLifetime(store) {}
    }

    @Test func skipLeavesSuchItemsOut() throws {
      let store = try ProgramStore()
      try addGuarded()
      #expect(add(password("open", secret("open"))) == errSecSuccess)
      let all: [String: Any] = [
        kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
        kSecReturnData: true,
      ]
      #expect(copy(all).status == errSecInteractionNotAllowed)
      #expect(copy(all.merging(Self.skip) { $1 }).result as? [Data] == [Data("open".utf8)])
      #expect(copy(password("guarded", Self.skip)).status == errSecItemNotFound)
      // A limit counts what is left.
      let one: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecReturnData: true]
      #expect(copy(one.merging(Self.skip) { $1 }).data == Data("open".utf8))
      withExtendedLifetime(store) {}
    }

    @Test func aPersonWhoAgreesIsToldTheProgramsWords() throws {
      let prompts = Mutex<[String?]>([])
      let store = try ProgramStore(confirmPresence: { prompt in
        prompts.withLock { $0.append(prompt) }
        return true
      })
      try addGuarded("a")
      try addGuarded("b")
      let query = password(
        "a", [kSecReturnData: true, kSecUseOperationPrompt: "open the door"])
      #expect(copy(query).data == Data("hidden".utf8))
      #expect(
        SecItemUpdate(password("a") as CFDictionary, secret("changed") as CFDictionary)
          == errSecSuccess)
      // One question for all matches of a call, and one for every call.
      let all: [String: Any] = [
        kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
        kSecReturnData: true,
      ]
      #expect(
        copy(all).result as? [Data] == [Data("changed".utf8), Data("hidden".utf8)])
      #expect(prompts.withLock { $0 } == ["open the door", nil, nil])
      withExtendedLifetime(store) {}
    }

    @Test func aPersonWhoRefusesCancels() throws {
      let store = try ProgramStore(confirmPresence: { _ in false })
      try addGuarded()
      #expect(copy(password("guarded", [kSecReturnData: true])).status == errSecUserCanceled)
      #expect(
        SecItemUpdate(password("guarded") as CFDictionary, secret("x") as CFDictionary)
          == errSecUserCanceled)
      withExtendedLifetime(store) {}
    }

    /// Whoever refused is not asked again because the store was opened again meanwhile.
    @Test func aRefusalIsTheLastWord() throws {
      let questions = Mutex(0)
      let place = Mutex("")
      let store = try ProgramStore(confirmPresence: { _ in
        let isFirst = questions.withLock { count in
          count += 1
          return count == 1
        }
        guard isFirst else { return true }
        // Another program changes the ways into the store, and a call of this one notices.
        let path = place.withLock { $0 }
        let keychain = try? Keychain.open(
          at: StoreLocation(directory: path + "/store"), with: .keyFile(path: path + "/store.key"))
        _ = try? keychain?.addKeySlot(.keyFile(path: path + "/second.key"))
        keychain?.close()
        return copy(password("open")).status != errSecSuccess
      })
      place.withLock { $0 = store.path }
      try addGuarded()
      #expect(add(password("open")) == errSecSuccess)
      #expect(copy(password("guarded", [kSecReturnData: true])).status == errSecUserCanceled)
      #expect(questions.withLock { $0 } == 1)
      #expect(FileManager.default.fileExists(atPath: store.path + "/second.key"))
    }

    /// The question is asked outside of any transaction.
    @Test func thePersonMayUseTheKeychainMeanwhile() throws {
      let store = try ProgramStore(confirmPresence: { _ in
        add(password("meanwhile")) == errSecSuccess
      })
      try addGuarded()
      #expect(copy(password("guarded", [kSecReturnData: true])).data == Data("hidden".utf8))
      #expect(copy(password("meanwhile")).status == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func anAccessControlIsAFilterAndCanBeChanged() throws {
      let store = try ProgramStore(confirmPresence: { _ in true })
      try addGuarded()
      #expect(add(password("open")) == errSecSuccess)
      let wanted: [String: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccessControl: try control(),
        kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll,
      ]
      #expect(copy(wanted).array?.compactMap { $0[kSecAttrAccount] as? String } == ["guarded"])
      #expect(
        copy(wanted.merging([kSecAttrAccessControl: try control(.devicePasscode)]) { $1 }).status
          == errSecItemNotFound)
      // An accessibility alone is an access control without conditions.
      #expect(
        SecItemUpdate(
          password("guarded") as CFDictionary,
          [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock] as CFDictionary)
          == errSecSuccess)
      store.use(groups: store.groups)
      #expect(copy(password("guarded", [kSecReturnData: true])).data == Data("hidden".utf8))
      #expect(
        SecItemUpdate(
          password("open") as CFDictionary,
          [kSecAttrAccessControl: try control()] as CFDictionary) == errSecSuccess)
      #expect(copy(password("open", [kSecReturnData: true])).status == errSecInteractionNotAllowed)
    }

    @Test func aProtectionThatThereIsNotGivesAnError() {
      for protection in ["zz", "", 5] as [Any] {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, protection, [], &error) == nil)
        let reason = error?.takeRetainedValue()
        #expect(reason?.code == Int(errSecParam))
        #expect(reason?.domain == NSOSStatusErrorDomain)
      }
      #expect(SecAccessControlCreateWithFlags(nil, "zz", [], nil) == nil)
    }
  }
}
