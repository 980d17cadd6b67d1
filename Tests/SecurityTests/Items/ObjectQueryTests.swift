import Foundation
import Security
import Testing

extension OwnKeychain {
  /// What an object means in a query.
  @Suite struct ObjectQueryTests {
    private let store = ProgramStore()

    /// Two private keys: "a" has a tag, the other has what nobody else has: nothing.
    private func addTwoKeys() throws -> (a: SecKey, b: SecKey) {
      let attributes: [String: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
      ]
      let a = try #require(
        SecKeyCreateWithData(Data("a".utf8), attributes.merging([kSecAttrApplicationTag: "a"]) { $1 }, nil))
      let b = try #require(SecKeyCreateWithData(Data("b".utf8), attributes, nil))
      insert([kSecValueRef: a])
      insert([kSecValueRef: b])
      return (a, b)
    }

    private func keys(_ more: [String: Any] = [:]) -> [Data]? {
      copy([kSecClass: kSecClassKey, kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll], more).result as? [Data]
    }

    @Test func aKeyThatWasMadeMeansNoOther() throws {
      let (_, b) = try addTwoKeys()
      #expect(keys([kSecValueRef: b]) == [Data("b".utf8)])
      #expect(update([kSecValueRef: b], [kSecAttrLabel: "b"]) == errSecSuccess)
      #expect(keys([kSecAttrLabel: "b"]) == [Data("b".utf8)])
      #expect(delete([kSecValueRef: b]) == errSecSuccess)
      #expect(keys() == [Data("a".utf8)])
    }

    @Test func aKeyThatWasFoundMeansItsItem() throws {
      _ = try addTwoKeys()
      let all = copy([kSecClass: kSecClassKey, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll])
      let found = try #require(all.result as? [SecKey])
      // Its item, although it has another primary key by now.
      #expect(update([kSecValueRef: found[1]], [kSecAttrApplicationTag: "c"]) == errSecSuccess)
      #expect(keys([kSecValueRef: found[1]]) == [Data("b".utf8)])
      #expect(delete([kSecValueRef: found[1]]) == errSecSuccess)
      #expect(delete([kSecValueRef: found[1]]) == errSecItemNotFound)
      #expect(keys() == [Data("a".utf8)])
      #expect(add([kSecValueRef: found[1]]) == errSecSuccess, "what was found can be added again")
    }

    @Test func whatWasFoundIsMeantWhetherItIsSynchronizableOrNot() throws {
      let certificate = try certificate()
      insert([kSecValueRef: certificate, kSecAttrSynchronizable: true])
      let answer = copy([kSecClass: kSecClassCertificate, kSecAttrSynchronizable: true, kSecReturnRef: true])
      let found = try #require(answer.result as? SecCertificate)
      #expect(find([kSecValueRef: found]) == errSecSuccess)
      #expect(delete([kSecValueRef: found]) == errSecSuccess)
    }

    @Test func theSameCertificateInAnotherGroupStays() throws {
      let certificate = try certificate()
      for group in store.groups { insert([kSecValueRef: certificate, kSecAttrAccessGroup: group]) }
      let answer = copy([kSecClass: kSecClassCertificate, kSecAttrAccessGroup: store.groups[1], kSecReturnRef: true])
      let found = try #require(answer.result as? SecCertificate)
      #expect(delete([kSecValueRef: found]) == errSecSuccess)
      let rest = attributes([kSecClass: kSecClassCertificate])
      #expect(rest?[kSecAttrAccessGroup] as? String == store.groups[0])
      #expect(count(kSecClassCertificate) == 1)
    }

    @Test func aListOfItemsMayHaveSomeOfEveryClassAndOneTwice() throws {
      let certificate = try certificate()
      var list: [Any] = []
      for item in [password("a"), [kSecValueRef: certificate], password("b")] as [[String: Any]] {
        let added = addAndCopy(item, [kSecReturnPersistentRef: true])
        list.append(try #require(added.data))
      }
      let query: [String: Any] = [
        kSecMatchItemList: list + list, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true,
      ]
      let found = try #require(copy(query).result as? [Any])
      #expect(found.count == 3)
      #expect(found.count { $0 is SecCertificate } == 1)
    }

    @Test func aWordThatIsNoKeyIsRefusedWhateverItBeginsWith() {
      insert(password("a"))
      for key in ["u_Nothing", "m_Nothing", "r_Nothing", "v_Nothing", "nothing"] {
        #expect(find(password("a", [key: true])) == errSecParam, "\(key)")
      }
      #expect(find(password("a", [kSecUseAuthenticationContext: 1])) == errSecSuccess)
      // An update returns nothing, and so it is not asked not to.
      #expect(update(password("a", [kSecReturnData: false]), [kSecAttrLabel: "x"]) == errSecParam)
    }

    @Test func addingGivesTheObjectThatASearchGives() throws {
      let certificate = addAndCopy([
        kSecClass: kSecClassCertificate, kSecValueData: SampleCertificate.hub, kSecReturnRef: true,
      ])
      let added = try #require(certificate.result as? SecCertificate)
      #expect(SecCertificateCopyData(added) == SampleCertificate.hub)
      let key = addAndCopy([
        kSecClass: kSecClassKey, kSecValueData: Data("k".utf8), kSecReturnRef: true, kSecReturnAttributes: true,
      ])
      let inside = try #require(key.dictionary?[kSecValueRef] as? SecKey)
      #expect(SecKeyCopyExternalRepresentation(inside, nil) == Data("k".utf8))
      #expect(key.dictionary?[kSecValueData] == nil)
      // Both mean what was added.
      #expect(delete([kSecValueRef: added]) == errSecSuccess)
      #expect(delete([kSecValueRef: inside]) == errSecSuccess)
    }
  }
}
