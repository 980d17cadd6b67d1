import Glibc
import ThreadkeeperSupport

/// The interfaces of this machine and its IPv6 routes, as its kernel has them now.
package struct MachineNetwork: Hashable, Sendable {
  package var interfaces: [Interface] = []
  package var routes: [Route] = []

  package struct Interface: Hashable, Sendable {
    package let name: String
    /// 4 or 16 bytes each, in the order of the network.
    package var addresses: [Address] = []
    /// Of the kernel's own settings (ip-sysctl), each nil where the kernel has no such one.
    package var isIPv6Disabled: Bool?
    package var acceptsAdvertisements: Int?
    package var longestRoute: Int?
    package var forwards = false
    /// It is a bridge that passes multicast only to who has asked for it, and asks nobody itself.
    package var filtersMulticast = false
  }

  package struct Address: Hashable, Sendable {
    package let bytes: [UInt8]
    /// Bits of the prefix of its link.
    package let length: Int
  }

  /// To a prefix of at most 64 bits.
  package struct Route: Hashable, Sendable {
    package let prefix: UInt64
    package let length: Int
    /// Where to; none: it says that there is no way.
    package var hops: [Hop]
    /// Of a router advertisement (RFC 4861, RFC 4191).
    package var isAdvertised = false
  }

  package struct Hop: Hashable, Sendable {
    package let interface: String
    /// The next router; nil: what is there is on the link.
    package var gateway: String?
    /// The kernel has asked for it on the link, and got no answer.
    package var isSilent = false
  }

  /// - Returns: the bytes of an address without a zone, in the order of the network; nil where it is none.
  package static func bytes(of text: some StringProtocol) -> [UInt8]? {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, String(text), &four) == 1 { return withUnsafeBytes(of: four) { [UInt8]($0) } }
    guard inet_pton(AF_INET6, String(text), &six) == 1 else { return nil }
    return withUnsafeBytes(of: six) { [UInt8]($0) }
  }

  /// The port of Matter servers: Home Assistant's, and python-matter-server.
  private static let matterPort = "15CC"

  /// Whether a Matter server listens on this machine (proc(5)). Nothing is sent to it.
  package static var hasMatterServer: Bool {
    ["/proc/net/tcp", "/proc/net/tcp6"].contains { table in
      (KernelFile.text(table) ?? "").split(separator: "\n").dropFirst().contains { line in
        let fields = line.split(separator: " ", maxSplits: 4)
        return fields.count > 3 && fields[3] == "0A" && fields[1].hasSuffix(":\(matterPort)")
      }
    }
  }
}

extension MachineNetwork {
  /// A machine may have thousands, of containers.
  private static let mostInterfaces = 256
  private static let loopback: UInt32 = 1 << 3  // IFF_LOOPBACK
  private static let failed: UInt16 = 0x20  // NUD_FAILED

  /// - Returns: nil where the kernel may not be asked, as without AF_NETLINK in `RestrictAddressFamilies=`.
  package static func read() -> MachineNetwork? {
    guard let links = KernelList.links.entries(), let addresses = KernelList.addresses.entries(),
      let routes = KernelList.routes.entries(), let neighbors = KernelList.neighbors.entries()
    else { return nil }
    var network = MachineNetwork()
    var names: [UInt32: String] = [:]
    var places: [UInt32: Int] = [:]
    for link in links {
      let index = link.value(UInt32.self, at: 4)
      guard let name = link.attributes[3].map({ String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }) else {
        continue
      }
      names[index] = name
      guard link.value(UInt32.self, at: 8) & loopback == 0, places.count < mostInterfaces else { continue }
      places[index] = network.interfaces.count
      var interface = Interface(name: name, filtersMulticast: link.filtersMulticast)
      interface.readSettings()
      network.interfaces.append(interface)
    }
    for one in addresses {
      // Of a point-to-point link the first one is the other end's.
      guard let place = places[one.value(UInt32.self, at: 4)], let bytes = one.attributes[2] ?? one.attributes[1] else {
        continue
      }
      network.interfaces[place].addresses.append(Address(bytes: bytes, length: Int(one.header[1])))
    }
    let silent = Set(
      neighbors.compactMap { one -> Neighbor? in
        guard one.value(UInt16.self, at: 8) & failed != 0, let address = one.attributes[1] else { return nil }
        return Neighbor(interface: one.value(UInt32.self, at: 4), address: address)
      })
    network.routes = routes.compactMap { Route($0, names: names, silent: silent) }
    return network
  }

  fileprivate struct Neighbor: Hashable {
    let interface: UInt32
    let address: [UInt8]
  }
}

