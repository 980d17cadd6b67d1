import Foundation
import TestKit
import Testing

/// A router and a daemon on one machine. Without a daemon: `OTBRAgentCommandTests`.
@Suite("A code for others", .inTurns, .timeLimit(.minutes(30))) struct SharingTests {
  @Test("A person gets it by the command, on the page and at a program's terminal, and nobody else does") func people()
    async throws
  {
    let routers = try await ThreadRouters(1)
    let network = try ThreadNetwork("home-thread")
    let agent = try routers.order(0, "form", network.hex()).agent
    let running = try await RunningHome(more: "sharing: {url: '\(routers.url(0))'}", hasPage: true)
    let installation = running.installation
    #expect(try await installation.command("networks", "share", "--json").status == 66)
    let router = BorderRouter(agent)
    try await running.publish(router.announces(try network.hex()))
    try await running.until("the preferred network") { $0.state(router.topic)?["preferred"] == "match" }

    var codes: [String] = []
    func take(_ text: String) throws {
      codes.append(
        try #require(text.firstMatch(of: /[0-9]{3} ?[0-9]{3} ?[0-9]{3}/), "\(text)").output.filter(\.isNumber))
      _ = try Program.check("curl", ["-s", "-X", "DELETE", routers.url(0) + "/node/ba-epskc/key"])
    }
    let command = try TerminalSession(
      ["networks", "share", "--config", installation.configuration], environment: installation.environment)
    try await command.until("The code of home-thread for 2 minutes: ")
    #expect(try await command.end() == 0)
    try take(command.screen)
    let body = #"{"home":"home","ext_pan_id":"\#(network.extendedPANID)"}"#
    let page = try await running.post("/networks/share", body, RunningHome.shownToken)
    #expect(page.status == 200)
    try take(page.body)
    #expect(try await running.post("/networks/share", body).status == 403)
    let program = try TerminalSession(
      program: ThreadClientExampleTests.program, ["share", network.extendedPANID],
      environment: installation.environment.merging(["THREADKEEPER_STORE_PATH": installation.storePath]) { $1 })
    try await program.until(" is the code of home-thread, for 2 minutes")
    #expect(try await program.end() == 0)
    try take(program.screen)

    let report = try await installation.json("networks", "share", network.extendedPANID, "--minutes", "1")
    codes.append(try #require(report["code"]?.text))
    #expect(report["border_agent_id"]?.text == agent && report["minutes"] == 1)
    let inUse = try await running.post("/networks/share", body, RunningHome.shownToken)
    #expect(inUse.status == 409 && inUse.body.contains("has a code in use already"), "\(inUse.body)")
    let other = try await installation.command("networks", "share", "1111111122222222", "--json")
    #expect(other.status == 69 && other.error.contains("is on another network, home-thread"), "\(other.error)")

    let audit = try await installation.run("audit")
    try await running.audience.caughtUp()
    for code in codes {
      #expect(!running.daemon.log.contains(code) && !audit.contains(code))
      running.audience.look { heard in
        #expect(!heard.messages.contains { String(decoding: $0.payload, as: UTF8.self).contains(code) })
      }
    }
    #expect(Set(codes).count == 4 && running.daemon.log.contains("credentials are shared by a code"))
    try await running.stop()
  }
}
