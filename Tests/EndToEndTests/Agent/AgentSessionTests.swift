// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// The agents' client ids at a broker with logins and the printed access list.
@Suite("Sessions of agents at the broker", .inTurns, .timeLimit(.minutes(30)))
struct AgentSessionTests {
  private let directory: TemporaryDirectory
  private let broker: TestBroker
  private let routers: ThreadRouters
  private let id: String

  init() async throws {
    directory = try TemporaryDirectory()
    broker = try TestBroker(
      logins: EmbeddedBrokerConfiguration.Login.home + [.init("attic"), .init("mallory")],
      extraConfiguration: ["log_dest file \(directory.file("broker.log"))"])
    routers = try await ThreadRouters(1)
    id = try routers.order(0, "form", ThreadNetwork("home").hex()).agent
    for login in ["attic", "mallory"] {
      let password = try #require(broker.broker.password(of: login))
      Recorder.current?.note("the password of \(login)", password)
      try directory.putSecret(password, login)
    }
  }

  private func agent(_ more: String...) throws -> AgentProcess {
    try AgentProcess(
      .otbr, [routers.url(0), "--password-file", directory.file("attic")] + more, broker: broker,
      in: directory)
  }

  /// The client ids with which this login has connected, in order.
  private func clientIDs(of login: String) throws -> [String] {
    try String(contentsOfFile: directory.file("broker.log"), encoding: .utf8)
      .split(separator: "\n").filter { $0.hasSuffix("u'\(login)').") }
      .compactMap { $0.firstMatch(of: /as ([^ ]+) \(p/).map { String($0.output.1) } }
  }

  private func isRandom(_ id: String) -> Bool {
    id.wholeMatch(of: /threadkeeper-[0-9a-f]{32}/) != nil
  }

  @Test(
    "Another login that guesses an agent's client id neither ends its connection nor its session")
  func theft() async throws {
    let audience = try await Audience.start(broker, user: "threadkeeper", "threadkeeper/in/#")
    let agent = try agent()
    func heartbeats() -> Int {
      audience.look { $0.messages.count { $0.topic == "threadkeeper/in/attic/heartbeat" } }
    }
    try await eventually("a heartbeat") { heartbeats() > 0 }
    for guess in [
      "threadkeeper-agent-attic-\(id)", "threadkeeper-attic-\(id)", "threadkeeper-\(id)",
      "threadkeeper-otbr \(id)", "attic-\(id)", "attic",
    ] {
      let thief = TestClient(broker.configuration(clientID: guess, user: "mallory"))
      try await thief.ready()
      #expect(thief.handler.record.sessions.first?.sessionPresent == false)
      try await thief.stop()
    }
    let before = heartbeats()
    try await eventually("two more heartbeats") { heartbeats() >= before + 2 }
    #expect(
      audience.look { !$0.messages.contains { $0.topic == "threadkeeper/in/attic/offline" } })
    #expect(!agent.output.contains("warning"), "\(agent.output)")
    #expect(agent.end() == .exit(0))
  }

  @Test(
    "An agent's client id is random, kept in a file that only its user reads, and stays the same")
  func kept() async throws {
    let file = directory.file(".local/state/threadkeeper/agent-client-id")
    for _ in 0..<2 {
      let agent = try agent()
      try await eventually("the announcement") { agent.output.contains("announced, leader") }
      #expect(agent.end() == .exit(0))
      #expect(!agent.output.contains("warning"), "\(agent.output)")
    }
    let ids = try clientIDs(of: "attic")
    #expect(ids.count == 2 && Set(ids).count == 1 && ids.allSatisfy(isRandom), "\(ids)")
    #expect(
      try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    let secret = try String(contentsOfFile: file, encoding: .utf8)
    #expect(secret.wholeMatch(of: /[0-9a-f]{32}\n/) != nil)
    // The id does not show the file.
    #expect(!ids.contains { $0.contains(secret.dropLast()) })
    // One that others know is not used.
    #expect(chmod(file, 0o644) == 0)
    let agent = try agent()
    try await eventually("the announcement") { agent.output.contains("announced, leader") }
    #expect(agent.end() == .exit(0))
    #expect(agent.output.contains("the client id can't be kept") && agent.output.contains(file))
    let last = try #require(try clientIDs(of: "attic").last)
    #expect(isRandom(last) && !ids.contains(last))
  }

  @Test("Every client id begins with threadkeeper-, for a broker with that for `clientid_prefixes`")
  func beginnings() async throws {
    let wifi = try AgentProcess(
      .ssid,
      ["--command", "echo home-wifi", "--router", id, "--password-file", directory.file("attic")],
      user: "attic", broker: broker, in: directory)
    try await eventually("the SSID's agent") { wifi.output.contains("connected to the broker") }
    #expect(wifi.end() == .exit(0))
    let request = try await ThreadkeeperBinary.run(
      [
        "client", "request", "ping", "--username", "attic", "--timeout", "1", "--host", "127.0.0.1",
        "--port", "\(broker.port)", "--password-file", directory.file("attic"),
      ], environment: ["HOME": directory.path])
    #expect(request.status == 75, "\(request.error)")
    let variables = [
      "HOME": directory.path, "MQTT_USERNAME": "attic", "MQTT_HOST": "127.0.0.1",
      "MQTT_PORT": "\(broker.port)", "MQTT_PASSWORD_FILE": directory.file("attic"),
      "ANSWER_SECONDS": "1", "DAEMON_LINE": "", "XDG_CONFIG_HOME": directory.path,
    ]
    let event = try await Program.example(
      "border-router.sh", ["heartbeat", "--id", id], variables)
    #expect(event.status == 0, "\(event.output)")
    // A login of a file of mosquitto_pub, with a client id that two connections would share.
    let password = try String(contentsOfFile: directory.file("attic"), encoding: .utf8)
    try directory.put(
      "-h 127.0.0.1\n-p \(broker.port)\n-u attic\n-P \(password)-i hub\n", "mosquitto_pub")
    let other = try await Program.example(
      "border-router.sh", ["heartbeat", "--id", id], variables.merging(["MQTT_USERNAME": ""]) { $1 }
    )
    #expect(other.status == 0, "\(other.output)")
    let ids = try clientIDs(of: "attic")
    #expect(ids.count >= 8 && ids.allSatisfy(isRandom), "\(ids)")
  }
}
