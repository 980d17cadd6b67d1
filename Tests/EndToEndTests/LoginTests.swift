import Foundation
import SQLiteDatabase
import TestKit
import Testing

@Suite("The broker's password", .inTurns, .timeLimit(.minutes(30))) struct LoginTests {
  private static let password = "Sesame-9c1d-right"
  private static let other = "Sesame-7f20-other"

  private let broker: PasswordBroker
  private let installation: Installation

  init() throws {
    broker = try PasswordBroker("keeper", Self.password)
    installation = try Installation(broker.broker, mqtt: ["username: keeper"])
  }

  private func login(_ password: String, _ more: String..., on installation: Installation? = nil) async throws
    -> ThreadkeeperBinary.Outcome
  {
    let installation = installation ?? self.installation
    return try await ThreadkeeperBinary.run(
      ["login", "--password-stdin", "--config", installation.configuration] + more, input: .text(password),
      environment: installation.environment)
  }

  /// Where the daemon's password comes from.
  private func source() async throws -> JSON? { try await installation.json("status")["login"]?["password_from"] }

  private func alerts() async throws -> [JSON] { try await installation.json("alerts").list }

  private func untilRefused(_ daemon: DaemonProcess) async throws {
    try await eventually("the alert") {
      // Before the first start there is no store yet.
      let answer = try await installation.command("alerts", "--json")
      return JSON(answer.output)?.list.contains { $0["alertname"] == "BrokerAuthenticationFailed" } == true
    }
    #expect(daemon.isRunning)
  }

  private func untilTaken(_ daemon: DaemonProcess) async throws {
    try await installation.ready(daemon)
    try await eventually("the alert's end") { try await alerts().isEmpty }
  }

  private func hasNowhere(_ password: String, _ outputs: String...) throws {
    var needles = Needles()
    needles.add("the password", Array(password.utf8.prefix(16)))
    #expect(try needles.found(below: installation.directory.path).finds.isEmpty)
    for output in outputs { #expect(!output.contains(password)) }
  }

  @Test("A daemon without a right one stays, alerts, and goes on with each that is given at once") func life()
    async throws
  {
    var daemon = try installation.launch()
    try await untilRefused(daemon)
    let alert = try #require(try await alerts().first)
    #expect(alert["severity"] == "critical")
    #expect(alert["remedy"]?.text?.contains("threadkeeper login") == true)
    let problem = try await installation.json("status")["broker"]?["problem"]?.text
    #expect(problem?.contains("wants a password") == true)
    try await eventually("the log") { daemon.log.contains("BrokerAuthenticationFailed") }

    let wrong = try await login("Sesame-wrong\n")
    #expect(wrong.status == 77 && wrong.output.isEmpty, "\(wrong)")
    #expect(wrong.error.contains("refused the user name or password of `keeper`"))
    #expect(!wrong.error.contains("Sesame"))
    #expect(try await source() == "none")
    let right = try await login(Self.password + "\n")
    #expect(right.status == 0 && right.error.isEmpty, "\(right)")
    #expect(right.output.hasPrefix("127.0.0.1:\(broker.port) accepts keeper."), "\(right)")
    try await untilTaken(daemon)
    #expect(try await source() == "keychain")
    try hasNowhere(Self.password, daemon.log, right.output)

    // Another one at the broker: the old one is no good any more.
    try broker.setPassword(of: "keeper", to: Self.other)
    try await untilRefused(daemon)
    #expect(try await login(Self.password).status == 77)
    let audience = try await Audience.start(broker.broker, user: "monitor", "threadkeeper/#")
    let updated = try await login(Self.other, "--json")
    let report = try #require(JSON(updated.output), "\(updated.error)")
    #expect(report["username"] == "keeper" && report["stored"] == "updated")
    #expect(report["validated"] == true && report["in_use"] == true)
    try await untilTaken(daemon)
    // What nobody could hear is told now, in its order; the broker keeps the end of it.
    try await audience.until("the alert and its end") { heard in
      !heard.alerts("alert_raised", "BrokerAuthenticationFailed").isEmpty
        && heard.alerts("alert_resolved", "BrokerAuthenticationFailed").contains {
          heard.state("threadkeeper/alert/\($0["fingerprint"]?.text ?? "")")?["status"] == "resolved"
        }
    }

    // The user is removed, and comes back: it goes on trying by itself.
    try broker.remove("keeper")
    try await untilRefused(daemon)
    try broker.setPassword(of: "keeper", to: Self.other)
    try await untilTaken(daemon)
    #expect(try await daemon.stop() == .exit(0))
    // Each time it is logged once for each of the two connections, if both were refused.
    let lines = daemon.log.split(separator: "\n").filter {
      $0.contains("warning") && $0.contains("refused the user name") && $0.contains("disconnected")
    }
    #expect((2...6).contains(lines.count), "\(lines)")

    // The next start has it, and bothers nobody, until it is deleted.
    daemon = try await installation.start()
    #expect(try await alerts().isEmpty)
    #expect(try await installation.json("login", "--remove")["deleted"] == .list(["keeper"]))
    try await untilRefused(daemon)
    #expect(try await source() == "none")
    #expect(try await daemon.stop() == .exit(0))
    try hasNowhere(Self.other, daemon.log)
    #expect(try installation.verify().items == 0)
  }

  @Test("What is stored stays where the broker is not reached, and is replaced where it is damaged") func beside()
    async throws
  {
    var daemon = try installation.launch()
    try await untilRefused(daemon)
    #expect(try await login(Self.password, "--no-validate").status == 0)
    try await untilTaken(daemon)
    broker.broker.stop()
    let away = try await login(Self.other)
    #expect(away.status == 69, "\(away)")
    #expect(away.error.contains("nothing listens on 127.0.0.1:\(broker.port)"))
    #expect(away.error.contains("--no-validate"))
    try broker.broker.start()
    try await installation.ready(daemon)

    let database = try SQLiteDatabase(
      path: "\(installation.storePath)/store.sqlite3", access: .readWrite(create: false))
    let altered = try database.write {
      // The manifest has the last 16 bytes.
      try $0.execute("UPDATE items SET secret = CAST(zeroblob(length(secret) - 16) || substr(secret, -16) AS BLOB)")
    }
    #expect(altered == 1)
    database.close()
    #expect(JSON(try await login(Self.password, "--json").output)?["stored"] == "updated")

    // A killed daemon's socket is no daemon, and keeps the next one not from listening.
    try await daemon.kill9()
    #expect(FileManager.default.fileExists(atPath: installation.socketPath))
    #expect(try await installation.command("login", "--remove").status == 69)
    daemon = try await installation.start()
    #expect(try await source() == "keychain")
    #expect(try await daemon.stop() == .exit(0))
    #expect(!FileManager.default.fileExists(atPath: installation.socketPath))
  }

  @Test("A password that only the daemon's settings have wins, and who has others learns that")
  func daemonsSettingsWin() async throws {
    let variable = "THREADKEEPER_MQTT_PASSWORD"
    let daemon = try await installation.start(environment: [variable: Self.password])
    let login = try await login("Sesame-wrong", "--no-validate")
    #expect(login.output.contains("the running daemon's settings wins over it"), "\(login)")
    #expect(try await source() == "settings")
    let removed = try await installation.command("login", "--remove")
    #expect(removed.output.contains("The running daemon's settings still have one"))
    #expect(try await daemon.stop() == .exit(0))
    #expect(!daemon.log.contains("refused"))
  }

  @Test("Over TLS it is given to a broker whose authority is known, and to no other") func tls() async throws {
    let certificates = try TestCertificates()
    let port = try UnusedPort.next()
    let broker = try TestBroker(
      logins: [.init("keeper", role: .daemon, password: Self.password)],
      extraConfiguration: [
        "listener \(port) 127.0.0.1", "cafile \(certificates.authority)", "certfile \(certificates.server)",
        "keyfile \(certificates.serverKey)",
      ])
    for (authority, status) in [(certificates.strangeAuthority, Int32(69)), (certificates.authority, 0)] {
      let installation = try Installation(port: port, mqtt: ["username: keeper", "tls: {ca_file: \(authority)}"])
      let daemon = try installation.launch()
      try await eventually("the daemon to answer") { try await installation.command("status").status == 0 }
      let answer = try await login(Self.password, on: installation)
      #expect(answer.status == status, "\(answer)")
      #expect(answer.error.contains("certificate") == (status != 0))
      if status == 0 { try await installation.ready(daemon) }
      #expect(try await daemon.stop() == .exit(0))
    }
    withExtendedLifetime(broker) {}
  }

  /// One that waits for the password.
  private func asking(_ installation: Installation, _ more: String...) async throws -> TerminalSession {
    let session = try TerminalSession(
      ["login", "--config", installation.configuration] + more, environment: installation.environment)
    if more.isEmpty {
      try await session.until("User name at 127.0.0.1:\(broker.port)")
      session.type(session.screen.contains("(Enter: keeper)") ? "\n" : "keeper\n")
    }
    try await session.until("Password of keeper at 127.0.0.1:\(broker.port): ")
    try await session.untilHidden()
    return session
  }

  private func again(_ session: TerminalSession, _ count: Int, _ password: String) async throws {
    try await session.until("Password of keeper", count: count)
    try await session.untilHidden()
    session.type(password + "\n")
  }

  @Test("At a terminal it is hidden, asked for three times, and stored only where nobody gives up") func terminal()
    async throws
  {
    let nameless = try Installation(broker.broker)
    let daemon = try nameless.launch()
    try await eventually("the daemon to answer") { try await nameless.command("status").status == 0 }
    #expect(try await login(Self.password, on: nameless).status == 64, "whose is it?")
    // Ctrl-C, Ctrl-D and Ctrl-\; Ctrl-Z does nothing.
    for keys in ["\u{3}", "\u{4}", "half a pass\u{1A}\u{1C}"] {
      let session = try await asking(nameless, "--username", "keeper")
      session.type(keys)
      let end = try await session.end()
      #expect(session.isEchoing && !session.screen.contains("half"))
      guard keys.count == 1 else { continue }
      #expect(end == 130 && session.screen.contains("Nothing was changed"), "\(session.screen)")
    }
    let paused = try await asking(nameless, "--username", "keeper")
    try broker.pause()
    paused.type(Self.password + "\n")
    try await eventually("the end of the question") { paused.isEchoing }
    paused.type("\u{3}")
    #expect(try await paused.end() == 130)
    try broker.resume()
    let never = try await asking(nameless, "--username", "keeper")
    for count in 1...3 { try await again(never, count, "Sesame-wrong") }
    #expect(try await never.end() == 77)
    #expect(try await nameless.json("status")["login"]?["password_from"] == "none")

    let session = try await asking(nameless)
    // Enter alone is no answer.
    for (count, password) in [(1, ""), (2, "Sesame-wrong"), (3, Self.password)] {
      try await again(session, count, password)
    }
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(session.isEchoing && !session.screen.contains("Sesame"))
    #expect(session.screen.contains("refused the user name or password of `keeper`"))
    #expect(session.screen.contains("accepts keeper"))
    // From then on the name is proposed, and used where nobody is asked.
    let known = try await asking(nameless)
    #expect(known.screen.contains("(Enter: keeper)"))
    known.type(Self.password + "\n")
    #expect(try await known.end() == 0)
    #expect(try await login(Self.password, on: nameless).status == 0)
    try await nameless.ready(daemon)
    #expect(try await daemon.stop() == .exit(0))
  }
}
