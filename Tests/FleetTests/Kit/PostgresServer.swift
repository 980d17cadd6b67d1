#if Fleet
import CLibPQ
@testable import Fleet
import Foundation
import Synchronization
import TestKit

/// A real PostgreSQL in a directory of its own, on a Unix socket, with everything trusted. It is gone with this object,
/// and with the process of the tests, however that ends.
final class PostgresServer: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// For `.enabled(if:)`; else a test is skipped by name.
  static var isAvailable: Bool { programs != nil }

  /// One server for all tests that only need a database. Never to be stopped.
  static func shared() throws -> PostgresServer { try sharedServer.get() }
  private static let sharedServer = Result {
    try PostgresServer { server in
      // Made once, because it takes a second: other servers begin with a copy.
      try server.asOwner(
        "initdb", "-D", server.pristine, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync",
        "--no-instructions")
      try server.copyData(from: server)
    }
  }

  /// Logins of the shared server, as an administrator makes them for nodes and for monitoring.
  static let roles = Result {
    let server = try shared()
    try server.run(FleetSchema.script, database: server.makeDatabase())
    try server.run(
      """
      CREATE ROLE a_node LOGIN IN ROLE threadkeeper_node;
      CREATE ROLE a_reader LOGIN IN ROLE threadkeeper_reader;
      """)
    return (node: "a_node", reader: "a_reader")
  }

  let port: UInt16
  /// Where its socket and its data are.
  var directory: String { home.path }
  private let home: TemporaryDirectory
  private let programs: String
  private let process = Mutex<ChildProcess?>(nil)
  private let databases = Mutex(0)
  /// The database that has the tables of a fleet.
  private let fleet = Mutex<String?>(nil)
  private let guardian: PrivatePipe

  /// Makes it and starts it.
  convenience init() throws {
    let shared = try Self.shared()
    try self.init { try $0.copyData(from: shared) }
  }

  private init(makeData: (PostgresServer) throws -> Void) throws {
    guard let programs = Self.programs else { throw Failure(description: "no PostgreSQL here") }
    self.programs = programs
    home = try TemporaryDirectory()
    port = try UnusedPort.next()
    guardian = try PrivatePipe()
    if let owner = Self.owner {
      guard chown(home.path, owner.user, owner.group) == 0 else {
        throw Failure(description: "\(home.path) cannot be given away")
      }
    }
    try startGuardian()
    try makeData(self)
    try start()
  }

  deinit {
    guardian.closeWriting()
    process.withLock { _ = $0?.wait(within: 20) }
  }

  /// How libpq reaches it.
  func url(database: String = "postgres", user: String = "postgres") -> String {
    "host=\(directory) port=\(port) dbname=\(database) user=\(user)"
  }

  var socketPath: String { "\(directory)/.s.PGSQL.\(port)" }

  /// A new database.
  ///
  /// - Parameter original: what it is a copy of; nil: it is empty.
  func makeDatabase(copying original: String? = nil) throws -> String {
    let name = databases.withLock { number in
      number += 1
      return "fleet_\(number)"
    }
    try run("CREATE DATABASE \(name)" + (original.map { " TEMPLATE \($0)" } ?? ""))
    return name
  }

  /// A new database with a fleet that is called `test`, without key slots. Its tables are a copy of those that were made
  /// first, which takes less than to make them.
  func makeFleet(shards: Int) throws -> String {
    let original = try fleet.withLock { fleet in
      if let fleet { return fleet }
      let name = try makeDatabase()
      try create(shards: 0, in: name)
      fleet = name
      return name
    }
    let name = try makeDatabase(copying: original)
    try create(shards: shards, in: name)
    return name
  }

  private func create(shards: Int, in database: String) throws {
    try PostgresPool(url: url(database: database), size: 1).withConnection {
      try FleetSchema.create(name: "test", shards: shards, on: $0)
    }
  }

  /// Runs statements, all of them in one transaction.
  ///
  /// - Returns: the rows of the last one, with `|` between columns, as `psql` prints them.
  @discardableResult func run(_ sql: String, database: String = "postgres", user: String = "postgres") throws
    -> [String]
  {
    let connection = PQconnectdb(url(database: database, user: user))
    defer { PQfinish(connection) }
    let result = PQexec(connection, sql)
    defer { PQclear(result) }
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK: return []
    case PGRES_TUPLES_OK:
      return (0..<PQntuples(result)).map { row in
        (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }.joined(separator: "|")
      }
    default: throw Failure(description: String(cString: PQerrorMessage(connection)))
    }
  }

  /// All of a database, as text.
  func dump(database: String) throws -> String {
    try Program.check(programs + "/pg_dump", ["-d", url(database: database)])
  }

  /// Starts it again after `stop` or `kill`, in the same place, and waits until it can be reached.
  func start() throws {
    var arguments = ["-D", data, "-k", directory, "-p", "\(port)"]
    // A killed process loses nothing without `fsync`.
    for setting in [
      "listen_addresses=", "fsync=off", "max_connections=400", "shared_buffers=32MB", "max_wal_senders=4",
      "log_min_messages=fatal",
    ] { arguments += ["-c", setting] }
    let (program, all) = asOwner(["postgres"] + arguments)
    let started = try ChildProcess(
      program, all, environment: TestSandbox.uncounted, streams: (.nothing, .file(directory + "/log"), .sameAsOutput))
    process.withLock { $0 = started }
    for _ in 0..<6_000 {
      // Its own file: process, data, start, port, socket, address, memory, status.
      let lines = (try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8))?.split(
        separator: "\n", omittingEmptySubsequences: false)
      if let lines, lines.count > 7, lines[0] == "\(started.identifier)",
        lines[7].hasPrefix("ready") || lines[7].hasPrefix("standby")
      {
        return
      }
      guard started.isRunning else { break }
      usleep(10_000)
    }
    throw Failure(description: "PostgreSQL did not start: \(log)")
  }

  var log: String { (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? "" }

  /// Ends it in an orderly way; connections are closed.
  func stop() {
    process.withLock { process in
      process?.signal(SIGINT)
      process?.wait(within: 30)
    }
  }

  /// As a machine that loses power: all of its processes are gone at once.
  func kill() {
    process.withLock { process in
      // First stopped, so that it starts none meanwhile.
      process?.signal(SIGSTOP)
      let children = Self.children(of: process)
      for child in children { _ = Foundation.kill(child, SIGKILL) }
      process?.signal(SIGKILL)
      process?.wait(within: 30)
      // They have its shared memory, without which it cannot start again. Where process 1 does not reap them, they stay
      // as zombies.
      let end = ContinuousClock.now + .seconds(30)
      while children.contains(where: { Self.isAlive($0) }), .now < end { usleep(1_000) }
    }
  }

  /// Stops all of its processes: connections stay open, and nobody answers.
  func pause() { signalAll(SIGSTOP) }

  func resume() { signalAll(SIGCONT) }

  /// A synchronous standby of this server, which has everything that is committed from now on.
  func makeStandby() throws -> PostgresServer {
    let primary = url()
    let standby = try PostgresServer { standby in
      try standby.asOwner("pg_basebackup", "-D", standby.data, "-R", "-X", "stream", "-c", "fast", "-N", "-d", primary)
    }
    try run("ALTER SYSTEM SET synchronous_standby_names = '*'")
    try run("SELECT pg_reload_conf()")
    for _ in 0..<3_000 {
      if try run("SELECT sync_state FROM pg_stat_replication") == ["sync"] { return standby }
      usleep(20_000)
    }
    throw Failure(description: "the standby does not follow: \(standby.log)")
  }

  /// Makes a standby the primary. It returns when the server can be written.
  func promote() throws {
    guard try run("SELECT pg_promote(true, 60)") == ["t"] else {
      throw Failure(description: "the standby was not promoted: \(log)")
    }
  }

  private var data: String { directory + "/data" }
  private var pristine: String { directory + "/pristine" }

  private func copyData(from server: PostgresServer) throws { try Program.check("cp", ["-a", server.pristine, data]) }

  private func signalAll(_ number: Int32) {
    process.withLock { process in
      process?.signal(number)
      for child in Self.children(of: process) { _ = Foundation.kill(child, number) }
    }
  }

  private static func children(of parent: ChildProcess?) -> [pid_t] {
    guard let parent, parent.isRunning else { return [] }
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { pid_t($0) }.filter { status(of: $0).dropFirst().first == "\(parent.identifier)" }
  }

  private static func isAlive(_ process: pid_t) -> Bool {
    let state = status(of: process).first
    return state != nil && state != "Z"
  }

  /// State, parent, … (proc_pid_stat(5)); nothing where there is no such process.
  private static func status(of process: pid_t) -> [Substring] {
    let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return line?.split(separator: ")").last?.split(separator: " ") ?? []
  }

  /// Ends the server when the other end of the pipe is closed: by `deinit`, or with the process of the tests.
  private func startGuardian() throws {
    let script = """
      cat >/dev/null
      process=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
      if [ -n "$process" ] && [ "$(head -c 8 "/proc/$process/comm" 2>/dev/null)" = postgres ]; then
        kill -CONT "$process"
        kill -QUIT "$process"
        # Those of its processes that are stopped it kills after five seconds.
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do kill -0 "$process" 2>/dev/null && sleep 0.5; done
      fi
      rm -rf "$1"
      """
    _ = try ChildProcess(
      "/bin/sh", ["-c", script, "sh", directory], environment: ["PATH": "/usr/bin:/bin"],
      streams: (.descriptor(guardian.reading), .nothing, .nothing))
    guardian.closeReading()
  }

  private func asOwner(_ command: String...) throws {
    let (program, arguments) = asOwner(command)
    try Program.check(program, arguments, environment: TestSandbox.uncounted)
  }

  /// PostgreSQL refuses to run as root.
  private func asOwner(_ command: [String]) -> (program: String, arguments: [String]) {
    let program = programs + "/" + command[0]
    guard let owner = Self.owner else { return (program, Array(command.dropFirst())) }
    return (
      "/usr/bin/setpriv",
      ["--reuid=\(owner.user)", "--regid=\(owner.group)", "--clear-groups", program] + command.dropFirst()
    )
  }

  private static let owner: (user: uid_t, group: gid_t)? = {
    guard getuid() == 0, let found = getpwnam("postgres") ?? getpwnam("nobody") else { return nil }
    return (found.pointee.pw_uid, found.pointee.pw_gid)
  }()

  /// Debian's newest, installed or unpacked by `.ci/test-tools`.
  private static let programs: String? = {
    let files = FileManager.default
    var roots = [""]
    var directory = ThreadkeeperBinary.executable.deletingLastPathComponent()
    while directory.path != "/" {
      let tools = directory.appendingPathComponent("test-tools").path
      roots += ((try? files.contentsOfDirectory(atPath: tools)) ?? []).filter { $0.hasPrefix("postgresql") }.map {
        tools + "/" + $0
      }
      directory.deleteLastPathComponent()
    }
    return roots.flatMap { root in
      let versions = (try? files.contentsOfDirectory(atPath: root + "/usr/lib/postgresql")) ?? []
      return versions.compactMap { Int($0) }.sorted(by: >).map { "\(root)/usr/lib/postgresql/\($0)/bin" }
    }.first { files.isExecutableFile(atPath: $0 + "/initdb") && files.isExecutableFile(atPath: $0 + "/psql") }
  }()
}

extension Relay {
  /// How libpq reaches PostgreSQL through it.
  func url(database: String) -> String {
    "host=127.0.0.1 port=\(port) dbname=\(database) user=postgres sslmode=disable " + "gssencmode=disable"
  }
}
#endif
