// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("The private broker and the demonstration", .inTurns, .timeLimit(.minutes(30)))
struct PrivateBrokerTests {
  @Test("Two daemons, each with a broker of its own; the printed commands work as they stand")
  func notice() async throws {
    let installations = try (1...2).map { _ in try Installation(port: nil, hold: 0) }
    let daemons = [try await installations[0].start(), try await installations[1].start()]
    var ports: [JSON?] = []
    for (installation, daemon) in zip(installations, daemons) {
      let status = try await installation.json("status")
      #expect(status["broker"]?["embedded"] == true)
      #expect(status["broker"]?["state"] == "connected")
      ports.append(status["broker"]?["port"])
      let command = try #require(publishingCommand(in: daemon.log), "\(daemon.log)")
      let home = try ThreadNetwork("home")
      let hex = try home.hex()
      try Program.check(
        "sh", ["-c", command.replacingOccurrences(of: "<TLVs in hex>", with: hex)])
      try await eventually("the router") { try await installation.json("status")["routers"] == 1 }
      #expect(try await installation.dataset(of: "a1b2c3d4e5f60718") == hex)
      let watching = try #require(watchingCommand(in: daemon.log), "\(daemon.log)")
      let seen = try Program.check("sh", ["-c", watching + " -C 3 -W 20"])
      #expect(seen.contains("threadkeeper/"))
      #expect(!seen.contains(hex))
    }
    #expect(ports[0] != ports[1])
    try await eventually("the recorder hears both brokers") {
      let heard = Recorder.current?.messages ?? []
      return heard.count { $0.topic == "threadkeeper/bridge/info" } >= 2
    }
    for daemon in daemons { #expect(try await daemon.stop() == .exit(0)) }
  }

  @Test("A port that is taken is said, and nothing is left running")
  func portTaken() async throws {
    let other = try TestBroker()
    let installation = try Installation(port: nil, mqtt: ["port: \(other.port)"])
    let daemon = try installation.launch()
    #expect(try await daemon.end() == .exit(69))
    #expect(daemon.log.contains("127.0.0.1:\(other.port)"))
    #expect(daemon.log.contains("another program"))
    #expect(daemon.log.contains("Its log ends with: ") && !daemon.log.contains("\\u{a}"))
  }

  @Test("The broker ends with the daemon, however that one ends, and keeps its port")
  func lifeTime() async throws {
    let port = try UnusedPort.next()
    let installation = try Installation(port: nil, mqtt: ["port: \(port)"], hold: 0)
    for _ in 1...2 {
      let daemon = try await installation.start()
      let broker = try #require(brokerProcess(of: daemon))
      try await daemon.kill9()
      try await eventually("the broker's end") { !isAlive(broker) }
    }
    let daemon = try await installation.start()
    let broker = try #require(brokerProcess(of: daemon))
    #expect(try await daemon.stop() == .exit(0))
    #expect(!isAlive(broker))
    // Its sessions and what it retained are kept: no alert about a lost session.
    let again = try await installation.start()
    #expect(
      try await installation.json("alerts", "--all").list.allSatisfy {
        $0["alertname"] != "SessionLost"
      })
    #expect(try await again.stop() == .exit(0))
  }

  @Test("A private broker that dies is started again")
  func brokerDies() async throws {
    let installation = try Installation(
      port: nil, mqtt: ["port: \(try UnusedPort.next())"], hold: 0)
    let daemon = try await installation.start()
    let broker = try #require(brokerProcess(of: daemon))
    Recorder.current?.brokersMayForget()
    kill(broker, SIGKILL)
    try await eventually("another broker") {
      brokerProcess(of: daemon).map { $0 != broker } ?? false
    }
    let command = try #require(publishingCommand(in: daemon.log))
    let home = try ThreadNetwork("home")
    let hex = try home.hex()
    try await installation.ready(daemon)
    try await eventually("the router") {
      _ = try Program.run(
        "sh", ["-c", command.replacingOccurrences(of: "<TLVs in hex>", with: hex)])
      return try await installation.json("status")["routers"] == 1
    }
    #expect(daemon.log.contains("private broker"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Who takes the port of a private broker that has ended gets no connection of the daemon's")
  func takenPlace() async throws {
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
        && log.split(separator: "\n").count { $0.contains("disconnected") } >= 6
    }
    // The recorder, which stands in for a script, does come to the port.
    let names = attacker.events.compactMap {
      if case .connected(let clientID, _) = $0 { clientID } else { nil }
    }
    #expect(names.allSatisfy { !$0.hasSuffix("-intake") && !$0.hasSuffix("-status") }, "\(names)")
    attacker.stop()
    try await installation.ready(daemon, within: .seconds(120))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The demonstration ends well and leaves nothing behind")
  func demo() async throws {
    let directory = try TemporaryDirectory()
    let outcome = try await ThreadkeeperBinary.run(
      "demo", environment: ["TMPDIR": directory.path, "HOME": directory.path])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.contains("ALERT PreferredNetworkMismatch"))
    #expect(outcome.output.contains("RESOLVED PreferredNetworkMismatch"))
    #expect(outcome.output.contains("Summary"))
    let first = outcome.output.prefix { $0 != "\n" }
    #expect(
      first.contains(#/: http://127\.0\.0\.1:\d+/\?token=[A-Za-z0-9_-]{43}$/#), "\(first)")
    #expect(outcome.output.contains("is seen on the local network"))
    #expect(outcome.error.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  @Test(
    "A demonstration that is interrupted leaves nothing behind either",
    arguments: [SIGINT, SIGTERM])
  func interruptedDemo(signal: Int32) async throws {
    let directory = try TemporaryDirectory()
    let temporary = directory.file("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
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
      demo.signal(signal)
      #expect(try await demo.end() == .exit(130))
      try await eventually("the broker's end") { !isAlive(broker) }
      break
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
  }

  /// The command that speaks as a border router, as it is printed at the start.
  private func publishingCommand(in log: String) -> String? {
    guard let start = log.range(of: "XDG_CONFIG_HOME="),
      let end = log.range(of: "\nEOF\n", range: start.upperBound..<log.endIndex)
    else { return nil }
    return String(log[start.lowerBound..<end.upperBound])
  }

  private func watchingCommand(in log: String) -> String? {
    guard let start = log.range(of: "XDG_CONFIG_HOME=", options: .backwards),
      let end = log.range(of: "/#'", range: start.upperBound..<log.endIndex)
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
