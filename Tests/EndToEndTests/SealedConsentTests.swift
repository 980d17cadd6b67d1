// SPDX-License-Identifier: Apache-2.0

import Foundation
import MosquittoClient
import SealedEnvelope
import TestKit
import Testing

/// The whole way: a router seals what it says, a client asks over MQTT by command, a person approves by
/// command, and the client opens the answer.
@Suite("Credentials asked for over MQTT, sealed", .inTurns, .timeLimit(.minutes(30)))
struct SealedConsentTests {
  private let broker: TestBroker
  private let keeper: Installation
  private let home: ThreadNetwork
  private let dataset: String
  private let agent = "a1b2c3d4e5f60701"

  init() throws {
    Recorder.current?.allPublishersAreEnrolled()
    broker = try TestBroker()
    keeper = try Installation(broker, hold: 0, more: "consent:\n  approvers: [anna]")
    home = try ThreadNetwork("home-thread")
    dataset = try home.hex()
  }

  /// The keeper's line, with a router enrolled that has announced itself.
  private func announced(_ audience: Audience, _ publisher: TestPublisher) async throws -> String {
    let line = try #require(try await keeper.json("clients", "fingerprint")["line"]?.text)
    let router = try Identity()
    #expect(
      try await keeper.command(
        "clients", "enroll", "router", router.keys.line, "--trust", "signed"
      ).status == 0)
    let topic = "threadkeeper/in/router/announce"
    let body = #"{"border_agent_id":"\#(agent)","dataset":"\#(try home.hex())"}"#
    let envelope = try Envelope.seal(
      Array(body.utf8), to: try PublicIdentity(line: line), from: router,
      at: .init(topic: topic, order: .sequence(1), now: Int64(Date().timeIntervalSince1970)))
    try await publisher.publish([
      Publication(
        topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
    ])
    try await audience.until("the router") {
      $0.state("threadkeeper/router/\(agent)")?["preferred"] == "match"
    }
    return line
  }

