// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import LocalAPI
import SQLiteDatabase
import TestKit
import Testing
import ThreadkeeperDaemon

@Suite("The broker's password", .inTurns, .timeLimit(.minutes(30)))
struct LoginTests {
  private static let password = "Sesame-9c1d-right"
  private static let other = "Sesame-7f20-other"

  private let broker: PasswordBroker
  private let installation: Installation

  init() throws {
    broker = try PasswordBroker("keeper", Self.password)
    installation = try Installation(broker.broker, mqtt: ["username: keeper"])
  }

  /// With a daemon for it, where none runs.
  private func login(_ password: String, _ more: String...) async throws
    -> ThreadkeeperBinary.Outcome
  {
    try await installation.serving {
      try await ThreadkeeperBinary.run(
        ["login", "--password-stdin", "--json", "--config", installation.configuration] + more,
        input: .text(password), environment: installation.environment)
    }
  }

  /// The login that `status` names, and where its password comes from.
  private func status() async throws -> JSON? {
    try await installation.serving { try await installation.json("status")["login"] }
  }

  private func alerts() async throws -> [JSON] { try await installation.json("alerts").list }

  private func untilRefused(_ daemon: DaemonProcess) async throws {
    try await eventually("the alert") {
      // Before the first start there is no store yet.
      let answer = try await installation.command("alerts", "--json")
      return JSON(answer.output)?.list
        .contains { $0["alertname"] == "BrokerAuthenticationFailed" } == true
    }
    #expect(daemon.isRunning)
  }

