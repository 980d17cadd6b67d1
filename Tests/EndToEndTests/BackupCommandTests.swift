import Broker
import Foundation
import TestKit
import Testing

/// What a backup and a restore refuse, and what they print, StoreCommandsTests of ThreadkeeperTests has.
@Suite("Backup, and restore here and on a new machine", .inTurns, .timeLimit(.minutes(30))) struct BackupCommandTests {
  private static let passphrase = "correct horse battery staple"

  /// A home whose daemon makes a backup for a command that has no key.
  private struct Home {
    let running: RunningHome
    let network: ThreadNetwork
    let file: String

    static func start() async throws -> Home {
      let running = try await RunningHome()
      let home = Home(
        running: running, network: try ThreadNetwork("home"),
        file: running.installation.directory.file("monday.tkbackup"))
      try await home.announce(BorderRouter(number: 1), count: 1)
      return home
    }

    func announce(_ router: BorderRouter, count: Int64) async throws {
      try await running.publish(router.announces(try network.hex()))
      try await eventually("the router") {
        try await running.installation.json("status")["credentials"]?.number == count
      }
    }
  }

  @Test("A backup beside a running daemon is restored, and the daemon goes on from there") func here() async throws {
    let home = try await Home.start()
    let (installation, file) = (home.running.installation, home.file)
    let key = installation.directory.file("store.key")
    try FileManager.default.moveItem(atPath: key, toPath: key + "-away")
    let verified = try await installation.json("store", "verify")
    #expect(verified["matches_manifest"] == true && verified["condition"] == "healthy")
    let made = try await installation.json("store", "backup", file)
    #expect(made["items"] == 0 && (made["records"]?.number ?? 0) >= 2, "\(made)")
    #expect(made["store_id"]?.text?.isEmpty == false && (made["bytes"]?.number ?? 0) > 0)
    #expect(made["not_included"]?.list.first?.text == key && made["not_included"]?.list.count == 2)
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(bytes.range(of: Data(try home.network.hex().utf8)) == nil)
    for (place, words) in [(file, "--force"), (installation.directory.file("none/file"), "none")] {
      let refused = try await installation.command("store", "backup", place)
      #expect(refused.status == 73 && refused.error.contains(words), "\(refused)")
    }
    let forced = try await installation.command("store", "backup", "--force", file)
    #expect(forced.status == 0 && forced.output.contains("store.key"))
    try FileManager.default.moveItem(atPath: key + "-away", toPath: key)

    try await home.announce(BorderRouter(number: 2), count: 2)
    let busy = try await installation.command("store", "restore", "--yes", file)
    #expect(busy.status == 75 && busy.error.contains("in use by threadkeeper"), "\(busy.error)")
    try await home.running.stop()
    let restored = try await installation.json("store", "restore", "--yes", file)
    #expect(restored["records"] == made["records"] && restored["damaged"] == 0, "\(restored)")
    #expect(restored["replaced"] == true && (restored["changes_lost"]?.number ?? 0) > 0)
    #expect(
      try !FileManager.default.contentsOfDirectory(atPath: installation.directory.path).contains { $0.contains(".new") }
    )

    try await home.running.start()
    let status = try await installation.json("status")
    #expect(status["credentials"] == 1 && status["store"]?["condition"] == "healthy")
    try await home.announce(BorderRouter(number: 2), count: 2)
    try await home.running.stop()
    #expect(try installation.verify().unreadable.isEmpty)
  }

  /// As the guide "Move to a new machine" says it.
  @Test("On a new machine a backup is the whole home, and its daemon starts without a question") func move()
    async throws
  {
    let home = try await Home.start()
    let old = home.running.installation
    #expect(try await old.command("clients", "enroll", "hub", try Identity().keys.line).status == 0)
    let shown = try await old.daemonLine()
    let file = try old.passphraseFile(Self.passphrase)
    #expect(try await old.command("keys", "add", "--passphrase-file", file).status == 0)
    #expect(try await old.command("store", "backup", home.file).status == 0)
    try await home.running.stop()

    let new = try Installation(try TestBroker(), hold: 0)
    let key = new.directory.file("store.key")
    for (typed, status) in [("another passphrase", Int32(77)), (Self.passphrase, 0)] {
      let session = try TerminalSession(
        ["store", "restore", home.file, "--config", new.configuration], environment: new.environment)
      try await session.until("Passphrase or recovery code")
      try await session.untilHidden()
      session.type(typed + "\n")
      #expect(try await session.end() == status, "\(session.screen)")
      #expect(!session.screen.contains(typed))
      // The store is opened again to see it, and the passphrase is not asked for a second time.
      for words in ["are restored", "hub, home home", "is made, with key slot 3"] {
        #expect(session.screen.contains(words) == (status == 0), "\(session.screen)")
      }
      #expect(FileManager.default.fileExists(atPath: key) == (status == 0))
    }
    let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o400)
    let daemon = try await new.start()
    #expect(try await new.dataset(of: BorderRouter(number: 1).agent) == home.network.hex())
    #expect(try await new.json("networks").list.first?["preferred"] == true)
    #expect(try await new.json("clients", "list")["clients"]?.list.map { $0["user"]?.text } == ["hub"])
    #expect(try await new.daemonLine() == shown)
    #expect(try await new.command("audit", "--verify").status == 0)
    #expect(try await daemon.stop() == .exit(0))
    #expect(try new.verify().matchesManifest)
  }

  /// A machine with the package, below a directory that stands for `/`.
  private struct Machine {
    let root: TemporaryDirectory
    let environment: [String: String]

    init() throws {
      root = try TemporaryDirectory()
      environment = [
        "HOME": root.file("home"), "TMPDIR": root.path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        "THREADKEEPER_SYSTEM_ROOT": root.path, "THREADKEEPER_STATE_DIRECTORY": root.file("var/lib/threadkeeper"),
      ].merging(TestSandbox.uncounted) { $1 }
    }

    var configuration: String { root.file("etc/threadkeeper/threadkeeper.yaml") }

    func put(_ text: String, _ name: String) throws {
      try FileManager.default.createDirectory(
        atPath: (root.file(name) as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try root.put(text, name)
      #expect(chmod(root.file(name), 0o600) == 0)
    }

    func text(_ name: String) -> String? { try? String(contentsOfFile: root.file(name), encoding: .utf8) }

    func link(_ name: String, to target: String) throws {
      let path = root.file(name)
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    func command(_ arguments: String..., code: String? = nil) async throws -> ThreadkeeperBinary.Outcome {
      let opened = code.map { ["THREADKEEPER_STORE_PASSPHRASE_FILE": $0] } ?? [:]
      return try await ThreadkeeperBinary.run(
        arguments + ["--config", configuration], environment: environment.merging(opened) { $1 })
    }

    func json(_ arguments: String..., code: String? = nil) async throws -> JSON {
      let opened = code.map { ["THREADKEEPER_STORE_PASSPHRASE_FILE": $0] } ?? [:]
      let outcome = try await ThreadkeeperBinary.run(
        arguments + ["--json", "--config", configuration], environment: environment.merging(opened) { $1 })
      #expect(outcome.status == 0, "\(arguments): \(outcome.error)")
      return try #require(JSON(outcome.output))
    }

    func start() async throws -> DaemonProcess {
      let daemon = try DaemonProcess(
        ["run", "--config", configuration], environment: environment, errorFile: root.file("daemon.log"))
      try await eventually("the daemon to run") {
        let status = try await command("status", "--json")
        return JSON(status.output)?["intake"]?["state"] == "running"
      }
      return daemon
    }
  }

  private static let agentPassword = "etc/threadkeeper-agent/password"
  /// What a backup of `oldMachine` has, and what is in each file.
  private static let files = [
    "etc/threadkeeper/ca.pem": "of an authority\n", agentPassword: "Sesame-41aa-of-the-agent\n",
    "etc/threadkeeper-agent/otbr.env": "AGENT_OPTIONS=\"--host 127.0.0.1\"\n",
    "var/lib/threadkeeper-agent/agent-client-id": "00112233445566778899aabbccddeeff\n",
    "var/lib/threadkeeper/store.http-token": String(repeating: "t", count: 43) + "\n",
  ]

  /// A backup of a machine with agents, what opens it, and its broker.
  private func oldMachine() async throws -> (
    machine: Machine, broker: TestBroker, backup: String, code: String, settings: String
  ) {
    let (machine, broker) = (try Machine(), try TestBroker())
    let settings = "mqtt: {host: 127.0.0.1, port: \(broker.port)}\nhttp: {enabled: false}\n"
    try machine.put(settings, "etc/threadkeeper/threadkeeper.yaml")
    let daemon = try await machine.start()
    for (name, text) in Self.files { try machine.put(text, name) }
    try machine.link("etc/threadkeeper-agent/passwd", to: "/etc/passwd")
    #expect(mkfifo(machine.root.file("etc/threadkeeper-agent/pipe"), 0o600) == 0)
    try machine.link(
      "etc/systemd/system/multi-user.target.wants/threadkeeper-agent-otbr.service",
      to: "/usr/lib/systemd/system/threadkeeper-agent-otbr.service")
    #expect(try await machine.command("clients", "enroll", "hub", try Identity().keys.line).status == 0)
    let code = try #require(try await machine.json("keys", "add", "--recovery-code")["recovery_code"]?.text)
    let backup = machine.root.file("home.tkbackup")
    let made = try await machine.json("store", "backup", backup)
    let expected = (Array(Self.files.keys) + ["etc/threadkeeper/threadkeeper.yaml"]).map(machine.root.file)
    #expect(made["files"]?.list.compactMap(\.text).sorted() == expected.sorted())
    let leftOut = made["left_out"]?.list.compactMap { $0["path"]?.text }.sorted()
    #expect(leftOut == ["passwd", "pipe"].map { machine.root.file("etc/threadkeeper-agent/" + $0) })
    #expect(try await daemon.stop() == .exit(0))
    // Without a daemon it is the same.
    let again = try await machine.json("store", "backup", "--force", backup)
    #expect(again["files"] == made["files"] && again["records"] == made["records"] && again["bytes"]?.number != 0)
    return (machine, broker, backup, code, settings)
  }

  @Test("On a new machine the file and a recovery code bring back the store and all that made the old one")
  func wholeMachine() async throws {
    let (old, broker, backup, code, settings) = try await oldMachine()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
    for text in Array(Self.files.values) + [settings] { #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text)") }

    let new = try Machine()
    // As the package leaves it.
    for name in ["usr/share/threadkeeper/threadkeeper.yaml", "etc/threadkeeper/threadkeeper.yaml"] {
      try new.put("{}\n", name)
    }
    let session = try TerminalSession(
      ["store", "restore", backup, "--config", new.configuration], environment: new.environment)
    try await session.until("Passphrase or recovery code")
    try await session.untilHidden()
    session.type(code + "\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    for words in [
      "In the backup beside the store", new.configuration, "are restored", "hub, home home", "127.0.0.1:",
      "systemctl enable --now threadkeeper-agent-otbr",
    ] { #expect(session.screen.contains(words), "\(words): \(session.screen)") }
    for (name, text) in Self.files {
      #expect(new.text(name) == text, "\(name)")
      var status = stat()
      #expect(stat(new.root.file(name), &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
    }
    #expect(new.text("etc/threadkeeper/threadkeeper.yaml") == settings)
    let daemon = try await new.start()
    #expect(try await new.json("clients", "list")["clients"]?.list.map { $0["user"]?.text } == ["hub"])
    #expect(try await daemon.stop() == .exit(0))

    // Again, over what is there: a file that differs stays, unless it may go.
    let file = try new.root.putSecret(code, "code")
    try new.put("changed", Self.agentPassword)
    for (force, action, text) in [([], "kept", "changed"), (["--force"], "replaced", Self.files[Self.agentPassword])]
      as [([String], String, String?)]
    {
      let outcome = try await ThreadkeeperBinary.run(
        ["store", "restore", "--yes", "--json", backup, "--config", new.configuration] + force,
        environment: new.environment.merging(["THREADKEEPER_STORE_PASSPHRASE_FILE": file]) { $1 })
      #expect(outcome.status == 0, "\(outcome.error)")
      let machine = JSON(outcome.output)?["machine"]
      let actions = machine?["files"]?.list.map { ($0["path"]?.text, $0["action"]?.text) } ?? []
      #expect(actions.count == Self.files.count + 1)
      for (path, found) in actions {
        #expect(found == (path == new.root.file(Self.agentPassword) ? action : "same"), "\(path ?? "")")
      }
      #expect(new.text(Self.agentPassword) == text)
      // Who looks first who has access again starts it.
      #expect(machine?["started"]?.list.isEmpty == true)
    }
    withExtendedLifetime((old, broker)) {}
  }

  @Test("A restore beside a daemon whose store lies elsewhere than the backup's changes nothing") func besideDaemon()
    async throws
  {
    let (old, _, backup, code, _) = try await oldMachine()
    let (new, broker) = (try Machine(), try TestBroker())
    let settings =
      "mqtt: {host: 127.0.0.1, port: \(broker.port)}\nhttp: {enabled: false}\n"
      + "store: {path: \(new.root.file("other/store"))}\n"
    try new.put(settings, "etc/threadkeeper/threadkeeper.yaml")
    let daemon = try await new.start()
    let outcome = try await new.command(
      "store", "restore", "--yes", "--force", backup, code: new.root.putSecret(code, "code"))
    #expect(outcome.status == 75 && outcome.error.contains("in use by"), "\(outcome.error)")
    #expect(new.text("etc/threadkeeper/threadkeeper.yaml") == settings)
    #expect(try await daemon.stop() == .exit(0))
    withExtendedLifetime((old, broker)) {}
  }

  @Test("A restore that fails leaves nothing beside the store, and writes through no link") func failedRestore()
    async throws
  {
    let (old, _, backup, code, _) = try await oldMachine()
    let right = try old.root.putSecret(code, "code")
    var altered = [UInt8](try Data(contentsOf: URL(fileURLWithPath: backup)))
    // In what is sealed beside the store.
    altered[altered.count - 200] ^= 1
    try Data(altered).write(to: URL(fileURLWithPath: backup + "-altered"))
    let wrong = old.root.file("wrong")
    try old.put("another passphrase", "wrong")
    for (file, code, status) in [(backup, wrong, Int32(77)), (backup + "-altered", right, 65)] {
      let new = try Machine()
      let outcome = try await new.command("store", "restore", file, code: code)
      #expect(outcome.status == status, "\(outcome.error)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: new.root.path).isEmpty, "\(outcome.error)")
    }

    // Where the store cannot be made, and where something else has the place of a file.
    let precious = old.root.file("precious")
    try old.put("precious", "precious")
    for isLink in [false, true] {
      let new = try Machine()
      if isLink {
        try new.link(Self.agentPassword, to: precious)
      } else {
        try new.put("no directory", "var/lib/threadkeeper/store")
      }
      let outcome = try await new.command("store", "restore", "--force", backup, code: right)
      #expect(outcome.status != 0, "\(outcome.output)")
      for name in Self.files.keys where name != Self.agentPassword || !isLink {
        #expect(new.text(name) == nil, "\(name)")
      }
      #expect(new.text("etc/threadkeeper/threadkeeper.yaml") == nil)
      #expect(!FileManager.default.fileExists(atPath: new.root.file("var/lib/threadkeeper/store/store.sqlite3")))
    }
    #expect(old.text("precious") == "precious")
  }

  @Test("A signal ends a backup, also where the daemon says nothing") func silentDaemon() async throws {
    let installation = try Installation(try TestBroker())
    let daemon = try await installation.start()
    // It takes calls, as the kernel does it, and has no time for them.
    try await daemon.suspend()
    defer { daemon.signal(SIGCONT) }
    let socket = installation.socketPath
    let before = try WaitingCalls.count(at: socket)
    let file = installation.directory.file("home.tkbackup")
    let session = try TerminalSession(
      ["store", "backup", file, "--config", installation.configuration], environment: installation.environment)
    try await eventually("the command to call the daemon") { try WaitingCalls.count(at: socket) > before }
    try session.signal(SIGTERM)
    #expect(try await session.end() == 130, "\(session.screen)")
    #expect(session.screen.contains("Stopped. Nothing was changed."), "\(session.screen)")
    daemon.signal(SIGCONT)
    #expect(try await daemon.stop() == .exit(0))
    let left = try FileManager.default.contentsOfDirectory(atPath: installation.directory.file("."))
    #expect(!left.contains { $0.contains("tkbackup") }, "\(left)")
  }
}