  private func request(
    _ command: String, as user: String = "phone", key: String, line: String? = nil,
    _ more: String...
  ) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      [
        "client", "request", command, "--username", user, "--host", "127.0.0.1", "--port",
        "\(broker.port)", "--key", key,
      ] + (line.map { ["--keeper", $0] } ?? []) + more, input: .text(""),
      environment: ["HOME": keeper.directory.path])
  }

  /// The id of the one request that waits.
  private func waiting() async throws -> String {
    try await eventually("a request that waits") {
      try await keeper.json("consent", "list")["pending"]?.list.count == 1
    }
    return try #require(
      try await keeper.json("consent", "list")["pending"]?.list.first?["id"]?.text)
  }

  /// The phone is enrolled; returns its key file.
  private func enrollPhone() async throws -> String {
    let key = keeper.directory.file("phone.key")
    let line = try await keeper.clientKeygen(key)
    #expect(
      try await keeper.command("clients", "enroll", "phone", line, "--trust", "signed").status == 0)
    return key
  }

  /// Runs one of the examples while the test does something else.
  private func example(
    _ program: String, _ name: String, _ arguments: [String], _ variables: [String: String] = [:]
  ) async throws -> Program.Result {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../examples/automation/\(name)").standardized.path
    let tools = ThreadkeeperBinary.executable.deletingLastPathComponent().path
    let environment = [
      "PATH": "\(tools):/usr/local/bin:/usr/bin:/bin", "HOME": keeper.directory.path,
    ].merging(variables) { $1 }
    return try await withCheckedThrowingContinuation { continuation in
      Thread {
        continuation.resume(
          with: Result {
            try Program.run(program, [script] + arguments, environment: environment)
          })
      }.start()
    }
  }

  @Test("The example in shell gets the dataset once somebody agrees, and 77 when somebody does not")
  func shell() async throws {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await keeper.start()
    let line = try await announced(audience, publisher)
    let variables = [
      "KEEPER_LINE": line, "MQTT_USERNAME": "phone", "CLIENT_KEY": try await enrollPhone(),
      "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(broker.port)",
    ]
    async let first = example("/bin/sh", "preferred-dataset.sh", [], variables)
    #expect(try await keeper.command("consent", "approve", try await waiting()).status == 0)
    let told = try await first
    #expect(told.status == 0 && told.output.contains(dataset), "\(told.output)")
    async let second = example("/bin/sh", "preferred-dataset.sh", [], variables)
    #expect(try await keeper.command("consent", "deny", try await waiting()).status == 0)
    let denied = try await second
    #expect(denied.status == 77, "\(denied.output)")
    let wrong = try await example("/bin/sh", "preferred-dataset.sh", ["party"], variables)
    #expect(wrong.status == 64)
    #expect(try await daemon.stop() == .exit(0))
  }

  private static let hasPython = access("/usr/bin/python3", X_OK) == 0

  @Test(
    "The example in Python says which network came, and shows the dataset only when asked to",
    .enabled(if: hasPython, "needs python3"))
  func python() async throws {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await keeper.start()
    let line = try await announced(audience, publisher)
    let options = [
      "--keeper", line, "--username", "phone", "--key", try await enrollPhone(),
      "--host", "127.0.0.1", "--port", "\(broker.port)",
    ]
    async let first = example("/usr/bin/python3", "networks.py", options)
    #expect(try await keeper.command("consent", "approve", try await waiting()).status == 0)
    let told = try await first
    #expect(told.status == 0 && told.output.contains("home-thread"), "\(told.output)")
    #expect(!told.output.contains(dataset))
    async let second = example(
      "/usr/bin/python3", "networks.py", options + [home.extendedPANID, "--dataset"])
    #expect(try await keeper.command("consent", "approve", try await waiting()).status == 0)
    let shown = try await second
    #expect(shown.output.contains(dataset), "\(shown.output)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A sealed request that is repeated is refused, also by a keeper that was started anew")
  func repeated() async throws {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await keeper.start()
    let line = try await announced(audience, publisher)
    let phone = try Identity()
    #expect(
      try await keeper.command(
        "clients", "enroll", "phone", phone.keys.line, "--trust", "signed"
      ).status == 0)
    let answers = try await TestSubscriber.start(broker, "threadkeeper/out/phone/response/ping")
    let topic = "threadkeeper/in/phone/request/ping"
    func sealed(_ id: String) throws -> Publication {
      let envelope = try Envelope.seal(
        Array(#"{"transaction":"\#(id)"}"#.utf8), to: try PublicIdentity(line: line), from: phone,
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
    try await publisher.publish([request, request])
    #expect(try await codes(2) == [nil, "replayed"])
    #expect(try await daemon.stop() == .exit(0))
    let again = try await keeper.start()
    try await publisher.publish([request, early, early])
    #expect(try await codes(5) == [nil, "replayed", "replayed", nil, "replayed"])
    #expect(try await again.stop() == .exit(0))
  }

  @Test("An approver's word counts when it has signed it; in clear, or before it is enrolled, not")
  func approver() async throws {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await keeper.start()
    #expect(daemon.log.contains("an approver is not enrolled, and decides nothing"))
    let line = try await announced(audience, publisher)
    let key = try await enrollPhone()
    let own = keeper.directory.file("anna.key")
    let anna = try await keeper.clientKeygen(own)
    async let first = request("preferred/get", key: key, line: line)
    let id = try await waiting()
    func approve(_ line: String?) async throws -> ThreadkeeperBinary.Outcome {
      try await request("consent/approve", as: "anna", key: own, line: line, "--field", "id=\(id)")
    }
    let early = try await approve(line)
    #expect(early.status == 77 && early.error.contains("not_enrolled"), "\(early.error)")
    #expect(try await keeper.command("clients", "enroll", "anna", anna).status == 0)
    let plain = try await approve(nil)
    #expect(plain.status == 77 && plain.error.contains("not_authorized"), "\(plain.error)")
    #expect(try await approve(line).status == 0)
    #expect(try await first.status == 0)
    #expect(
      try await keeper.json("consent", "history")["history"]?.list.first?["decided_by"]
        == "mqtt user anna")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The question shows whose key it is; with the key go the question and what was agreed to")
  func keys() async throws {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await keeper.start()
    let line = try await announced(audience, publisher)
    let key = try await enrollPhone()
    let phone = try #require(try await keeper.json("clients", "fingerprint", "phone")["line"]?.text)
    let fingerprint = try PublicIdentity(line: phone).fingerprint

    async let first = request("preferred/get", key: key, line: line)
    let id = try await waiting()
    let pending = try await keeper.json("consent", "list")["pending"]?.list.first
    #expect(pending?["fingerprint"]?.text == fingerprint)
    #expect(try await keeper.command("consent", "list").output.contains(fingerprint))
    try await audience.until("it is told") {
      $0.state("threadkeeper/bridge/consent")?["fingerprint"]?.text == fingerprint
        && $0.events("consent_requested").first?["fingerprint"]?.text == fingerprint
    }
    #expect(daemon.log.contains(fingerprint))
    #expect(try await keeper.command("clients", "revoke", "phone").status == 0)
    let told = try await first
    #expect(told.status == 77 && told.output.isEmpty, "\(told.error)")
    #expect(told.error.contains("not_enrolled"), "\(told.error)")
    #expect(try await keeper.command("consent", "approve", id).status == 66)

    #expect(try await keeper.command("clients", "enroll", "phone", phone).status == 0)
    async let second = request("preferred/get", key: key, line: line)
    #expect(try await keeper.command("consent", "approve", waiting(), "--always").status == 0)
    #expect(try await second.status == 0)
    let grants = try await keeper.json("consent", "grants")["grants"]?.list
    #expect(grants?.map { $0["fingerprint"]?.text } == [fingerprint])
    #expect(try await keeper.command("consent", "grants").output.contains(fingerprint))
    let other = try Identity().keys.line
    #expect(try await keeper.command("clients", "enroll", "phone", other).status == 0)
    #expect(try await keeper.json("consent", "grants") == ["grants": []])
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Approved: the answer opens and matches; denied: it says so; on the broker there is no key")
  func asked() async throws {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await keeper.start()
    let line = try await announced(audience, publisher)
    let key = keeper.directory.file("phone.key")
    let made = try await ThreadkeeperBinary.run("client", "keygen", "--out", key, "--json")
    let phone = try #require(JSON(made.output)?["line"]?.text)

    // Nobody is asked for somebody to whom nothing could be told.
    let early = try await request("preferred/get", key: key, line: line)
    #expect(early.status != 0 && early.error.contains("not_enrolled"), "\(early.error)")
    #expect(try await keeper.json("consent", "list")["pending"] == [])
    #expect(
      try await keeper.command("clients", "enroll", "phone", phone, "--trust", "signed").status
        == 0)

    async let first = request("preferred/get", key: key, line: line)
    #expect(try await keeper.command("consent", "approve", try await waiting()).status == 0)
    let told = try await first
    #expect(told.status == 0, "\(told.error)")
    let record = JSON(told.output)?["credentials"]?.list.first
    #expect(record?["dataset"]?.text == dataset)
    #expect(record?["network_name"] == "home-thread")

    async let second = request(
      "network/get", key: key, line: line, "--field", "ext_pan_id=\(home.extendedPANID)")
    #expect(try await keeper.command("consent", "deny", try await waiting()).status == 0)
    let denied = try await second
    #expect(denied.status != 0 && denied.output.isEmpty)
    #expect(denied.error.contains("consent_denied"), "\(denied.error)")

    // No consent is needed for what tells nothing.
    let available = try await request("preferred/available", key: key, line: line)
    #expect(JSON(available.output)?["available"] == true, "\(available.error)")

    var needles = Needles()
    needles.add("the network key", home.networkKey)
    needles.add("the PSKc", home.pskc)
    for message in audience.look({ $0.messages }) {
      #expect(needles.found(in: Data(message.payload)) == [], "\(message.topic)")
    }
    #expect(needles.found(in: daemon.log).isEmpty)
    let audit = try await keeper.command("audit").output
    #expect(audit.contains("credentials_given") && audit.contains("consent_denied"))
    #expect(needles.found(in: audit).isEmpty)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("At a terminal the command says what it waits for, and what approves it")
  func notice() async throws {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await keeper.start()
    let line = try await announced(audience, publisher)
    let key = try await enrollPhone()
    let session = try TerminalSession(
      [
        "client", "request", "preferred/get", "--username", "phone", "--host", "127.0.0.1",
        "--port", "\(broker.port)", "--key", key, "--keeper", line,
      ], environment: keeper.environment)
    let id = try await waiting()
    try await session.until("`threadkeeper consent approve \(id)`, by the keeper's user")
    #expect(session.screen.contains("Waiting for consent, up to 1"))
    #expect(!session.screen.contains("home-thread"), "nothing is told before")
    #expect(try await keeper.command("consent", "approve", id).status == 0)
    #expect(try await session.end() == 0)
    #expect(session.screen.contains(dataset))
    #expect(try await daemon.stop() == .exit(0))
  }
}
