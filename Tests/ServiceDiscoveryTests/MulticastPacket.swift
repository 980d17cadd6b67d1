// SPDX-License-Identifier: Apache-2.0

import TestKit
import ThreadDataset

/// A multicast DNS response that announces one service (RFC 6762, section 6; RFC 1035, section 4.1), of whatever
/// bytes.
struct MulticastPacket {
  /// The instance name: 1 to 63 bytes.
  var name: [UInt8]
  /// The data of the TXT record, which should be strings with a length byte before each.
  var text: [UInt8] = [0]
  var host: [UInt8] = Array("raw".utf8)
  /// Seconds for which the records are valid.
  var lifetime: UInt32 = 120

  var bytes: [UInt8] {
    let type = label("_meshcop") + label("_udp") + label("local") + [0]
    let instance = label(name) + type
    return
      // A response with authority, three answers.
      [0, 0, 0x84, 0, 0, 0, 0, 3, 0, 0, 0, 0]
      + record(type, 12, false, instance)
      + record(instance, 33, true, [0, 0, 0, 0, 0x12, 0x34] + label(host) + label("local") + [0])
      + record(instance, 16, true, text)
  }

  /// Strings with a length byte before each.
  static func strings(_ entries: [[UInt8]]) -> [UInt8] {
    entries.flatMap { [UInt8($0.count)] + $0 }
  }

  private func label(_ text: String) -> [UInt8] { label(Array(text.utf8)) }

  private func label(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count)] + bytes }

  private func record(_ name: [UInt8], _ kind: UInt16, _ isUnique: Bool, _ data: [UInt8]) -> [UInt8]
  {
    let head = [kind, isUnique ? 0x8001 : 1].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let life = (0..<4).map { UInt8(truncatingIfNeeded: lifetime >> (24 - 8 * $0)) }
    return name + head + life + [UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
  }
}

/// Sends packets from the far side of a network, where no avahi-daemon may run.
struct PacketSender {
  private let python: LineProcess

  init(_ network: LocalNetwork) throws {
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

  func send(_ packet: MulticastPacket) throws { try python.ask(Hexadecimal.encode(packet.bytes)) }
}
