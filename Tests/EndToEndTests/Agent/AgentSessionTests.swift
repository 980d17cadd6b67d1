import Broker
import Foundation
import TestKit
import Testing

/// The agents' client ids at a broker with logins and the printed access list. They are random, so that another login
/// can guess none.
@Suite("Sessions of agents at the broker", .inTurns, .timeLimit(.minutes(30))) struct AgentSessionTests {
  private let directory: TemporaryDirectory
  private let broker: TestBroker
  private let id: String
  private let router: String
  private let routers: ThreadRouters

  init() async throws {
    directory = try TemporaryDirectory()
    broker = try TestBroker(
      logins: EmbeddedBrokerConfiguration.Login.home + [.init("attic")],
      extraConfiguration: ["log_dest file \(directory.file("broker.log"))"])
    routers = try await ThreadRouters(1)
    router = routers.url(0)
    id = try routers.order(0, "form", ThreadNetwork("home").hex()).agent
    let password = try #require(broker.broker.password(of: "attic"))
    Recorder.current?.note("the password of attic", password)
    try directory.putSecret(password, "attic")
  }

  /// The client ids with which the login has connected, in order.
  private func clientIDs() throws -> [String] {
    try String(contentsOfFile: directory.file("broker.log"), encoding: .utf8).split(separator: "\n").filter {
      $0.hasSuffix("u'attic').")
    }.compactMap { $0.firstMatch(of: /as ([^ ]+) \(p/).map { String($0.output.1) } }
  }

  private func isRandom(_ id: String) -> Bool { id.wholeMatch(of: /threadkeeper-[0-9a-f]{32}/) != nil }

  @Test("An agent's client id is random, kept in a file that only its user reads, and stays the same") func kept()
    async throws
  {
    let file = directory.file(".local/state/threadkeeper/agent-client-id")
    func run() async throws -> String {
      let agent = try AgentProcess(
        .otbr, [router, "--password-file", directory.file("attic")], broker: broker, in: directory)
      try await eventually("the announcement") { agent.output.contains("announced, leader") }
      #expect(agent.end() == .exit(0))
      return agent.output
    }
    for _ in 0..<2 { #expect(try await !run().contains("warning")) }
    let ids = try clientIDs()
    #expect(ids.count == 2 && Set(ids).count == 1 && ids.allSatisfy(isRandom), "\(ids)")
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    let secret = try String(contentsOfFile: file, encoding: .utf8)
    #expect(secret.wholeMatch(of: /[0-9a-f]{32}\n/) != nil)
    // The id does not show the file.
    #expect(!ids.contains { $0.contains(secret.dropLast()) })
    // One that others know is not used.
    #expect(chmod(file, 0o644) == 0)
    let output = try await run()
    #expect(output.contains("the client id can't be kept") && output.contains(file))
    let last = try #require(try clientIDs().last)
    #expect(isRandom(last) && !ids.contains(last))
  }

  @Test("Every client id begins with threadkeeper-, for a broker with that for `clientid_prefixes`") func beginnings()
    async throws
  {
    let wifi = try AgentProcess(
      .ssid, ["--command", "echo home-wifi", "--router", id, "--password-file", directory.file("attic")], user: "attic",
      broker: broker, in: directory)
    try await eventually("the SSID's agent") { wifi.output.contains("connected to the broker") }
    #expect(wifi.end() == .exit(0))
    let request = try await ThreadkeeperBinary.run(
      [
        "client", "request", "ping", "--username", "attic", "--timeout", "1", "--host", "127.0.0.1", "--port",
        "\(broker.port)", "--password-file", directory.file("attic"),
      ], environment: ["HOME": directory.path])
    #expect(request.status == 75, "\(request.error)")
    let variables = [
      "HOME": directory.path, "MQTT_USERNAME": "attic", "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(broker.port)",
      "MQTT_PASSWORD_FILE": directory.file("attic"), "ANSWER_SECONDS": "1", "DAEMON_LINE": "",
      "XDG_CONFIG_HOME": directory.path,
    ]
    // A login of a file of mosquitto_pub, with a client id that two connections would share.
    let password = try String(contentsOfFile: directory.file("attic"), encoding: .utf8)
    let login = "-h 127.0.0.1\n-p \(broker.port)\n-u attic\n-P \(password)-i hub\n"
    for user in ["attic", ""] {
      if user.isEmpty { try directory.put(login, "mosquitto_pub") }
      let event = try await Program.example(
        "border-router.sh", ["heartbeat", "--id", id], variables.merging(["MQTT_USERNAME": user]) { $1 })
      #expect(event.status == 0, "\(event.output)")
    }
    let ids = try clientIDs()
    #expect(ids.count >= 8 && ids.allSatisfy(isRandom), "\(ids)")
  }
}
