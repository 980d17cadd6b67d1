import Broker
import Foundation
import TestKit
import Testing

/// What the first guide and the example tell people to do, done as it stands there.
@Suite("As the guides say", .inTurns, .timeLimit(.minutes(30))) struct HandbookTests {
  private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("The router of the first guide, played by hand, is stored, raises an alert, and leaves") func playedByHand()
    async throws
  {
    let block = try Handbook("docs/guides/try-it.md").block(below: "Play a router yourself", with: "dataset=0e08")
    let commands = block.components(separatedBy: "printf ")
    try #require(commands.count == 3, "expected an announcement and a leave")
    let hex = try Program.check("sh", ["-c", commands[0] + "printf %s \"$dataset\""])

    // `make run` uses .threadkeeper in the directory of the sources.
    let installation = try Installation(port: nil, hold: 0)
    let state = installation.directory.file(".threadkeeper")
    let daemon = try installation.launch(stateDirectory: state)
    try await installation.ready(daemon)
    func shell(_ script: String) throws {
      try Program.check("sh", ["-c", "cd '\(installation.directory.path)' && set -e\n\(script)"])
    }
    try shell(commands[0] + "printf " + commands[1])
    try await eventually("the router") { try await installation.json("status")["routers"] == 1 }
    #expect(try await installation.dataset(of: "a1b2c3d4e5f60718") == hex)
    let alerts = try await installation.json("alerts").list
    #expect(alerts.contains { $0["alertname"] == "WellKnownNetworkKey" })
    try shell(commands[0] + "printf " + commands[2])
    try await eventually("the leave") { try await installation.json("status")["credentials"] == 0 }
    #expect(try await installation.json("alerts").list.allSatisfy { $0["alertname"] != "WellKnownNetworkKey" })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The example script speaks for a router, through a broker with logins") func script() async throws {
    let running = try await RunningHome(logins: EmbeddedBrokerConfiguration.Login.home)
    let (broker, installation, audience) = (running.broker, running.installation, running.audience)
    let script = Self.project.appendingPathComponent("examples/border-router.sh").path
    let environment = [
      "MQTT_USERNAME": "border-router", "MQTT_PASSWORD": try #require(broker.broker.password(of: "border-router")),
      "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(broker.port)", "STATE_DIRECTORY": installation.directory.file("router"),
      "HOME": installation.directory.path, "BORDER_AGENT_ID": "a1b2c3d4e5f60718",
    ]
    let home = try ThreadNetwork("home")
    let router = BorderRouter("a1b2c3d4e5f60718")
    func says(_ arguments: String..., dataset: String = "") throws {
      try Program.check("sh", [script] + arguments, input: Array(dataset.utf8), environment: environment)
    }
    try says("announce", "--name", "Living room", "--dataset-file", "-", dataset: try home.hex())
    try await audience.until("the router") {
      $0.state(router.topic)?["credentials"] == "stored" && $0.state(router.topic)?["name"] == "Living room"
    }
    try says("dataset", "--dataset-file", "-", dataset: try home.hex(at: 2, channel: 20))
    try await audience.until("the change") { $0.state(router.topic)?["channel"] == 20 }
    try says("ssid", "wifi-6", "wifi")
    try await audience.until("the SSID") { $0.state(router.topic)?["ssid"] == "wifi-6" }
    try says("offline")
    try await audience.until("offline") { $0.state("\(router.topic)/availability") == ["state": "offline"] }
    try says("heartbeat")
    try await audience.until("online") { $0.state("\(router.topic)/availability") == ["state": "online"] }
    #expect(try await installation.dataset(of: router.agent) == (try home.hex(at: 2, channel: 20)))
    try says("leave")
    try await audience.until("the leave") { $0.latest[router.topic] == "" }
    #expect(audience.look { $0.events("message_rejected") } == [])
    // What threadkeeper rejects is an error of the script, with the reason; the access list above lets it know.
    for arguments in [["ssid", "wifi-7"], ["heartbeat"], ["offline", "--reason", "frozen"]] {
      let refused = try Program.run("sh", [script] + arguments, environment: environment)
      #expect(refused.status == 65, "\(arguments): \(refused.output)")
      #expect(
        refused.output.contains(
          "error: threadkeeper has rejected \(arguments[0]) (not_found): this border router has not "
            + "announced itself"), "\(refused.output)")
    }
    #expect(audience.look { $0.events("message_rejected").count } == 3)
    try await running.stop()
    let unanswered = try Program.run(
      "sh", [script, "heartbeat"], environment: environment.merging(["ANSWER_SECONDS": "1"]) { $1 })
    #expect(unanswered.status == 0)
    #expect(unanswered.output.contains("warning: no answer from threadkeeper within 1 s"))
  }
}

