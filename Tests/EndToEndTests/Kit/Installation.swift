import Foundation
import Home
import HomeStore
import KeychainCore
import LocalAPI
import Settings
import TestKit
import ThreadDataset

@testable import Threadkeeper

/// A threadkeeper of a test's own: its configuration, its store, and the commands that look at it.
/// All of it lies in a directory that goes with this object.
final class Installation: Sendable {
  let directory: TemporaryDirectory
  let configuration: String
  let storePath: String
  let environment: [String: String]
  /// A program and its arguments through which everything is started.
  private let launcher: [String]

  /// - Parameters:
  ///   - variables: further ones, for the daemon and every command.
  ///   - mqtt: further lines of the section `mqtt`.
  ///   - hold: seconds for which alerts are held.
  ///   - more: further sections. Without `http` there is no page: all daemons would want the same port. Without
  ///     `limits` a home has room for the load of a test.
  ///   - storePath: somewhere else than in the directory.
  init(
    port: UInt16?, mqtt: [String] = [], hold: Int = 1, more: String = "", logLevel: String = "debug",
    storePath: String? = nil, launcher: [String] = [], variables: [String: String] = [:]
  ) throws {
    self.launcher = launcher
    directory = try TemporaryDirectory()
    self.storePath = storePath ?? directory.file("store")
    configuration = directory.file("threadkeeper.yaml")
    environment = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin:/usr/sbin", "HOME": directory.path,
      "TMPDIR": directory.path, "THREADKEEPER_STATE_DIRECTORY": directory.file("state"),
    ].merging(variables) { $1 }
    for line in mqtt where line.hasPrefix("password:") {
      let password = line.dropFirst("password:".count).trimmingCharacters(in: CharacterSet(charactersIn: " '\""))
      Recorder.current?.note("the daemon's password", password)
    }
    let broker = port.map { ["host: 127.0.0.1", "port: \($0)"] } ?? ["host: embedded"]
    let lines = (broker + mqtt).map { "  \($0)\n" }.joined()
    let text = """
      mqtt:
      \(lines)
      store:
        path: \(self.storePath)
        key_file: \(directory.file("store.key"))
      alerts:
        hold: \(hold)
      log:
        level: \(logLevel)
      \(more)
      \(more.contains("http:") ? "" : "http: {enabled: false}")
      \(more.contains("limits:") ? "" : "limits: {routers_per_team: 10000, routers: 20000}")
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: configuration))
  }

  convenience init(
    _ broker: TestBroker, mqtt: [String] = [], hold: Int = 1, more: String = "", storePath: String? = nil,
    launcher: [String] = [], variables: [String: String] = [:]
  ) throws {
    try self.init(
      port: broker.port, mqtt: mqtt, hold: hold, more: more, storePath: storePath, launcher: launcher,
      variables: variables)
  }

  /// Starts the daemon and does not wait for it.
  func launch(stateDirectory: String? = nil, environment more: [String: String] = [:]) throws -> DaemonProcess {
    try DaemonProcess(
      ["run", "--config", configuration] + (stateDirectory.map { ["--state-directory", $0] } ?? []), launcher: launcher,
      environment: environment.merging(more) { $1 },
      errorFile: directory.file("daemon-\(UInt64.random(in: 0 ... .max)).log"))
  }

  /// Starts the daemon and returns when everything that is said to it from now on is heard.
  func start(environment more: [String: String] = [:]) async throws -> DaemonProcess {
    try await Recorder.current?.ready()
    let daemon = try launch(environment: more)
    try await ready(daemon)
    return daemon
  }

  func ready(_ daemon: DaemonProcess, within limit: Duration = .seconds(60)) async throws {
    var status: JSON?
    do {
      try await eventually(within: limit) {
        guard daemon.isRunning else {
          throw DaemonProcess.Unexpected(
            description: "the daemon ended instead of getting ready; it wrote:\n\(daemon.log)")
        }
        status = try await daemonStatus()
        return status?["pid"]?.number == Int64(daemon.identifier) && status?["intake"]?["state"] == "running"
      }
    } catch is TimedOut {
      throw DaemonProcess.Unexpected(
        description: "the daemon does not get ready; it wrote:\n\(daemon.log)and status says:\n"
          + (status?.description ?? "nothing"))
    }
    noteStoreKey()
    // Not where the daemon is in a network of its own, with its broker.
    if launcher.isEmpty { Recorder.current?.listen(toBrokerIn: directory.file("state")) }
    try await Recorder.current?.ready()
  }

  private struct StatusReply: Decodable, Sendable { var status: JSON }
  private struct Performed: Decodable, Sendable { var reply: JSON }

  private static let status = VarlinkMethod<VarlinkNothing, StatusReply>("io.threadkeeper.Status", "Get", for: .owner)
  private static let perform = VarlinkMethod<JSON, Performed>("io.threadkeeper.Admin", "Perform", for: .owner)

  /// What `threadkeeper status` has from a daemon, without running it each time; nil where none answers.
  private func daemonStatus() async throws -> JSON? {
    // What it mounts is not seen here.
    guard launcher.isEmpty else { return JSON(try await command("status", "--json").output) }
    let client = try? await VarlinkClient.connect(to: socketPath)
    return try? await client?.call(Self.status, VarlinkNothing()).status
  }

  /// The same of a daemon that must be there.
  func status() async throws -> JSON {
    guard let status = try await daemonStatus() else {
      throw DaemonProcess.Unexpected(description: "no daemon answers")
    }
    return status
  }

  // MARK: Questions

  /// What waits for consent, as `threadkeeper consent list` has it from a daemon.
  func questions() async throws -> [JSON] {
    guard let client = try await VarlinkClient.connect(to: socketPath) else {
      throw DaemonProcess.Unexpected(description: "no daemon answers")
    }
    let list: JSON = ["operation": "ListConsents", "parameters": [:]]
    return try await client.call(Self.perform, list).reply["pending"]?.list ?? []
  }

  /// The one question that waits and fits, once there is one.
  func question(where fits: (JSON) -> Bool = { _ in true }) async throws -> JSON {
    var found: [JSON] = []
    try await eventually("a question") {
      found = try await questions().filter(fits)
      return found.count == 1
    }
    return found[0]
  }

  /// Approves or denies the one question that waits, once there is one; its id.
  @discardableResult func decide(_ verb: String, _ more: String...) async throws -> String {
    let id = try await question()["id"]?.text ?? ""
    try await run(["consent", verb, id] + more)
    return id
  }

  /// The store's key is secret from when it is made.
  private func noteStoreKey() {
    guard let text = try? String(contentsOfFile: directory.file("store.key"), encoding: .utf8) else { return }
    Recorder.current?.note("the store's key", Array(Data(hex: text)))
  }

  /// Runs one of the other commands on this installation.
  func command(_ arguments: String..., environment more: [String: String] = [:]) async throws
    -> ThreadkeeperBinary.Outcome
  { try await command(arguments, environment: more) }

  func command(_ arguments: [String], environment more: [String: String] = [:]) async throws
    -> ThreadkeeperBinary.Outcome
  {
    try await ThreadkeeperBinary.run(
      arguments + ["--config", configuration], environment: environment.merging(more) { $1 }, launcher: launcher)
  }

  /// The same for a command that must succeed; what it prints.
  @discardableResult func run(_ arguments: String...) async throws -> String { try await run(arguments) }

  @discardableResult func run(_ arguments: [String]) async throws -> String {
    let outcome = try await command(arguments)
    guard outcome.status == 0 else {
      throw DaemonProcess.Unexpected(description: "\(arguments) ended with \(outcome.status): \(outcome.error)")
    }
    return outcome.output
  }

  /// The same, for an answer that must be there.
  func json(_ arguments: String...) async throws -> JSON {
    let output = try await run(arguments + ["--json"])
    guard let value = JSON(output) else {
      throw DaemonProcess.Unexpected(description: "\(arguments) printed no JSON: \(output)")
    }
    return value
  }

  /// Enrolls a login's keys.
  func enroll(_ user: String, _ line: String, _ more: String...) async throws {
    try await run(["clients", "enroll", user, line] + more)
  }

  func enroll(_ login: SealingLogin, _ more: String...) async throws {
    try await run(["clients", "enroll", login.user, login.identity.keys.line] + more)
  }

  /// Makes a login's key and enrolls it, so that its plaintext does not count; the key's file.
  func enrolledKey(of user: String) async throws -> String {
    let file = directory.file("\(user).key")
    try await enroll(user, try await clientKeygen(file), "--trust", "signed")
    return file
  }

  /// With a daemon that has the store, whether or not it reaches its broker, for as long as `body` runs; with the one
  /// that runs already, if so.
  func serving<R>(_ body: () async throws -> R) async throws -> R {
    guard StoreLock.holder(of: location) == nil else { return try await body() }
    let daemon = try launch()
    try await eventually("the daemon to answer") {
      try await daemonStatus()?["pid"]?.number == Int64(daemon.identifier)
    }
    let result = try await body()
    _ = try await daemon.stop()
    return result
  }

  /// The dataset that is stored for a router of the home, in hex.
  func dataset(of agent: String) async throws -> String? {
    guard StoreLock.holder(of: location) == nil, let id = BorderAgentID(hex: agent) else {
      return try await json("credentials", "get", agent, "--show-secrets")["dataset"]?.text
    }
    let keychain = try Keychain.open(at: location, with: .keyFile(path: directory.file("store.key")), access: .readOnly)
    defer { keychain.close() }
    let records = SealedRecords(keychain)
    let home = try StoredHome("home", rules: HomeRules { .random(in: .min ... .max) }, in: records)
    return try home.withDataset(of: .router(id), in: records) { try OperationalDataset(bytes: Array($0)).hex }
  }

  /// All homes as they are on disk, with or without a daemon.
  func homes() throws -> [String: Home] {
    let keychain = try Keychain.open(at: location, with: .keyFile(path: directory.file("store.key")), access: .readOnly)
    defer { keychain.close() }
    return try HomeSnapshot.read(SealedRecords(keychain)).homes
  }

  /// Every change that the audit has, as `actor: action`, with or without a daemon.
  func audit() throws -> [String] {
    let keychain = try Keychain.open(at: location, with: .keyFile(path: directory.file("store.key")), access: .readOnly)
    defer { keychain.close() }
    var records: [AuditEntry] = []
    try keychain.forEachAuditRecord(after: 0) { records.append(AuditEntry($0)) }
    return records.flatMap { record in record.changes.map { "\(record.actor): \($0.action)" } }
  }

  /// A file of the owner's with a passphrase in it, for `--passphrase-file`.
  func passphraseFile(_ text: String = "correct horse battery staple") throws -> String {
    Recorder.current?.note("a passphrase", text)
    return try directory.putSecret(text, "passphrase-\(UInt64.random(in: 0 ... .max))")
  }

  /// The daemon's line, which clients seal to; somebody has to be enrolled.
  func daemonLine() async throws -> String {
    let keys = try await json("clients", "list")["daemon"]
    guard let line = keys?["line"]?.text else { throw DaemonProcess.Unexpected(description: "the daemon has no keys") }
    return line
  }

  /// Where the daemon's local API listens.
  var socketPath: String { storePath + "/varlink.sock" }

  var location: StoreLocation { StoreLocation(directory: storePath, anchorDirectory: storePath + ".anchor") }

  /// Makes the store, as `setup` and the first start do.
  func makeStore() throws {
    let result = SettingsLoader.load(file: configuration, environment: environment)
    guard let settings = result.settings else { throw DaemonProcess.Unexpected(description: "\(result.problems)") }
    try OpenStore.create(settings).close()
  }

  /// Opens every item of the store; nobody else may have it open for writing.
  func verify() throws -> VerificationReport {
    let keychain = try Keychain.open(at: location, with: .keyFile(path: directory.file("store.key")))
    defer { keychain.close() }
    return try keychain.verify(.everything)
  }
}
