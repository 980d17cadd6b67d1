import Foundation
import TestKit
import Testing

/// What users have of a daemon and a store that are another user's. Who may have which operation done, LocalAPITests of
/// ThreadkeeperTests asserts of each.
@Suite(
  "The daemon and the store of another user", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: geteuid() == 0, "only root can be another user")) struct OtherUserTests
{
  private static let nobody: uid_t = 65534
  private static let group = 61_040
  private static let member: uid_t = 61_041
  private static let otherUser: uid_t = 61_042
  /// One of each way to ask: the state, a list, an operation, a stream, the keys.
  private static let looks = [["status"], ["routers"], ["preferred", "show"], ["audit"], ["keys", "list"]]

  private let directory: TemporaryDirectory
  private let broker: TestBroker
  private let state: String
  private let dataset: String
  private let router = BorderRouter(number: 1)

  init() throws {
    directory = try TemporaryDirectory()
    broker = try TestBroker()
    state = directory.file("var/lib/threadkeeper")
    dataset = try ThreadNetwork("home").hex()
    for path in ["var/lib/threadkeeper", "run/threadkeeper"].map(directory.file) {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    for path in ["", "var", "var/lib", "run", "run/threadkeeper"].map(directory.file) { chmod(path, 0o755) }
    chmod(state, 0o700)
  }

  private var environment: [String: String] {
    [
      "HOME": directory.file("home"), "THREADKEEPER_SYSTEM_ROOT": directory.path,
      "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "TMPDIR": directory.path,
    ].merging(TestSandbox.uncounted) { $1 }
  }

  private static func launcher(_ user: uid_t, _ group: Int, more: [Int] = []) -> [String] {
    [
      "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(group)",
      more.isEmpty ? "--clear-groups" : "--groups=" + more.map(String.init).joined(separator: ","),
    ]
  }

  private func run(_ arguments: [String], launcher: [String] = []) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(arguments, input: .text(""), environment: environment, launcher: launcher)
  }

  /// With a router's credentials in its store.
  private func start(as user: uid_t) async throws -> DaemonProcess {
    for path in [state, directory.file("run/threadkeeper")] { try #require(chown(path, user, gid_t(Self.group)) == 0) }
    let daemon = try DaemonProcess(
      ["run", "--state-directory", state], launcher: Self.launcher(user, Self.group),
      environment: environment.merging([
        "THREADKEEPER_MQTT_HOST": "127.0.0.1", "THREADKEEPER_MQTT_PORT": "\(broker.port)",
        "THREADKEEPER_HTTP_ENABLED": "false", "RUNTIME_DIRECTORY": directory.file("run/threadkeeper"),
      ]) { $1 }, errorFile: directory.file("daemon.log"))
    let publisher = try await TestPublisher.start(broker)
    try await eventually("the daemon to listen") {
      let status = try await run(["status", "--json"])
      return JSON(status.output)?["intake"]?["state"] == "running"
    }
    try await publisher.publish([router.says("announce", ("name", #""Hub""#), ("dataset", "\"\(dataset)\""))])
    try await eventually("the router") { try await run(["credentials", "list"]).output.contains("home") }
    return daemon
  }

  private func paste(_ command: String) throws -> String {
    try Program.check("env", ["-i"] + environment.map { "\($0)=\($1)" } + ["sh", "-c", command])
  }

  /// The command of a refusal, for the shell of a person.
  private func advice(_ refused: ThreadkeeperBinary.Outcome) throws -> String {
    #expect(refused.status == 77 && refused.output.isEmpty, "\(refused.output)\(refused.error)")
    let parts = refused.error.split(separator: "`")
    return try String(#require(parts.count > 1 ? parts[1] : nil, "\(refused.error)"))
  }

  @Test("root reads all of a running daemon of another user, secrets too, and no file changes hands") func root()
    async throws
  {
    let daemon = try await start(as: Self.nobody)
    for command in Self.looks {
      let shown = try await run(command)
      #expect(shown.status == 0 && shown.error.isEmpty, "\(command): \(shown.error)")
    }
    let agent = try #require(JSON(try await run(["routers", "--json"]).output)?.list.first?["border_agent_id"]?.text)
    let secret = try await run(["credentials", "get", agent, "--show-secrets"])
    #expect(secret.output.lowercased().contains(dataset.lowercased()), "\(secret.error)")
    #expect(try await run(["preferred", "check", dataset]).output == "match\n")
    let doctor = try await run(["doctor", "--json"]).output
    #expect(
      JSON(doctor)?["findings"]?.list.contains { $0["part"] == "store" && $0["result"] == "ok" } == true
        && !doctor.contains("belongs to user"), "\(doctor)")
    for file in try FileManager.default.subpathsOfDirectory(atPath: state) {
      let owner = try FileManager.default.attributesOfItem(atPath: "\(state)/\(file)")
      #expect((owner[.ownerAccountID] as? NSNumber)?.uint32Value == Self.nobody, "\(file)")
    }
    #expect(try await daemon.stop() == .exit(0))
    #expect(try await run(["routers", "--json"]).status == 69)
    // Without a daemon only its own user can.
    let command = try await advice(run(["keys", "list", "--json"]))
    #expect(command.hasPrefix("sudo -u nobody "), "\(command)")
    let pasted = try paste(command.replacing("sudo -u nobody ", with: "setpriv --reuid 65534 --clear-groups -- "))
    #expect(JSON(pasted)?["slots"]?.list.count == 1)
  }

  @Test("A member of the daemon's group reads what shows no secret, and changes nothing") func member() async throws {
    let daemon = try await start(as: 0)
    let launcher = Self.launcher(Self.member, Int(Self.member), more: [Self.group])
    for command in Self.looks {
      let shown = try await run(command, launcher: launcher)
      #expect(shown.status == 0, "\(command): \(shown.error)")
      if command != ["status"] { #expect(try await run(command).output == shown.output) }
    }
    let agent = try #require(
      JSON(try await run(["routers", "--json"], launcher: launcher).output)?.list.first?["border_agent_id"]?.text)
    #expect(try await run(["credentials", "get", agent], launcher: launcher).status == 0)
    for command in [
      ["credentials", "get", agent, "--show-secrets"], ["preferred", "forget"], ["keys", "rotate"],
      ["preferred", "check", dataset], ["login", "--username", "anna", "--password-stdin"],
    ] {
      let refused = try await run(command, launcher: launcher)
      let advice = try advice(refused)
      #expect(advice.hasPrefix("sudo ") && advice.contains(command[0]), "\(command): \(advice)")
      #expect(!refused.error.lowercased().contains(dataset.lowercased()))
    }
    #expect(try await run(["preferred", "show"]).status == 0)
    // Another store is another daemon's.
    let other = try await run(["routers", "--state-directory", directory.file("var/lib/other")], launcher: launcher)
    #expect(other.status == 69, "\(other.error)")
    // A secret of the settings is for the daemon alone; looking takes none.
    try putSettings(
      """
      mqtt: {host: 127.0.0.1, username: bridge, password: !secret mqtt_password}
      homes: {cabin: {base_topic: cabin}}
      """, mode: 0o755)
    let secret = directory.file("etc/threadkeeper/mqtt_password")
    try Data("Sesame-71a".utf8).write(to: URL(fileURLWithPath: secret))
    chmod(secret, 0o400)
    let beside = try await run(["routers", "--json"], launcher: launcher)
    #expect(JSON(beside.output)?.list.count == 1, "\(beside.error)")
    let home = try await run(["preferred", "show", "--home", "home"], launcher: launcher)
    #expect(home.error.contains("there is no home home"), "\(home.output)\(home.error)")
    #expect(try await daemon.stop() == .exit(0))
  }

  /// - Parameter mode: of their directory.
  private func putSettings(_ text: String, mode: mode_t) throws {
    let place = directory.file("etc/threadkeeper")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(place)/threadkeeper.yaml"))
    chmod(directory.file("etc"), 0o755)
    chmod(place, mode)
  }

  @Test("Anybody else gets the one command that works, with the same arguments") func otherUser() async throws {
    let daemon = try await start(as: 0)
    let launcher = Self.launcher(Self.otherUser, Int(Self.otherUser))
    for command in Self.looks + [["networks", "--json", "--state-directory", state]] {
      let advice = try await advice(run(command, launcher: launcher))
      #expect(advice.hasPrefix("sudo /"), "\(advice)")
      let pasted = try paste(String(advice.dropFirst("sudo ".count)))
      #expect(!pasted.isEmpty, "\(advice)")
    }
    try putSettings("{}", mode: 0o700)
    let refused = try await run(["routers", "--json"], launcher: launcher)
    #expect(refused.error.contains("may not read all of the settings in /"), "\(refused.error)")
    #expect(try advice(refused).hasSuffix("/threadkeeper routers --json"))
    #expect(try await daemon.stop() == .exit(0))
  }

  /// What is refused names the user who can do it, and the same command.
  private func expectNobodysWay(
    _ command: [String], launcher: [String] = [], _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let refused = try await run(command, launcher: launcher)
    #expect(refused.status == 77 && refused.output.isEmpty, "\(command): \(refused)", sourceLocation: location)
    let words = command.joined(separator: " ")
    #expect(
      refused.error.contains("`sudo -u nobody \(ThreadkeeperBinary.executable.path) \(words)`"), "\(refused.error)",
      sourceLocation: location)
    #expect(!refused.error.contains("chown"), sourceLocation: location)
  }

  @Test("root is named the way to the store of another user, and makes and changes nothing there") func store()
    async throws
  {
    let place = ["--state-directory", state]
    try #require(chown(state, Self.nobody, Self.nobody) == 0)
    try await expectNobodysWay(["run"] + place)
    #expect(try FileManager.default.contentsOfDirectory(atPath: state).isEmpty)
    // Root's setup makes it for the user whose directory it is, and that user's own below it.
    let setup = ["setup", "--broker", "127.0.0.1", "--port", "9", "--no-login", "--no-validate", "--yes"]
    let file = directory.file("root.yaml")
    let made = try await run(setup + ["--config", file] + place)
    #expect(made.status == 0, "\(made.error)")
    var status = stat()
    for path in ["store", "store/store.sqlite3", "store.key"] {
      #expect(stat("\(state)/\(path)", &status) == 0 && status.st_uid == Self.nobody, "\(path)")
    }
    #expect(stat(file, &status) == 0 && status.st_uid == 0)
    let nobody = Self.launcher(Self.nobody, Int(Self.nobody))
    let own = try await run(
      setup + ["--config", "\(state)/own.yaml", "--state-directory", "\(state)/new"], launcher: nobody)
    #expect(own.status == 0, "\(own.error)")

    let files = try FileManager.default.subpathsOfDirectory(atPath: state).sorted()
    for command in [
      ["store", "verify"], ["store", "restore", directory.file("a.tkbackup"), "--yes"], ["keys", "list"], ["run"],
    ] { try await expectNobodysWay(command + place) }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: state).sorted() == files)
    #expect(try await run(["keys", "list"] + place, launcher: nobody).status == 0)
    // Who may not look gets that as the reason, and not that there is no store.
    let login = ["login", "--username", "a", "--password-stdin"]
    for command in [["routers"], login, ["run"]] {
      try await expectNobodysWay(command + place, launcher: Self.launcher(Self.otherUser, Int(Self.otherUser)))
    }
    for path in ["/etc/passwd/x", "/proc/x"] {
      let refused = try await run(["run", "--state-directory", path])
      #expect(refused.status == 73, "\(refused.error)")
      #expect(refused.error.contains("cannot make the directory"))
      #expect(!refused.error.contains("threadkeeper setup"))
    }
  }
}
