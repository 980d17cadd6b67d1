import Broker
import Foundation
import Synchronization
import TestKit

/// A real ejabberd with its MQTT module: a broker that is not Mosquitto. It runs without Erlang's own network, so one
/// port of the loopback is all that it takes. Its sessions end with it; what is retained stays.
final class Ejabberd: Sendable {
  let port: UInt16
  private let directory: TemporaryDirectory
  private let logins: [String: String]
  /// Nil before the first start.
  private let process = Mutex<ChildProcess?>(nil)

  struct DoesNotStart: Error { let log: String }

  /// - Parameter logins: names with their passwords.
  init(logins: [String: String]) throws {
    directory = try TemporaryDirectory()
    port = try UnusedPort.next()
    self.logins = logins
    for name in ["spool", "log"] {
      try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: false)
    }
    try Data(
      """
      hosts: [localhost]
      listen:
        - {port: \(port), ip: "127.0.0.1", module: mod_mqtt}
      auth_method: internal
      modules:
        mod_mqtt: {session_expiry: 60 minutes, max_queue: 100000}
      """.utf8
    ).write(to: URL(fileURLWithPath: directory.file("ejabberd.yml")))
    try start()
  }

  deinit { end(SIGKILL) }

  func restart() throws {
    end(SIGTERM)
    try start()
  }

  private func end(_ signal: Int32) {
    let process = process.withLock { $0 }
    process?.signal(signal)
    process?.wait()
  }

  private func start() throws {
    guard let tree = DebianTool.ejabberd else { throw DoesNotStart(log: "there is none") }
    let erlang = "\(tree)/usr/lib/erlang"
    let machine = try FileManager.default.contentsOfDirectory(atPath: erlang).first { $0.hasPrefix("erts-") }
    let programs = "\(erlang)/\(machine ?? "")/bin"
    let log = directory.file("output")
    try? FileManager.default.removeItem(atPath: log)
    let users = logins.map { #"{<<"\#($0)">>, <<"\#($1)">>}"# }.joined(separator: ", ")
    let started = try ChildProcess(
      "\(programs)/erlexec",
      [
        "-noinput", "-noshell", "-mnesia", "dir", "\"\(directory.file("spool"))\"", "-s", "ejabberd", "-eval",
        "[ejabberd_auth:try_register(U, <<\"localhost\">>, P) || {U, P} <- [\(users)]],"
          + " io:format(\"all are registered~n\").",
      ],
      environment: [
        "PATH": "/usr/bin:/bin", "HOME": directory.path, "ROOTDIR": erlang, "BINDIR": programs, "EMU": "beam",
        "PROGNAME": "erl", "ERL_LIBS": DebianTool.libraryPlace(in: tree), "ERL_CRASH_DUMP_BYTES": "0",
        "LD_LIBRARY_PATH": DebianTool.libraryPlace(in: tree), "EJABBERD_CONFIG_PATH": directory.file("ejabberd.yml"),
        "EJABBERD_LOG_PATH": directory.file("log/ejabberd.log"), "SPOOL_DIR": directory.file("spool"),
      ], streams: (.nothing, .file(log), .sameAsOutput))
    process.withLock { $0 = started }
    let end = ContinuousClock.now.advanced(by: .seconds(120))
    while !output.contains("all are registered") {
      guard started.isRunning, ContinuousClock.now < end else { throw DoesNotStart(log: output) }
      usleep(20_000)
    }
  }

  private var output: String { (try? String(contentsOfFile: directory.file("output"), encoding: .utf8)) ?? "" }
}

struct HouseEjabberd: HouseBroker {
  private let broker: Ejabberd

  init() throws {
    let names = ["threadkeeper", "border-router", "monitor"]
    broker = try Ejabberd(logins: Dictionary(uniqueKeysWithValues: names.map { ($0, "\($0)-pw") }))
  }

  var port: UInt16 { broker.port }
  var settings: [String] { ["username: threadkeeper", "password: threadkeeper-pw"] }
  var keepsSessions: Bool { false }

  func client(_ user: String, _ filters: String...) -> MosquittoConfiguration {
    .house(user, "\(user)-pw", port: port, filters)
  }

  func restart() throws { try broker.restart() }
}
