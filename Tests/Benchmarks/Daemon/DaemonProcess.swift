// SPDX-License-Identifier: Apache-2.0

import CBareSubscriber
import Foundation
import SQLiteDatabase

/// The real daemon with a store of its own, watched from outside: what is in its database is
/// committed.
final class DaemonProcess {
  static let base = "threadkeeper"

  let program: String
  let directory: String
  /// Where the daemon connects; another port is taken at the next start.
  var port: UInt16
  /// Routers that the store will hold when all that was sent has arrived.
  var routers: Int64 = 0
  /// Further sections of the settings.
  var more = "http: {enabled: false}"
  private var child: ChildProcess?
  private var database: SQLiteDatabase?

  init(_ workspace: Workspace, port: UInt16) throws {
    program = try workspace.daemon
    directory = workspace.fresh("daemon")
    self.port = port
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { child?.end() }

  /// Starts it. Returns at once.
  @discardableResult
  func launch() throws -> ChildProcess {
    let configuration = """
      mqtt:
        host: 127.0.0.1
        port: \(port)
        client_id: bench
        base_topic: \(Self.base)
      limits:
        # One login announces all of them.
        routers_per_team: 100000
      \(more)
      """
    let file = "\(directory)/threadkeeper.yaml"
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: file))
    let child = try ChildProcess(
      program, ["run", "--config", file, "--state-directory", directory], reading: .error)
    self.child = child
    return child
  }

  /// Starts it and waits until its intake is connected.
  ///
  /// - Returns: when the broker had accepted the intake.
  @discardableResult
  func start() throws -> Int64 {
    try launch().line(containing: "intake connected").time
  }

  /// Ends it cleanly; its session stays at the broker.
  func stop() {
    child?.end()
    child = nil
  }

  /// Waits until the store holds all routers that it is to hold.
  ///
  /// - Returns: when it did.
  func waitForRouters(within limit: Double = 120) throws -> Int64 {
    let database = try openDatabase()
    return try wait(within: limit, "\(routers) routers in the store") {
      // The row ids count up, and nothing is deleted here.
      let newest = try database.read { tx in
        try tx.first("SELECT max(id) FROM router") { $0.integer(0) }
      }
      return newest ?? 0 >= routers
    }
  }

  /// Waits until everything that there was to say has been published.
  func waitForQuiet(within limit: Double = 120) throws {
    let database = try openDatabase()
    _ = try wait(within: limit, "an empty outbox") {
      let isBusy = try database.read { tx in
        try tx.first("SELECT 1 FROM event LIMIT 1") { _ in true }
      }
      if isBusy != nil { usleep(20_000) }
      return isBusy == nil
    }
  }

  /// Seconds of processor time that the daemon has used, of all its threads.
  var processorTime: Double {
    guard let child, let stat = Machine.read("/proc/\(child.identifier)/stat"),
      let end = stat.lastIndex(of: ")")
    else { return 0 }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
      return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// Resident memory in bytes.
  var residentMemory: Double {
    guard let child, let status = Machine.read("/proc/\(child.identifier)/status"),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
      let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
    else { return 0 }
    return (Double(kibibytes) ?? 0) * 1024
  }

  private func openDatabase() throws -> SQLiteDatabase {
    if let database { return database }
    let opened = try SQLiteDatabase(
      path: "\(directory)/store/store.sqlite3", access: .readOnly)
    database = opened
    return opened
  }

  private func wait(within limit: Double, _ what: String, _ condition: () throws -> Bool) throws
    -> Int64
  {
    let deadline = bare_now() + Int64(limit * 1e9)
    while try !condition() {
      guard bare_now() < deadline else {
        throw ChildProcess.Failure(description: "waited in vain for \(what)")
      }
      usleep(1000)
    }
    return bare_now()
  }
}
