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
    #expect(SecCertificateCreateWithData(nil, Data([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF])) == nil)
    for length in 0..<whole.count { #expect(SecCertificateCreateWithData(nil, whole.prefix(length)) == nil) }
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
    private let store = ProgramStore()

    private let reference: [String: Any] = [kSecClass: kSecClassCertificate, kSecReturnRef: true]

    @Test func aCertificateSaysItsAttributesItself() throws {
      insert([kSecValueRef: try certificate()])
      let item = attributes([kSecClass: kSecClassCertificate, kSecReturnData: true])
      #expect(item?[kSecAttrCertificateType] as? Int == 3)
      #expect(item?[kSecAttrCertificateEncoding] as? Int == 3)
      #expect(item?[kSecAttrSerialNumber] as? Data == Data([0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]))
      #expect(item?[kSecAttrPublicKeyHash] as? Data == SampleCertificate.hubKeyHash)
      #expect(item?[kSecAttrSubjectKeyID] as? Data == SampleCertificate.hubKeyHash)
      #expect(item?[kSecAttrLabel] as? String == "Hub Ä1")
      // It signed itself.
      let subject = try #require(item?[kSecAttrSubject] as? Data)
      #expect(item?[kSecAttrIssuer] as? Data == subject)
      #expect(subject.first == 0x30)
      #expect(item?[kSecValueData] as? Data == SampleCertificate.hub)
    }

    @Test func whatIsGivenBesidesGoesFirst() throws {
      insert([kSecValueRef: try certificate(), kSecAttrLabel: "front door"])
      #expect(find([kSecClass: kSecClassCertificate, kSecAttrLabel: "front door"]) == errSecSuccess)
      // Still the same certificate.
      #expect(add([kSecValueRef: try certificate()]) == errSecDuplicateItem)
      insert([kSecValueRef: try certificate(SampleCertificate.organization)])
    }

    @Test func dataOfACertificateIsAsGoodAsTheObject() throws {
      insert([kSecClass: kSecClassCertificate, kSecValueData: SampleCertificate.hub])
      #expect(add([kSecValueRef: try certificate()]) == errSecDuplicateItem)
      let found = copy(reference)
      #expect(found.result as? SecCertificate == (try certificate()))
    }

    @Test func aSearchGivesObjects() throws {
      for data in [SampleCertificate.hub, SampleCertificate.organization] {
        insert([kSecValueRef: try certificate(data)])
      }
      let all = copy(reference, [kSecMatchLimit: kSecMatchLimitAll])
      let certificates = try #require(all.result as? [SecCertificate])
      #expect(
        certificates.map { SecCertificateCopyData($0) } == [SampleCertificate.hub, SampleCertificate.organization])
      let item = attributes(reference)
      #expect(item?[kSecValueRef] as? SecCertificate == certificates[0])
    }

    @Test func anObjectIsAQueryToo() throws {
      for data in [SampleCertificate.hub, SampleCertificate.organization] {
        insert([kSecValueRef: try certificate(data), kSecAttrLabel: "x"])
      }
      let query: [String: Any] = [kSecValueRef: try certificate(SampleCertificate.organization)]
      #expect(copy(query, [kSecReturnData: true]).data == SampleCertificate.organization)
      #expect(delete(query) == errSecSuccess)
      #expect(count(kSecClassCertificate) == 1)
      #expect(find([kSecClass: kSecClassKey, kSecValueRef: try certificate()]) == errSecParam)
      #expect(find([kSecValueRef: "no object"]) == errSecParam)
      // One that came out of the keychain is in a list of items, too.
      let found = try #require(copy(reference).result)
      #expect(find([kSecClass: kSecClassCertificate, kSecMatchItemList: [found]]) == errSecSuccess)
      #expect(find([kSecClass: kSecClassCertificate, kSecMatchItemList: [try certificate()]]) == errSecParam)
    }
  }
}
