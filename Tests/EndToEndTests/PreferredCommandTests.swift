// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("threadkeeper preferred", .inTurns, .timeLimit(.minutes(30)))
struct PreferredCommandTests {
  @Test("Shown, checked and set")
  func commands() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    #expect(try await installation.command("preferred", "show").status == 66)
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guest = try ThreadNetwork("guest")
    let routers = [BorderRouter(number: 1), BorderRouter(number: 2)]
    try await publisher.publish([
      routers[0].announces(try home.hex()), routers[1].announces(try guest.hex()),
    ])
    try await audience.until("both routers") { heard in
      routers.allSatisfy { heard.state($0.topic)?["credentials"] == "stored" }
    }

    let shown = try await installation.json("preferred", "show")
    #expect(shown["network_name"] == "home")
    #expect(shown["ext_pan_id"]?.text == home.extendedPANID)
    #expect(!shown.keys.contains("dataset"))
    #expect(
      try await installation.json("preferred", "show", "--show-secrets")["dataset"]?.text
        == (try home.hex()))
    #expect(try await installation.command("preferred", "check", home.hex(at: 9)).status == 0)
    let other = try await installation.command("preferred", "check", guest.hex())
    #expect(other.status == 1)
    #expect(other.output.hasPrefix("mismatch: network_key"))
    #expect(try await installation.command("preferred", "check", "0e").status == 65)

    let set = try await installation.command("preferred", "set", guest.extendedPANID, "--json")
    #expect(JSON(set.output) == ["changed": true])
    try await audience.until("the routers, checked again") {
      $0.state(routers[0].topic)?["preferred"] == "mismatch"
        && $0.state(routers[1].topic)?["preferred"] == "match"
        && $0.state("threadkeeper/network/\(guest.extendedPANID)")?["preferred"] == true
        && $0.state("threadkeeper/network/\(home.extendedPANID)")?["preferred"] == false
    }
    #expect(audience.look { $0.events("preferred_changed").last?["network_name"] == "guest" })
    #expect(
      JSON(try await installation.command("preferred", "set", guest.extendedPANID, "--json").output)
        == ["changed": false])
    let unknown = try await installation.command("preferred", "set", "0102030405060708")
    #expect(unknown.status == 66)

    let third = try ThreadNetwork("third")
    #expect(try await installation.command("preferred", "set", third.hex()).status == 0)
    #expect(try await installation.json("preferred", "show")["network_name"] == "third")
    try await audience.until("what was brought along") {
      $0.events("preferred_changed").last?["network_name"] == "third"
        && $0.state(routers[1].topic)?["preferred"] == "mismatch"
    }
    #expect(try await daemon.stop() == .exit(0))
    #expect(try installation.verify().matchesManifest)
  }
}
