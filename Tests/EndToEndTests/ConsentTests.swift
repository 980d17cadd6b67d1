import Foundation
import Testing
import ThreadRequests

/// A program on this machine asks a real daemon for what needs consent, and a person decides by command. What the
/// person agrees to or not: `ConsentTests` and `GrantTests` of `Home`. Who has hung up: `RequestServiceTests`.
@Suite("Consent, from the request to the answer", .inTurns, .timeLimit(.minutes(30))) struct ConsentTests {
  @Test("Approved after a restart: the answer comes then and not before, and nobody else gets it") func approved()
    async throws
  {
    let running = try await RunningHome()
    let installation = running.installation
    @Sendable func ask(_ command: String) async throws -> ThreadAnswer {
      try await SocketRequest.ask(command, at: installation.socketPath)
    }
    let home = try ThreadNetwork("home-thread")
    let router = BorderRouter(number: 1)
    try await running.publish(router.announces(try home.hex()))
    try await running.until("the router") { $0.state(router.topic)?["preferred"] == "match" }
    #expect(try await ask("preferred/available").data?.available == true, "that needs nobody")

    // A daemon that ends says so; the request waits for the next one to be decided.
    async let first = ask("preferred/get")
    let id = try #require(try await installation.question()["id"]?.text)
    try await running.until("it is announced") {
      $0.state("threadkeeper/bridge/consent")?["head"]?.text == id
        && $0.events("consent_requested").first?["requester"]?.text?.contains("uid \(geteuid())") == true
    }
    #expect(running.daemon.log.contains("threadkeeper consent approve \(id)"))
    try await running.stop()
    let former = running.daemon
    #expect(try await first.error?.code == "ending")
    try await running.start()
    #expect(try await installation.question()["id"]?.text == id)

    // Whether it comes before the approval or after: "always" answers it.
    async let second = ask("preferred/get")
    try await installation.run("consent", "approve", id, "--always")
    #expect(try await second.result().credentials?.first?.dataset?.hex == (try home.hex()))
    let history = try await installation.json("consent", "list", "--history")["history"]?.list
    #expect(history?.map { $0["id"]?.text } == [id], "one question, one decision")

    var needles = Needles()
    needles.add(home)
    let audit = try await installation.run("audit")
    #expect(audit.contains("consent_approved \(id) preferred/get \"home-thread\""))
    #expect(audit.contains(") by \(id)"))
    for text in [audit, former.log, running.daemon.log] { #expect(needles.found(in: text) == []) }
    try await running.stop()
  }
}
