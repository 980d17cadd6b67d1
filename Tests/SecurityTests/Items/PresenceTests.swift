import Foundation
import KeychainCore
import Security
import Synchronization
import Testing

extension OwnKeychain {
  @Suite struct PresenceTests {
    private let store = ProgramStore()

    private func addGuarded(_ account: String = "guarded") { insert(password(account, secret("hidden"), control())) }

    private let fail: [String: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]
    private let skip: [String: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]
    private let all: [String: Any] = [
      kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
    ]

    /// Asks for its secret.
    private func read(_ account: String = "guarded") -> OSStatus {
      copy(password(account, [kSecReturnData: true])).status
    }

    private func accessControl(_ flags: SecAccessControlCreateFlags = .userPresence) -> SecAccessControl? {
      control(kSecAttrAccessibleAfterFirstUnlock, flags)[kSecAttrAccessControl] as? SecAccessControl
    }

    @Test func whereNobodyCanBeAskedTheSecretStaysIn() throws {
      addGuarded()
      #expect(read() == errSecInteractionNotAllowed)
      #expect(errSecInteractionNotAllowed == -25308)
      #expect(update(password("guarded"), secret("x")) == errSecInteractionNotAllowed)
      // What is no secret, and what gives nothing out, asks nobody.
      let item = attributes(password("guarded"))
      #expect(item?[kSecAttrAccessible] as? String == kSecAttrAccessibleAfterFirstUnlock)
      #expect(item?[kSecAttrAccessControl] as? SecAccessControl == accessControl())
      #expect(find(password("guarded")) == errSecSuccess)
      #expect(delete(password("guarded")) == errSecSuccess)
    }

    @Test(
      "The attributes of an item with an accessibility only have an access control without conditions, and can be stored again"
    ) func accessControlOfEveryItem() throws {
      insert(password("plain", secret("plain"), [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]))
      let found = try #require(attributes(password("plain", [kSecReturnData: true])))
      #expect(found[kSecAttrAccessControl] as? SecAccessControl == accessControl([]))
      #expect(delete(password("plain")) == errSecSuccess)
      insert(found)
      #expect(read("plain") == errSecSuccess)
    }

    @Test(arguments: [
      SecAccessControlCreateFlags.userPresence, .biometryAny, .touchIDAny, .biometryCurrentSet, .devicePasscode,
      .companion, [.biometryAny, .or, .devicePasscode],
    ]) func everyConditionNeedsAPerson(_ flags: SecAccessControlCreateFlags) throws {
      insert(password("a", control(kSecAttrAccessibleAfterFirstUnlock, flags)))
      #expect(read("a") == errSecInteractionNotAllowed)
    }

    @Test func noConditionNeedsNobody() throws {
      for (account, flags) in [("a", []), ("b", .privateKeyUsage)] as [(String, SecAccessControlCreateFlags)] {
        insert(password(account, control(kSecAttrAccessibleAfterFirstUnlock, flags)))
        #expect(read(account) == errSecSuccess)
      }
    }

    @Test func failAnswersForItemsThatNeedAPersonOnly() throws {
      store.use(confirmPresence: { _ in true })
      addGuarded()
      insert(password("open", secret("open")))
      for more in [[:], [kSecReturnData: true], [kSecReturnAttributes: true]] as [[String: Any]] {
        #expect(find(password("guarded", fail, more)) == errSecInteractionNotAllowed)
        #expect(find(password("open", fail, more)) == errSecSuccess)
        #expect(find(password("none", fail, more)) == errSecItemNotFound)
      }
      #expect(find(password("guarded", [kSecUseNoAuthenticationUI: true])) == errSecInteractionNotAllowed)
      #expect(update(password("guarded", fail), secret("x")) == errSecInteractionNotAllowed)
    }

    @Test func skipLeavesSuchItemsOut() throws {
      addGuarded()
      insert(password("open", secret("open")))
      #expect(find(all) == errSecInteractionNotAllowed)
      #expect(copy(all, skip).result as? [Data] == [Data("open".utf8)])
      #expect(find(password("guarded", skip)) == errSecItemNotFound)
      // A limit counts what is left.
      #expect(text([kSecClass: kSecClassGenericPassword], skip) == "open")
    }

    @Test func aPersonWhoAgreesIsToldTheProgramsWords() throws {
      let prompts = Mutex<[String?]>([])
      store.use(confirmPresence: { prompt in
        prompts.withLock { $0.append(prompt) }
        return true
      })
      addGuarded("a")
      addGuarded("b")
      #expect(text(password("a", [kSecUseOperationPrompt: "open the door"])) == "hidden")
      #expect(update(password("a"), secret("changed")) == errSecSuccess)
      // One question for all matches of a call, and one for every call.
      #expect(copy(all).result as? [Data] == [Data("changed".utf8), Data("hidden".utf8)])
      #expect(prompts.withLock { $0 } == ["open the door", nil, nil])
    }

    @Test func aPersonWhoRefusesCancels() throws {
      store.use(confirmPresence: { _ in false })
      addGuarded()
      #expect(read() == errSecUserCanceled)
      #expect(update(password("guarded"), secret("x")) == errSecUserCanceled)
    }

    /// Whoever refused is not asked again because the store was opened again meanwhile.
    @Test func aRefusalIsTheLastWord() throws {
      let questions = Mutex(0)
      let place = Mutex("")
      store.use(confirmPresence: { _ in
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
        return find(password("open")) != errSecSuccess
      })
      place.withLock { $0 = store.path }
      addGuarded()
      insert(password("open"))
      #expect(read() == errSecUserCanceled)
      #expect(questions.withLock { $0 } == 1)
      #expect(FileManager.default.fileExists(atPath: store.path + "/second.key"))
    }

    /// The question is asked outside of any transaction.
    @Test func thePersonMayUseTheKeychainMeanwhile() throws {
      store.use(confirmPresence: { _ in add(password("meanwhile")) == errSecSuccess })
      addGuarded()
      #expect(text(password("guarded")) == "hidden")
      #expect(find(password("meanwhile")) == errSecSuccess)
    }

    @Test func anAccessControlIsAFilterAndCanBeChanged() throws {
      store.use(confirmPresence: { _ in true })
      addGuarded()
      insert(password("open"))
      let wanted: [String: Any] = [kSecReturnAttributes: true]
      #expect(copy(all, wanted, control()).array?.map { $0[kSecAttrAccount] as? String } == ["guarded"])
      #expect(find(all, control(kSecAttrAccessibleAfterFirstUnlock, .devicePasscode)) == errSecItemNotFound)
      // An accessibility alone is an access control without conditions.
      #expect(update(password("guarded"), [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]) == errSecSuccess)
      store.use()
      #expect(text(password("guarded")) == "hidden")
      #expect(update(password("open"), control()) == errSecSuccess)
      #expect(read("open") == errSecInteractionNotAllowed)
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
