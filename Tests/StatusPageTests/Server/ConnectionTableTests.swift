// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StatusPage

struct ConnectionTableTests {
  private func table() -> ConnectionTable {
    ConnectionTable(
      most: 8, healthChecks: 1, mostOfPeer: 2, unlimited: PeerAddress("192.168.1.9"))
  }

  @Test(
    "One address of another machine has so many places, loopback and the proxy all",
    arguments: [
      ("192.168.1.5", 2), ("2001:db8::1", 2), ("fe80::1", 2), ("unreadable", 2),
      ("127.0.0.1", 8), ("::1", 8), ("192.168.1.9", 8),
    ])
  func places(peer: String, most: Int) {
    let table = table()
    var numbers: [UInt64] = []
    for _ in 0..<8 {
      guard let place = table.add(peer) else { break }
      numbers.append(place.number)
      _ = table.keep(place.number, isHealthCheck: numbers.count > 7)
    }
    #expect(numbers.count == most)
    table.remove(numbers[0])
    #expect(table.add(peer) != nil)
  }
}
