// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite("A way to the broker that fails", .inTurns, .timeLimit(.minutes(30)))
struct ProxyTests {
  @Test("Lost acknowledgements, cuts, silence, duplicates, slowness: every report is stored, once")
  func eachOnce() async throws {
    var scene = try await ProxyScene.start()
    for fault in ProxyFaults.kinds(cutAfter: 1_000) { try await scene.round(fault) }
    _ = try await scene.end()
  }
}

@Suite("A way to the broker that fails for minutes", .serialized)
struct ProxySoakTests {
  /// Each begins with a new daemon: one whose connections are cut again and again waits for up to a minute.
  private static let scenes = 6

  @Test(
    "Any order of the faults, and a long silence",
    .enabled(if: Soak.proxy.isWanted, "`make soak` runs it"))
  func soakProxy() async throws {
    try await Soak.proxy.measure { ledger in
      for number in 1...Self.scenes {
        var scene = try await ProxyScene.start()
        for fault in ProxyFaults.kinds(cutAfter: .random(in: 0...6_000)).shuffled() {
          try await scene.round(fault)
          ledger.round()
        }
        if number == Self.scenes {
          try await scene.longSilence()
          ledger.round()
        }
        ledger.name(try await scene.end())
      }
    }
  }
}

enum ProxyFaults {
  static func kinds(cutAfter bytes: Int) -> [Relay.Fault] {
    [.lostAcknowledgements, .cut(after: bytes), .blackHole, .duplicates, .slow]
  }
}
