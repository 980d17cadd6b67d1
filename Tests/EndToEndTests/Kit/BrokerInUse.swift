import Broker
import Foundation
import TestKit

/// A real Mosquitto that serves a house: a configuration as Debian ships it, which includes a file of the
/// house and one for threadkeeper. Every login's password is its name and `-pw`.
final class BrokerInUse: Sendable {
  let port: UInt16
  private let directory: TemporaryDirectory
  private let process: ChildProcess

  struct DoesNotStart: Error { let log: String }

  /// - Parameters:
  ///   - house: what the house has in a file of its own, beside the listener. `$` stands for the directory
  ///     of the files.
  ///   - addition: the file for threadkeeper, as a document prints it: `/etc/mosquitto/` stands for the
  ///     directory of the files.
  ///   - files: further files by name, such as the access list.
  ///   - logins: who is in the password file `passwords`.
  /// - Throws: `DoesNotStart` when Mosquitto ends instead of taking connections.
  init(house: [String], addition: String, files: [String: String] = [:], logins: [String]) throws {
    let directory = try TemporaryDirectory()
    self.directory = directory
    port = try UnusedPort.next()
    func write(_ text: String, _ name: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file(name)))
    }
    try FileManager.default.createDirectory(atPath: directory.file("conf.d"), withIntermediateDirectories: false)
    for (name, text) in files { try write(text, name) }
    // All at once: one start of the program for each login would take long.
    let file = "passwords"
    try write(logins.map { "\($0):\($0)-pw\n" }.joined(), file)
    if !logins.isEmpty { try Program.check("mosquitto_passwd", ["-U", directory.file(file)]) }
    // As root, Mosquitto would become a user that cannot read this directory.
    let main =
      (geteuid() == 0 ? ["user root"] : []) + [
        "persistence true", "persistence_location \(directory.path)/", "log_dest file \(directory.file("log"))",
        "include_dir \(directory.file("conf.d"))",
      ]
    try write(main.joined(separator: "\n") + "\n", "mosquitto.conf")
    let lines = ["listener \(port) 127.0.0.1"] + house.map { $0.replacing("$", with: directory.path) }
    try write(lines.joined(separator: "\n") + "\n", "conf.d/house.conf")
    try write(addition.replacing("/etc/mosquitto/", with: "\(directory.path)/"), "conf.d/threadkeeper.conf")
    process = try ChildProcess(
      "/usr/sbin/mosquitto", ["-c", directory.file("mosquitto.conf")],
      streams: (.nothing, .file(directory.file("output")), .sameAsOutput))
    let end = ContinuousClock.now.advanced(by: .seconds(60))
    while !log.contains(" running") {
      guard process.isRunning, ContinuousClock.now < end else { throw DoesNotStart(log: log) }
      usleep(5_000)
    }
  }

  deinit {
    process.signal(SIGKILL)
    process.wait()
  }

  var log: String {
    ["log", "output"].map { (try? String(contentsOfFile: directory.file($0), encoding: .utf8)) ?? "" }.joined()
  }

  /// A path among its files.
  func file(_ name: String) -> String { directory.file(name) }

  /// Has it read its files again, as `systemctl reload` does, and waits until it has.
  func reload() async throws {
    func count() -> Int { log.components(separatedBy: "Reloading config").count }
    let before = count()
    process.signal(SIGHUP)
    try await eventually("the reloaded files") { count() > before }
  }

  /// The command by which it reads its files again.
  var restart: String { "kill -HUP \(process.identifier)" }

  /// It does not answer any more.
  func kill() {
    process.signal(SIGKILL)
    process.wait()
  }

  /// What the settings of threadkeeper say about this broker.
  var settings: [String] { ["username: threadkeeper", "password: threadkeeper-pw"] }

  /// Someone who publishes; without a login for nil.
  func publisher(_ login: String?) async throws -> TestPublisher { TestPublisher(configuration(login, [])) }

  /// Someone who listens; returns when the broker has answered the subscriptions.
  func audience(_ login: String?, _ filter: String = "#") async throws -> Audience {
    let audience = Audience(configuration(login, [filter]))
    try await audience.ready(connection: 1)
    return audience
  }

  private func configuration(_ login: String?, _ filters: [String]) -> MosquittoConfiguration {
    MosquittoConfiguration(
      host: "127.0.0.1", port: port, clientID: "test-\(UInt32.random(in: 0 ... .max))", username: login,
      password: login.map { "\($0)-pw" }, cleanStart: true,
      subscriptions: filters.map { MosquittoConfiguration.Subscription($0) },
      reconnect: MosquittoConfiguration.Backoff(initial: .milliseconds(20), ceiling: .milliseconds(200), jitter: 0.2))
  }
}

/// A real Mosquitto with a password file, whose lines can be changed while it runs. A stop loses nothing.
final class PasswordBroker: Sendable {
  let broker: TestBroker
  private var file: String { "\(broker.directory)/passwords" }

  var port: UInt16 { broker.port }

  /// Lets the daemon's user in, and one who may read everything.
  init(_ user: String, _ password: String) throws {
    Recorder.current?.note("the password of \(user)", password)
    broker = try TestBroker(
      logins: [.init("monitor", role: .monitor), .init(user, role: .daemon, password: password)], persistence: true)
  }

  /// Gives a user another password, and has the broker read its file again: whoever is connected with
  /// the old one is thrown out.
  func setPassword(of user: String, to password: String) throws {
    Recorder.current?.note("a password of \(user)", password)
    try Program.check("mosquitto_passwd", ["-b", file, user, password])
    try reload()
  }

  func remove(_ user: String) throws {
    try Program.check("mosquitto_passwd", ["-D", file, user])
    try reload()
  }

  /// It takes connections and answers nobody, until `resume`.
  func pause() throws { try broker.signal(SIGSTOP) }
  func resume() throws { try broker.signal(SIGCONT) }

  private func reload() throws { try broker.signal(SIGHUP) }
}

extension TestBroker {
  /// SIGHUP has it read its files again, SIGUSR1 write what it keeps.
  func signal(_ number: Int32) throws {
    let text = try String(contentsOfFile: "\(directory)/mosquitto.pid", encoding: .utf8)
    guard let process = Int32(text.filter(\.isNumber)), Foundation.kill(process, number) == 0 else {
      throw DaemonProcess.Unexpected(description: "the broker does not run")
    }
  }
}
