// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct IdentityTests {
    private let material = Data("not a real key".utf8)

    private func key(_ more: [String: Any] = [:]) -> [String: Any] {
      [
        kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        kSecAttrApplicationLabel: SampleCertificate.hubKeyHash, kSecValueData: material,
      ].merging(more) { $1 }
    }

    private func addCertificate(_ more: [String: Any] = [:]) throws {
      let certificate = try #require(SecCertificateCreateWithData(nil, SampleCertificate.hub))
      #expect(add([kSecValueRef: certificate].merging(more) { $1 }) == errSecSuccess)
    }

    private let identity: [String: Any] = [kSecClass: kSecClassIdentity]

    @Test func aCertificateAndItsPrivateKeyAreAnIdentity() throws {
      let store = try ProgramStore()
      #expect(copy(identity).status == errSecItemNotFound)
      try addCertificate()
      #expect(copy(identity).status == errSecItemNotFound)
      #expect(add(key()) == errSecSuccess)
      #expect(copy(identity).status == errSecSuccess)

      let answer = copy(identity.merging([kSecReturnRef: true]) { $1 })
      let found = try #require(answer.result as? SecIdentity)
      var certificate: SecCertificate?
      #expect(SecIdentityCopyCertificate(found, &certificate) == errSecSuccess)
      #expect(
        certificate.map { SecCertificateCopyData($0) } == SampleCertificate.hub)
      var privateKey: SecKey?
      #expect(SecIdentityCopyPrivateKey(found, &privateKey) == errSecSuccess)
      #expect(SecKeyCopyExternalRepresentation(try #require(privateKey), nil) == material)
      withExtendedLifetime(store) {}
    }

    @Test func itHasTheAttributesOfBoth() throws {
      let store = try ProgramStore()
      try addCertificate([kSecAttrLabel: "certificate"])
      #expect(add(key([kSecAttrLabel: "key"])) == errSecSuccess)
      let item = copy(
        identity.merging([kSecReturnAttributes: true, kSecReturnData: true]) { $1 }
      ).dictionary
      #expect(item?[kSecClass] as? String == kSecClassIdentity)
      #expect(item?[kSecAttrLabel] as? String == "certificate")
      #expect(item?[kSecAttrKeyType] as? String == kSecAttrKeyTypeECSECPrimeRandom)
      #expect(item?[kSecAttrPublicKeyHash] as? Data == SampleCertificate.hubKeyHash)
      #expect(item?[kSecValueData] as? Data == material)
      for (name, value, status) in [
        (kSecAttrLabel, "certificate", errSecSuccess), (kSecAttrLabel, "key", errSecItemNotFound),
        (kSecAttrKeySizeInBits, 256, errSecSuccess), (kSecAttrKeySizeInBits, 1, errSecItemNotFound),
      ] as [(CFString, Any, OSStatus)] {
        #expect(copy(identity.merging([name: value]) { $1 }).status == status, "\(name)")
      }
      withExtendedLifetime(store) {}
    }

    @Test func publicKeysAndOtherKeysDoNotMakeOne() throws {
      let store = try ProgramStore()
      try addCertificate()
      #expect(add(key([kSecAttrKeyClass: kSecAttrKeyClassPublic])) == errSecSuccess)
      #expect(add(key([kSecAttrApplicationLabel: Data([1])])) == errSecSuccess)
      #expect(add(key([kSecAttrApplicationLabel: Data()])) == errSecSuccess)
      #expect(copy(identity).status == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func bothMustBeWithinReach() throws {
      let store = try ProgramStore(groups: ["one", "two"])
      try addCertificate([kSecAttrAccessGroup: "one"])
      #expect(add(key([kSecAttrAccessGroup: "two"])) == errSecSuccess)
      #expect(copy(identity).status == errSecSuccess)
      store.use(groups: ["one"])
      #expect(copy(identity).status == errSecItemNotFound)
    }

    @Test func itHasAPersistentReference() throws {
      let store = try ProgramStore()
      try addCertificate()
      #expect(add(key()) == errSecSuccess)
      let reference = try #require(
        copy(identity.merging([kSecReturnPersistentRef: true]) { $1 }).data)
      #expect(copy([kSecValuePersistentRef: reference, kSecReturnRef: true]).result is SecIdentity)
      #expect(SecItemDelete(key() as CFDictionary) == errSecSuccess)
      #expect(copy([kSecValuePersistentRef: reference]).status == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func deletingItTakesBothHalves() throws {
      let store = try ProgramStore()
      try addCertificate()
      #expect(add(key()) == errSecSuccess)
      #expect(add(key([kSecAttrApplicationLabel: Data([1])])) == errSecSuccess)
      #expect(SecItemDelete(identity as CFDictionary) == errSecSuccess)
      #expect(count(kSecClassCertificate) == 0)
      #expect(count(kSecClassKey) == 1)
      withExtendedLifetime(store) {}
    }

    @Test func aKeyThatAnotherCertificateNeedsStays() throws {
      let store = try ProgramStore()
      try addCertificate([kSecAttrLabel: "old"])
      #expect(
        add([
          kSecClass: kSecClassCertificate, kSecAttrSerialNumber: Data([2]), kSecAttrLabel: "new",
          kSecAttrPublicKeyHash: SampleCertificate.hubKeyHash,
        ]) == errSecSuccess)
      #expect(add(key()) == errSecSuccess)
      #expect(
        SecItemDelete(identity.merging([kSecAttrLabel: "old"]) { $1 } as CFDictionary)
          == errSecSuccess)
      #expect(count(kSecClassCertificate) == 1)
      #expect(count(kSecClassKey) == 1)
      withExtendedLifetime(store) {}
    }

    @Test func itIsAddedAndChangedByItsHalves() throws {
      let store = try ProgramStore()
      try addCertificate()
      #expect(add(key()) == errSecSuccess)
      let found = try #require(copy(identity.merging([kSecReturnRef: true]) { $1 }).result)
      #expect(add([kSecValueRef: found]) == errSecParam)
      #expect(
        SecItemUpdate(identity as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary)
          == errSecParam)
      withExtendedLifetime(store) {}
    }

    /// Who agrees to the key has not agreed to the certificate, if that has a condition too.
    @Test(arguments: [true, false])
    func itNeedsAPersonAsSoonAsOneHalfDoes(_ isCertificate: Bool) throws {
      let control: [String: Any] = [
        kSecAttrAccessControl: try #require(
          SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, .userPresence, nil))
      ]
      let store = try ProgramStore()
      try addCertificate(isCertificate ? control : [:])
      #expect(add(key(isCertificate ? [:] : control)) == errSecSuccess)
      for shape in [kSecReturnData, kSecReturnRef] {
        #expect(
          copy(identity.merging([shape: true]) { $1 }).status == errSecInteractionNotAllowed)
      }
      for (ui, status) in [
        (kSecUseAuthenticationUIFail, errSecInteractionNotAllowed),
        (kSecUseAuthenticationUISkip, errSecItemNotFound),
      ] {
        #expect(copy(identity.merging([kSecUseAuthenticationUI: ui]) { $1 }).status == status)
      }
      store.use(groups: store.groups) { _ in true }
      #expect(copy(identity.merging([kSecReturnRef: true]) { $1 }).status == errSecSuccess)
    }

    /// The point of a curve is the end of the certificate's key, and the secret is not looked at.
    @Test func aPrivateKeyThatSaysNothingOfItselfFindsItsCertificate() throws {
      let store = try ProgramStore()
      try addCertificate()
      let begin = try #require(SampleCertificate.hub.range(of: Data([0x03, 0x42, 0x00, 0x04])))
      let point = SampleCertificate.hub[(begin.upperBound - 1)...].prefix(65)
      let made = try #require(
        SecKeyCreateWithData(
          point + Data(repeating: 7, count: 32),
          [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass: kSecAttrKeyClassPrivate,
          ], nil))
      let attributes = SecKeyCopyAttributes(made)
      #expect(attributes?[kSecAttrApplicationLabel] as? Data == SampleCertificate.hubKeyHash)
      #expect(attributes?[kSecAttrKeySizeInBits] as? Int == 256)
      #expect(add([kSecValueRef: made]) == errSecSuccess)
      #expect(copy(identity).status == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    /// The public key of RSA stands in the certificate as PKCS #1; a private one begins with it.
    @Test func keysOfRSAKnowTheirPublicHalf() throws {
      let certificate = SampleCertificate.organization
      let begin = try #require(certificate.range(of: Data([0x00, 0x30, 0x82, 0x01, 0x0A])))
      let publicKey = Data(certificate[(begin.lowerBound + 1)...].prefix(270))
      let number: [UInt8] = [0x02, 0x01, 0x00]
      let body = Data(number) + publicKey.dropFirst(4) + Data((0..<6).flatMap { _ in number })
      let privateKey =
        Data([0x30, 0x82, UInt8(body.count >> 8), UInt8(body.count & 0xFF)]) + body
      // The subject key identifier of the certificate is that hash.
      let hash = Data([
        0x47, 0xAC, 0xB1, 0x8F, 0x9F, 0xDD, 0x16, 0x23, 0xB0, 0x5C, 0x5C, 0xCF, 0xF3, 0xE6, 0xF8,
        0x16, 0xB5, 0x7E, 0xD6, 0xE9,
      ])
      for (data, keyClass) in [
        (publicKey, kSecAttrKeyClassPublic), (privateKey, kSecAttrKeyClassPrivate),
      ] {
        let key = try #require(
          SecKeyCreateWithData(
            data, [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: keyClass], nil))
        let attributes = SecKeyCopyAttributes(key)
        #expect(attributes?[kSecAttrApplicationLabel] as? Data == hash)
        #expect(attributes?[kSecAttrKeySizeInBits] as? Int == 2048)
      }
    }

    @Test func aKeyThatSaysNothingOfItsUsesHasThoseOfItsClass() throws {
      let store = try ProgramStore()
      let uses = [
        kSecAttrCanEncrypt, kSecAttrCanDecrypt, kSecAttrCanDerive, kSecAttrCanSign,
        kSecAttrCanVerify, kSecAttrCanWrap, kSecAttrCanUnwrap,
      ]
      for (keyClass, expected) in [
        (kSecAttrKeyClassPublic, [true, false, true, false, true, true, false]),
        (kSecAttrKeyClassPrivate, [false, true, true, true, false, false, true]),
      ] {
        let about: [String: Any] = [
          kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: keyClass,
        ]
        let key = try #require(SecKeyCreateWithData(material, about as CFDictionary, nil))
        #expect(uses.map { SecKeyCopyAttributes(key)?[$0] as? Bool } == expected)
        #expect(add([kSecValueRef: key]) == errSecSuccess)
        let query: [String: Any] = [kSecClass: kSecClassKey, kSecAttrKeyClass: keyClass]
        let found = copy(query.merging([kSecReturnAttributes: true]) { $1 }).dictionary
        #expect(uses.map { found?[$0] as? Bool } == expected)
        // Said otherwise, and still the same key.
        let other = about.merging([kSecAttrCanDerive: false]) { $1 }
        let again = try #require(SecKeyCreateWithData(material, other as CFDictionary, nil))
        #expect(SecKeyCopyAttributes(again)?[kSecAttrCanDerive] as? Bool == false)
        #expect(add([kSecValueRef: again]) == errSecDuplicateItem)
        #expect(SecItemDelete([kSecValueRef: again] as CFDictionary) == errSecSuccess)
      }
      let secret: [String: Any] = [kSecAttrKeyClass: kSecAttrKeyClassSymmetric]
      let key = try #require(SecKeyCreateWithData(material, secret as CFDictionary, nil))
      #expect(uses.allSatisfy { SecKeyCopyAttributes(key)?[$0] == nil })
      withExtendedLifetime(store) {}
    }

    @Test func aKeyIsAnObjectWithMaterialAndAttributes() throws {
      let store = try ProgramStore()
      let made = try #require(
        SecKeyCreateWithData(
          material,
          [
            kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecAttrApplicationTag: Data([1]),
          ] as CFDictionary, nil))
      #expect(add([kSecValueRef: made, kSecAttrLabel: "made"]) == errSecSuccess)
      let found = copy([
        kSecClass: kSecClassKey, kSecAttrApplicationTag: Data([1]), kSecReturnRef: true,
      ])
      let key = try #require(found.result as? SecKey)
      #expect(key == made)
      #expect(SecKeyCopyExternalRepresentation(key, nil) == material)
      #expect(SecKeyCopyAttributes(key)?[kSecAttrLabel] as? String == "made")
      #expect(SecKeyCopyAttributes(key)?[kSecAttrKeyType] as? String == kSecAttrKeyTypeRSA)
      #expect(SecItemDelete([kSecValueRef: key] as CFDictionary) == errSecSuccess)
      #expect(count(kSecClassKey) == 0)
      var error: Unmanaged<CFError>?
      #expect(SecKeyCreateWithData(material, [kSecAttrServer: "x"] as CFDictionary, &error) == nil)
      #expect(error?.takeRetainedValue().code == Int(errSecNoSuchAttr))
      withExtendedLifetime(store) {}
    }
  }
}