extension MachineNetwork.Interface {
  fileprivate mutating func readSettings() {
    func value(_ key: String) -> Int? {
      KernelFile.text("/proc/sys/net/ipv6/conf/\(name)/\(key)").flatMap { Int($0.filter { !$0.isNewline }) }
    }
    isIPv6Disabled = value("disable_ipv6").map { $0 != 0 }
    acceptsAdvertisements = value("accept_ra")
    longestRoute = value("accept_ra_rt_info_max_plen")
    forwards = value("forwarding").map { $0 != 0 } ?? false
  }
}

extension MachineNetwork.Route {
  private static let local: UInt32 = 255  // RT_TABLE_LOCAL
  private static let unicast: UInt8 = 1  // RTN_UNICAST
  private static let ofAdvertisement: UInt8 = 9  // RTPROT_RA
  private static let cached: UInt32 = 0x200  // RTM_F_CLONED
  private static let isOut: UInt8 = 0x11  // RTNH_F_DEAD, RTNH_F_LINKDOWN

  /// - Returns: nil for one that is not used for others, or to less than a network.
  fileprivate init?(_ entry: KernelList.Entry, names: [UInt32: String], silent: Set<MachineNetwork.Neighbor>) {
    let flags = entry.value(UInt32.self, at: 8)
    let table = entry.attributes[15].map { KernelList.value(UInt32.self, in: $0, at: 0) } ?? UInt32(entry.header[4])
    guard flags & Self.cached == 0, table != Self.local, entry.header[1] <= 64 else { return nil }
    let prefix = (entry.attributes[1] ?? []).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    func hop(_ index: UInt32, _ attributes: [UInt16: [UInt8]], _ flags: UInt8) -> MachineNetwork.Hop? {
      guard flags & Self.isOut == 0, let name = names[index] else { return nil }
      let gateway = attributes[5]
      let isSilent = gateway.map { silent.contains(.init(interface: index, address: $0)) } ?? false
      return MachineNetwork.Hop(interface: name, gateway: gateway.flatMap(KernelList.text), isSilent: isSilent)
    }
    var hops: [MachineNetwork.Hop] = []
    if entry.header[7] == Self.unicast {
      if let out = entry.attributes[4] {
        hops = [hop(KernelList.value(UInt32.self, in: out, at: 0), entry.attributes, UInt8(truncatingIfNeeded: flags))]
          .compactMap(\.self)
      }
      // rtnexthop: its length (2 bytes), flags, hops, index (4 bytes), attributes.
      var rest = (entry.attributes[9] ?? [])[...]
      while rest.count >= 8 {
        let next = Array(rest)
        let length = Int(KernelList.value(UInt16.self, in: next, at: 0))
        guard length >= 8, length <= next.count else { break }
        let index = KernelList.value(UInt32.self, in: next, at: 4)
        hops += [hop(index, KernelList.attributes(in: next[8..<length]), next[2])].compactMap(\.self)
        rest = rest.dropFirst((length + 3) & ~3)
      }
    }
    self.init(
      prefix: prefix, length: Int(entry.header[1]), hops: hops, isAdvertised: entry.header[5] == Self.ofAdvertisement)
  }
}

/// A list that the kernel gives by rtnetlink(7). Numbers are in the order of this machine, and addresses in that of the
/// network:
///
/// ```
///           0 length, 4 type, 6 flags, 8 sequence, 12 port            nlmsghdr
///  links    0 family, 2 type, 4 index, 8 flags, 12 change             ifinfomsg   3 name, 18 info {1 kind, 2 data}
///  addresses 0 family, 1 length, 2 flags, 3 scope, 4 index            ifaddrmsg   1 address, 2 own address
///  routes   0 family, 1 length, 4 table, 5 protocol, 7 type, 8 flags  rtmsg       1 to, 4 interface, 5 gateway,
///                                                                                 9 several ways, 15 table
///  neighbors 0 family, 4 index, 8 state                               ndmsg       1 address
///  each attribute: 0 length, 2 type, 4 value, up to a multiple of 4   rtattr
/// ```
struct KernelList {
  // RTM_GETLINK and so on: no module of Swift has them.
  static let links = KernelList(type: 18, family: AF_UNSPEC, headerLength: 16)
  static let addresses = KernelList(type: 22, family: AF_UNSPEC, headerLength: 8)
  static let routes = KernelList(type: 26, family: AF_INET6, headerLength: 12)
  static let neighbors = KernelList(type: 30, family: AF_INET6, headerLength: 12)

