import Foundation
import TestKit
import Testing
import ThreadDataset

/// What a person does in a home of makers' routers, without a phone, an agent or a login of the broker.
@Suite(
  "Border routers are read, with avahi-daemon", .inTurns,
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) struct RouterReadingTests
{
  @Test(
    "A network comes in by a code, another router of it is read by the PSKc, a change is announced and lands, and one that only says that it is there refuses"
  ) func demonstration() async throws {
    let (network, code) = (try LocalNetwork(), "916371366")
    let (home, guests) = (try ThreadNetwork("home"), try ThreadNetwork("guest-thread"))
    let running = try await RunningHome(hasPage: true, variables: network.environment())
    let (installation, routers) = (running.installation, try ReadableRouters(network))
    let kitchen = AdvertisedRouter(1, home, takesPSKc: true)
    var attic = AdvertisedRouter(2, home, takesPSKc: true)
    let impostor = AdvertisedRouter(3, home, takesPSKc: true)
    func until(_ what: String, _ condition: () -> Bool) async throws {
      try await eventually(what) {
        try routers.announce()
        return condition()
      }
    }
    var outputs: [String] = []
    func command(_ arguments: String..., status: Int32 = 0) async throws -> String {
      let outcome = try await installation.command(arguments)
      #expect(outcome.status == status, "\(arguments): \(outcome)")
      outputs += [outcome.output, outcome.error]
      return outcome.output
    }
    func preferredChannel() async throws -> JSON? { try await installation.json("preferred", "show")["channel"] }

    try routers.start("Kitchen", kitchen, home.hex())
    try routers.show(code, of: "Kitchen", home.hex())
    try await until("it is listed") { running.state(kitchen.topic) != nil }
    let joined = JSON(try await command("networks", "join", code, "--prefer", "--json"))
    #expect(joined?["network_name"] == "home" && joined?["border_agent_id"]?.text == kitchen.agent)
    #expect(try await preferredChannel() == 15)

    try routers.start("Attic", attic, home.hex())
    try routers.start("Impostor", impostor, home.hex(), pskc: guests.pskc)
    try await until("both are asked") {
      running.state(attic.topic)?["source"] == "meshcop" && running.state(impostor.topic)?["read_problem"] == "refused"
    }
    let genuine = running.state(attic.topic)
    #expect(genuine?["credentials"] == "stored" && genuine?["preferred"] == "match" && genuine?["user"] == nil)
    func isRefused() -> Bool {
      let state = running.state(impostor.topic)
      return state?["source"] == "mdns" && state?["credentials"] == "shared" && state?["read_problem"] == "refused"
    }
    #expect(isRefused())

    try routers.start("Attic", attic, home.hex(), pending: home.pending(at: 3, channel: 25))
    let body = #"{"border_agent_id":"\#(attic.agent)"}"#
    let answer = try await running.post("/routers/read", body, RunningHome.shownToken)
    #expect(answer.status == 200 && answer.body.contains("channel 15, with the dataset of the preferred network"))
    try await running.until("the change is announced") {
      $0.state(attic.topic)?["pending"]?["channel"] == 25 && !$0.alerts("alert_raised", "NetworkChanges").isEmpty
    }
    let text = try await command("routers", "read", attic.agent)
    #expect(text.contains("Its network changes to channel 25 in 58 s."), "\(text)")

    attic.activeSeconds = 3
    try routers.start("Attic", attic, home.hex(at: 3, channel: 25))
    let read = JSON(try await command("routers", "read", attic.agent, "--json"))
    #expect(read?["channel"] == 25 && read?["pending"] == nil)
    try await running.until("it has landed") {
      $0.state(attic.topic)?["pending"] == nil && !$0.alerts("alert_resolved", "NetworkChanges").isEmpty
    }
    #expect(try await preferredChannel() == 25)

    _ = try await command("routers", "read", impostor.agent, status: 77)
    _ = try await command("routers", "read", String(repeating: "ab", count: 8), status: 66)
    #expect(isRefused())
    let secrets = [home.pskc, home.networkKey, guests.pskc].map { Hexadecimal.encode($0) } + [code]
    for output in outputs + [answer.body, running.daemon.log] {
      for secret in secrets { #expect(!output.lowercased().contains(secret)) }
    }
    try await running.stop()
  }
}
