// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  /// What an object means in a query.
  @Suite struct ObjectQueryTests {
    /// Two private keys: "a" has a tag, the other has what nobody else has: nothing.
    private func addTwoKeys() throws -> (a: SecKey, b: SecKey) {
      let attributes: [String: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
      ]
      let a = try #require(
        SecKeyCreateWithData(
          Data("a".utf8), attributes.merging([kSecAttrApplicationTag: "a"]) { $1 }, nil))
      let b = try #require(SecKeyCreateWithData(Data("b".utf8), attributes, nil))
      #expect(add([kSecValueRef: a]) == errSecSuccess)
      #expect(add([kSecValueRef: b]) == errSecSuccess)
      return (a, b)
    }

    private func keys(_ more: [String: Any] = [:]) -> [Data]? {
      copy(
        [
          kSecClass: kSecClassKey, kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll,
        ].merging(more) { $1 }
      ).result as? [Data]
    }

    @Test func aKeyThatWasMadeMeansNoOther() throws {
      let store = try ProgramStore()
      let (_, b) = try addTwoKeys()
      #expect(keys([kSecValueRef: b]) == [Data("b".utf8)])
      #expect(
        SecItemUpdate([kSecValueRef: b] as CFDictionary, [kSecAttrLabel: "b"] as CFDictionary)
          == errSecSuccess)
      #expect(keys([kSecAttrLabel: "b"]) == [Data("b".utf8)])
      #expect(SecItemDelete([kSecValueRef: b] as CFDictionary) == errSecSuccess)
      #expect(keys() == [Data("a".utf8)])
      withExtendedLifetime(store) {}
    }

    @Test func aKeyThatWasFoundMeansItsItem() throws {
      let store = try ProgramStore()
      _ = try addTwoKeys()
      let all = copy([
        kSecClass: kSecClassKey, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll,
      ])
      let found = try #require(all.result as? [SecKey])
      // Its item, although it has another primary key by now.
      #expect(
        SecItemUpdate(
          [kSecValueRef: found[1]] as CFDictionary, [kSecAttrApplicationTag: "c"] as CFDictionary)
          == errSecSuccess)
      #expect(keys([kSecValueRef: found[1]]) == [Data("b".utf8)])
      #expect(SecItemDelete([kSecValueRef: found[1]] as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete([kSecValueRef: found[1]] as CFDictionary) == errSecItemNotFound)
      #expect(keys() == [Data("a".utf8)])
      #expect(
        add([kSecValueRef: found[1]]) == errSecSuccess, "what was found can be added again")
      withExtendedLifetime(store) {}
    }

    @Test func whatWasFoundIsMeantWhetherItIsSynchronizableOrNot() throws {
      let store = try ProgramStore()
      let certificate = try #require(SecCertificateCreateWithData(nil, SampleCertificate.hub))
      #expect(
        add([kSecValueRef: certificate, kSecAttrSynchronizable: true]) == errSecSuccess)
      let answer = copy([
        kSecClass: kSecClassCertificate, kSecAttrSynchronizable: true, kSecReturnRef: true,
      ])
      let found = try #require(answer.result as? SecCertificate)
      #expect(copy([kSecValueRef: found]).status == errSecSuccess)
      #expect(SecItemDelete([kSecValueRef: found] as CFDictionary) == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func theSameCertificateInAnotherGroupStays() throws {
      let store = try ProgramStore()
      let certificate = try #require(SecCertificateCreateWithData(nil, SampleCertificate.hub))
      for group in store.groups {
        #expect(add([kSecValueRef: certificate, kSecAttrAccessGroup: group]) == errSecSuccess)
      }
      let answer = copy([
        kSecClass: kSecClassCertificate, kSecAttrAccessGroup: store.groups[1], kSecReturnRef: true,
      ])
      let found = try #require(answer.result as? SecCertificate)
      #expect(SecItemDelete([kSecValueRef: found] as CFDictionary) == errSecSuccess)
      let rest = copy([kSecClass: kSecClassCertificate, kSecReturnAttributes: true])
      #expect(rest.dictionary?[kSecAttrAccessGroup] as? String == store.groups[0])
      #expect(count(kSecClassCertificate) == 1)
    }

    @Test func aListOfItemsMayHaveSomeOfEveryClassAndOneTwice() throws {
      let store = try ProgramStore()
      let certificate = try #require(SecCertificateCreateWithData(nil, SampleCertificate.hub))
      var list: [Any] = []
      for item in [password("a"), [kSecValueRef: certificate], password("b")] as [[String: Any]] {
        let added = addAndCopy(item.merging([kSecReturnPersistentRef: true]) { $1 })
        list.append(try #require(added.data))
      }
      let query: [String: Any] = [
        kSecMatchItemList: list + list, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true,
      ]
      let found = try #require(copy(query).result as? [Any])
      #expect(found.count == 3)
      #expect(found.count { $0 is SecCertificate } == 1)
      withExtendedLifetime(store) {}
    }

    @Test func aWordThatIsNoKeyIsRefusedWhateverItBeginsWith() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      for key in ["u_Nothing", "m_Nothing", "r_Nothing", "v_Nothing", "nothing"] {
        #expect(copy(password("a", [key: true])).status == errSecParam, "\(key)")
      }
      #expect(copy(password("a", [kSecUseAuthenticationContext: 1])).status == errSecSuccess)
      // An update returns nothing, and so it is not asked not to.
      #expect(
        SecItemUpdate(
          password("a", [kSecReturnData: false]) as CFDictionary,
          [kSecAttrLabel: "x"] as CFDictionary) == errSecParam)
      withExtendedLifetime(store) {}
    }

    @Test func addingGivesTheObjectThatASearchGives() throws {
      let store = try ProgramStore()
      let certificate = addAndCopy([
        kSecClass: kSecClassCertificate, kSecValueData: SampleCertificate.hub, kSecReturnRef: true,
      ])
      let added = try #require(certificate.result as? SecCertificate)
      #expect(SecCertificateCopyData(added) == SampleCertificate.hub)
      let key = addAndCopy([
        kSecClass: kSecClassKey, kSecValueData: Data("k".utf8), kSecReturnRef: true,
        kSecReturnAttributes: true,
      ])
      let inside = try #require(key.dictionary?[kSecValueRef] as? SecKey)
      #expect(SecKeyCopyExternalRepresentation(inside, nil) == Data("k".utf8))
      #expect(key.dictionary?[kSecValueData] == nil)
      // Both mean what was added.
      #expect(SecItemDelete([kSecValueRef: added] as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete([kSecValueRef: inside] as CFDictionary) == errSecSuccess)
      withExtendedLifetime(store) {}
    }
  }
}
