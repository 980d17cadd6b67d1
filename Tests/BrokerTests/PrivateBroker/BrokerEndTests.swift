import Foundation
import Synchronization
import TestKit
import Testing
import ThreadkeeperSupport

@testable import Broker

@Suite("The private broker and whose it is", .timeLimit(.minutes(30))) struct BrokerEndTests {
  static func isAlive(_ identifier: Int32) -> Bool {
    // A zombie that nobody has waited for is dead as well.
    guard let status = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8) else { return false }
    return !status.contains(") Z ")
  }

  @Test("Its unexpected end is reported with the end of its log, an ordered one is not") func unexpectedEnd()
    async throws
  {
    let directory = try OwnDirectory()
    let reports = Mutex<[EmbeddedBrokerError]>([])
    let broker = EmbeddedBroker(EmbeddedBrokerConfiguration(directory: directory.path, logins: [])) { error in
      reports.withLock { $0.append(error) }
    }
    try broker.start()
    broker.stop()
    try broker.start()
    broker.kill()
    try broker.start()
    #expect(reports.withLock { $0.isEmpty })
    kill(try #require(broker.processIdentifier), SIGKILL)
    try await eventually { reports.withLock { $0.count == 1 } }
    let error = reports.withLock { $0[0] }
    #expect(error.reason == .died)
    #expect(error.message.contains("signal 9"))
    #expect(error.message.contains("running"), "the last line of its log")
    #expect(!broker.isRunning)
    // And it can be started again.
    let port = broker.port
    try broker.start()
    #expect(broker.port == port)
    broker.stop()
  }

  @Test("It does not outlive a parent that is killed") func orphan() async throws {
    let directory = try OwnDirectory()
    let path = directory.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let broker = EmbeddedBroker(EmbeddedBrokerConfiguration(directory: path, logins: []))
      try broker.start()
      kill(getpid(), SIGKILL)
    }
    let identifier = try #require(Int32(directory.text("mosquitto.pid").filter(\.isNumber)))
    // Another process may have its number by now.
    try await eventually("the end of the broker") {
      let line = try? String(contentsOfFile: "/proc/\(identifier)/cmdline", encoding: .utf8)
      return !Self.isAlive(identifier) || line?.contains(path) != true
    }
    // The lock went with the parent.
    let next = directory.broker()
    try next.start()
    next.stop()
  }

  @Test("A forgotten broker that nobody waits for, and that ignores SIGTERM, does not hold it up") func forgotten()
    async throws
  {
    for traps in ["", "trap '' TERM;"] {
      let directory = try OwnDirectory()
      // Our child, which we do not wait for until the end: it stays as a zombie.
      let ready = directory.path + ".ready"
      let forgotten = try Self.spawn([
        "/bin/sh", "-c", "\(traps) : > \(ready); while :; do sleep 0.1; done", "\(directory.path)/mosquitto.conf",
      ])
      defer {
        kill(forgotten, SIGKILL)
        waitpid(forgotten, nil, 0)
      }
      try await eventually { FileManager.default.fileExists(atPath: ready) }
      try directory.put("\(forgotten)\n", in: "mosquitto.pid")
      let broker = directory.broker { $0.stopLimit = .milliseconds(500) }
      // On a thread of its own: a start that never returns must fail, not hang.
      Thread { try? broker.start() }.start()
      try await eventually("the start") { broker.isRunning }
      #expect(!Self.isAlive(forgotten))
      #expect(FileManager.default.fileExists(atPath: "/proc/\(forgotten)"), "else it proves nothing")
      broker.stop()
    }
  }

  static func spawn(_ arguments: [String]) throws -> pid_t {
    var start = ProcessStart(
      program: arguments[0], arguments: Array(arguments.dropFirst()),
      environment: ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" })
    start.hasOwnGroup = false
    (start.input, start.output, start.error) = (.inherited, .inherited, .inherited)
    let (identifier, code) = start.start()
    try #require(code == 0)
    return identifier
  }

  @Test("It lives on when the thread that started it is gone") func threadGone() async throws {
    let directory = try OwnDirectory()
    let broker = directory.broker()
    try SystemThread { try? broker.start() }.join()
    let identifier = try #require(broker.processIdentifier)
    // By the time that a program has been run, the kernel would have ended it.
    try Program.check("mosquitto_pub", ["-p", "\(broker.port)", "-t", "t", "-m", "x"])
    #expect(broker.processIdentifier == identifier)
    broker.stop()
  }

  @Test("An error quotes the end of the broker's log without the ids of clients") func quotedLog() {
    let error = EmbeddedBrokerError.died(
      "signal 9",
      log: """
        1: New client connected from 127.0.0.1:5 as threadkeeper-0a1b-intake (p5, c0, k60).
        1: Error: No space left on device
        1: Client threadkeeper-0a1b-intake closed its connection.
        """)
    #expect(error.message.hasSuffix("Its log ends with: 1: Error: No space left on device"))
  }
}