  private func hasNowhere(_ password: String, _ outputs: String...) throws {
    var needles = Needles()
    needles.add("the password", Array(password.utf8.prefix(16)))
    #expect(try needles.found(below: installation.directory.path).finds.isEmpty)
    for output in outputs { #expect(!output.contains(password)) }
  }

  @Test("Right: it is stored, and `run` finds it and bothers nobody")
  func right() async throws {
    let answer = try await login(Self.password + "\n")
    #expect(answer.status == 0, "\(answer.error)")
    let report = try #require(JSON(answer.output))
    #expect(report["broker"]?.text == "127.0.0.1:\(broker.port)")
    #expect(report["username"] == "keeper")
    #expect(report["stored"] == "added")
    #expect(report["validated"] == true)
    #expect(report["in_use"] == true)
    #expect(try await status() == ["username": "keeper", "password_from": "keychain"])

    let daemon = try await installation.start()
    #expect(try await alerts().isEmpty)
    #expect(try await status() == ["username": "keeper", "password_from": "keychain"])
    #expect(try await daemon.stop() == .exit(0))
    #expect(!daemon.log.contains("refused"))
    try hasNowhere(Self.password, answer.output, answer.error, daemon.log)
    // Again: the same item.
    #expect(JSON(try await login(Self.password).output)?["stored"] == "updated")
    #expect(try installation.verify().matchesManifest)
  }

  @Test("Wrong: 77, words without the password, and nothing is stored")
  func wrong() async throws {
    let answer = try await login("Sesame-wrong\n")
    #expect(answer.status == 77)
    #expect(answer.output.isEmpty)
    #expect(answer.error.contains("refused the user name or password of `keeper`"))
    #expect(!answer.error.contains("Sesame"))
    #expect(try await status()?["password_from"] == "none")
    // A wrong one leaves the right one where it is.
    #expect(try await login(Self.password).status == 0)
    #expect(try await login("Sesame-wrong").status == 77)
    let daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Not reached: 69 and nothing is stored, unless nobody wants to ask the broker")
  func unreachable() async throws {
    broker.broker.stop()
    let answer = try await login(Self.password)
    #expect(answer.status == 69)
    #expect(answer.error.contains("nothing listens on 127.0.0.1:\(broker.port)"))
    #expect(answer.error.contains("--no-validate"))
    #expect(try await status()?["password_from"] == "none")
    let stored = try await login(Self.password, "--no-validate")
    #expect(stored.status == 0, "\(stored.error)")
    #expect(JSON(stored.output)?["validated"] == false)
    try broker.broker.start()
    let daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("What cannot be a login is refused before anybody is asked")
  func usage() async throws {
    #expect(try await login("").status == 65)
    #expect(try await login("\n").status == 65)
    #expect(try await login(String(repeating: "x", count: 70_000)).status == 65)
    let otherUser = try await login(Self.password, "--username", "somebody")
    #expect(otherUser.status == 64)
    #expect(otherUser.error.contains("keeper"))
    let none = try await installation.command("login")
    #expect(none.status == 69 && none.error.contains("no daemon runs"), "\(none.error)")
    let nobody = try await installation.serving { try await installation.command("login") }
    #expect(nobody.status == 64)
    #expect(nobody.error.contains("--password-stdin"))
    let embedded = try Installation(port: nil)
    for command in [["login"], ["login", "--remove"]] {
      let answer = try await embedded.command(command)
      #expect(answer.status == 78)
      #expect(answer.error.contains("mqtt.host"))
    }
    let nothing = try await installation.serving {
      try await installation.command("login", "--remove")
    }
    #expect(nothing.status == 66)
    let help = try await installation.command("login", "--help")
    #expect(help.status == 0 && help.output.contains("Examples:"))
    #expect(try await installation.command("login", "--remove", "--username", "a").status == 64)
  }

  @Test("Without a name in the settings the stored one is used")
  func nameless() async throws {
    let installation = try Installation(broker.broker)
    func login(_ more: String...) async throws -> ThreadkeeperBinary.Outcome {
      try await installation.serving {
        try await ThreadkeeperBinary.run(
          ["login", "--password-stdin", "--config", installation.configuration] + more,
          input: .text(Self.password), environment: installation.environment)
      }
    }
    #expect(try await login().status == 64)
    #expect(try await login("--username", "keeper").status == 0)
    #expect(try await login().status == 0)
    let daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("No password at the very start: the daemon stays, alerts, and takes the first right login")
  func none() async throws {
    let daemon = try installation.launch()
    try await untilRefused(daemon)
    let alert = try #require(try await alerts().first)
    #expect(alert["severity"] == "critical")
    #expect(alert["remedy"]?.text?.contains("threadkeeper login") == true)
    let problem = try await installation.json("status")["broker"]?["problem"]?.text
    #expect(problem?.contains("wants a password") == true)
    try await eventually("the log") { daemon.log.contains("BrokerAuthenticationFailed") }
    let wrong = try await login("Sesame-wrong")
    #expect(wrong.status == 77)
    #expect(try await status()?["password_from"] == "none")
    let right = try await login(Self.password)
    #expect(right.status == 0, "\(right.error)")
    #expect(JSON(right.output)?["stored"] == "added")
    try await installation.ready(daemon)
    try await eventually("the alert's end") { try await alerts().isEmpty }
    try hasNowhere(Self.password, daemon.log, right.output, right.error)
    #expect(try await daemon.stop() == .exit(0))
    try hasNowhere(Self.password)
  }

  @Test("Changed while running: refused, alerted, and a new login resolves it at once")
  func changed() async throws {
    #expect(try await login(Self.password).status == 0)
    let daemon = try await installation.start()
    try broker.setPassword(of: "keeper", to: Self.other)
    try await untilRefused(daemon)
    #expect(try await login(Self.password).status == 77, "the old one is no good any more")
    let audience = try await Audience.start(broker.broker, user: "monitor", "threadkeeper/#")
    let updated = try await login(Self.other)
    #expect(updated.status == 0, "\(updated.error)")
    #expect(JSON(updated.output)?["stored"] == "updated")
    try await installation.ready(daemon)
    // What nobody could hear is told now, in its order; the broker keeps the end of it.
    try await audience.until("the alert and its end") {
      !$0.alerts("alert_raised", "BrokerAuthenticationFailed").isEmpty
        && !$0.alerts("alert_resolved", "BrokerAuthenticationFailed").isEmpty
    }
    let alert = try #require(
      audience.look { $0.alerts("alert_resolved", "BrokerAuthenticationFailed") }.first)
    let topic = "threadkeeper/alert/\(alert["fingerprint"]?.text ?? "")"
    try await audience.until("the resolved alert") { $0.state(topic)?["status"] == "resolved" }
    #expect(try await alerts().isEmpty)
    #expect(try await daemon.stop() == .exit(0))
    try hasNowhere(Self.other, daemon.log)
    // The next start has the new one.
    let next = try await installation.start()
    #expect(try await next.stop() == .exit(0))
  }

  @Test("The user is removed, and comes back: the daemon goes on trying by itself")
  func removed() async throws {
    #expect(try await login(Self.password).status == 0)
    let daemon = try await installation.start()
    try broker.remove("keeper")
    try await untilRefused(daemon)
    #expect(try await login(Self.password).status == 77)
    try broker.setPassword(of: "keeper", to: Self.password)
    try await installation.ready(daemon)
    try await eventually("the alert's end") { try await alerts().isEmpty }
    #expect(try await daemon.stop() == .exit(0))
    // Tried again and again, and said once for each of the two connections, if both came to hear it.
    let lines = daemon.log.split(separator: "\n").filter {
      $0.contains("warning") && $0.contains("refused the user name")
        && $0.contains("disconnected")
    }
    #expect((1...2).contains(lines.count), "\(lines)")
  }

  @Test(
    "Not reached while a daemon runs: 69, the old one stays; and a name that is none is refused")
  func unreachableBesideDaemon() async throws {
    #expect(try await login(Self.password).status == 0)
    let daemon = try await installation.start()
    broker.broker.stop()
    #expect(try await login(Self.other).status == 69)
    let client = try #require(
      try await VarlinkClient.connect(
        to: installation.socketPath, within: .seconds(240))
    )
    for (name, password) in [("a\0b", "x"), ("keeper", "a\0b")] {
      let call = OperationCall(
        StoreLogin(
          broker: "mqtt://127.0.0.1:\(broker.port)", username: name, password: password))
      let refusal = await #expect(throws: VarlinkError.self) {
        try await client.call(call.method, call, within: .seconds(240))
      }
      #expect(refusal?.name == "io.threadkeeper.Failed")
    }
    try broker.broker.start()
    try await installation.ready(daemon)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("--remove deletes it; a running daemon loses it, and takes the next login")
  func remove() async throws {
    #expect(try await login(Self.password).status == 0)
    let daemon = try await installation.start()
    let gone = try await installation.json("login", "--remove")
    #expect(gone["deleted"] == .list(["keeper"]))
    try await untilRefused(daemon)
    #expect(try await status()?["password_from"] == "none")
    #expect(try await installation.command("login", "--remove").status == 66)
    #expect(try await login(Self.password).status == 0)
    try await installation.ready(daemon)
    #expect(try await daemon.stop() == .exit(0))
    try await installation.serving { () async throws in
      #expect(try await installation.command("login", "--remove").status == 0)
    }
    #expect(try installation.verify().items == 0)
  }

  @Test("A password that only the daemon's settings have wins, and is told to who has others")
  func daemonsSettingsWin() async throws {
    let installation = try Installation(
      broker.broker, mqtt: ["username: keeper"],
      variables: ["THREADKEEPER_MQTT_PASSWORD": Self.password])
    var environment = installation.environment
    environment["THREADKEEPER_MQTT_PASSWORD"] = nil
    func run(_ arguments: String...) async throws -> ThreadkeeperBinary.Outcome {
      try await ThreadkeeperBinary.run(
        arguments + ["--config", installation.configuration], input: .text("Sesame-wrong"),
        environment: environment)
    }
    let daemon = try await installation.start()
    let login = try await run("login", "--password-stdin", "--no-validate", "--json")
    #expect(JSON(login.output)?["in_use"] == false, "\(login.error)")
    let words = try await run("login", "--password-stdin", "--no-validate").output
    #expect(words.contains("the running daemon's settings"))
    let status = try await run("status", "--json")
    #expect(
      JSON(status.output)?["login"] == ["username": "keeper", "password_from": "settings"])
    #expect(
      try await run("login", "--remove").output.contains(
        "The running daemon's settings still have one"))
    #expect(try await daemon.stop() == .exit(0))
    #expect(!daemon.log.contains("refused"))
  }