  private static let lists: UInt16 = 0x301  // NLM_F_REQUEST, NLM_F_DUMP
  private static let error: UInt16 = 2  // NLMSG_ERROR
  private static let done: UInt16 = 3  // NLMSG_DONE
  private static let isChanged: UInt16 = 0x10  // NLM_F_DUMP_INTR: while the list was made
  private static let messageHeader = 16
  /// Of one answer, which has many messages; of all, so that no machine that routes the internet is read.
  private static let answerBytes = 64 << 10
  private static let mostBytes = 8 << 20

  let type: UInt16
  let family: Int32
  /// After that of the message.
  let headerLength: Int

  struct Entry {
    let header: [UInt8]
    let attributes: [UInt16: [UInt8]]

    func value<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T {
      KernelList.value(type, in: header, at: offset)
    }
  }

  /// - Returns: nil where the kernel may not be asked, has too many, or changes them meanwhile.
  func entries() -> [Entry]? {
    let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var request: [UInt8] = []
    func add(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { request.append(contentsOf: $0) } }
    add(UInt32(Self.messageHeader + headerLength))
    add(type)
    add(Self.lists)
    add(UInt32(1))
    add(UInt32(0))
    request += [UInt8(family)] + [UInt8](repeating: 0, count: headerLength - 1)
    guard send(descriptor, request, request.count, 0) == request.count else { return nil }
    var entries: [Entry] = []
    var answer = [UInt8](repeating: 0, count: Self.answerBytes)
    var read = 0
    while read < Self.mostBytes {
      // What comes next is there when the last one was taken.
      // With MSG_TRUNC the count is that of the whole answer.
      let count = recv(descriptor, &answer, answer.count, Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC))
      guard count > 0, count <= answer.count, let isWhole = take(Array(answer.prefix(count)), &entries) else {
        return nil
      }
      if isWhole { return entries }
      read += count
    }
    return nil
  }

  /// - Returns: whether that were all; nil where it is no answer, or not the whole list.
  func take(_ answer: [UInt8], _ entries: inout [Entry]) -> Bool? {
    var start = 0
    while start + Self.messageHeader <= answer.count {
      let length = Int(Self.value(UInt32.self, in: answer, at: start))
      guard length >= Self.messageHeader, length <= answer.count - start else { return nil }
      guard Self.value(UInt16.self, in: answer, at: start + 6) & Self.isChanged == 0 else { return nil }
      let body = answer[start + Self.messageHeader..<start + length]
      switch Self.value(UInt16.self, in: answer, at: start + 4) {
      // With the number of an error, where there is one.
      case Self.done: return Self.value(Int32.self, in: Array(body), at: 0) < 0 ? nil : true
      case Self.error: return nil
      // RTM_NEWLINK and so on.
      case type - 2 where body.count >= headerLength:
        entries.append(
          Entry(header: Array(body.prefix(headerLength)), attributes: Self.attributes(in: body.dropFirst(headerLength)))
        )
      default: break
      }
      start += (length + 3) & ~3
    }
    return false
  }

  /// By type, without the bits that say how they are to be read.
  static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt16: [UInt8]] {
    var attributes: [UInt16: [UInt8]] = [:]
    var rest = bytes
    while rest.count >= 4 {
      let head = Array(rest.prefix(4))
      let length = Int(value(UInt16.self, in: head, at: 0))
      guard length >= 4, length <= rest.count else { break }
      attributes[value(UInt16.self, in: head, at: 2) & 0x3FFF] = Array(rest.prefix(length).dropFirst(4))
      rest = rest.dropFirst((length + 3) & ~3)
    }
    return attributes
  }

  /// - Returns: 0 where there are too few bytes.
  static func value<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, in bytes: [UInt8], at offset: Int) -> T {
    guard bytes.count >= offset + MemoryLayout<T>.size else { return 0 }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }

  /// An IPv6 address.
  static func text(_ address: [UInt8]) -> String? {
    guard address.count == 16 else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, address, &text, socklen_t(text.count)) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension KernelList.Entry {
  /// Of a link: IFLA_LINKINFO with the kind `bridge`, IFLA_BR_MCAST_SNOOPING and IFLA_BR_MCAST_QUERIER.
  fileprivate var filtersMulticast: Bool {
    let info = KernelList.attributes(in: (attributes[18] ?? [])[...])
    guard info[1].map({ $0.starts(with: Array("bridge".utf8)) }) == true else { return false }
    let bridge = KernelList.attributes(in: (info[2] ?? [])[...])
    return bridge[23]?.first == 1 && bridge[25]?.first == 0
  }
}
