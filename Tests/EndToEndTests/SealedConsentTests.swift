import Foundation
import TestKit
import Testing

/// Where all who publish are enrolled, a router is on the home's network, and a phone may ask for its credentials.
private struct SealedHome: Sendable {
  let running: RunningHome
  let home: ThreadNetwork
  let dataset: String
  /// The daemon's.
  let line: String

  var installation: Installation { running.installation }

  init() async throws {
    Recorder.current?.allPublishersAreEnrolled()
    running = try await RunningHome(more: "consent:\n  approvers: [anna]")
    home = try ThreadNetwork("home-thread")
    dataset = try home.hex()
    let router = try SealingLogin("router", "a1b2c3d4e5f60701")
    try await running.installation.enroll(router, "--trust", "signed")
    line = try await running.installation.daemonLine()
    try await running.publish(router.says("announce", dataset, to: line))
    try await running.until("the router") { $0.state(router.state)?["preferred"] == "match" }
  }

  /// What follows `threadkeeper` to send a request.
  ///
  /// - Parameter isSealed: to the daemon.
  func arguments(_ command: String, as user: String = "phone", key: String, isSealed: Bool = true) -> [String] {
    [
      "client", "request", command, "--username", user, "--host", "127.0.0.1", "--port", "\(running.broker.port)",
      "--key", key,
    ] + (isSealed ? ["--daemon", line] : [])
  }

  func request(_ command: String, as user: String = "phone", key: String, isSealed: Bool = true, _ more: String...)
    async throws -> ThreadkeeperBinary.Outcome
  {
    try await ThreadkeeperBinary.run(
      arguments(command, as: user, key: key, isSealed: isSealed) + more, input: .text(""),
      environment: ["HOME": installation.directory.path])
  }
}

