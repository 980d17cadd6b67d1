import Foundation
import Synchronization
import ThreadDataset

/// Publishes services by the avahi-daemon of one side of a `LocalNetwork`. Killed with this object; avahi-daemon then
/// says goodbye for its services.
///
/// A test target that uses it depends on the target `service-probe`.
package final class ServicePublisher: Sendable {
  private let probe: LineProcess
  private let ports = Mutex<[String: UInt16]>([:])

  package init(_ network: LocalNetwork, _ side: LocalNetwork.Side = .far) throws {
    probe = try LineProcess([ServiceProbe.executable, "publish"], environment: network.environment(side))
  }

  /// Publishes a service, or changes the TXT record of one that is published. The first has port 49152, the next 49153.
  ///
  /// - Parameters:
  ///   - name: 1 to 63 bytes.
  ///   - text: the strings of the TXT record, of any bytes.
  /// - Throws: avahi-daemon refuses it, or does not answer.
  package func publish(_ name: String, type: String = "_meshcop._udp", text: [[UInt8]] = []) throws {
    let port = ports.withLock { ports in
      let port = ports[name] ?? 49_152 + UInt16(ports.count)
      ports[name] = port
      return port
    }
    let strings = text.map { $0.isEmpty ? "-" : Hexadecimal.encode($0) }
    try order((["set", Hexadecimal.encode(name.utf8), type, "\(port)"] + strings).joined(separator: " "))
  }

  /// Withdraws a service, with a goodbye.
  package func withdraw(_ name: String) throws { try order("remove \(Hexadecimal.encode(name.utf8))") }

  private func order(_ line: String) throws {
    let answer = try probe.ask(line)
    guard answer == "ok" else { throw Program.Failure(description: "\(line): \(answer)") }
  }
}

/// The program `service-probe`.
package enum ServiceProbe {
  package static var executable: String {
    ThreadkeeperBinary.executable.deletingLastPathComponent().appendingPathComponent("service-probe").path
  }
}

/// A multicast DNS response that announces one service and the address of its host (RFC 6762, section 6; RFC 1035,
/// section 4.1), of whatever bytes.
package struct MulticastPacket {
  /// The instance name: 1 to 63 bytes.
  package var name: [UInt8]
  package var service = "_meshcop"
  /// The data of the TXT record, which should be strings with a length byte before each; nil: there is none.
  package var text: [UInt8]?
  package var host: [UInt8]
  package var port: UInt16
  /// Seconds for which the service's records are valid.
  package var lifetime: UInt32
  /// Of the host.
  package var address: [UInt8]
  /// Seconds for which the host's address is valid.
  package var hostLifetime: UInt32

  package init(
    name: [UInt8], text: [UInt8]? = [0], host: [UInt8] = Array("raw".utf8), port: UInt16 = 0x1234,
    address: [UInt8] = [10, 99, 0, 2], lifetime: UInt32 = 120, hostLifetime: UInt32 = 120
  ) {
    self.name = name
    self.text = text
    self.host = host
    self.port = port
    self.address = address
    self.lifetime = lifetime
    self.hostLifetime = hostLifetime
  }

  package var bytes: [UInt8] {
    let type = label(service) + label("_udp") + label("local") + [0]
    let instance = label(name) + type
    return  // A response with authority, three or four answers.
      [0, 0, 0x84, 0, 0, 0, 0, text == nil ? 3 : 4, 0, 0, 0, 0] + record(type, 12, false, instance)
      + record(
        instance, 33, true, [0, 0, 0, 0, UInt8(port >> 8), UInt8(port & 0xFF)] + label(host) + label("local") + [0])
      + (text.map { record(instance, 16, true, $0) } ?? [])
      + record(label(host) + label("local") + [0], 1, true, address, hostLifetime)
  }

  /// Strings with a length byte before each.
  package static func strings(_ entries: [[UInt8]]) -> [UInt8] { entries.flatMap { [UInt8($0.count)] + $0 } }

  private func label(_ text: String) -> [UInt8] { label(Array(text.utf8)) }

  private func label(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count)] + bytes }

  private func record(_ name: [UInt8], _ kind: UInt16, _ isUnique: Bool, _ data: [UInt8], _ lifetime: UInt32? = nil)
    -> [UInt8]
  {
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

  package func send(_ packet: MulticastPacket) throws { try python.ask(Hexadecimal.encode(packet.bytes)) }
}
