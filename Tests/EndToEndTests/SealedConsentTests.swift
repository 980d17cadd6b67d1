// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// The whole way: a router seals what it says, a client asks over MQTT by command, a person approves by
/// command, and the client opens the answer.
@Suite("Credentials asked for over MQTT, sealed", .inTurns, .timeLimit(.minutes(30)))
struct SealedConsentTests {
  private let place: SealedHome
  private var broker: TestBroker { place.broker }
  private var installation: Installation { place.installation }
  private var home: ThreadNetwork { place.home }
  private var dataset: String { place.dataset }

  init() throws { place = try SealedHome() }

  @Test("A repeated sealed request is refused, also by a daemon that was restarted")
  func repeated() async throws {
    let scene = try await place.start()
    let phone = try Identity()
    #expect(
      try await installation.command(
        "clients", "enroll", "phone", phone.keys.line, "--trust", "signed"
      ).status == 0)
    let answers = try await TestSubscriber.start(broker, "threadkeeper/out/phone/response/ping")
    let topic = "threadkeeper/in/phone/request/ping"
    func sealed(_ id: String) throws -> Publication {
      let envelope = try Envelope.seal(
        Array(#"{"transaction":"\#(id)"}"#.utf8), to: try PublicIdentity(line: scene.line),
        from: phone,
        at: .init(
          topic: topic, order: .identifier(id), now: Int64(Date().timeIntervalSince1970),
          lifetime: Envelope.longestLifetime))
      return Publication(
        topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
    }
    func codes(_ count: Int) async throws -> [String?] {
      try await answers.wait { $0.count >= count }
        .map { JSON(String(decoding: $0.payload, as: UTF8.self))?["error"]?["code"]?.text }
    }
    let (request, early) = (try sealed("r-1"), try sealed("r-2"))
    try await scene.publisher.publish([request, request])
    #expect(try await codes(2) == [nil, "replayed"])
    #expect(try await scene.daemon.stop() == .exit(0))
    let again = try await installation.start()
    try await scene.publisher.publish([request, early, early])
    #expect(try await codes(5) == [nil, "replayed", "replayed", nil, "replayed"])
    #expect(try await again.stop() == .exit(0))
  }

  @Test(
    "An approver's word counts when it has signed it; in plaintext, or before it is enrolled, not")
  func approver() async throws {
    let scene = try await place.start()
    #expect(scene.daemon.log.contains("an approver is not enrolled, and decides nothing"))
    let key = try await place.enrollPhone()
    let own = installation.directory.file("anna.key")
    let anna = try await installation.clientKeygen(own)
    async let first = place.request("preferred/get", key: key, line: scene.line)
    let id = try await place.waiting()
    func approve(_ line: String?) async throws -> ThreadkeeperBinary.Outcome {
      try await place.request(
        "consent/approve", as: "anna", key: own, line: line, "--field", "id=\(id)")
    }
    let early = try await approve(scene.line)
    #expect(early.status == 77 && early.error.contains("not_enrolled"), "\(early.error)")
    #expect(try await installation.command("clients", "enroll", "anna", anna).status == 0)
    let plain = try await approve(nil)
    #expect(plain.status == 77 && plain.error.contains("not_authorized"), "\(plain.error)")
    #expect(try await approve(scene.line).status == 0)
    #expect(try await first.status == 0)
    #expect(
      try await installation.json("consent", "list", "--history")["history"]?.list.first?[
        "decided_by"]
        == "mqtt user anna")
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test(
    "Who waits too short a time is told that nobody has decided, and what shows the question")
  func impatient() async throws {
    let scene = try await place.start()
    let key = try await place.enrollPhone()
    for line in [scene.line, scene.line] {
      let told = try await place.request("preferred/get", key: key, line: line, "--timeout", "2")
      _ = try await place.waiting()
      #expect(told.status == 75 && told.output.isEmpty)
      #expect(told.error.contains("nobody has decided yet"), "\(told.error)")
      #expect(told.error.contains("`threadkeeper consent list`"), "\(told.error)")
      #expect(told.error.contains("--timeout over 120"), "\(told.error)")
    }
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("The question shows whose key it is; with the key go the question and what was agreed to")
  func keys() async throws {
    let scene = try await place.start()
    let key = try await place.enrollPhone()
    let enrolled = try await installation.json("clients", "list")["clients"]?.list
      .first { $0["user"] == "phone" }
    let fingerprint = try #require(enrolled?["fingerprint"]?.text)
    let phone = try #require(enrolled?["line"]?.text)

    async let first = place.request("preferred/get", key: key, line: scene.line)
    let id = try await place.waiting()
    let pending = try await installation.json("consent", "list")["pending"]?.list.first
    #expect(pending?["fingerprint"]?.text == fingerprint)
    #expect(try await installation.command("consent", "list").output.contains(fingerprint))
    try await scene.audience.until("it is told") {
      $0.state("threadkeeper/bridge/consent")?["fingerprint"]?.text == fingerprint
        && $0.events("consent_requested").first?["fingerprint"]?.text == fingerprint
    }
    #expect(scene.daemon.log.contains(fingerprint))
    #expect(try await installation.command("clients", "revoke", "phone").status == 0)
    let told = try await first
    #expect(told.status == 77 && told.output.isEmpty, "\(told.error)")
    #expect(told.error.contains("not_enrolled"), "\(told.error)")
    #expect(try await installation.command("consent", "approve", id).status == 66)

    #expect(try await installation.command("clients", "enroll", "phone", phone).status == 0)
    async let second = place.request("preferred/get", key: key, line: scene.line)
    #expect(
      try await installation.command("consent", "approve", place.waiting(), "--always").status == 0)
    #expect(try await second.status == 0)
    let grants = try await installation.json("consent", "list", "--grants")["grants"]?.list
    #expect(grants?.map { $0["fingerprint"]?.text } == [fingerprint])
    #expect(
      try await installation.command("consent", "list", "--grants").output.contains(fingerprint))
    let other = try Identity().keys.line
    #expect(try await installation.command("clients", "enroll", "phone", other).status == 0)
    #expect(try await installation.json("consent", "list", "--grants") == ["grants": []])
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("Approved: the answer opens and matches; denied: it says so; on the broker there is no key")
  func asked() async throws {
    let scene = try await place.start()
    let key = installation.directory.file("phone.key")
    let made = try await ThreadkeeperBinary.run("client", "keygen", "--out", key, "--json")
    let phone = try #require(JSON(made.output)?["line"]?.text)

    // Nobody is asked for somebody to whom nothing could be told.
    let early = try await place.request("preferred/get", key: key, line: scene.line)
    #expect(early.status != 0 && early.error.contains("not_enrolled"), "\(early.error)")
    #expect(try await installation.json("consent", "list")["pending"] == [])
    #expect(
      try await installation.command("clients", "enroll", "phone", phone, "--trust", "signed")
        .status
        == 0)

    async let first = place.request("preferred/get", key: key, line: scene.line)
    #expect(
      try await installation.command("consent", "approve", try await place.waiting()).status == 0)
    let told = try await first
    #expect(told.status == 0, "\(told.error)")
    let record = JSON(told.output)?["credentials"]?.list.first
    #expect(record?["dataset"]?.text == dataset)
    #expect(record?["network_name"] == "home-thread")

