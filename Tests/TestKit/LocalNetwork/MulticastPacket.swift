// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// A multicast DNS response that announces one service and the address of its host (RFC 6762, section 6; RFC 1035,
/// section 4.1), of whatever bytes.
package struct MulticastPacket {
  /// The instance name: 1 to 63 bytes.
  package var name: [UInt8]
  /// The data of the TXT record, which should be strings with a length byte before each.
  package var text: [UInt8]
  package var host: [UInt8]
  /// Seconds for which the service's records are valid.
  package var lifetime: UInt32
  /// Seconds for which the host's address is valid.
  package var hostLifetime: UInt32

  package init(
    name: [UInt8], text: [UInt8] = [0], host: [UInt8] = Array("raw".utf8), lifetime: UInt32 = 120,
    hostLifetime: UInt32 = 120
  ) {
    self.name = name
    self.text = text
    self.host = host
    self.lifetime = lifetime
    self.hostLifetime = hostLifetime
  }

  package var bytes: [UInt8] {
    let type = label("_meshcop") + label("_udp") + label("local") + [0]
    let instance = label(name) + type
    return
      // A response with authority, four answers.
      [0, 0, 0x84, 0, 0, 0, 0, 4, 0, 0, 0, 0]
      + record(type, 12, false, instance)
      + record(instance, 33, true, [0, 0, 0, 0, 0x12, 0x34] + label(host) + label("local") + [0])
      + record(instance, 16, true, text)
      + record(label(host) + label("local") + [0], 1, true, [10, 99, 0, 2], hostLifetime)
  }

  /// Strings with a length byte before each.
  package static func strings(_ entries: [[UInt8]]) -> [UInt8] {
    entries.flatMap { [UInt8($0.count)] + $0 }
  }

  private func label(_ text: String) -> [UInt8] { label(Array(text.utf8)) }

  private func label(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count)] + bytes }

  private func record(
    _ name: [UInt8], _ kind: UInt16, _ isUnique: Bool, _ data: [UInt8], _ lifetime: UInt32? = nil
  ) -> [UInt8] {
    let lifetime = lifetime ?? self.lifetime
    let head = [kind, isUnique ? 0x8001 : 1].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let life = (0..<4).map { UInt8(truncatingIfNeeded: lifetime >> (24 - 8 * $0)) }
    return name + head + life + [UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
  }
}

/// Sends packets from the far side of a network, where no avahi-daemon may run.
package struct PacketSender {
  private let python: LineProcess

  package init(_ network: LocalNetwork) throws {
    let script = """
      import socket, sys
      s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
      s.bind(("10.99.0.2", 5353))
      s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.99.0.2"))
      s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
      for line in sys.stdin:
        s.sendto(bytes.fromhex(line), ("224.0.0.251", 5353))
        print("ok", flush=True)
      """
    python = try LineProcess(network.launcher(.far) + ["python3", "-c", script])
  }

  package func send(_ packet: MulticastPacket) throws {
    try python.ask(Hexadecimal.encode(packet.bytes))
  }
}
