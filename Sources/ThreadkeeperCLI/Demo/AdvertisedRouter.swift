// SPDX-License-Identifier: Apache-2.0

import ServiceDiscovery

/// A border router as it would advertise itself on the local network, with random ids.
struct AdvertisedRouter {
  let name: String
  /// The name of its Thread network: at most 16 bytes.
  let network: String
  private let id = Self.random(16)

  init(name: String, network: String) {
    self.name = name
    self.network = network
  }

  /// Its border agent id, under which the daemon lists it.
  var agent: String {
    id.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  var record: ServiceRecord {
    // The Thread interface is active, and so is the border agent: bits 3 and 4.
    let state: [UInt8] = [0, 0, 0, 0b1_0001]
    let values: [(String, [UInt8])] = [
      ("id", id), ("xa", Self.random(8)), ("xp", Self.random(8)), ("nn", Array(network.utf8)),
      ("vn", Array("Example".utf8)), ("mn", Array("TV box".utf8)), ("tv", Array("1.3.0".utf8)),
      ("sb", state), ("at", [0, 0, 0, 0, 0, 1, 0, 0]), ("pt", Self.random(4)),
    ]
    return ServiceRecord(
      name: name, host: "simulated.local", port: 49_191,
      text: TXTRecord(entries: values.map { Array("\($0)=".utf8) + $1 }))
  }

  private static func random(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in .random(in: 0 ... .max) }
  }
}
