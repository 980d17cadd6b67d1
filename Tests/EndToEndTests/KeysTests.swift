import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// What is refused, and in which words, KeyOperationTests of ThreadkeeperTests has.
@Suite("The keys of a store, and its lock", .inTurns, .timeLimit(.minutes(30))) struct KeysTests {
  private static let passphrase = "correct horse battery"
  private static let question = "Passphrase or recovery code of the store: "
  private static let newQuestions = ["New passphrase of the store: ", "The same again: "]
  private static let groupQuestion = "It opens nothing until you type its third group: "

  /// With a passphrase that takes as little time as it may, so that many runs can be given it.
  private func addPassphrase(to installation: Installation) throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    let keychain = try Keychain.open(
      at: installation.location, with: .keyFile(path: installation.directory.file("store.key")), options: options)
    defer { keychain.close() }
    _ = try keychain.addKeySlot(.passphrase(SecretBytes(copying: Array(Self.passphrase.utf8))))
  }

  private func slots(_ installation: Installation) async throws -> [JSON] {
    try await installation.json("keys", "list")["slots"]?.list ?? []
  }

  @Test("Without a daemon, what is added opens the store in place of the key file, until it is removed") func alone()
    async throws
  {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    let right = try installation.passphraseFile(Self.passphrase)
    let opened = ["THREADKEEPER_STORE_PASSPHRASE_FILE": right]
    let spare = installation.directory.file("spare.key")
    let added = try await installation.json("keys", "add", "--key-file", spare, "--label", "in the safe")
    #expect(added["slot"]?["id"] == 2 && added["key_file_made"]?.text == spare)
    let passphrase = try await installation.command("keys", "add", "--passphrase-file", right)
    #expect(passphrase.status == 0 && passphrase.output == "Key slot 3 is added.\n", "\(passphrase)")
    let made = try await installation.command("keys", "add", "--recovery-code", "--json", environment: opened)
    let code = try #require(JSON(made.output)?["recovery_code"]?.text)
    let list = try await slots(installation)
    #expect(list.map { $0["kind"]?.text } == ["key_file", "key_file", "passphrase", "recovery_code"])
    #expect(list.map { $0["opens"]?.text } == ["yes", "no", "not_tried", "not_tried"])
    #expect(list[1]["label"] == "in the safe")

    try FileManager.default.removeItem(atPath: installation.directory.file("store.key"))
    let closed = try await installation.command("keys", "list")
    #expect(closed.status == 77 && closed.error.contains("there is no key file"))
    #expect(closed.error.contains("THREADKEEPER_STORE_PASSPHRASE_FILE"))
    var mistyped = code
    mistyped.replaceSubrange(...mistyped.startIndex, with: code.hasPrefix("7") ? "8" : "7")
    for (typed, status, words) in [
      (code.lowercased().filter { $0 != "-" }, 0, nil), (mistyped, 77, "group 1 is mistyped"),
      ("another passphrase", 77, "this passphrase: it is mistyped"),
    ] as [(String, Int32, String?)] {
      let outcome = try await installation.command(
        "keys", "list", environment: ["THREADKEEPER_STORE_PASSPHRASE": typed])
      #expect(outcome.status == status, "\(outcome)")
      if let words { #expect(outcome.error.contains(words), "\(outcome)") }
    }
    let gone = try await installation.command("keys", "remove", "3", "--yes", environment: opened)
    #expect(gone.status == 0 && gone.output == "Key slot 3 is removed.\n", "\(gone)")
    #expect(try await installation.command("keys", "list", environment: opened).status == 77)
  }

  @Test("A daemon that the key file opened changes all by the passphrase, for who gave the command") func daemon()
    async throws
  {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    try installation.makeStore()
    try addPassphrase(to: installation)
    let right = try installation.passphraseFile(Self.passphrase)
    let (key, spare) = (installation.directory.file("store.key"), installation.directory.file("spare"))
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let (router, home) = (BorderRouter(number: 1), try ThreadNetwork("home"))
    try await publisher.publish([router.announces(try home.hex())])
    try await eventually("the router") { try await installation.json("status")["credentials"] == 1 }
    let code = try await installation.command("keys", "add", "--recovery-code")
    #expect(code.status == 77 && code.error.contains("locked") && code.output.isEmpty)
    #expect(code.error.contains("`store.passphrase`"), "\(code.error)")
    let added = try await installation.command("keys", "add", "--key-file", spare)
    #expect(added.output.contains("key file is made: \(spare)"), "\(added)")
    let asked = try await installation.command("keys", "rotate", "--passphrase-file", right)
    #expect(asked.status == 64 && asked.error.contains("3 (key_file)"), "\(asked.error)")
    let done = try await installation.command("keys", "rotate", "--yes", "--passphrase-file", right)
    #expect(done.status == 0 && done.output.contains("are under new keys"), "\(done)")
    #expect(throws: KeychainError.self) {
      _ = try Keychain.open(at: installation.location, with: .keyFile(path: spare), access: .readOnly)
    }
    #expect(try await installation.command("keys", "add", "--key-file", spare).status == 0)
    let last = try #require(try await slots(installation).last?["id"]?.number)
    #expect(try await installation.command("keys", "remove", "\(last)").status == 0)
    // At a terminal the passphrase is asked for.
    let session = try TerminalSession(
      ["keys", "rotate", "--yes", "--config", installation.configuration], environment: installation.environment)
    try await session.until("Passphrase or recovery code")
    try await session.untilHidden()
    session.type(Self.passphrase + "\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(!session.screen.contains(Self.passphrase))
    #expect(try await daemon.stop() == .exit(0))
    #expect(
      try installation.audit().filter { $0.hasPrefix("command of user \(geteuid()): key") }.map {
        $0.split(separator: " ").last
      }.suffix(6) == [
        "key_slot_added", "keys_rotated", "key_slot_removed", "key_slot_added", "key_slot_removed", "keys_rotated",
      ])

    // Where only the passphrase opens the store, a command about the daemon needs none.
    try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
    let again = try await installation.start(environment: ["THREADKEEPER_STORE_PASSPHRASE_FILE": right])
    let status = try await installation.command("status")
    #expect(status.output.contains("running as process \(again.identifier)"), "\(status)")
    #expect(try await installation.command("keys", "add", "--recovery-code").status == 0)
    #expect(try await again.stop() == .exit(0))
    #expect(!(daemon.log + again.log).contains(Self.passphrase))
    try FileManager.default.moveItem(atPath: key + ".away", toPath: key)
    #expect(try await installation.dataset(of: router.agent) == home.hex())
  }

  @Test("A credential of systemd opens the store by itself, and stays through a rotation") func credential()
    async throws
  {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    let credentials = installation.directory.file("credentials")
    try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
    try Data(String(repeating: "a1", count: 32).utf8).write(to: URL(fileURLWithPath: credentials + "/store_key"))
    chmod(credentials + "/store_key", 0o400)
    let service = ["CREDENTIALS_DIRECTORY": credentials]
    for (name, environment, status, words) in [
      ("store_key", [:], 77, "CREDENTIALS_DIRECTORY"), ("other", service, 77, "no credential other"),
      ("store_key", service, 0, "\n"),
    ] as [(String, [String: String], Int32, String)] {
      let outcome = try await installation.command(
        "keys", "add", "--systemd-credential", name, environment: environment)
      #expect(outcome.status == status, "\(outcome)")
      #expect("\(outcome.error)\n".contains(words), "\(outcome)")
    }
    try addPassphrase(to: installation)
    try FileManager.default.removeItem(atPath: installation.directory.file("store.key"))
    #expect(try await installation.command("keys", "list").status == 77)
    let file = try installation.passphraseFile(Self.passphrase)
    let asked = try await installation.command("keys", "rotate", "--passphrase-file", file, environment: service)
    #expect(asked.status == 64 && asked.error.contains("1 (key_file)"), "\(asked.error)")
    #expect(!asked.error.contains("systemd_credential"), "\(asked.error)")
    let both = try await installation.command(
      "keys", "rotate", "--yes", "--passphrase-file", file, environment: service)
    #expect(both.status == 0 && both.output.contains("Key slot 1 (key_file) is removed"), "\(both)")
    #expect(try await installation.command("keys", "list", environment: service).status == 0)
  }

  /// Answers the first questions, and waits at the next one.
  private func session(_ command: String, _ questions: ArraySlice<String>, _ installation: Installation) async throws
    -> TerminalSession
  {
    let session = try TerminalSession(
      command.split(separator: " ").map(String.init) + ["--config", installation.configuration],
      environment: installation.environment)
    for (number, question) in questions.enumerated() {
      if number > 0 { session.type("another way in\n") }
      try await session.until(question)
      try await session.untilHidden()
    }
    return session
  }

  @Test("Ctrl-C and SIGTERM at a question for a passphrase end it at once, and nothing is changed") func brokenOff()
    async throws
  {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    try addPassphrase(to: installation)
    let backup = installation.directory.file("store.tkbackup")
    let location = installation.location
    let keyFile = installation.directory.file("store.key")
    do {
      let keychain = try Keychain.open(at: location, with: .keyFile(path: keyFile))
      defer { keychain.close() }
      _ = try keychain.backup(to: backup)
    }
    let before = try installation.audit()
    let add = Self.newQuestions + [Self.question]
    let rows: [(String, ArraySlice<String>, Bool)] =
      (1...3).map { ("keys add --passphrase", add.prefix($0), false) } + [
        ("keys rotate", [Self.question], false), ("keys rotate", [Self.question], true),
        ("keys list", [Self.question], true), ("keys remove 1 --yes", [Self.question], true),
        ("store restore --in-place", [Self.question], true), ("store restore --yes \(backup)", [Self.question], true),
      ]
    for (command, questions, needsAnswer) in rows {
      if needsAnswer { try FileManager.default.moveItem(atPath: keyFile, toPath: keyFile + ".away") }
      for isSignal in [false, true] {
        let session = try await session(command, questions, installation)
        if isSignal { try session.signal(SIGTERM) } else { session.type("\u{3}") }
        let status = try await session.end()
        #expect(status == 130 && session.isEchoing, "\(command): \(status), \(session.screen)")
        #expect(session.screen.contains("Stopped. Nothing was changed."), "\(command)")
      }
      if needsAnswer { try FileManager.default.moveItem(atPath: keyFile + ".away", toPath: keyFile) }
    }
    #expect(try installation.audit() == before)

    // With the answer it is done.
    try FileManager.default.moveItem(atPath: keyFile, toPath: keyFile + ".away")
    let session = try await session("keys remove 1", [Self.question], installation)
    session.type(Self.passphrase + "\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(session.isEchoing && session.screen.contains("Key slot 1 is removed."))
  }

  @Test("At a terminal a recovery code opens nothing until its third group was typed") func confirmed() async throws {
    let installation = try Installation(port: nil)
    try installation.makeStore()
    func session() async throws -> TerminalSession {
      let session = try TerminalSession(
        ["keys", "add", "--recovery-code", "--config", installation.configuration],
        environment: installation.environment)
      try await session.until(Self.groupQuestion)
      return session
    }
    let broken = try await session()
    broken.type("\u{3}")
    #expect(try await broken.end() == 130 && broken.screen.contains("Stopped. Nothing was changed."))
    #expect(try await slots(installation).count == 1)
    let session = try await session()
    let code = try #require(session.recoveryCode)
    session.type("\(code.prefix(5))\n")
    try await session.until("That is not its third group.")
    #expect(try await slots(installation).count == 1)
    session.type("\(code.split(separator: "-")[2].lowercased())\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(session.screen.components(separatedBy: code).count == 2, "once")
    let opened = try await installation.command("keys", "list", environment: ["THREADKEEPER_STORE_PASSPHRASE": code])
    #expect(opened.output.contains("recovery_code"), "\(opened)")
  }

  /// Runs a command at a terminal, and answers each of its questions: with the same passphrase, or a part of the code.
  private func play(_ arguments: [String], _ installation: Installation) async throws -> Int32 {
    let session = try TerminalSession(
      arguments + ["--config", installation.configuration], environment: installation.environment)
    var answered = 0
    var isConfirmed = false
    try await eventually(within: .seconds(120)) {
      if !isConfirmed, session.screen.contains(Self.groupQuestion) {
        session.type("\(session.recoveryCode?.split(separator: "-")[2] ?? "")\n")
        isConfirmed = true
      }
      let asked = (Self.newQuestions + [Self.question]).map { session.screen.components(separatedBy: $0).count - 1 }
        .reduce(0, +)
      if asked > answered, !session.isEchoing {
        session.type("\(Self.passphrase)\n")
        answered += 1
      }
      return !session.isRunning
    }
    return try await session.end()
  }

  @Test("The guide's commands for keys work, one after the other, as they stand there") func block() async throws {
    let installation = try Installation(port: nil)
    let block = try Handbook("docs/guides/keys.md").block(
      below: "Add and remove key slots", with: "threadkeeper keys list")
    let commands = block.split(separator: "\n").map { line in
      line.prefix { $0 != "#" }.split(separator: " ").dropFirst().map {
        $0.replacingOccurrences(of: "/media/stick", with: installation.directory.path + "/stick")
      }
    }
    try #require(commands.count == 5)
    try FileManager.default.createDirectory(
      atPath: installation.directory.file("stick"), withIntermediateDirectories: false)
    try installation.makeStore()
    for command in commands { #expect(try await play(command, installation) == 0, "\(command)") }
    // What was written down still opens the store, and the stick does not.
    let slots = try await slots(installation)
    #expect(slots.map { $0["kind"]?.text } == ["key_file", "passphrase", "recovery_code"])
    #expect(slots.allSatisfy { $0["label"]?.text != "stick" })
  }
}

extension TerminalSession {
  fileprivate var recoveryCode: String? {
    screen.firstMatch(of: /([0-9A-Z]{5}-){6}[0-9A-Z]{5}/).map { String($0.output.0) }
  }
}
