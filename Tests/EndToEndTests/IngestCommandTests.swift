// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadDataset

/// What the commands say of rules, without a daemon.
@Suite("Ingest rules on the command line", .inTurns, .timeLimit(.minutes(30)))
struct IngestCommandTests {
  @Test("`ingest test` says what comes of a message, never a key, and its status tells")
  func command() async throws {
    let installation = try Installation(port: 1883, more: ForeignHub.rules)
    let home = try ThreadNetwork("home")
    let payload = try ForeignHub.status(home, ssid: "one")
    let taken = try await installation.command(
      "ingest", "test", "otbr/kitchen/status", payload)
    #expect(taken.status == 0, "\(taken.error)")
    #expect(taken.output.contains("status: announce of the user otbr, team otbr, home home\n"))
    #expect(
      taken.output.contains("  dataset: of the network home, Extended PAN ID \(home.extendedPANID)")
    )
    #expect(taken.output.contains("  name: Box kitchen\n"))
    #expect(taken.output.contains("  ssid: one\n"))
    #expect(!(taken.output + taken.error).contains(try home.hex().prefix(60)))
    #expect(!taken.output.contains(Hexadecimal.encode(home.networkKey)))

    let json = try #require(
      JSON(
        try await installation.command("ingest", "test", "otbr/kitchen/LWT", "Offline", "--json")
          .output))
    #expect(json["rules"]?.list.first?["rule"] == "will")
    #expect(json["rules"]?.list.first?["fields"]?["border_agent_id"]?.text == ForeignHub.agent)

    for (topic, payload, words) in [
      ("otbr/kitchen/LWT", "Online", "will: nothing, because of the condition on payload."),
      (
        "otbr/kitchen/status", "{}",
        "status: rejected (ingest:status): border_agent_id: there is nothing at `/thread/agent`."
      ),
      ("otbr/kitchen/LWT", "", "will: nothing, because the payload is empty."),
      (
        "otbr/kitchen/status", "Online",
        "wifi: nothing, because of the condition on /wifi/ssid: the payload is not JSON, from byte 0 on."
      ),
      ("otbr/kitchen", "{}", "No rule matches this topic: status (otbr/{box}/status), "),
      ("threadkeeper/in/a/announce", "{}", "This is a topic of threadkeeper's own"),
    ] {
      let outcome = try await installation.command("ingest", "test", topic, payload)
      #expect(outcome.status == 65, "\(topic)")
      #expect(outcome.output.contains(words), "\(outcome.output)")
    }
    #expect(try await installation.command("ingest", "test", "a/+", "x").status == 64)
    let broken = try await installation.command(
      "ingest", "test", "a", "x", environment: ["THREADKEEPER_INGEST": "{a: {}}"])
    #expect(broken.status == 78)
    #expect(broken.error.contains("THREADKEEPER_INGEST: error: ingest.a.topic: is missing"))

    let check = try await installation.command("check-config")
    #expect(check.status == 0)
    #expect(
      check.output.contains(
        "ingest: will: otbr/kitchen/LWT is offline of the user otbr, home home\n"))
    let list = try await installation.command("acl")
    #expect(list.output.contains("\ntopic read otbr/+/status\ntopic read otbr/kitchen/LWT\n"))
  }
}
