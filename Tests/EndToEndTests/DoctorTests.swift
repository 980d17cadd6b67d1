// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// `threadkeeper doctor` beside real brokers that are set up as in a house.
@Suite("Doctor", .inTurns, .timeLimit(.minutes(30)))
struct DoctorTests {
  private static let closed = ["allow_anonymous false", "password_file $/passwords"]
  private static let addition = """
    acl_file /etc/mosquitto/threadkeeper.acl
    max_queued_messages 1000000

    """

  /// A broker with an access list; nil: with none.
  private func broker(
    _ list: String?, house: [String] = closed
  ) throws -> BrokerInUse {
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
    let installation = try Installation(
      port: port, mqtt: mqtt, more: "discovery: {mdns: off}")
    #expect(chmod(installation.configuration, 0o600) == 0)
    return installation
  }

  private struct Answer {
    let status: Int32
    let report: JSON

    /// `check: result` of all findings.
    var results: Set<String> {
      Set(
        report["findings"]?.list.map { "\($0["check"]?.text ?? ""): \($0["result"]?.text ?? "")" }
          ?? [])
    }

    func texts(_ check: String) -> String {
      (report["findings"]?.list ?? []).filter { $0["check"]?.text == check }
        .map { "\($0["text"]?.text ?? "") \($0["remedy"]?.text ?? "")" }.joined(separator: "\n")
    }

    var problems: Set<String> {
      Set(results.filter { $0.hasSuffix(": problem") }.map { String($0.dropLast(9)) })
    }
  }

  private func doctor(_ installation: Installation, _ arguments: String...) async throws -> Answer {
    let outcome = try await installation.command(["doctor", "--json"] + arguments)
    return Answer(
      status: outcome.status, report: try #require(JSON(outcome.output), "\(outcome.error)"))
  }

  private func passwordFile(_ installation: Installation, _ password: String) throws -> String {
    try installation.directory.putSecret(password, "password")
  }

  @Test("With the access list there is no problem, and the running daemon notices nothing")
  func well() async throws {
    let broker = try broker(try await accessList())
    let installation = try installation(broker.port, broker.settings)
    let daemon = try await installation.start()
    try await eventually("both connections") {
      try await installation.json("status")["broker"]?["state"] == "connected"
    }
    let monitor = try await broker.audience("threadkeeper", "threadkeeper/bridge/event")
    let answer = try await doctor(
      installation, "--login", "hub", "--password-file",
      try passwordFile(installation, "hub-pw"))
    #expect(answer.status == 0 && answer.problems.isEmpty, "\(answer.report)")
    #expect(answer.report["healthy"] == .bool(true))
    #expect(
      answer.results.isSuperset(of: [
        "settings: ok", "settings_file: ok", "daemon: ok", "connection: ok", "intake: ok",
        "broker: ok", "client_id: ok", "topics: ok", "anonymous: ok", "other_login: ok",
        "retained: ok", "store: ok", "permissions: ok", "key_slots: note", "backup: warning",
        "dropped: ok", "queue: not_checked",
      ]), "\(answer.results)")
    #expect(answer.texts("other_login").contains("speaks in `threadkeeper/in/hub/`"))
    #expect(!daemon.log.contains("disconnected"))
    #expect(try await installation.json("status")["alerts_firing"] == .list([]))
    // Probes are no messages that are rejected: the first is one that comes after them.
    try await broker.publisher("hub").publish("threadkeeper/in/hub/announce", "no JSON")
    try await monitor.until("the rejection") { !$0.events("message_rejected").isEmpty }
    #expect(
      monitor.look { $0.events("message_rejected").map { $0["topic"]?.text } }
        == ["threadkeeper/in/hub/announce"])

    let backup = try await installation.command(
      "store", "backup", installation.directory.file("monday.tkbackup"))
    #expect(backup.status == 0, "\(backup.error)")
    #expect(try await doctor(installation).results.contains("backup: ok"))
    let text = try await installation.command("doctor")
    #expect(text.status == 0 && text.output.contains("No problem; "), "\(text.output)")
    #expect(!text.output.contains("\u{1B}") && !text.output.contains("threadkeeper-pw"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Another login that reads all of threadkeeper's topics is a problem, in both versions")
  func otherLogin() async throws {
    let list = try await accessList() + "\nuser hub\ntopic readwrite threadkeeper/#\n"
    let broker = try broker(list)
    for version in ["5", "3.1.1"] {
      let installation = try installation(
        broker.port, broker.settings + ["protocol: \(version)"])
      let answer = try await doctor(
        installation, "--login", "hub", "--password-file",
        try passwordFile(installation, "hub-pw"))
      #expect(answer.problems == ["other_login"], "\(answer.results)")
      #expect(answer.texts("other_login").contains("reads `threadkeeper/out/` of others"))
      #expect(answer.status == 78 && answer.results.contains("anonymous: ok"))
    }
  }

