// SPDX-License-Identifier: Apache-2.0

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
    probe = try LineProcess(
      [ServiceProbe.executable, "publish"], environment: network.environment(side))
  }

  /// Publishes a service, or changes the TXT record of one that is published. The first has port 49152, the next 49153.
  ///
  /// - Parameters:
  ///   - name: 1 to 63 bytes.
  ///   - text: the strings of the TXT record, of any bytes.
  /// - Throws: avahi-daemon refuses it, or does not answer.
  package func publish(
    _ name: String, type: String = "_meshcop._udp", text: [[UInt8]] = []
  ) throws {
    let port = ports.withLock { ports in
      let port = ports[name] ?? 49_152 + UInt16(ports.count)
      ports[name] = port
      return port
    }
    let strings = text.map { $0.isEmpty ? "-" : Hexadecimal.encode($0) }
    try order(
      (["set", Hexadecimal.encode(name.utf8), type, "\(port)"] + strings).joined(separator: " "))
  }

  /// Withdraws a service, with a goodbye.
  package func withdraw(_ name: String) throws {
    try order("remove \(Hexadecimal.encode(name.utf8))")
  }

  private func order(_ line: String) throws {
    let answer = try probe.ask(line)
    guard answer == "ok" else { throw Program.Failure(description: "\(line): \(answer)") }
  }
}

/// The program `service-probe`.
package enum ServiceProbe {
  package static var executable: String {
    ThreadkeeperBinary.executable.deletingLastPathComponent()
      .appendingPathComponent("service-probe").path
  }
}
