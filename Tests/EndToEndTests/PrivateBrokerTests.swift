import Foundation
import TestKit
import Testing

@Suite("The private broker and the demonstration", .inTurns, .timeLimit(.minutes(30))) struct PrivateBrokerTests {
  @Test("The printed commands of a daemon with a broker of its own work as they stand") func notice() async throws {
    let installation = try Installation(port: nil, hold: 0)
    let daemon = try await installation.start()
    let status = try await installation.status()
    #expect(status["broker"]?["embedded"] == true && status["broker"]?["state"] == "connected")
    let hex = try ThreadNetwork("home").hex()
    try Program.check("sh", ["-c", try publishingCommand(in: daemon.log, hex)])
    try await eventually("the router") { try await installation.status()["routers"] == 1 }
    #expect(try await installation.dataset(of: "a1b2c3d4e5f60718") == hex)
    let watching = try #require(command(in: daemon.log, until: "/#'", options: .backwards), "\(daemon.log)")
    let seen = try Program.check("sh", ["-c", watching + " -C 3 -W 20"])
    #expect(seen.contains("threadkeeper/") && !seen.contains(hex))
    try await eventually("messages for the recorder") {
      Recorder.current?.messages.contains { $0.topic == "threadkeeper/bridge/info" } == true
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A port that is taken is said, and nothing is left running") func portTaken() async throws {
    let other = try TestBroker()
    let installation = try Installation(port: nil, mqtt: ["port: \(other.port)"])
    let daemon = try installation.launch()
    #expect(try await daemon.end() == .exit(69))
    for words in ["127.0.0.1:\(other.port)", "another program", "Its log ends with: "] {
      #expect(daemon.log.contains(words))
    }
    #expect(!daemon.log.contains("\\u{a}"))
  }

  @Test("The broker ends with the daemon, however that ends, keeps its port, and is started when it dies")
  func lifeTime() async throws {
    let port = try UnusedPort.next()
    let installation = try Installation(port: nil, mqtt: ["port: \(port)"], hold: 0)
    let killed = try await installation.start()
    let first = try #require(brokerProcess(of: killed))
    try await killed.kill9()
    try await eventually("the broker's end") { !isAlive(first) }
    let stopped = try await installation.start()
    let second = try #require(brokerProcess(of: stopped))
    #expect(try await stopped.stop() == .exit(0))
    #expect(!isAlive(second))
    // Its sessions and what it retained are kept: no alert about a lost session.
    let daemon = try await installation.start()
    #expect(try await installation.json("alerts", "--all").list.allSatisfy { $0["alertname"] != "SessionLost" })

    let broker = try #require(brokerProcess(of: daemon))
    Recorder.current?.brokersMayForget()
    kill(broker, SIGKILL)
    try await eventually("another broker") { brokerProcess(of: daemon).map { $0 != broker } ?? false }
    let hex = try ThreadNetwork("home").hex()
    try await installation.ready(daemon)
    try await eventually("the router") {
      _ = try Program.run("sh", ["-c", try publishingCommand(in: daemon.log, hex)])
      return try await installation.status()["routers"] == 1
    }
    #expect(daemon.log.contains("private broker"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A terminal that closes stops the daemon in order, with its broker; signals for other daemons do nothing")
  func signals() async throws {
    let installation = try Installation(port: nil, hold: 0)
    let daemon = try await installation.start()
    let broker = try #require(brokerProcess(of: daemon))
    for number in [SIGUSR1, SIGUSR2] {
      daemon.signal(number)
      #expect(try await installation.status()["broker"]?["state"] == "connected")
    }
    #expect(daemon.isRunning)
    let end = try await daemon.stop(SIGHUP)
    print("SIGHUP: \(end), \(daemon.log.split(separator: "\n").last ?? "")")
    #expect(end == .exit(0))
    #expect(!isAlive(broker))
  }

  @Test("nohup(1) keeps a daemon running when its terminal closes") func nohup() async throws {
    let installation = try Installation(port: nil, hold: 0, launcher: ["/usr/bin/nohup"])
    let daemon = try installation.launch()
    try await installation.ready(daemon)
    daemon.signal(SIGHUP)
    #expect(try await installation.status()["broker"]?["state"] == "connected")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Who takes the port of a private broker that has ended gets no connection of the daemon's") func takenPlace()
    async throws
  {
    let port = try UnusedPort.next()
    let installation = try Installation(port: nil, mqtt: ["port: \(port)"], hold: 0)
    let daemon = try await installation.start()
    let broker = try #require(brokerProcess(of: daemon))
    Recorder.current?.brokersMayForget()
    try await daemon.suspend()
    kill(broker, SIGKILL)
    try await eventually("the broker's end") { !isAlive(broker) }
    let attacker = try FakeBroker(port: port)
    let before = daemon.log
    daemon.signal(SIGCONT)
    // Both connections are tried again and again.
    try await eventually("attempts to connect") {
      let log = daemon.log.dropFirst(before.count)
      return log.contains("the private broker cannot be started")
        && log.split(separator: "\n").count { $0.contains("disconnected") } >= 4
    }
    // The recorder, which stands in for a script, does come to the port.
    let names = attacker.events.compactMap { if case .connected(let clientID, _) = $0 { clientID } else { nil } }
    #expect(names.allSatisfy { !$0.hasSuffix("-intake") && !$0.hasSuffix("-status") }, "\(names)")
    attacker.stop()
    try await installation.ready(daemon, within: .seconds(120))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The demonstration ends well and leaves nothing behind, also when it is interrupted") func demo() async throws {
    let directory = try TemporaryDirectory()
    let temporary = directory.file("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    func expectNothing() throws { #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty) }
    let outcome = try await ThreadkeeperBinary.run("demo", environment: ["TMPDIR": temporary, "HOME": directory.path])
    #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
    for words in [
      "ALERT PreferredNetworkMismatch", "RESOLVED PreferredNetworkMismatch", "Summary", "is seen on the local network",
    ] { #expect(outcome.output.contains(words)) }
    let first = outcome.output.prefix { $0 != "\n" }
    #expect(first.contains(#/: http://127\.0\.0\.1:\d+/\?token=[A-Za-z0-9_-]{43}$/#), "\(first)")
    try expectNothing()

    // It takes three seconds; on a machine that is busy enough it is over before we look.
    for attempt in 1... {
      let demo = try DaemonProcess(
        ["demo"], environment: ["PATH": "/usr/bin:/bin:/usr/sbin", "TMPDIR": temporary],
        errorFile: directory.file("demo.log"))
      try await eventually("its broker") { brokerProcess(of: demo) != nil || !demo.isRunning }
      guard let broker = brokerProcess(of: demo) else {
        try #require(attempt < 10 && demo.log.isEmpty, "it ended: \(demo.log)")
        continue
      }
      demo.signal(SIGINT)
      #expect(try await demo.end() == .exit(130))
      try await eventually("the broker's end") { !isAlive(broker) }
      break
    }
    try expectNothing()
  }

  /// The command that speaks as a border router, as it is printed at the start.
  private func publishingCommand(in log: String, _ dataset: String) throws -> String {
    try #require(command(in: log, until: "\nEOF\n"), "\(log)").replacing("<TLVs in hex>", with: dataset)
  }

  private func command(in log: String, until end: String, options: String.CompareOptions = []) -> String? {
    guard let start = log.range(of: "XDG_CONFIG_HOME=", options: options),
      let end = log.range(of: end, range: start.upperBound..<log.endIndex)
    else { return nil }
    return String(log[start.lowerBound..<end.upperBound])
  }

  /// The mosquitto that a process has started.
  private func brokerProcess(of daemon: DaemonProcess) -> Int32? {
    let path = "/proc/\(daemon.identifier)/task"
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let children = tasks.flatMap { task -> [Int32] in
      let text = (try? String(contentsOfFile: "\(path)/\(task)/children", encoding: .utf8)) ?? ""
      return text.split(separator: " ").compactMap { Int32($0) }
    }
    return children.first { child in
      let name = try? String(contentsOfFile: "/proc/\(child)/comm", encoding: .utf8)
      return name == "mosquitto\n" && isAlive(child)
    }
  }

  private func isAlive(_ process: Int32) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = status.lastIndex(of: ")")
    else { return false }
    return !status[end...].hasPrefix(") Z")
  }
}