/// What people expect of any script, with broker clients that only note how they were called.
@Suite("The example's scripts as programs", .inTurns, .timeLimit(.minutes(30))) struct ScriptMannersTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static func path(_ script: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../examples/\(script)")
      .standardized.path
  }

  /// A client of the broker that leaves its options and its number, and waits, as without messages.
  private func listeningClient(_ name: String) throws {
    let here = directory.path
    let text = """
      cat "$XDG_CONFIG_HOME/\(name)" >'\(here)/options.new'
      mv '\(here)/options.new' '\(here)/options'
      echo $$ >'\(here)/number.new'
      mv '\(here)/number.new' '\(here)/number'
      exec sleep 600
      """
    try directory.putScript(text, name)
  }

  @Test(
    """
    SIGTERM ends a script that waits for the broker at once, with its client and its file of options; a home directory \
    that is missing is not made
    """,
    arguments: [
      ("sealed-router/adopt.sh", "mosquitto_sub", ["a1b2c3d4e5f60718", "cat", "true"]),
      ("sealed-router/announce.sh", "mosquitto_pub", ["leave", "a1b2c3d4e5f60718"]),
    ]) func end(script: String, client: String, arguments: [String]) async throws
  {
    try listeningClient(client)
    // `threadkeeper client seal` needs keys; what it would print is of no matter here.
    try directory.putScript("cat\n", "threadkeeper")
    let temporary = directory.file("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
    try directory.put("Sesame-4711\n", "password")
    let process = try ChildProcess(
      "/bin/sh", [Self.path(script)] + arguments,
      environment: [
        "PATH": "\(directory.path):/usr/bin:/bin", "HOME": directory.file("home"), "TMPDIR": temporary,
        "DAEMON_LINE": "tk1:none", "MQTT_USERNAME": "script", "MQTT_CAFILE": "/none.pem",
        "MQTT_PASSWORD_FILE": directory.file("password"), "ANSWER_SECONDS": "0",
      ])
    let number = directory.file("number")
    try await eventually("the client") { FileManager.default.fileExists(atPath: number) }
    let listener = try #require(
      pid_t(try String(contentsOfFile: number, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
    // No port: with an authority, the client takes 8883 by itself.
    let options = try String(contentsOfFile: directory.file("options"), encoding: .utf8)
    let lines = options.split(separator: "\n")
    #expect(lines.dropLast() == ["-h localhost", "-u script", "-P Sesame-4711", "--cafile /none.pem"])
    #expect(lines.last?.wholeMatch(of: /-i threadkeeper-[0-9a-f]{32}(-[0-9a-f]{16})?/) != nil)
    process.signal(SIGTERM)
    #expect(process.wait(within: 60) == .exit(143))
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    #expect(!FileManager.default.fileExists(atPath: directory.file("home")))
    try await eventually("the client's end") { kill(listener, 0) != 0 && errno == ESRCH }
  }

  @Test(
    "--help is no failure, and a missing variable is a matter of the configuration",
    arguments: [
      ("sealed-router/adopt.sh", ["a1b2c3d4e5f60718", "cat", "true"]),
      ("sealed-router/announce.sh", ["leave", "a1b2c3d4e5f60718"]), ("automation/preferred-dataset.sh", []),
    ]) func usage(script: String, arguments: [String]) async throws
  {
    let streams = (directory.file("output"), directory.file("errors"))
    let help = try ChildProcess(
      "/bin/sh", [Self.path(script), "--help"], environment: ["PATH": "/usr/bin:/bin"],
      streams: (.nothing, .file(streams.0), .file(streams.1)))
    #expect(help.wait(within: 60) == .exit(0))
    let text = try String(contentsOfFile: streams.0, encoding: .utf8)
    #expect(text.hasPrefix("Usage: "))
    #expect(try String(contentsOfFile: streams.1, encoding: .utf8) == "")
    for given in [[:], ["DAEMON_LINE": "tk1:none"], ["MQTT_USERNAME": "script"]] {
      let outcome = try await Program.example(
        script, arguments,
        given.merging(["DAEMON_LINE": "", "MQTT_USERNAME": "", "HOME": directory.path]) { mine, _ in mine })
      #expect(outcome.status == 78)
      #expect(outcome.output.contains("is not set; see --help"), "\(outcome.output)")
    }
  }
}
