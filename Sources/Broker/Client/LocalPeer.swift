import Glibc
import ThreadkeeperSupport

/// Who has the other end of a TCP connection that stays on this machine.
///
/// While the broker is away, every user of this machine may listen on its port, and without TLS a client shows its
/// password to whoever is there. So before CONNECT leaves, the user of the other end must be one of:
///
/// - root, who can read everything anyway, and opens the broker's port for it,
/// - this process's own user,
/// - `mosquitto`, where this machine has that user,
/// - those of `MosquittoConfiguration.brokerUsers`.
///
/// The kernel lists both ends of a connection in `/proc/net/tcp`, with the user that took it. An end that nobody has
/// taken yet has no inode, and says nothing: it may be taken later by anybody who shares the listener.
enum LocalPeer {
  enum Finding: Equatable {
    /// The other end is not in this network namespace. For an address of this machine that is a rule of the packet
    /// filter, as for a port of a container, and only root makes those. Or it was closed.
    case elsewhere
    case user(UInt32)
    /// It waits in the listener's queue.
    case notTaken
    /// The kernel's list is not there, or not whole.
    case unknown
  }

  private static let tables = ["/proc/net/tcp", "/proc/net/tcp6"]
  private static let pause = Duration.milliseconds(5)
  /// Looks that find no other end before there is none: another connection that ends meanwhile can move one out of
  /// sight.
  private static let looks = 3

  /// Waits until somebody has taken the connection.
  static func find(_ socket: Int32, until deadline: ContinuousClock.Instant) -> Finding {
    guard let own = SocketAddress.end(socket, getsockname), let peer = SocketAddress.end(socket, getpeername) else {
      // The connection has ended.
      return .elsewhere
    }
    guard peer.isLoopback || isOfInterface(peer) else { return .elsewhere }
    var missing = 0
    while true {
      let finding = find(own: own, peer: peer, in: tables.map { KernelFile.text($0) })
      if finding == .elsewhere || finding == .unknown { missing += 1 }
      switch finding {
      case .elsewhere where missing < looks, .unknown where missing < looks: break
      case .unknown where SocketAddress.end(socket, getpeername) == nil: return .elsewhere
      case .notTaken where .now < deadline: break
      default: return finding
      }
      usleep(useconds_t(pause.milliseconds) * 1000)
    }
  }

  /// - Parameter tables: the texts of `/proc/net/tcp` and `/proc/net/tcp6`; nil: it can't be read.
  static func find(own: SocketAddress, peer: SocketAddress, in tables: [String?]) -> Finding {
    var isOwnThere = false
    for (table, isIPv6) in zip(tables, [false, true]) where isIPv6 || peer.isIPv4 {
      guard let table else { continue }
      let there = "\(field(peer, isIPv6)) \(field(own, isIPv6)) "
      let here = "\(field(own, isIPv6)) \(field(peer, isIPv6)) "
      for line in table.utf8.split(separator: UInt8(ascii: "\n")) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
        let entry = line[colon...].dropFirst(2)
        if entry.starts(with: here.utf8) { isOwnThere = true }
        guard entry.starts(with: there.utf8) else { continue }
        return finding(entry.split(separator: UInt8(ascii: " ")))
      }
    }
    return isOwnThere ? .elsewhere : .unknown
  }

  /// `local remote st tx:rx tr:when retrnsmt uid timeout inode …` (proc(5)).
  private static func finding(_ fields: [Substring.UTF8View.SubSequence]) -> Finding {
    guard fields.count > 8, let user = UInt32(Substring(fields[6])), let inode = UInt64(Substring(fields[8])) else {
      return .unknown
    }
    guard inode == 0 else { return .user(user) }
    // Established, or not yet. Any other was taken and closed: nobody reads there any more.
    return ["01", "03"].contains(Substring(fields[2])) ? .notTaken : .elsewhere
  }

  /// As the kernel writes it: words of 32 bits in the machine's own order, in hex.
  private static func field(_ address: SocketAddress, _ isIPv6: Bool) -> String {
    let bytes = isIPv6 ? address.host : Array(address.host.suffix(4))
    let words = stride(from: 0, to: bytes.count, by: 4).map { index in
      hex(bytes[index..<index + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }, 8)
    }
    return "\(words.joined()):\(hex(UInt32(address.port), 4))"
  }

  private static func hex(_ value: UInt32, _ digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static func isOfInterface(_ address: SocketAddress) -> Bool {
    var list: UnsafeMutablePointer<ifaddrs>?
    // Without the list, the kernel's table says it.
    guard getifaddrs(&list) == 0 else { return true }
    defer { freeifaddrs(list) }
    var next = list
    while let entry = next?.pointee {
      if SocketAddress(ofInterface: entry.ifa_addr)?.host == address.host { return true }
      next = entry.ifa_next
    }
    return false
  }

  // MARK: Who may be the broker

  static func isBroker(_ user: UInt32, _ configuration: MosquittoConfiguration) -> Bool {
    if user == 0 || configuration.brokerUsers.contains(user) { return true }
    // Users whom a container does not know all have one number, and perhaps this process has it as well.
    if user == unknownUser { return false }
    return user == geteuid() || user == SystemAccount.user("mosquitto")
  }

  private static var unknownUser: UInt32 {
    KernelFile.text("/proc/sys/kernel/overflowuid").flatMap { UInt32($0.filter(\.isNumber)) } ?? 65_534
  }
}

extension MosquittoError {
  static func untrustedListener(_ user: UInt32, _ configuration: MosquittoConfiguration) -> MosquittoError {
    let name = SystemAccount.name(ofUser: user) ?? "\(user)"
    return MosquittoError(
      .untrustedListener,
      "the user `\(name)` of this machine listens on \(configuration.address), and is not the "
        + "broker's: nothing was sent there. If your broker runs as that user, name it in "
        + "`mqtt.broker_users`; else stop that program (`ss -ltnp` shows it)")
  }

  static func unknownListener(_ configuration: MosquittoConfiguration) -> MosquittoError {
    MosquittoError(
      .untrustedListener,
      "which user of this machine listens on \(configuration.address) can't be read from "
        + "`/proc/net/tcp`, so nothing was sent there: use TLS (`mqtt.tls.ca_file`)")
  }
}
