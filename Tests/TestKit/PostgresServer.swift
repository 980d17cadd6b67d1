// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import ThreadkeeperSupport

/// A real PostgreSQL in a directory of its own, on a Unix socket, with everything trusted. It is gone with this object,
/// and with the process of the tests, however that ends.
package final class PostgresServer: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// For `.enabled(if:)`; else a test is skipped by name.
  package static var isAvailable: Bool { programs != nil }

  /// One server for all tests of a process that only need a database: see `makeDatabase`. Never to be stopped.
  package static func shared() throws -> PostgresServer { try sharedServer.get() }
  private static let sharedServer = Result { try PostgresServer() }

  package let port: UInt16
  /// Where its socket and its data are.
  package var directory: String { home.path }
  private let home: TemporaryDirectory
  private let programs: String
  private let settings: [String: String]
  private let process = Mutex<ChildProcess?>(nil)
  private let databases = Mutex(0)
  private let guardian: PrivatePipe

  /// Makes it and starts it.
  ///
  /// - Parameters:
  ///   - settings: of postgresql.conf. A killed process loses nothing without `fsync`; only a figure needs it.
  ///   - listensOnLoopback: on 127.0.0.1 with `port` as well.
  package convenience init(
    settings: [String: String] = [:], listensOnLoopback: Bool = false
  ) throws {
    var all = settings
    all["listen_addresses"] = listensOnLoopback ? "127.0.0.1" : ""
    try self.init(settings: all) { server in
      try server.asOwner(
        "initdb", "-D", server.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
        "--no-sync", "--no-instructions")
    }
  }

  private init(settings: [String: String], makeData: (PostgresServer) throws -> Void) throws {
    guard let programs = Self.programs else { throw Failure(description: "no PostgreSQL here") }
    self.programs = programs
    self.settings = settings
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
  package func url(database: String = "postgres", user: String = "postgres") -> String {
    "host=\(directory) port=\(port) dbname=\(database) user=\(user)"
  }

  /// A new, empty database.
  package func makeDatabase() throws -> String {
    let name = databases.withLock { number in
      number += 1
      return "fleet_\(number)"
    }
    try run("CREATE DATABASE \(name)")
    return name
  }

  /// The rows of what `psql` prints, with `|` between columns.
  @discardableResult
  package func run(
    _ sql: String, database: String = "postgres", user: String = "postgres"
  ) throws -> [String] {
    try Program.check(
      programs + "/psql",
      ["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url(database: database, user: user)],
      input: Array(sql.utf8)
    ).split(separator: "\n").map { String($0) }
  }

  /// All of a database, as text.
  package func dump(database: String) throws -> String {
    try Program.check(programs + "/pg_dump", ["-d", url(database: database)])
  }

  /// Starts it again after `stop` or `kill`, in the same place, and waits until it can be reached.
  package func start() throws {
    var arguments = ["-D", data, "-k", directory, "-p", "\(port)"]
    let standard = [
      "fsync": "off", "max_connections": "400", "shared_buffers": "32MB", "max_wal_senders": "4",
      "log_min_messages": "fatal",
    ]
    for (name, value) in standard.merging(settings, uniquingKeysWith: { $1 }).sorted(by: {
      $0.key < $1.key
    }) {
      arguments += ["-c", "\(name)=\(value)"]
    }
    let (program, all) = asOwner(["postgres"] + arguments)
    let started = try ChildProcess(
      program, all, environment: TestSandbox.uncounted,
      streams: (.nothing, .file(directory + "/log"), .sameAsOutput))
    process.withLock { $0 = started }
    for _ in 0..<6_000 {
      // Its own file: process, data, start, port, socket, address, memory, status.
      let lines = (try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8))?
        .split(separator: "\n", omittingEmptySubsequences: false)
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

  package var log: String {
    (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
  }

  /// Ends it in an orderly way; connections are closed.
  package func stop() {
    process.withLock { process in
      process?.signal(SIGINT)
      process?.wait(within: 30)
    }
  }

  /// As a machine that loses power: all of its processes are gone at once.
  package func kill() {
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
  package func pause() { signalAll(SIGSTOP) }

  package func resume() { signalAll(SIGCONT) }

  /// A synchronous standby of this server, which has everything that is committed from now on.
  package func makeStandby() throws -> PostgresServer {
    let primary = url()
    let standby = try PostgresServer(settings: settings) { standby in
      try standby.asOwner(
        "pg_basebackup", "-D", standby.data, "-R", "-X", "stream", "-c", "fast", "-N", "-d", primary
      )
    }
    try run("ALTER SYSTEM SET synchronous_standby_names = '*'; SELECT pg_reload_conf()")
    for _ in 0..<3_000 {
      if try run("SELECT sync_state FROM pg_stat_replication") == ["sync"] { return standby }
      usleep(20_000)
    }
    throw Failure(description: "the standby does not follow: \(standby.log)")
  }

  /// Makes a standby the primary. It returns when the server can be written.
  package func promote() throws {
    guard try run("SELECT pg_promote(true, 60)") == ["t"] else {
      throw Failure(description: "the standby was not promoted: \(log)")
    }
  }

  private var data: String { directory + "/data" }

  private func signalAll(_ number: Int32) {
    process.withLock { process in
      process?.signal(number)
      for child in Self.children(of: process) { _ = Foundation.kill(child, number) }
    }
  }

  private static func children(of parent: ChildProcess?) -> [pid_t] {
    guard let parent, parent.isRunning else { return [] }
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { pid_t($0) }.filter {
      status(of: $0).dropFirst().first == "\(parent.identifier)"
    }
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
      ["--reuid=\(owner.user)", "--regid=\(owner.group)", "--clear-groups", program]
        + command.dropFirst()
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
      roots += ((try? files.contentsOfDirectory(atPath: tools)) ?? [])
        .filter { $0.hasPrefix("postgresql") }.map { tools + "/" + $0 }
      directory.deleteLastPathComponent()
    }
    return roots.flatMap { root in
      let versions = (try? files.contentsOfDirectory(atPath: root + "/usr/lib/postgresql")) ?? []
      return versions.compactMap { Int($0) }.sorted(by: >).map {
        "\(root)/usr/lib/postgresql/\($0)/bin"
      }
    }.first {
      files.isExecutableFile(atPath: $0 + "/initdb") && files.isExecutableFile(atPath: $0 + "/psql")
    }
  }()
}
