import Home
import ServiceDiscovery
import ThreadDataset

/// As a border router advertises itself on the local network.
package typealias BorderRouterAdvertisement = Advertisement

/// From a DNS-SD record (RFC 6763; Thread specification, Border Agent discovery).
///
/// ```
/// id  16 bytes   border agent id              sb  4 bytes   state bitmap, big-endian
/// xa   8 bytes   extended address             at  8 bytes   active timestamp
/// xp   8 bytes   Extended PAN ID              pt  4 bytes   partition id, in either order
/// omr  9 bytes   64, the off-mesh routable prefix of so many bits
/// nn, vn, mn, tv   text: network name, vendor, model, Thread version
/// ```
extension Advertisement {
  /// The service type that border routers advertise.
  package static let serviceType = "_meshcop._udp"
  /// The one beside it that is there, empty, while a code opens the router (Thread 1.4, credential sharing).
  package static let codeServiceType = "_meshcop-e._udp"
  /// That of TREL, see `TRELPeers`.
  package static let peerServiceType = "_trel._udp"

  /// Its name is that of the service instance, which people see in apps.
  ///
  /// - Returns: nil for a record without an id.
  package init?(_ record: ServiceRecord) {
    let text = record.text
    let id = text["id"].flatMap { $0.count == 16 ? $0 : nil }
    self.init(id: id.flatMap { BorderAgentID(bytes: $0) }, extendedAddress: Self.extendedAddress(text))
    name = Self.text(Array(record.name.utf8), most: 63)
    endpoint = record.address.map { "\($0), \(record.port)" }
    vendor = Self.text(text["vn"], most: 64)
    model = Self.text(text["mn"], most: 64)
    // Thread specification: Network Name TLV, at most 16 bytes.
    networkName = Self.text(text["nn"], most: 16)
    threadVersion = Self.text(text["tv"], most: 16)
    network = text["xp"].flatMap(ExtendedPANID.init(bytes:))
    activeSeconds = text["at"].flatMap { $0.count == 8 ? Self.number($0) >> 16 : nil }
    partition = text["pt"].flatMap { $0.count == 4 ? UInt32(truncatingIfNeeded: Self.number($0)) : nil }
    offMeshPrefix = text["omr"].flatMap(Self.prefix)
    let state = text["sb"].flatMap { $0.count == 4 ? Self.number($0) : nil }
    // Bits 0 to 2: the connection mode. In the others no session is allowed, or one of a vendor.
    takesPSKc = state.map { $0 & 0b111 == 1 } ?? false
    // Bits 3 and 4: the Thread interface is not initialized (0), initialized (1), active (2).
    isThreadActive = state.map { $0 >> 3 & 0b11 == 2 } ?? true
    // Bit 11: it can be opened by an ephemeral key, which is a code.
    sharesByCode = state.map { $0 >> 11 & 1 == 1 }
    // Bits 9 and 10: its role. 0 is detached, or a router that does not say.
    let roles: [ThreadState?] = [nil, .child, .router, .leader]
    role = state.flatMap { roles[Int($0 >> 9 & 0b11)] }
    // Only who is attached has `at`. Without it, whose Thread is off is on no network, and neither is who has none yet:
    // OpenThread then advertises the values that it is built with.
    if activeSeconds == nil, !isThreadActive || network == .placeholder { (network, networkName) = (nil, nil) }
  }

  /// Why a record is none of a border router, as a clause: no id that it may be listed under.
  package static func flaw(_ record: ServiceRecord) -> String {
    let flaws = [("id", 16), ("xa", 8)].map { key, count in
      switch record.text[key] {
      case nil: "`\(key)` is missing"
      case let value? where value.count != count:
        "`\(key)` has \(value.count) byte\(value.count == 1 ? "" : "s") in place of \(count)"
      case _?: "`\(key)` is all zeros"
      }
    }
    return "its TXT record names no border router: \(flaws.joined(separator: ", and "))"
  }

  static func extendedAddress(_ text: TXTRecord) -> UInt64? { text["xa"].flatMap { $0.count == 8 ? number($0) : nil } }

  /// Thread has none but of 64 bits, global (2000::/3) or unique local ones (fc00::/7).
  private static func prefix(_ bytes: [UInt8]) -> UInt64? {
    guard bytes.count == 9, bytes[0] == 64, bytes[1] >> 5 == 0b001 || bytes[1] >> 1 == 0xFC >> 1 else { return nil }
    return number(bytes.dropFirst())
  }

  private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
