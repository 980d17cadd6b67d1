// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

/// The short form is `KillTests`.
@Suite("kill -9 for minutes", .serialized)
struct KillSoakTests {
  private static let kills = 300

  @Test(
    "300 kills at any moment, at 2,000 messages a second, lose nothing that the broker took",
    .enabled(if: Soak.kill.isWanted, "`make soak` runs it"))
  func soakKill() async throws {
    try await Soak.kill.measure { ledger in
      let broker = try TestBroker()
      let installation = try Installation(port: broker.port, hold: 60, logLevel: "notice")
      let witness = try await Audience.start(broker, "threadkeeper/bridge/state")
      var daemon = try await installation.start()
      let publisher = LoadPublisher(try SteadyLoad(rate: 2_000), to: broker)
      var online = 0
      for kill in 1...Self.kills {
        // One of three in its first steps, the others at work. How long those take depends on the machine.
        if !kill.isMultiple(of: 3) {
          try await eventually("the daemon to be online") {
            count("online", witness) > online || !daemon.isRunning
          }
        }
        try await Task.sleep(for: .milliseconds(.random(in: 1...600)))
        try Soak.check(daemon.isRunning, "it ended by itself:\n\(daemon.log)")
        try await daemon.kill9()
        online = count("online", witness)
        daemon = try installation.launch()
        ledger.round()
      }
      let load = publisher.load
      try await publisher.finish()
      try await eventually(within: .seconds(180), "all \(load.acknowledged) messages") {
        try await installation.json("status")["routers"]?.number == Int64(load.routers)
      }
      ledger.lose(try await load.lost(in: installation))
      let wills = count("offline", witness)
      try Soak.check(wills > Self.kills / 4, "only \(wills) last wills were published")
      ledger.name("`bridge/state` `offline`, \(wills) times; \(load.acknowledged) messages")
      try await installation.checkStop(daemon)
    }
  }

  private func count(_ state: String, _ witness: Audience) -> Int {
    let payload = Array(#"{"state":"\#(state)"}"#.utf8)
    return witness.look { $0.messages.count { $0.payload == payload } }
  }
}