  @Test("A running daemon replaces a login that was damaged behind its back")
  func damaged() async throws {
    #expect(try await login(Self.password).status == 0)
    let daemon = try await installation.start()
    let database = try SQLiteDatabase(
      path: "\(installation.storePath)/store.sqlite3", access: .readWrite(create: false))
    let altered = try database.write {
      try $0.execute("UPDATE items SET secret = zeroblob(length(secret))")
    }
    #expect(altered == 1)
    database.close()
    let again = try await login(Self.password)
    #expect(again.status == 0, "\(again.error)")
    #expect(JSON(again.output)?["stored"] == "updated")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "Another user is told that the store is not his, before he is asked for anything",
    .enabled(if: geteuid() == 0, "only root can be another user"))
  func otherUser() async throws {
    #expect(try await login(Self.password).status == 0)
    let daemon = try await installation.start()
    // All but the store.
    chmod(installation.directory.path, 0o755)
    chmod(installation.configuration, 0o644)
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for command in [["login", "--password-stdin"], ["login", "--remove"], ["keys", "list"]] {
      let answer = try await ThreadkeeperBinary.run(
        command + ["--config", installation.configuration], input: .text(""),
        environment: installation.environment.merging(TestSandbox.uncounted) { $1 },
        launcher: nobody)
      #expect(answer.status == 77, "\(command): \(answer.error)")
      #expect(answer.error.contains("sudo"))
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A daemon of another broker or user is not given the password, and nobody is asked for it")
  func otherBroker() async throws {
    #expect(try await login(Self.password).status == 0)
    let daemon = try await installation.start()
    for (name, value, word) in [
      ("THREADKEEPER_MQTT_PORT", "9", "127.0.0.1:9"),
      ("THREADKEEPER_MQTT_USERNAME", "somebody", "not as somebody"),
    ] {
      // Nothing there would be an answer.
      let answer = try await ThreadkeeperBinary.run(
        ["login", "--password-stdin", "--config", installation.configuration], input: .text(""),
        environment: installation.environment.merging([name: value]) { $1 })
      #expect(answer.status == 78 && answer.error.contains(word), "\(answer.error)")
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A killed daemon's socket is no daemon, and keeps the next one not from listening")
  func killed() async throws {
    #expect(try await login(Self.password).status == 0)
    try await (try await installation.start()).kill9()
    #expect(FileManager.default.fileExists(atPath: installation.socketPath))
    #expect(try await installation.command("login", "--remove").status == 69)
    let daemon = try await installation.start()
    #expect(try await login(Self.password).status == 0)
    #expect(try await daemon.stop() == .exit(0))
    #expect(!FileManager.default.fileExists(atPath: installation.socketPath))
  }
}
