// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("Many homes on one daemon", .inTurns, .timeLimit(.minutes(30)))
struct ManyHomesTests {
  private static let count = 500

  @Test("Each of 500 homes has its own topics and routers, and keeps them over a restart")
  func many() async throws {
    let broker = try TestBroker()
    let homes = (1...Self.count).map { "  home-\($0): {base_topic: tk/home-\($0)}" }
    let installation = try Installation(
      broker, hold: 0, more: "homes:\n" + homes.joined(separator: "\n"))
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let network = try ThreadNetwork("last")
    let last = BorderRouter("a1b2c3d4e5f60701", base: "tk/home-\(Self.count)")
    let other = BorderRouter("a1b2c3d4e5f60701", base: "tk/home-250")
    try await publisher.publish([last.announces(try network.hex()), other.says("announce")])
    try await audience.until("both routers, and all homes") { heard in
      heard.state(last.topic)?["credentials"] == "stored"
        && heard.state(other.topic)?["credentials"] == "missing"
        && heard.state("tk/home-\(Self.count)/bridge/info")?["routers"] == 1
        && (1...Self.count).allSatisfy {
          heard.state("tk/home-\($0)/bridge/state") == ["state": "online"]
            && heard.state("tk/home-\($0)/bridge/info")?["home"]?.text == "home-\($0)"
        }
    }
    #expect(audience.state(last.topic)?["home"]?.text == "home-\(Self.count)")
    #expect(audience.state("tk/home-1/bridge/info")?["routers"] == 0)
    let states = audience.look { heard in
      heard.latest.keys.filter { $0.contains("/router/") && $0.hasSuffix(last.agent) }
    }
    #expect(states.sorted() == [other.topic, last.topic].sorted())

    let status = try await installation.json("status")
    #expect(status["homes"]?.number == Int64(Self.count))
    #expect(status["routers"] == 2 && status["credentials"] == 1)
    #expect(status["preferred_networks"]?.list.map { $0["home"]?.text } == ["home-\(Self.count)"])
    #expect(
      try await installation.json("routers").list.map { $0["home"]?.text }
        == ["home-250", "home-\(Self.count)"])
    #expect(try await daemon.stop() == .exit(0))

    let again = try await installation.start()
    try await publisher.publish([last.leaves])
    try await audience.until("the leave, in one home only") {
      $0.latest[last.topic] == "" && $0.latest[other.topic] != ""
    }
    #expect(try await installation.json("status")["routers"] == 1)
    #expect(try await again.stop() == .exit(0))
    #expect(try installation.verify().matchesManifest)
  }
}
