import CBareSubscriber
import Foundation
import SQLiteDatabase

/// The real daemon with a store of its own, watched from outside: what is in its database is
/// committed.
final class DaemonProcess {
  static let base = "threadkeeper"

  /// The program, and what it is run by.
  private let command: [String]
  let directory: String
  /// Where the daemon connects; another port is taken at the next start.
  var port: UInt16
  /// Routers that the store will hold when all that was sent has arrived.
  var routers: Int64 = 0
  /// Further sections of the settings.
  var more = "http: {enabled: false}"
  private var child: ChildProcess?
  /// Whether its broker has a session of it.
  private var isKnown = false
  private var database: SQLiteDatabase?

  /// - Parameter command: nil: the daemon of the workspace.
  init(_ workspace: Workspace, port: UInt16, command: [String]? = nil) throws {
    self.command = try command ?? [workspace.daemon]
    directory = workspace.fresh("daemon")
    self.port = port
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { child?.end() }

  /// Starts it. Returns at once.
  @discardableResult func launch() throws -> ChildProcess {
    let configuration = """
      mqtt:
        host: 127.0.0.1
        port: \(port)
        client_id: bench
        base_topic: \(Self.base)
      limits:
        # One login announces all of them, as fast as it can.
        routers_per_team: 100000
        routers: 100000
        events_per_second: 10000
        events_burst: 1000000
      \(more)
      """
    let file = "\(directory)/threadkeeper.yaml"
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: file))
    let arguments = command.dropFirst() + ["run", "--config", file, "--state-directory", directory]
    let child = try ChildProcess(command[0], Array(arguments), reading: .error)
    self.child = child
    return child
  }

  /// Starts it and waits until its intake is connected.
  ///
  /// - Returns: when the broker had accepted the intake.
  @discardableResult func start(within limit: Double = 60) throws -> Int64 {
    let connected = try launch().line(containing: "intake connected", within: limit).time
    // A session that the broker knows has its subscriptions already.
    if !isKnown { try waitForIntake() }
    isKnown = true
    return connected
  }

  /// Waits until the broker has answered all subscriptions of the intake.
  func waitForIntake() throws {
    _ = try wait(within: 60, "a running intake") {
      // The socket may come later than the connection.
      guard let text = try? LocalCaller(socket).call("Status.Get") else { return false }
      let reply = try JSONSerialization.jsonObject(with: Data(text.utf8))
      let parameters = (reply as? [String: Any])?["parameters"] as? [String: Any]
      let status = parameters?["status"] as? [String: Any]
      return (status?["intake"] as? [String: Any])?["state"] as? String == "running"
    }
  }

  /// Ends it cleanly; its session stays at the broker.
  func stop() {
    child?.end()
    child = nil
  }

  /// Ends it as a crash does.
  func kill() {
    // SQLite rebuilds its index of the log only where nobody else has it open.
    database?.close()
    database = nil
    child?.kill()
    child = nil
  }

  /// The socket of the local API.
  var socket: String { "\(directory)/store/varlink.sock" }

  /// Routers in the store: all have credentials, and so has the preferred network of their home.
  func countRouters() throws -> Int64 {
    let count = try openDatabase().read { tx in
      try tx.first("SELECT count(*) FROM records WHERE secret_version <> 0") { $0.integer(0) }
    }
    return max(0, (count ?? 0) - 1)
  }

  /// Waits until the store holds all routers that it is to hold.
  ///
  /// - Returns: when it did.
  func waitForRouters(within limit: Double = 120) throws -> Int64 {
    let database = try openDatabase()
    return try wait(within: limit, "\(routers) routers in the store") {
      // Counting takes longer the more there are. The ids count up, so that there are too few is seen by the last one.
      let newest = try database.read { tx in try tx.first("SELECT max(id) FROM records") { $0.integer(0) } }
      guard newest ?? 0 >= routers else { return false }
      return try countRouters() >= routers
    }
  }

  /// What it stores of a router and of an event, on average; nil where no event waits for the broker any more.
  func storedBytes() throws -> StoredBytes? {
    let found = try openDatabase().read { tx in
      try tx.first(
        """
        SELECT CAST(avg(length(state)) AS INTEGER), CAST(avg(length(secret)) AS INTEGER),
          coalesce((SELECT CAST(avg(length(bytes)) AS INTEGER) FROM (SELECT bytes FROM messages LIMIT 1000)), 0)
        FROM (SELECT state, secret FROM records WHERE secret_version <> 0 LIMIT 1000)
        """
      ) { StoredBytes(state: Int($0.integer(0)), secret: Int($0.integer(1)), event: Int($0.integer(2))) }
    }
    return found.flatMap { $0.event > 0 ? $0 : nil }
  }

  /// Waits until everything that there was to say has been published.
  func waitForQuiet(within limit: Double = 120) throws {
    let database = try openDatabase()
    _ = try wait(within: limit, "an empty outbox") {
      let isBusy = try database.read { tx in try tx.first("SELECT 1 FROM messages LIMIT 1") { _ in true } }
      if isBusy != nil { usleep(20_000) }
      return isBusy == nil
    }
  }

  /// Waits until its threads have next to nothing to do, so that nothing of before burdens what is measured next: after a
  /// start it publishes all states again.
  func waitForIdle(within limit: Double = 180) throws {
    var idle = 0
    _ = try wait(within: limit, "an idle daemon") {
      let before = work
      usleep(200_000)
      idle = (work - before).total < 4e6 ? idle + 1 : 0
      return idle == 3
    }
  }

  /// Nanoseconds that each of its threads was at work, as the scheduler counts them.
  var work: ThreadWork { child.map { ThreadWork(of: $0.identifier) } ?? ThreadWork() }

  /// Resident memory in bytes: all of it, and the part that is not of files.
  var memory: (resident: Double, anonymous: Double) {
    func bytes(_ key: String) -> Double { (number(key, in: "status") ?? 0) * 1024 }
    return (bytes("VmRSS:"), bytes("RssAnon:"))
  }

  /// Bytes that it has written to the disk; nil where the kernel does not say, which it does to root alone.
  var written: Double? { number("write_bytes:", in: "io") }

  /// How often each of its threads has waited for something, and was woken up.
  var wakeUps: ThreadWork { child.map { ThreadWork(wakeUpsOf: $0.identifier) } ?? ThreadWork() }

  var identifier: Int32? { child?.identifier }

  /// What a line of a file of its in `/proc` says.
  private func number(_ key: String, in file: String) -> Double? {
    guard let child, let text = Machine.read("/proc/\(child.identifier)/\(file)") else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Double($0) }
  }

  private func openDatabase() throws -> SQLiteDatabase {
    if let database { return database }
    let opened = try SQLiteDatabase(path: "\(directory)/store/store.sqlite3", access: .readOnly)
    database = opened
    return opened
  }

  private func wait(within limit: Double, _ what: String, _ condition: () throws -> Bool) throws -> Int64 {
    let deadline = bare_now() + Int64(limit * 1e9)
    while try !condition() {
      guard bare_now() < deadline else { throw ChildProcess.Failure(description: "waited in vain for \(what)") }
      // Asking takes some of the daemon's disk and processors.
      usleep(3_000)
    }
    return bare_now()
  }
}