    async let second = place.request(
      "network/get", key: key, line: scene.line, "--field", "ext_pan_id=\(home.extendedPANID)")
    #expect(
      try await installation.command("consent", "deny", try await place.waiting()).status == 0)
    let denied = try await second
    #expect(denied.status != 0 && denied.output.isEmpty)
    #expect(denied.error.contains("consent_denied"), "\(denied.error)")

    // No consent is needed for what tells nothing.
    let available = try await place.request("preferred/available", key: key, line: scene.line)
    #expect(JSON(available.output)?["available"] == true, "\(available.error)")

    var needles = Needles()
    needles.add("the network key", home.networkKey)
    needles.add("the PSKc", home.pskc)
    #expect(needles.found(in: scene.daemon.log).isEmpty)
    let audit = try await installation.command("audit").output
    #expect(audit.contains("credentials_given") && audit.contains("consent_denied"))
    #expect(needles.found(in: audit).isEmpty)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test("At a terminal the command says that a person may have to agree")
  func notice() async throws {
    let scene = try await place.start()
    let key = try await place.enrollPhone()
    let session = try TerminalSession(
      [
        "client", "request", "preferred/get", "--username", "phone", "--host", "127.0.0.1",
        "--port", "\(broker.port)", "--key", key, "--daemon", scene.line,
      ], environment: installation.environment)
    let id = try await place.waiting()
    try await session.until("`threadkeeper consent list`")
    #expect(!session.screen.contains("home-thread"), "nothing is told before")
    #expect(try await installation.command("consent", "approve", id).status == 0)
    #expect(try await session.end() == 0)
    #expect(session.screen.contains(dataset))
    #expect(try await scene.daemon.stop() == .exit(0))
  }
}
