import CLibAvahi
import Glibc

/// Asks the network itself for services, from ports of its own: responders answer those by unicast. It lives on the
/// thread of an `AvahiSession`.
///
/// It has sockets from the first question of a round to its end, and needs no privilege.
final class ServiceQuery {
  /// Packets that are read in a round: three queries for each of 200 services, on a few paths.
  static let maximumPackets = 2_000
  private static let port: UInt16 = 5353

  private struct Socket {
    var descriptor: Int32
    var watch: OpaquePointer
  }

  private let type: String
  private let poll: UnsafePointer<AvahiPoll>
  private let answered: (String) -> Void
  private let flooded: () -> Void
  private var question: ServiceQuestion
  /// By `ServicePath.protocol`.
  private var sockets: [Int32: Socket] = [:]
  private var names: [[UInt8]: String] = [:]
  private var packets = 0

  /// - Parameters:
  ///   - type: with its domain, such as `_meshcop._udp.local`.
  ///   - poll: outlives it.
  ///   - answered: is called for each service that has answered.
  ///   - flooded: is called when a round ends because of too many packets.
  init(
    type: String, poll: UnsafePointer<AvahiPoll>, answered: @escaping (String) -> Void, flooded: @escaping () -> Void
  ) {
    self.type = type
    self.poll = poll
    self.answered = answered
    self.flooded = flooded
    question = ServiceQuestion(id: 0, type: type)
  }

  deinit { end() }

  /// Asks for a service on all these paths.
  ///
  /// - Returns: false when the system sends it on none of them.
  func send(_ name: String, on paths: Set<ServicePath>) -> Bool {
    if names.isEmpty {
      question = ServiceQuestion(id: .random(in: .min ... .max), type: type)
      packets = 0
      for family in [AVAHI_PROTO_INET, AVAHI_PROTO_INET6] { open(Int32(family)) }
    }
    names[ServiceQuestion.key(name)] = name
    let packet = question.packet(for: name)
    return paths.filter { send(packet, on: $0) }.isEmpty == false
  }

  /// Ends a round.
  func end() {
    names = [:]
    for socket in sockets.values {
      poll.pointee.watch_free(socket.watch)
      close(socket.descriptor)
    }
    sockets = [:]
  }

  private func open(_ family: Int32) {
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(family == AVAHI_PROTO_INET ? AF_INET : AF_INET6, kind, 0)
    guard descriptor >= 0 else { return }
    let watch = poll.pointee.watch_new(
      poll, descriptor, AVAHI_WATCH_IN,
      { _, descriptor, _, query in
        guard let query else { return }
        Unmanaged<ServiceQuery>.fromOpaque(query).takeUnretainedValue().receive(descriptor)
      }, Unmanaged.passUnretained(self).toOpaque())
    guard let watch else {
      close(descriptor)
      return
    }
    sockets[family] = Socket(descriptor: descriptor, watch: watch)
  }

  private func send(_ packet: [UInt8], on path: ServicePath) -> Bool {
    guard let descriptor = sockets[path.protocol]?.descriptor else { return false }
    guard path.protocol == AVAHI_PROTO_INET else {
      var group = sockaddr_in6()
      group.sin6_family = sa_family_t(AF_INET6)
      group.sin6_port = Self.port.bigEndian
      group.sin6_scope_id = UInt32(bitPattern: path.interface)
      inet_pton(AF_INET6, "ff02::fb", &group.sin6_addr)
      return send(packet, from: descriptor, to: group)
    }
    var interface = ip_mreqn()
    interface.imr_ifindex = path.interface
    let size = socklen_t(MemoryLayout<ip_mreqn>.size)
    guard setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &interface, size) == 0 else { return false }
    var group = sockaddr_in()
    group.sin_family = sa_family_t(AF_INET)
    group.sin_port = Self.port.bigEndian
    inet_pton(AF_INET, "224.0.0.251", &group.sin_addr)
    return send(packet, from: descriptor, to: group)
  }

  private func send<Group>(_ packet: [UInt8], from descriptor: Int32, to group: Group) -> Bool {
    withUnsafeBytes(of: group) { address in
      sendto(
        descriptor, packet, packet.count, 0, address.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(address.count)) == packet.count
    }
  }

  private func receive(_ descriptor: Int32) {
    var buffer = [UInt8](repeating: 0, count: ServiceQuestion.maximumPacketBytes)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count >= 0 else { return }
      packets += 1
      guard packets <= Self.maximumPackets else {
        end()
        return flooded()
      }
      for key in question.answers(in: Array(buffer[..<count])) { if let name = names[key] { answered(name) } }
    }
  }
}
