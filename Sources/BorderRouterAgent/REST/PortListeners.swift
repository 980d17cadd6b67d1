import Glibc
import Synchronization
import ThreadkeeperSupport

/// Whose program takes the connections to a port of this machine. While a router is off, any user of its machine can
/// listen on its port.
///
/// The kernel is asked for the one listener: see `ListenerQuery`. Where it may not be asked, and until it has named
/// one, its lists of all sockets are read (proc(5)), which takes milliseconds:
///
/// ```
///   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
///    0: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 25430 …
/// ```
/// Each 32 bits of an address are printed as a number of this machine; `0A` is a socket that listens.
struct PortListeners {
  /// Of /proc/net/tcp and /proc/net/tcp6.
  private let ipv4: [Row]
  private let ipv6: [Row]

  private struct Row {
    let address: Substring
    let port: UInt16
    let user: UInt32
  }

  private static let anyIPv4 = "00000000"
  private static let anyIPv6 = "00000000000000000000000000000000"
  /// What an IPv4 address has before it as one of IPv6: RFC 4291, section 2.5.5.2.
  private static let mappedIPv4: [UInt8] = [UInt8](repeating: 0, count: 10) + [255, 255]
  /// Of a socket that listens, as the kernel prints it: TCP_LISTEN.
  private static let listens = "0A"
  /// The table may miss one while others come and go.
  private static let looks = 3

  /// Whether the kernel has named a listener: that it names none means something from then on. For `localhost` libcurl
  /// tries ::1 first, where mostly nobody listens.
  private static let kernelAnswers = Atomic(false)

  /// - Parameters: the two tables.
  init(ipv4: String, ipv6: String) {
    self.ipv4 = Self.rows(ipv4)
    self.ipv6 = Self.rows(ipv6)
  }

  /// As they are now.
  ///
  /// - Throws: `HTTPFailure.unchecked`.
  static func current() throws(HTTPFailure) -> PortListeners {
    // There is no second one in a kernel without IPv6.
    let hasIPv6 = access("/proc/net/tcp6", F_OK) == 0 || errno != ENOENT
    return try PortListeners(ipv4: text("/proc/net/tcp"), ipv6: hasIPv6 ? text("/proc/net/tcp6") : "")
  }

  /// Who has bound a port: while what belongs there is off, any user of the machine can.
  ///
  /// - Parameter users: whose programs may.
  /// - Returns: false where nobody has. Elsewhere than on this machine that is not known, and true.
  /// - Throws: `untrusted`, `unchecked`.
  static func areThere(at text: String, port: UInt16, of users: Set<UInt32>) throws(HTTPFailure) -> Bool {
    guard let address = IPAddress(text) else { throw .unchecked("\(text) is no address") }
    guard address.isLoopback else { return true }
    let found: Set<UInt32>
    switch ListenerQuery.answer(at: address.bytes, port: port) {
    case .user(let user):
      kernelAnswers.store(true, ordering: .relaxed)
      found = [user]
    case .nobody where kernelAnswers.load(ordering: .relaxed): found = []
    case .nobody, nil: found = try current().users(at: address.bytes, port: port)
    }
    if let other = found.subtracting(users).min() {
      throw .untrusted("a program of user \(other) listens on port \(port)")
    }
    return !found.isEmpty
  }

  /// The same for a connection that is there: somebody has taken it.
  ///
  /// - Throws: also `unreachable`, where nobody is found.
  static func check(_ text: String, port: UInt16, of users: Set<UInt32>) throws(HTTPFailure) {
    for _ in 0..<looks where try areThere(at: text, port: port, of: users) { return }
    throw .unreachable("nothing listens on port \(port)")
  }

  /// - Parameter address: in the order of the network: 4 bytes, or 16.
  /// - Returns: empty where nothing listens. A socket for this very address comes before one for all addresses.
  func users(at address: [UInt8], port: UInt16) -> Set<UInt32> {
    let own = Self.hex(address)
    let isIPv6 = address.count == 16
    let rows = isIPv6 ? ipv6 : ipv4
    let mapped = isIPv6 ? own : Self.hex(Self.mappedIPv4 + address)
    for (rows, wanted) in [
      (rows, own), (rows, isIPv6 ? Self.anyIPv6 : Self.anyIPv4), (ipv6, mapped), (ipv6, Self.anyIPv6),
    ] {
      let users = Set(rows.filter { $0.port == port && $0.address == wanted }.map(\.user))
      if !users.isEmpty { return users }
    }
    return []
  }

