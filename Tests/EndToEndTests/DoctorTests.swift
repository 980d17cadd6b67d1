import Foundation
import TestKit
import Testing

/// `threadkeeper doctor` beside real brokers that are set up as in a house.
@Suite("Doctor", .inTurns, .timeLimit(.minutes(30))) struct DoctorTests {
  private static let closed = ["allow_anonymous false", "password_file $/passwords"]
  private static let addition = """
    acl_file /etc/mosquitto/threadkeeper.acl
    max_queued_messages 1000000

    """

  /// A broker with an access list; nil: with none.
  private func broker(_ list: String?, house: [String] = closed) throws -> BrokerInUse {
    try BrokerInUse(
      house: house, addition: list == nil ? "max_queued_messages 1000000\n" : Self.addition,
      files: ["threadkeeper.acl": list ?? ""], logins: ["threadkeeper", "hub"])
  }

  private func accessList() async throws -> String {
    let outcome = try await Installation(port: 1883).command("acl")
    try #require(outcome.status == 0, "\(outcome.error)")
    return outcome.output
  }

  /// Its settings can be read by their user alone, and it sees nothing of the machine's own broker.
  private func installation(_ port: UInt16, _ mqtt: [String]) throws -> Installation {
    let installation = try Installation(port: port, mqtt: mqtt, more: "discovery: {mdns: off}")
    #expect(chmod(installation.configuration, 0o600) == 0)
    return installation
  }

  private struct Answer {
    let status: Int32
    let report: JSON

    /// `check: result` of all findings.
    var results: Set<String> {
      Set(report["findings"]?.list.map { "\($0["check"]?.text ?? ""): \($0["result"]?.text ?? "")" } ?? [])
    }

    func texts(_ check: String) -> String {
      (report["findings"]?.list ?? []).filter { $0["check"]?.text == check }.map {
        "\($0["text"]?.text ?? "") \($0["remedy"]?.text ?? "")"
      }.joined(separator: "\n")
    }

    var problems: Set<String> { Set(results.filter { $0.hasSuffix(": problem") }.map { String($0.dropLast(9)) }) }
  }

  private func doctor(_ installation: Installation, _ arguments: String...) async throws -> Answer {
    let outcome = try await installation.command(["doctor", "--json"] + arguments)
    return Answer(status: outcome.status, report: try #require(JSON(outcome.output), "\(outcome.error)"))
  }

  private func passwordFile(_ installation: Installation, _ password: String) throws -> String {
    try installation.directory.putSecret(password, "password")
  }

  @Test("With the access list there is no problem, and the running daemon notices nothing") func well() async throws {
    let broker = try broker(try await accessList())
    let installation = try installation(broker.port, broker.settings)
    let daemon = try await installation.start()
    try await eventually("both connections") {
      try await installation.json("status")["broker"]?["state"] == "connected"
    }
    let monitor = try await broker.audience("threadkeeper", "threadkeeper/bridge/event")
    let answer = try await doctor(
      installation, "--login", "hub", "--password-file", try passwordFile(installation, "hub-pw"))
    #expect(answer.status == 0 && answer.problems.isEmpty, "\(answer.report)")
    #expect(answer.report["healthy"] == .bool(true))
    #expect(
      answer.results.isSuperset(of: [
        "settings: ok", "settings_file: ok", "daemon: ok", "connection: ok", "intake: ok", "broker: ok",
        "client_id: ok", "topics: ok", "anonymous: ok", "other_login: ok", "retained: ok", "store: ok",
        "permissions: ok", "key_slots: note", "backup: warning", "dropped: ok", "queue: not_checked",
      ]), "\(answer.results)")
    #expect(answer.texts("other_login").contains("speaks in `threadkeeper/in/hub/`"))
    #expect(!daemon.log.contains("disconnected"))
    #expect(try await installation.json("status")["alerts_firing"] == .list([]))
    // Probes are no messages that are rejected: the first is one that comes after them.
    try await broker.publisher("hub").publish("threadkeeper/in/hub/announce", "no JSON")
    try await monitor.until("the rejection") { !$0.events("message_rejected").isEmpty }
    #expect(
      monitor.look { $0.events("message_rejected").map { $0["topic"]?.text } } == ["threadkeeper/in/hub/announce"])

    let backup = try await installation.command("store", "backup", installation.directory.file("monday.tkbackup"))
    #expect(backup.status == 0, "\(backup.error)")
    #expect(try await doctor(installation).results.contains("backup: ok"))
    let text = try await installation.command("doctor")
    #expect(text.status == 0 && text.output.contains("No problem; "), "\(text.output)")
    #expect(!text.output.contains("\u{1B}") && !text.output.contains("threadkeeper-pw"))

    // At a terminal it asks for the other login's password, and says what it waits for.
    let session = try TerminalSession(
      ["doctor", "--login", "hub", "--config", installation.configuration],
      environment: installation.environment.merging(["TERM": "xterm"]) { $1 })
    try await session.until("Password of hub at the broker: ")
    session.type("hub-pw\n")
    try await session.until("Asking the broker")
    try await session.until("No problem; ")
    #expect(!session.screen.contains("hub-pw"))
    #expect(session.screen.contains("\u{1B}[32mok\u{1B}[0m"))
    #expect(session.screen.contains("neither reads nor writes"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Another login is a problem where it reads others' answers, and none where it is only kept") func otherLogin()
    async throws
  {
    let settings = "consent: {approvers: [hub]}"
    let kept = try await Installation(port: 1883, more: settings).command(
      "acl", "--keep", "hub", "--monitor", "hub", "--approver", "hub")
    for (list, problems, texts) in [
      (
        try await accessList() + "\nuser hub\ntopic readwrite threadkeeper/#\n", ["other_login"],
        ["reads `threadkeeper/out/` of others"]
      ), (kept.output, [], ["does not write `bridge/`", "no border router can use it"]),
    ] as [(String, Set<String>, [String])] {
      let broker = try broker(list)
      let installation = try installation(broker.port, broker.settings)
      let answer = try await doctor(
        installation, "--login", "hub", "--password-file", try passwordFile(installation, "hub-pw"))
      #expect(answer.problems == problems, "\(answer.results)")
      #expect(answer.status == (problems.isEmpty ? 0 : 78))
      for text in texts { #expect(answer.texts("other_login").contains(text)) }
    }
  }

  @Test("A login that the broker refuses ends with 77, also beside a daemon that does not get in") func refused()
    async throws
  {
    let broker = try broker(try await accessList())
    let installation = try installation(broker.port, ["username: threadkeeper", "password: wrong"])
    let alone = try await doctor(installation)
    #expect(alone.status == 77 && alone.problems == ["broker"], "\(alone.results)")
    #expect(alone.texts("broker").contains("`mqtt.password` in the settings"))
    let daemon = try installation.launch()
    try await eventually("the daemon's attempt") {
      // Before it has made its store there is no answer.
      (try? await installation.json("status"))?["broker"]?["problem"]?.text != nil
    }
    let both = try await doctor(installation)
    #expect(both.status == 77 && both.problems == ["broker"], "\(both.results)")
    #expect(both.results.contains("connection: warning"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A password that only the running daemon has is no refused login") func passwordOfTheUnit() async throws {
    let broker = try broker(try await accessList())
    let directory = try TemporaryDirectory()
    let password = try directory.putSecret("threadkeeper-pw", "password")
    let variable = "THREADKEEPER_MQTT_PASSWORD_FILE"
    let installation = try Installation(
      port: broker.port, mqtt: ["username: threadkeeper"], more: "discovery: {mdns: off}",
      variables: [variable: password])
    #expect(chmod(installation.configuration, 0o600) == 0)
    let daemon = try await installation.start()
    // An empty variable is none.
    let outcome = try await installation.command("doctor", "--json", environment: [variable: ""])
    let answer = Answer(status: outcome.status, report: try #require(JSON(outcome.output)))
    #expect(answer.status == 0 && answer.results.contains("broker: not_checked"), "\(answer)")
    #expect(answer.texts("broker").contains(variable))
    #expect(try await daemon.stop() == .exit(0))
  }
}
