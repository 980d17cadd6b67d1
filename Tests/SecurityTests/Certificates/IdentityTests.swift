import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct IdentityTests {
    private let store = ProgramStore()

    private let material = Data("not a real key".utf8)

    private func key(_ more: [String: Any] = [:]) -> [String: Any] {
      [
        kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        kSecAttrApplicationLabel: SampleCertificate.hubKeyHash, kSecValueData: material,
      ].merging(more) { $1 }
    }

    private func addCertificate(_ more: [String: Any] = [:]) throws { insert([kSecValueRef: try certificate()], more) }

    private let identity: [String: Any] = [kSecClass: kSecClassIdentity]

    @Test func aCertificateAndItsPrivateKeyAreAnIdentity() throws {
      #expect(find(identity) == errSecItemNotFound)
      try addCertificate()
      #expect(find(identity) == errSecItemNotFound)
      insert(key())
      #expect(find(identity) == errSecSuccess)

      let answer = copy(identity, [kSecReturnRef: true])
      let found = try #require(answer.result as? SecIdentity)
      var certificate: SecCertificate?
      #expect(SecIdentityCopyCertificate(found, &certificate) == errSecSuccess)
      #expect(certificate.map { SecCertificateCopyData($0) } == SampleCertificate.hub)
      var privateKey: SecKey?
      #expect(SecIdentityCopyPrivateKey(found, &privateKey) == errSecSuccess)
      #expect(SecKeyCopyExternalRepresentation(try #require(privateKey), nil) == material)
    }

    @Test func itHasTheAttributesOfBoth() throws {
      try addCertificate([kSecAttrLabel: "certificate"])
      insert(key([kSecAttrLabel: "key"]))
      let item = copy(identity, [kSecReturnAttributes: true, kSecReturnData: true]).dictionary
      #expect(item?[kSecClass] as? String == kSecClassIdentity)
      #expect(item?[kSecAttrLabel] as? String == "certificate")
      #expect(item?[kSecAttrKeyType] as? String == kSecAttrKeyTypeECSECPrimeRandom)
      #expect(item?[kSecAttrPublicKeyHash] as? Data == SampleCertificate.hubKeyHash)
      #expect(item?[kSecValueData] as? Data == material)
      for (name, value, status) in [
        (kSecAttrLabel, "certificate", errSecSuccess), (kSecAttrLabel, "key", errSecItemNotFound),
        (kSecAttrKeySizeInBits, 256, errSecSuccess), (kSecAttrKeySizeInBits, 1, errSecItemNotFound),
      ] as [(CFString, Any, OSStatus)] { #expect(find(identity, [name: value]) == status, "\(name)") }
    }

    @Test func publicKeysAndOtherKeysDoNotMakeOne() throws {
      try addCertificate()
      insert(key([kSecAttrKeyClass: kSecAttrKeyClassPublic]))
      insert(key([kSecAttrApplicationLabel: Data([1])]))
      insert(key([kSecAttrApplicationLabel: Data()]))
      #expect(find(identity) == errSecItemNotFound)
    }

    @Test func bothMustBeWithinReach() throws {
      store.use(groups: ["one", "two"])
      try addCertificate([kSecAttrAccessGroup: "one"])
      insert(key([kSecAttrAccessGroup: "two"]))
      #expect(find(identity) == errSecSuccess)
      store.use(groups: ["one"])
      #expect(find(identity) == errSecItemNotFound)
    }

    @Test func itHasAPersistentReference() throws {
      try addCertificate()
      insert(key())
      let reference = try #require(copy(identity, [kSecReturnPersistentRef: true]).data)
      #expect(copy([kSecValuePersistentRef: reference, kSecReturnRef: true]).result is SecIdentity)
      #expect(delete(key()) == errSecSuccess)
      #expect(find([kSecValuePersistentRef: reference]) == errSecItemNotFound)
    }

    @Test func deletingItTakesBothHalves() throws {
      try addCertificate()
      insert(key())
      insert(key([kSecAttrApplicationLabel: Data([1])]))
      #expect(delete(identity) == errSecSuccess)
      #expect(count(kSecClassCertificate) == 0)
      #expect(count(kSecClassKey) == 1)
    }

    @Test func aKeyThatAnotherCertificateNeedsStays() throws {
      try addCertificate([kSecAttrLabel: "old"])
      insert([
        kSecClass: kSecClassCertificate, kSecAttrSerialNumber: Data([2]), kSecAttrLabel: "new",
        kSecAttrPublicKeyHash: SampleCertificate.hubKeyHash,
      ])
      insert(key())
      #expect(delete(identity, [kSecAttrLabel: "old"]) == errSecSuccess)
      #expect(count(kSecClassCertificate) == 1)
      #expect(count(kSecClassKey) == 1)
    }

    @Test func itIsAddedAndChangedByItsHalves() throws {
      try addCertificate()
      insert(key())
      let found = try #require(copy(identity, [kSecReturnRef: true]).result)
      #expect(add([kSecValueRef: found]) == errSecParam)
      #expect(update(identity, [kSecAttrLabel: "x"]) == errSecParam)
    }

    /// Who agrees to the key has not agreed to the certificate, if that has a condition too.
    @Test(arguments: [true, false]) func itNeedsAPersonAsSoonAsOneHalfDoes(_ isCertificate: Bool) throws {
      let control = control(kSecAttrAccessibleAlways)
      try addCertificate(isCertificate ? control : [:])
      insert(key(isCertificate ? [:] : control))
      for shape in [kSecReturnData, kSecReturnRef] {
        #expect(find(identity, [shape: true]) == errSecInteractionNotAllowed)
      }
      for (ui, status) in [
        (kSecUseAuthenticationUIFail, errSecInteractionNotAllowed), (kSecUseAuthenticationUISkip, errSecItemNotFound),
      ] { #expect(find(identity, [kSecUseAuthenticationUI: ui]) == status) }
      store.use() { _ in true }
      #expect(find(identity, [kSecReturnRef: true]) == errSecSuccess)
    }

    /// The point of a curve is the end of the certificate's key, and the secret is not looked at.
    @Test func aPrivateKeyThatSaysNothingOfItselfFindsItsCertificate() throws {
      try addCertificate()
      let begin = try #require(SampleCertificate.hub.range(of: Data([0x03, 0x42, 0x00, 0x04])))
      let point = SampleCertificate.hub[(begin.upperBound - 1)...].prefix(65)
      let made = try #require(
        SecKeyCreateWithData(
          point + Data(repeating: 7, count: 32),
          [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate], nil))
      let attributes = SecKeyCopyAttributes(made)
      #expect(attributes?[kSecAttrApplicationLabel] as? Data == SampleCertificate.hubKeyHash)
      #expect(attributes?[kSecAttrKeySizeInBits] as? Int == 256)
      insert([kSecValueRef: made])
      #expect(find(identity) == errSecSuccess)
    }

    /// The public key of RSA stands in the certificate as PKCS #1; a private one begins with it.
    @Test func keysOfRSAKnowTheirPublicHalf() throws {
      let certificate = SampleCertificate.organization
      let begin = try #require(certificate.range(of: Data([0x00, 0x30, 0x82, 0x01, 0x0A])))
      let publicKey = Data(certificate[(begin.lowerBound + 1)...].prefix(270))
      let number: [UInt8] = [0x02, 0x01, 0x00]
      let body = Data(number) + publicKey.dropFirst(4) + Data((0..<6).flatMap { _ in number })
      let privateKey = Data([0x30, 0x82, UInt8(body.count >> 8), UInt8(body.count & 0xFF)]) + body
      // The subject key identifier of the certificate is that hash.
      let hash = Data([
        0x47, 0xAC, 0xB1, 0x8F, 0x9F, 0xDD, 0x16, 0x23, 0xB0, 0x5C, 0x5C, 0xCF, 0xF3, 0xE6, 0xF8, 0x16, 0xB5, 0x7E,
        0xD6, 0xE9,
      ])
      for (data, keyClass) in [(publicKey, kSecAttrKeyClassPublic), (privateKey, kSecAttrKeyClassPrivate)] {
        let key = try #require(
          SecKeyCreateWithData(data, [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: keyClass], nil))
        let attributes = SecKeyCopyAttributes(key)
        #expect(attributes?[kSecAttrApplicationLabel] as? Data == hash)
        #expect(attributes?[kSecAttrKeySizeInBits] as? Int == 2048)
      }
    }

    @Test func aKeyThatSaysNothingOfItsUsesHasThoseOfItsClass() throws {
      let uses = [
        kSecAttrCanEncrypt, kSecAttrCanDecrypt, kSecAttrCanDerive, kSecAttrCanSign, kSecAttrCanVerify, kSecAttrCanWrap,
        kSecAttrCanUnwrap,
      ]
      for (keyClass, expected) in [
        (kSecAttrKeyClassPublic, [true, false, true, false, true, true, false]),
        (kSecAttrKeyClassPrivate, [false, true, true, true, false, false, true]),
      ] {
        let about: [String: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: keyClass]
        let key = try #require(SecKeyCreateWithData(material, about as CFDictionary, nil))
        #expect(uses.map { SecKeyCopyAttributes(key)?[$0] as? Bool } == expected)
        insert([kSecValueRef: key])
        let query: [String: Any] = [kSecClass: kSecClassKey, kSecAttrKeyClass: keyClass]
        let found = attributes(query)
        #expect(uses.map { found?[$0] as? Bool } == expected)
        // Said otherwise, and still the same key.
        let other = about.merging([kSecAttrCanDerive: false]) { $1 }
        let again = try #require(SecKeyCreateWithData(material, other as CFDictionary, nil))
        #expect(SecKeyCopyAttributes(again)?[kSecAttrCanDerive] as? Bool == false)
        #expect(add([kSecValueRef: again]) == errSecDuplicateItem)
        #expect(delete([kSecValueRef: again]) == errSecSuccess)
      }
      let secret: [String: Any] = [kSecAttrKeyClass: kSecAttrKeyClassSymmetric]
      let key = try #require(SecKeyCreateWithData(material, secret as CFDictionary, nil))
      #expect(uses.allSatisfy { SecKeyCopyAttributes(key)?[$0] == nil })
    }

    @Test func aKeyIsAnObjectWithMaterialAndAttributes() throws {
      let made = try #require(
        SecKeyCreateWithData(
          material,
          [
            kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecAttrApplicationTag: Data([1]),
          ] as CFDictionary, nil))
      insert([kSecValueRef: made, kSecAttrLabel: "made"])
      let found = copy([kSecClass: kSecClassKey, kSecAttrApplicationTag: Data([1]), kSecReturnRef: true])
      let key = try #require(found.result as? SecKey)
      #expect(key == made)
      #expect(SecKeyCopyExternalRepresentation(key, nil) == material)
      #expect(SecKeyCopyAttributes(key)?[kSecAttrLabel] as? String == "made")
      #expect(SecKeyCopyAttributes(key)?[kSecAttrKeyType] as? String == kSecAttrKeyTypeRSA)
      #expect(delete([kSecValueRef: key]) == errSecSuccess)
      #expect(count(kSecClassKey) == 0)
      var error: Unmanaged<CFError>?
      #expect(SecKeyCreateWithData(material, [kSecAttrServer: "x"] as CFDictionary, &error) == nil)
      #expect(error?.takeRetainedValue().code == Int(errSecNoSuchAttr))
    }
  }
}
