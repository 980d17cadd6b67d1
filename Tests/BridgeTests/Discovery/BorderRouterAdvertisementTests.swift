import Home
import ServiceDiscovery
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("A border router's record on the local network") struct BorderRouterAdvertisementTests {
  private func read(_ advert: Advert) throws -> BorderRouterAdvertisement {
    try #require(BorderRouterAdvertisement(advert.service))
  }

  @Test("Every value is read in its own encoding") func values() throws {
    let router = try read(Advert(address: "0011223344556677", at: 5, partition: 0xFFFF_FFFF))
    #expect(router.name == "Kitchen")
    #expect(router.vendor == "Acme")
    #expect(router.model == "BR-2")
    #expect(router.networkName == "home")
    #expect(router.network?.description == SampleNetwork.home.extendedPANID)
    #expect(router.extendedAddress == 0x0011_2233_4455_6677)
    #expect(router.activeSeconds == 5)
    #expect(router.partition == 0xFFFF_FFFF)
    #expect(router.threadVersion == "1.4.0")
    #expect(router.isThreadActive)
  }

  @Test("It may be listed under `id`, the first half of `id`, or `xa`, in this order") func agents() throws {
    let router = try read(Advert(address: "0011223344556677"))
    #expect(router.agents.map(\.description) == [Advert.garage, "b0b0b0b0c1c1c1c1", "0011223344556677"])
    let older = try read(Advert(id: nil, address: "0011223344556677"))
    #expect(older.agents.map(\.description) == ["0011223344556677"])
  }

  @Test(
    "A record without a usable id is none, and why is named",
    arguments: [
      (Advert(id: nil), "`id` is missing, and `xa` is missing"),
      (Advert(id: "00112233"), "`id` has 4 bytes in place of 16, and `xa` is missing"),
      (Advert(id: nil, address: "001122334455"), "`id` is missing, and `xa` has 6 bytes in place of 8"),
      (Advert(id: String(repeating: "0", count: 32)), "`id` is all zeros, and `xa` is missing"),
      (Advert(id: nil, more: ["id", "xa"]), "`id` is missing, and `xa` is missing"),
      (
        Advert(id: nil, more: ["id=00112233445566778899aabbccddee05", "xa=a101020304050505"]),
        "`id` has 32 bytes in place of 16, and `xa` has 16 bytes in place of 8"
      ),
    ]) func noID(_ advert: Advert, _ flaw: String)
  {
    #expect(BorderRouterAdvertisement(advert.service) == nil)
    #expect(BorderRouterAdvertisement.flaw(advert.service) == "its TXT record names no border router: \(flaw)")
  }

  @Test("Values of another length are left out, and the record still counts") func lengths() throws {
    let router = try read(
      Advert(network: nil, at: nil, partition: nil, more: ["xp=1234567", "at=123", "pt=12345", "sb=1", "xa=123456789"]))
    #expect(router.network == nil)
    #expect(router.activeSeconds == nil)
    #expect(router.partition == nil)
    #expect(router.extendedAddress == nil)
    #expect(router.isThreadActive)
  }

  @Test(
    "Text that is no text, or could play tricks on a terminal, is left out",
    arguments: ["a\u{1B}[31m", "a\nb", "\u{202E}abc", "\u{0}", String(repeating: "x", count: 17)]) func text(
      _ name: String
    ) throws
  { #expect(try read(Advert(networkName: name)).networkName == nil) }

  @Test("Bytes that are not UTF-8 are left out") func notUTF8() throws {
    var entries: [[UInt8]] = [Array("vn=".utf8) + [0xFF, 0xFE]]
    entries.append(Array("xa=".utf8) + [1, 2, 3, 4, 5, 6, 7, 8])
    let router = try #require(
      BorderRouterAdvertisement(ServiceRecord(name: "x", host: "h", port: 1, text: TXTRecord(entries: entries))))
    #expect(router.vendor == nil && router.endpoint == nil)
  }

  @Test("It is at the address and the port that its record has") func endpoint() throws {
    let entries = [Array("xa=".utf8) + [1, 2, 3, 4, 5, 6, 7, 8]]
    let record = ServiceRecord(
      name: "x", host: "h", address: "10.0.0.7", port: 49_154, text: TXTRecord(entries: entries))
    #expect(BorderRouterAdvertisement(record)?.endpoint == "10.0.0.7, 49154")
  }

  @Test(
    "Bits 3 and 4 of `sb` say whether the Thread interface is active",
    arguments: [(UInt32(0b00_000), false), (0b01_000, false), (0b10_000, true), (0b110_10_001, true)]) func interface(
      _ bits: UInt32, _ isActive: Bool
    ) throws
  { #expect(try read(Advert(state: bits)).isThreadActive == isActive) }

  @Test(
    "Bits 0 to 2 of `sb` say whether the PSKc opens it",
    arguments: [(nil, false), (0b10_000, false), (0b10_001, true), (0b10_011, false), (0b10_100, false)]
      as [(UInt32?, Bool)]) func connection(_ bits: UInt32?, _ takesPSKc: Bool) throws
  { #expect(try read(Advert(state: bits)).takesPSKc == takesPSKc) }

  @Test(
    "Bit 11 of `sb` says whether it can share by a code",
    arguments: [(nil, nil), (0b0111_1011_0001, false), (0b1000_1011_0001, true), (0x1FB1, true)] as [(UInt32?, Bool?)])
  func sharing(_ bits: UInt32?, _ sharesByCode: Bool?) throws {
    #expect(try read(Advert(state: bits)).sharesByCode == sharesByCode)
  }

  @Test(
    "`omr` is the number 64 and a global or unique local prefix, or there is none",
    arguments: [
      ("40fd97ff2655340001", "fd97:ff26:5534:1::/64"), ("4020010db800000000", "2001:db8::/64"),
      ("40fc00000000000001", "fc00:0:0:1::/64"), ("", nil), ("40", nil), ("40fd97ff26553400", nil),
      ("40fd97ff265534000100", nil), ("3ffd97ff2655340001", nil), ("30fd97ff265534", nil), ("00", nil),
      ("80fd97ff26553400010000000000000000", nil), ("40fe80000000000000", nil), ("40ff02000000000000", nil),
      ("400064ff9b00000000", nil), ("400000000000000000", nil),
    ] as [(String, String?)]) func offMeshPrefix(_ bytes: String, _ prefix: String?) throws
  { #expect(try read(Advert(omr: bytes)).offMeshPrefix?.prefixText == prefix) }

  @Test(
    "Bits 9 and 10 of `sb` say its role",
    arguments: [
      (nil, nil), (0b001_10_001, nil), (0b010_0011_0001, .child), (0b100_0011_0001, .router),
      (0b1110_0011_0001, .leader),
    ] as [(UInt32?, ThreadState?)]) func role(_ bits: UInt32?, _ role: ThreadState?) throws
  { #expect(try read(Advert(state: bits)).role == role) }
}

@Suite("A record on no network") struct RecordWithoutNetworkTests {
  private static let active: UInt32 = 0b1_0001

  @Test(
    "Without `at`, an inactive record and OpenThread's placeholder are on no network",
    arguments: [
      ("1111111122222222", active, nil, true), ("1111111122222222", nil, nil, true),
      ("1111111122222222", 0b0_0001, nil, false), ("1111111122222222", 0b0_1001, nil, false),
      ("1111111122222222", 0b0_0001, 1, true),
      // As ot-br-posix advertises it while it has no dataset.
      ("dead00beef00cafe", 0x21, nil, false), ("dead00beef00cafe", active, nil, false),
      ("dead00beef00cafe", nil, nil, false),
      // Formed with it.
      ("dead00beef00cafe", active, 1, true),
    ] as [(String, UInt32?, UInt64?, Bool)]) func network(
      _ id: String, _ state: UInt32?, _ at: UInt64?, _ isOnOne: Bool
    ) throws
  {
    var advert = Advert(at: at, state: state)
    advert.network?.extendedPANID = id
    let router = try #require(BorderRouterAdvertisement(advert.service))
    #expect(router.network?.description == (isOnOne ? id : nil))
    #expect(router.networkName == (isOnOne ? "home" : nil))
  }
}

/// A record as a border router of a test advertises it.
struct Advert {
  static let garage = "b0b0b0b0c1c1c1c1d2d2d2d2e3e3e3e3"

  var name = "Kitchen"
  var id: String? = garage
  var address: String?
  var network: SampleNetwork? = .home
  var networkName: String?
  var at: UInt64? = 1
  var partition: UInt32? = 7
  var state: UInt32?
  var omr: String?
  var more: [String] = []

  var service: ServiceRecord {
    var entries: [[UInt8]] = [Array("rv=1".utf8), Array("vn=Acme".utf8), Array("mn=BR-2".utf8)]
    func add(_ key: String, _ bytes: [UInt8]?) { if let bytes { entries.append(Array("\(key)=".utf8) + bytes) } }
    add("id", id.flatMap { Hexadecimal.decode($0) })
    add("xa", address.flatMap { Hexadecimal.decode($0) })
    add("xp", network.flatMap { Hexadecimal.decode($0.extendedPANID) })
    add("nn", network.map { Array((networkName ?? $0.name).utf8) })
    add("at", at.map { Self.bytes($0 << 16, 8) })
    add("pt", partition.map { Self.bytes(UInt64($0), 4) })
    add("sb", state.map { Self.bytes(UInt64($0), 4) })
    add("omr", omr.flatMap { Hexadecimal.decode($0) })
    add("tv", Array("1.4.0".utf8))
    entries += more.map { Array($0.utf8) }
    return ServiceRecord(name: name, host: "kitchen.local", port: 49_152, text: TXTRecord(entries: entries))
  }

  func with(_ change: (inout Advert) -> Void) -> Advert {
    var advert = self
    change(&advert)
    return advert
  }

  private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }
}
