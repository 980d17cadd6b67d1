// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("threadkeeper preferred show --history", .inTurns, .timeLimit(.minutes(30)))
struct PreferredHistoryCommandTests {
  @Test("Listed, chosen, forgotten and deleted, and audited")
  func commands() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let empty = try await installation.command("routers")
    #expect(
      empty.output.hasPrefix("No border router is listed. Each appears when it announces itself"))
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guest = try ThreadNetwork("guest")
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router") { $0.state(router.topic) != nil }

    #expect(try await installation.command("preferred", "set", guest.hex()).status == 0)
    // At once: no background work has to come first.
    #expect(try await installation.json("routers").list.first?["preferred"] == "mismatch")
    let history = try await installation.json("preferred", "show", "--history").list
    #expect(history.map { $0["network_name"]?.text } == ["home"])
    let table = try await installation.command("preferred", "show", "--history")
    for secret in [home.networkKey, home.pskc] {
      #expect(
        !table.output.lowercased().contains(secret.map { String(format: "%02x", $0) }.joined()))
    }
    let id = try #require(history.first?["id"]?.text)
    #expect(table.output.contains(id) && table.output.contains(home.extendedPANID))
    try await audience.until("the alert, with the way back") {
      $0.alerts("alert_raised", "PreferredNetworkChanged").first?["remedy"]?.text?
        .contains("`threadkeeper preferred set \(id)`") == true
    }

    #expect(try await installation.command("preferred", "set", "home").status == 0)
    #expect(try await installation.json("routers").list.first?["preferred"] == "match")
    #expect(
      try await installation.json("preferred", "show", "--history").list.map {
        $0["network_name"]?.text
      }
        == ["guest"])
    let unknown = try await installation.command("preferred", "set", "nowhere")
    #expect(unknown.status == 66 && unknown.error.contains("preferred show --history"))

    let refused = try await installation.command("networks", "forget", home.extendedPANID)
    #expect(refused.status == 64 && refused.error.contains("preferred forget"))
    let deleted = try await installation.command("networks", "forget", guest.extendedPANID)
    #expect(deleted.status == 0 && deleted.output.contains("guest (\(guest.extendedPANID))"))
    #expect(try await installation.json("preferred", "show", "--history").list.isEmpty)
    #expect(try await installation.command("networks", "forget", guest.extendedPANID).status == 66)
    #expect(try await installation.command("networks", "forget", "guest").status == 64)

    let forgotten = try await installation.command("preferred", "forget")
    #expect(forgotten.status == 0 && forgotten.output.contains("home is kept as p-"))
    try await publisher.publish([router.announces(try home.hex(at: 9))])
    try await audience.until("the newer dataset, and that nothing is preferred") {
      $0.state(router.topic)?["active_timestamp"] == 9
        && $0.state(router.topic)?["preferred"] == "none"
        && $0.alerts("alert_raised", "NoPreferredNetwork").first?["remedy"]?.text?
          .contains("preferred set") == true
    }
    #expect(try await installation.command("preferred", "show").status == 66)
    #expect(try await installation.command("preferred", "forget").status == 66)
    #expect(try await installation.command("preferred", "set", "home").status == 0)
    #expect(try await installation.json("preferred", "show")["active_timestamp"] == 9)
    #expect(try await installation.command("preferred", "forget").status == 0)
    #expect(try await installation.json("networks").list.first?["preferred"] == false)
    #expect(try await installation.command("networks", "forget", home.extendedPANID).status == 0)
    let audit = try await installation.command("audit")
    for service in ["thread-preferred/home", "thread-preferred-history/home"] {
      #expect(audit.output.contains(service))
    }
    #expect(try await daemon.stop() == .exit(0))
    #expect(try installation.verify().matchesManifest)
  }

  @Test("Kept through a backup, also on another machine")
  func kept() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let home = try ThreadNetwork("home")
    let guest = try ThreadNetwork("guest")
    let file = installation.directory.file("backup")
    let history = try await installation.serving {
      for network in [home, guest] {
        #expect(try await installation.command("preferred", "set", network.hex()).status == 0)
      }
      #expect(try await installation.command("store", "backup", file).status == 0)
      return try await installation.json("preferred", "show", "--history").list.map { $0["id"] }
    }
    #expect(history.count == 1)
    let other = try Installation(broker, hold: 0)
    let restored = try await other.command(
      "store", "restore", file, "--key-file", installation.directory.file("store.key"))
    #expect(restored.status == 0, "\(restored.error)")
    try await other.serving { () async throws in
      #expect(
        try await other.json("preferred", "show", "--history").list.map { $0["id"] } == history)
      #expect(try await other.command("preferred", "set", "home").status == 0)
      #expect(try await other.json("preferred", "show")["network_name"] == "home")
    }
  }
}