/// The whole way: a router seals what it says, a client asks over MQTT by command, a person approves by
/// command, and the client opens the answer. That what is repeated is refused: `SealedRequestsTests`; what ends with a
/// key: `GrantTests`.
@Suite("Credentials asked for over MQTT, sealed", .inTurns, .timeLimit(.minutes(30))) struct SealedConsentTests {
  @Test("Approved: the answer opens and matches; denied: it says so; on the broker there is no key") func asked()
    async throws
  {
    let place = try await SealedHome()
    let installation = place.installation
    // Nobody is asked for somebody to whom nothing could be sealed.
    let key = installation.directory.file("phone.key")
    let line = try await installation.clientKeygen(key)
    let early = try await place.request("preferred/get", key: key)
    #expect(early.status != 0 && early.error.contains("not_enrolled"), "\(early.error)")
    #expect(try await installation.questions().isEmpty)
    try await installation.enroll("phone", line, "--trust", "signed")

    // Whoever waits too short a time learns which command shows the question.
    let impatient = try await place.request("preferred/get", key: key, "--timeout", "1")
    #expect(impatient.status == 75 && impatient.output.isEmpty)
    for words in ["nobody has decided yet", "`threadkeeper consent list`", "--timeout over 120"] {
      #expect(impatient.error.contains(words), "\(impatient.error)")
    }
    async let first = place.request("preferred/get", key: key)
    let question = try await installation.question()
    let enrolled = try await installation.json("clients", "list")["clients"]?.list.first { $0["user"] == "phone" }
    let fingerprint = try #require(enrolled?["fingerprint"]?.text)
    #expect(question["fingerprint"]?.text == fingerprint)
    try await place.running.until("whose key it is") {
      $0.state("threadkeeper/bridge/consent")?["fingerprint"]?.text == fingerprint
        && $0.events("consent_requested").first?["fingerprint"]?.text == fingerprint
    }
    #expect(place.running.daemon.log.contains(fingerprint))
    try await installation.decide("approve")
    let told = try await first
    #expect(told.status == 0, "\(told.error)")
    let record = JSON(told.output)?["credentials"]?.list.first
    #expect(record?["dataset"]?.text == place.dataset && record?["network_name"] == "home-thread")

    async let second = place.request("network/get", key: key, "--field", "ext_pan_id=\(place.home.extendedPANID)")
    try await installation.decide("deny")
    let denied = try await second
    #expect(denied.status != 0 && denied.output.isEmpty)
    #expect(denied.error.contains("consent_denied"), "\(denied.error)")

    // No consent is needed for what tells nothing.
    let available = try await place.request("preferred/available", key: key)
    #expect(JSON(available.output)?["available"] == true, "\(available.error)")

    var needles = Needles()
    needles.add(place.home)
    let audit = try await installation.run("audit")
    #expect(audit.contains("credentials_given") && audit.contains("consent_denied"))
    for text in [audit, place.running.daemon.log] { #expect(needles.found(in: text).isEmpty) }
    try await place.running.stop()
  }

  @Test("An approver's word counts when it has signed it; in plaintext, or before it is enrolled, not") func approver()
    async throws
  {
    let place = try await SealedHome()
    let installation = place.installation
    #expect(place.running.daemon.log.contains("an approver is not enrolled, and decides nothing"))
    let key = try await installation.enrolledKey(of: "phone")
    let own = installation.directory.file("anna.key")
    let anna = try await installation.clientKeygen(own)
    // At a terminal the command says that a person may have to agree.
    let session = try TerminalSession(place.arguments("preferred/get", key: key), environment: installation.environment)
    let id = try #require(try await installation.question()["id"]?.text)
    try await session.until("`threadkeeper consent list`")
    func approve(isSealed: Bool = true) async throws -> ThreadkeeperBinary.Outcome {
      try await place.request("consent/approve", as: "anna", key: own, isSealed: isSealed, "--field", "id=\(id)")
    }
    let early = try await approve()
    #expect(early.status == 77 && early.error.contains("not_enrolled"), "\(early.error)")
    try await installation.enroll("anna", anna)
    let plain = try await approve(isSealed: false)
    #expect(plain.status == 77 && plain.error.contains("not_authorized"), "\(plain.error)")
    #expect(!session.screen.contains("home-thread"), "nothing is told before")
    #expect(try await approve().status == 0)
    #expect(try await session.end() == 0)
    #expect(session.screen.contains(place.dataset))
    let history = try await installation.json("consent", "list", "--history")["history"]?.list
    #expect(history?.first?["decided_by"] == "mqtt user anna")
    try await place.running.stop()
  }

  @Test(
    "The examples in shell and Python show the dataset once somebody agrees, and 77 when nobody does",
    .enabled(if: access(DebianTool.python, X_OK) == 0, "needs python3")) func examples() async throws
  {
    let place = try await SealedHome()
    let (installation, home) = (place.installation, ["HOME": place.installation.directory.path])
    let key = try await installation.enrolledKey(of: "phone")
    let port = "\(place.running.broker.port)"
    let variables = home.merging([
      "DAEMON_LINE": place.line, "MQTT_USERNAME": "phone", "CLIENT_KEY": key, "MQTT_HOST": "127.0.0.1",
      "MQTT_PORT": port,
    ]) { $1 }
    @Sendable func shell(_ arguments: String...) async throws -> Program.Result {
      try await Program.example("automation/preferred-dataset.sh", arguments, variables)
    }
    async let first = shell()
    try await installation.decide("approve")
    let given = try await first
    #expect(given.status == 0 && given.output.contains(place.dataset), "\(given.output)")
    #expect(try await shell("party").status == 64)

    @Sendable func python(_ more: String...) async throws -> Program.Result {
      let options = [
        "--daemon", place.line, "--username", "phone", "--key", key, "--host", "127.0.0.1", "--port", port,
      ]
      return try await Program.example("automation/networks.py", by: DebianTool.python, options + more, home)
    }
    let network = place.home.extendedPANID
    async let second = python(network)
    try await installation.decide("approve")
    let named = try await second
    #expect(named.status == 0 && named.output.contains("home-thread"), "\(named.output)")
    #expect(!named.output.contains(place.dataset), "only when asked to")
    async let third = python(network, "--dataset")
    try await installation.decide("approve")
    let shown = try await third
    #expect(shown.output.contains(place.dataset), "\(shown.output)")

    async let last = shell()
    try await installation.decide("deny")
    let denied = try await last
    #expect(denied.status == 77, "\(denied.output)")
    try await place.running.stop()
  }
}