  @Test("A login that is kept, sees states and decides reads no key: it is no problem")
  func kept() async throws {
    let settings = "consent: {approvers: [hub]}"
    let printed = try await Installation(port: 1883, more: settings).command(
      "acl", "--keep", "hub", "--monitor", "hub", "--approver", "hub")
    try #require(printed.status == 0, "\(printed.error)")
    let broker = try broker(printed.output)
    let installation = try installation(broker.port, broker.settings)
    let answer = try await doctor(
      installation, "--login", "hub", "--password-file",
      try passwordFile(installation, "hub-pw"))
    #expect(answer.status == 0 && answer.problems.isEmpty, "\(answer.results)")
    #expect(answer.texts("other_login").contains("can publish false states"))
    #expect(answer.texts("other_login").contains("no border router can use it"))
  }

  @Test("At a terminal it asks for the other login's password, hidden, and says what it waits for")
  func terminal() async throws {
    let broker = try broker(try await accessList())
    let installation = try installation(broker.port, broker.settings)
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
  }

  @Test("A broker that is not there ends with 69, a login that it refuses with 77")
  func notReached() async throws {
    let gone = try await doctor(try installation(try UnusedPort.next(), []))
    #expect(gone.status == 69 && gone.problems == ["broker"], "\(gone.results)")
    #expect(gone.texts("broker").contains("nothing listens".capitalizedFirst), "\(gone.results)")
    let broker = try broker(try await accessList())
    let refused = try await doctor(
      try installation(broker.port, ["username: threadkeeper", "password: wrong"]))
    #expect(refused.status == 77 && refused.problems == ["broker"], "\(refused.results)")
    #expect(refused.texts("broker").contains("`mqtt.password` in the settings"))
    // So it is beside a daemon that does not get in either.
    let running = try installation(broker.port, ["username: threadkeeper", "password: wrong"])
    let daemon = try running.launch()
    try await eventually("the daemon's attempt") {
      // Before it has made its store there is no answer.
      (try? await running.json("status"))?["broker"]?["problem"]?.text != nil
    }
    let both = try await doctor(running)
    #expect(both.status == 77 && both.problems == ["broker"], "\(both.results)")
    #expect(both.results.contains("connection: warning"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A password that only the running daemon has is no refused login")
  func passwordOfTheUnit() async throws {
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

  @Test("A store whose key is lost is a problem with 77, and one that is lost itself with 74")
  func lostStore() async throws {
    let installation = try installation(try UnusedPort.next(), [])
    try installation.makeStore()
    let key = installation.directory.file("store.key")
    try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
    let locked = try await doctor(installation)
    #expect(locked.status == 77 && locked.problems == ["store"], "\(locked.report)")
    #expect(locked.texts("store").contains("There is no key file at "))
    try FileManager.default.moveItem(atPath: key + ".away", toPath: key)
    #expect(try await !doctor(installation).problems.contains("store"))

    let database = installation.storePath + "/store.sqlite3"
    try FileManager.default.removeItem(atPath: database)
    try Data().write(to: URL(fileURLWithPath: database + "-wal"))
    let gone = try await doctor(installation)
    #expect(gone.problems == ["broker", "store"], "\(gone.report)")
    #expect(gone.texts("store").contains("any more, and "))
  }

  @Test("The daemon's own login is none of another, and a name is one level of a topic")
  func otherName() async throws {
    let installation = try installation(
      try UnusedPort.next(), ["username: threadkeeper", "password: threadkeeper-pw"])
    for name in ["threadkeeper", "+", "a/b"] {
      let outcome = try await installation.command(
        "doctor", "--login", name, "--password-file", try passwordFile(installation, "pw"))
      #expect(outcome.status == 64 && outcome.output.isEmpty, "\(name): \(outcome.error)")
    }
  }

  @Test("Before another login's password goes to a remote broker in plaintext, a warning says so")
  func plaintext() async throws {
    let installation = try installation(try UnusedPort.next(), [])
    let arguments = [
      "doctor", "--login", "hub", "--password-file", try passwordFile(installation, "hub-pw"),
    ]
    let remote = try await installation.command(
      arguments, environment: ["THREADKEEPER_MQTT_HOST": "broker.invalid"])
    #expect(remote.error.contains("the password of hub goes to broker.invalid unencrypted"))
    #expect(!(remote.error + remote.output).contains("hub-pw"))
    #expect(try await !installation.command(arguments).error.contains("unencrypted"))
  }

  @Test("A password in settings that everybody reads is a problem, and is not printed")
  func settingsFile() async throws {
    let installation = try installation(
      try UnusedPort.next(), ["username: threadkeeper", "password: gurkensalat"])
    #expect(chmod(installation.configuration, 0o644) == 0)
    let outcome = try await installation.command("doctor")
    #expect(outcome.status == 77, "\(outcome.output)")
    #expect(outcome.output.contains("Run `chmod o-rwx FILE`"))
    #expect(!(outcome.output + outcome.error).contains("gurkensalat"))
  }

  @Test("Settings that cannot be used end with 78; an option that lacks another is wrong usage")
  func wrong() async throws {
    let installation = try installation(1883, ["protocol: 4"])
    let outcome = try await installation.command("doctor")
    #expect(outcome.status == 78 && outcome.output.contains("mqtt.protocol"), "\(outcome.output)")
    #expect(try await installation.command("doctor", "--password-file", "x").status == 64)
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