  private static func rows(_ table: String) -> [Row] {
    table.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count > 7, fields[3] == listens, let user = UInt32(fields[7]) else { return nil }
      let place = fields[1].split(separator: ":")
      guard place.count == 2, let port = UInt16(place[1], radix: 16) else { return nil }
      return Row(address: place[0], port: port, user: user)
    }
  }

  private static func hex(_ address: [UInt8]) -> String {
    stride(from: 0, to: address.count, by: 4).map { start in
      let word = address[start..<start + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
      let digits = String(word, radix: 16, uppercase: true)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  /// - Throws: `HTTPFailure.unchecked`.
  static func text(_ path: String) throws(HTTPFailure) -> String {
    guard let text = KernelFile.text(path) else { throw .unchecked("cannot read \(path)") }
    return text
  }
}

/// Asks the kernel for the listener that it would give a connection to, by NETLINK_SOCK_DIAG: sock_diag(7).
///
/// ```
///  request   0 length, 4 type, 6 flags, 8 sequence, 12 port of netlink         nlmsghdr
///           16 family, 17 protocol, 18 extensions, 20 states                   inet_diag_req_v2
///           24 port, 26 other port, 28 address, 44 other address, 60 interface, 64 cookie
///  answer    0 as above                                                        nlmsghdr
///           16 family, 17 state, …, 80 user, 84 inode                          inet_diag_msg
///           16 error                                                           nlmsgerr, where there is none
/// ```
/// Ports and addresses are in the order of the network, all else is in that of this machine. The address of the other
/// end is left at zero: the kernel then finds no connection, and goes on to who listens.
enum ListenerQuery {
  // Constants of <linux/netlink.h>, <linux/sock_diag.h>, <linux/tcp.h>, which no module of Swift has.
  private static let protocolOfDiagnosis: Int32 = 4  // NETLINK_SOCK_DIAG
  private static let byFamily: UInt16 = 20  // SOCK_DIAG_BY_FAMILY
  private static let isRequest: UInt16 = 1  // NLM_F_REQUEST
  private static let error: UInt16 = 2  // NLMSG_ERROR
  private static let listens: UInt8 = 10  // TCP_LISTEN
  private static let sequence: UInt32 = 1
  /// `lo`, whose index is the same on each machine: a listener may be bound to it.
  private static let loopback: UInt32 = 1

  /// Bytes, see the diagram.
  private static let requestLength = 72
  private static let addressLength = 32
  private static let errorLength = 20
  private static let answerLength = 88
  /// An answer has some attributes behind it.
  private static let mostOfAnAnswer = 1_024

  enum Answer: Equatable {
    case user(UInt32)
    /// ENOENT. A kernel that can't look for listeners says so, too.
    case nobody
  }

  /// - Parameter address: in the order of the network: 4 bytes, or 16; of this machine's loopback interface.
  /// - Returns: nil where the kernel may not be asked, as without AF_NETLINK in `RestrictAddressFamilies=`.
  static func answer(at address: [UInt8], port: UInt16) -> Answer? {
    let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), protocolOfDiagnosis)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let request = Self.request(address, port)
    guard send(descriptor, request, request.count, 0) == request.count else { return nil }
    // The kernel has answered before that returns.
    var answer = [UInt8](repeating: 0, count: mostOfAnAnswer)
    let count = recv(descriptor, &answer, answer.count, Int32(MSG_DONTWAIT))
    return self.answer(in: Array(answer.prefix(max(count, 0))), port: port)
  }

  static func request(_ address: [UInt8], _ port: UInt16) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) } }
    add(UInt32(requestLength))
    add(byFamily)
    add(isRequest)
    add(sequence)
    add(UInt32(0))
    add(UInt8(address.count == 4 ? AF_INET : AF_INET6))
    add(UInt8(IPPROTO_TCP))
    add(UInt16(0))
    add(UInt32.max)
    add(port.bigEndian)
    add(UInt16(0))
    bytes += address + [UInt8](repeating: 0, count: addressLength - address.count)
    add(loopback)
    // Any cookie.
    add(UInt64.max)
    return bytes
  }

  /// - Returns: nil for another error, and for all that is no listener on this port.
  static func answer(in answer: [UInt8], port: UInt16) -> Answer? {
    func value<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T {
      answer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
    guard answer.count >= errorLength, value(UInt32.self, at: 8) == sequence else { return nil }
    switch value(UInt16.self, at: 4) {
    case error: return value(Int32.self, at: 16) == -ENOENT ? .nobody : nil
    case byFamily where answer.count >= answerLength && answer[17] == listens:
      guard UInt16(bigEndian: value(UInt16.self, at: 20)) == port else { return nil }
      return .user(value(UInt32.self, at: 80))
    default: return nil
    }
  }
}
