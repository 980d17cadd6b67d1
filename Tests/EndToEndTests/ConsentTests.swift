// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing
import ThreadRequests

/// A program on this machine asks a real daemon for what needs consent, and a person decides by
/// command.
@Suite("Consent, from the request to the answer", .inTurns, .timeLimit(.minutes(30)))
struct ConsentTests {
  private struct Scene {
    let broker: TestBroker
    let installation: Installation
    let daemon: DaemonProcess
    let audience: Audience
    let home: ThreadNetwork
    let publisher: TestPublisher

    /// Asks on the socket; returns when it is answered.
    func ask(_ command: String, _ fields: [String: String] = [:]) async throws -> ThreadAnswer {
      try await ConsentTests.ask(command, fields, of: installation)
    }

    /// The id of the one request that waits.
    func waiting() async throws -> String {
      try await eventually {
        try await installation.json("consent", "list")["pending"]?.list.count == 1
      }
      return try #require(
        try await installation.json("consent", "list")["pending"]?.list.first?["id"]?.text)
    }
  }

  private static func ask(
    _ command: String, _ fields: [String: String] = [:], of installation: Installation
  ) async throws -> ThreadAnswer {
    try await SocketRequest.ask(
      command, fields.mapValues { .text($0) }, at: installation.socketPath)
  }

  private func scene(_ settings: String = "") async throws -> Scene {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0, more: settings)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home-thread")
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router") { $0.state(router.topic)?["preferred"] == "match" }
    return Scene(
      broker: broker, installation: installation, daemon: daemon, audience: audience, home: home,
      publisher: publisher)
  }

  @Test("Approved: the answer comes then and not before, and nobody else hears it")
  func approved() async throws {
    let scene = try await scene()
    let installation = scene.installation
    let preferred = try await scene.ask("preferred/available")
    #expect(preferred.data?.available == true, "that needs nobody")
    let answered = Answered()
    let asking = Task {
      let answer = try await scene.ask("preferred/get", ["transaction": "r-17"])
      answered.note()
      return answer
    }
    let id = try await scene.waiting()
    try await scene.audience.until("it is announced") {
      $0.state("threadkeeper/bridge/consent")?["head"]?.text == id
        && $0.events("consent_requested").first?["requester"]?.text?
          .contains("uid \(geteuid())") == true
    }
    #expect(!answered.isNoted, "nothing is told before")
    #expect(scene.daemon.log.contains("threadkeeper consent approve \(id)"))
    #expect(try await installation.command("consent", "approve", id).status == 0)
    let answer = try await asking.value
    #expect(try answer.result().credentials?.first?.dataset?.hex == (try scene.home.hex()))

    var needles = Needles()
    needles.add("network key", scene.home.networkKey)
    needles.add("PSKc", scene.home.pskc)
    let told = scene.audience.look { heard in
      heard.messages.filter { !$0.topic.contains("/in/") }
    }
    #expect(told.contains { $0.topic.hasSuffix("/bridge/consent") })
    for message in told { #expect(needles.found(in: Data(message.payload)) == []) }
    #expect(needles.found(in: scene.daemon.log) == [])
    let audit = try await installation.command("audit").output
    #expect(audit.contains("consent_approved \(id) preferred/get \"home-thread\""))
    #expect(audit.contains(") by \(id)"))
    #expect(needles.found(in: audit) == [])
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  private final class Answered: @unchecked Sendable {
    // A flag that is only ever set, under its lock.
    private let lock = NSLock()
    private var value = false
    var isNoted: Bool { lock.withLock { value } }
    func note() { lock.withLock { value = true } }
  }

  @Test("Who hangs up while a person thinks is given nothing, and nothing says it was")
  func hungUp() async throws {
    let scene = try await scene()
    let installation = scene.installation
    for verb in [["approve"], ["approve", "--always"]] {
      let asking = Task { try await scene.ask("preferred/get") }
      let id = try await scene.waiting()
      asking.cancel()
      _ = await asking.result
      let outcome = try await installation.command(["consent", verb[0], id] + verb.dropFirst())
      #expect(outcome.status == 0)
      #expect(outcome.output.contains("has hung up"))
    }
    let history = try await installation.json("consent", "list", "--history")["history"]?.list
    #expect(history?.map { $0["outcome"]?.text } == ["approved", "approved"])
    #expect(history?.map { $0["given"] } == [false, false])
    #expect(
      try await installation.command("consent", "list", "--history").output.contains("not given"))
    func audited() async throws -> [String] {
      try await installation.json("audit").list.flatMap { $0["changes"]?.list ?? [] }
        .compactMap { $0["action"]?.text }.filter { $0.hasPrefix("credentials_") }
    }
    #expect(try await audited() == ["credentials_not_given", "credentials_not_given"])
    #expect(try await scene.ask("preferred/get").data?.credentials?.count == 1, "always is always")
    #expect(try await audited().contains("credentials_given"))
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("A daemon that ends says so; the request waits for the next one to be decided")
  func restart() async throws {
    let scene = try await scene()
    let installation = scene.installation
    async let first = scene.ask("preferred/get")
    let id = try await scene.waiting()
    #expect(try await scene.daemon.stop() == .exit(0))
    #expect(try await first.error?.code == "ending")
    let daemon = try await installation.start()
    #expect(try await scene.waiting() == id)
    // Whether it comes before the approval or after: "always" answers it.
    async let second = scene.ask("preferred/get")
    #expect(try await installation.command("consent", "approve", id, "--always").status == 0)
    #expect(
      try await second.data?.credentials?.first?.dataset?.hex == (try scene.home.hex()))
    let history = try await installation.json("consent", "list", "--history")["history"]?.list
    #expect(history?.map { $0["id"]?.text } == [id], "one question, one decision")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "Users in consent.approvers decide in plaintext where the settings say so, and nobody else does"
  )
  func approvers() async throws {
    let scene = try await scene("consent:\n  approvers: [anna]\n  approvers_trust: broker")
    #expect(scene.daemon.log.contains("an approver is believed in plaintext"))
    let subscriber = try await TestSubscriber.start(
      scene.broker, "threadkeeper/out/+/response/#")
    async let asked = scene.ask("preferred/get")
    let id = try await scene.waiting()
    func decide(_ user: String, _ verb: String) async throws -> String? {
      let transaction = "\(user) \(verb)"
      try await scene.publisher.publish([
        Publication(
          topic: "threadkeeper/in/\(user)/request/consent/\(verb)",
          payload: Array(#"{"id":"\#(id)","transaction":"\#(transaction)"}"#.utf8))
      ])
      func answer(_ messages: [IncomingMessage]) -> ThreadAnswer? {
        messages.compactMap { ThreadAnswer(json: $0.payload) }
          .first { $0.transaction == transaction }
      }
      return answer(try await subscriber.wait { answer($0) != nil })?.error?.code
    }
    #expect(try await decide("bob", "approve") == "not_authorized")
    #expect(try await decide("bob", "deny") == "not_authorized")
    #expect(try await decide("anna", "approve") == nil)
    #expect(
      try await asked.data?.credentials?.first?.dataset?.hex == (try scene.home.hex()))
    #expect(try await decide("anna", "deny") == "stale_id")
    let history = try await scene.installation.json("consent", "list", "--history")["history"]?.list
    #expect(history?.map { $0["decided_by"] } == ["mqtt user anna"])
    let audit = try await scene.installation.json("audit").list
      .filter { $0["actor"] == "mqtt user anna" }
      .flatMap { $0["changes"]?.list ?? [] }.compactMap { $0["action"]?.text }
    #expect(Set(audit).isSuperset(of: ["consent_approved", "credentials_given"]))
    #expect(try await scene.daemon.stop() == .exit(0))
  }
}
