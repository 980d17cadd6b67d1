// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What a border router advertises on the local network.
struct AdvertisedRouter: Sendable {
  let agent: String
  var network: ThreadNetwork
  var partition: UInt8 = 1

  init(_ number: UInt8, _ network: ThreadNetwork) {
    agent = String(repeating: "0", count: 28) + "ab" + Hexadecimal.encode([number])
    self.network = network
  }

  var topic: String { "threadkeeper/router/\(agent)" }

  var text: [[UInt8]] {
    [
      Array("rv=1".utf8), Array("vn=Acme".utf8), Array("mn=BR-2".utf8),
      Array("nn=\(network.name)".utf8), Array("tv=1.4.0".utf8),
      Array("xp=".utf8) + (Hexadecimal.decode(network.extendedPANID) ?? []),
      Array("id=".utf8) + (Hexadecimal.decode(agent) ?? []),
      Array("at=".utf8) + [0, 0, 0, 0, 0, 1, 0, 0], Array("pt=".utf8) + [0, 0, 0, partition],
      Array("sb=".utf8) + [0, 0, 0, 0b10_000],
    ]
  }
}
