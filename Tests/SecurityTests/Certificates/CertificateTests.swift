// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

@Suite struct CertificateTests {
  @Test func theBytesComeBackAsTheyWere() throws {
    for data in [SampleCertificate.hub, SampleCertificate.organization] {
      let certificate = try #require(SecCertificateCreateWithData(nil, data as CFData))
      #expect(SecCertificateCopyData(certificate) as Data == data)
      #expect(SecCertificateCreateWithData(kCFAllocatorDefault, data) == certificate)
    }
  }

  @Test func theSummaryIsTheCommonNameOrTheNextBest() throws {
    let hub = try #require(SecCertificateCreateWithData(nil, SampleCertificate.hub))
    #expect(SecCertificateCopySubjectSummary(hub) as String? == "Hub Ä1")
    let other = try #require(SecCertificateCreateWithData(nil, SampleCertificate.organization))
    #expect(SecCertificateCopySubjectSummary(other) as String? == "Only Org")
    #expect(hub != other)
  }

  @Test func whatIsNoCertificateGivesNothing() {
    let whole = SampleCertificate.hub
    #expect(SecCertificateCreateWithData(nil, Data()) == nil)
    #expect(SecCertificateCreateWithData(nil, Data("not a certificate".utf8)) == nil)
    #expect(SecCertificateCreateWithData(nil, whole + [0]) == nil, "one byte too many")
    #expect(SecCertificateCreateWithData(nil, Data([0x30, 0x80, 0, 0])) == nil, "no length")
    #expect(
      SecCertificateCreateWithData(nil, Data([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF])) == nil)
    for length in 0..<whole.count {
      #expect(SecCertificateCreateWithData(nil, whole.prefix(length)) == nil)
    }
  }

  /// Whatever a byte becomes, there is an answer and no crash.
  @Test func damagedCertificatesAreNoTrouble() {
    let whole = SampleCertificate.hub
    for position in whole.indices {
      for bit in [0x01, 0x80, 0xFF] as [UInt8] {
        var damaged = whole
        damaged[position] ^= bit
        if let certificate = SecCertificateCreateWithData(nil, damaged) {
          #expect(SecCertificateCopyData(certificate) == damaged)
        }
      }
    }
  }
}

extension OwnKeychain {
  @Suite struct CertificateItemTests {
    private func certificate(_ data: Data = SampleCertificate.hub) throws -> SecCertificate {
      try #require(SecCertificateCreateWithData(nil, data))
    }

    private let reference: [String: Any] = [kSecClass: kSecClassCertificate, kSecReturnRef: true]

    @Test func aCertificateSaysItsAttributesItself() throws {
      let store = try ProgramStore()
      #expect(add([kSecValueRef: try certificate()]) == errSecSuccess)
      let item = copy([
        kSecClass: kSecClassCertificate, kSecReturnAttributes: true, kSecReturnData: true,
      ]).dictionary
      #expect(item?[kSecAttrCertificateType] as? Int == 3)
      #expect(item?[kSecAttrCertificateEncoding] as? Int == 3)
      #expect(
        item?[kSecAttrSerialNumber] as? Data
          == Data([0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]))
      #expect(item?[kSecAttrPublicKeyHash] as? Data == SampleCertificate.hubKeyHash)
      #expect(item?[kSecAttrSubjectKeyID] as? Data == SampleCertificate.hubKeyHash)
      #expect(item?[kSecAttrLabel] as? String == "Hub Ä1")
      // It signed itself.
      let subject = try #require(item?[kSecAttrSubject] as? Data)
      #expect(item?[kSecAttrIssuer] as? Data == subject)
      #expect(subject.first == 0x30)
      #expect(item?[kSecValueData] as? Data == SampleCertificate.hub)
      withExtendedLifetime(store) {}
    }

    @Test func whatIsGivenBesidesGoesFirst() throws {
      let store = try ProgramStore()
      #expect(
        add([kSecValueRef: try certificate(), kSecAttrLabel: "front door"]) == errSecSuccess)
      #expect(
        copy([kSecClass: kSecClassCertificate, kSecAttrLabel: "front door"]).status
          == errSecSuccess)
      // Still the same certificate.
      #expect(add([kSecValueRef: try certificate()]) == errSecDuplicateItem)
      #expect(add([kSecValueRef: try certificate(SampleCertificate.organization)]) == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func dataOfACertificateIsAsGoodAsTheObject() throws {
      let store = try ProgramStore()
      #expect(
        add([kSecClass: kSecClassCertificate, kSecValueData: SampleCertificate.hub])
          == errSecSuccess)
      #expect(add([kSecValueRef: try certificate()]) == errSecDuplicateItem)
      let found = copy(reference)
      #expect(found.result as? SecCertificate == (try certificate()))
      withExtendedLifetime(store) {}
    }

    @Test func aSearchGivesObjects() throws {
      let store = try ProgramStore()
      for data in [SampleCertificate.hub, SampleCertificate.organization] {
        #expect(add([kSecValueRef: try certificate(data)]) == errSecSuccess)
      }
      let all = copy(reference.merging([kSecMatchLimit: kSecMatchLimitAll]) { $1 })
      let certificates = try #require(all.result as? [SecCertificate])
      #expect(
        certificates.map { SecCertificateCopyData($0) }
          == [SampleCertificate.hub, SampleCertificate.organization])
      let item = copy(reference.merging([kSecReturnAttributes: true]) { $1 }).dictionary
      #expect(item?[kSecValueRef] as? SecCertificate == certificates[0])
      withExtendedLifetime(store) {}
    }

    @Test func anObjectIsAQueryToo() throws {
      let store = try ProgramStore()
      for data in [SampleCertificate.hub, SampleCertificate.organization] {
        #expect(add([kSecValueRef: try certificate(data), kSecAttrLabel: "x"]) == errSecSuccess)
      }
      let query: [String: Any] = [kSecValueRef: try certificate(SampleCertificate.organization)]
      #expect(
        copy(query.merging([kSecReturnData: true]) { $1 }).data == SampleCertificate.organization)
      #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
      #expect(count(kSecClassCertificate) == 1)
      #expect(
        copy([kSecClass: kSecClassKey, kSecValueRef: try certificate()]).status == errSecParam)
      #expect(copy([kSecValueRef: "no object"]).status == errSecParam)
      // One that came out of the keychain is in a list of items, too.
      let found = try #require(copy(reference).result)
      #expect(
        copy([kSecClass: kSecClassCertificate, kSecMatchItemList: [found]]).status
          == errSecSuccess)
      #expect(
        copy([kSecClass: kSecClassCertificate, kSecMatchItemList: [try certificate()]]).status
          == errSecParam)
      withExtendedLifetime(store) {}
    }
  }
}
