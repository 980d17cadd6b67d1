import Broker
import Foundation
import TestKit
import Testing

@Suite("Enrolled clients", .inTurns, .timeLimit(.minutes(30))) struct EnrolmentTests {
  private static let key: [UInt8] = [
    0x3D, 0xA8, 0x61, 0xF4, 0x0B, 0x97, 0xCE, 0x52, 0xE1, 0x7A, 0x36, 0xD9, 0x84, 0x2F, 0xB3, 0x68,
  ]
  private static let pskc: [UInt8] = [
    0x92, 0x4E, 0xF7, 0x0D, 0xC6, 0x58, 0x31, 0xAB, 0x65, 0xE9, 0x14, 0x7C, 0xD0, 0x8B, 0x26, 0xF3,
  ]

  /// A router that seals what it says.
  private struct SealedRouter {
    let identity: Identity
    let daemon: PublicIdentity
    let user: String
    let agent: String

    func says(_ kind: String, _ seq: UInt64, _ fields: [String: String] = [:], on topic: String? = nil) throws
      -> Publication
    {
      let fields = fields.merging(["border_agent_id": agent]) { $1 }
      let own = "threadkeeper/in/\(user)/\(kind)"
      let envelope = try Envelope.seal(
        Array(JSONEncoder().encode(fields)), to: daemon, from: identity,
        at: .init(topic: own, order: .sequence(seq), now: Int64(Date().timeIntervalSince1970))
      ).json()
      return Publication(
        topic: topic ?? own, payload: Array("{\"sealed\":\(String(decoding: envelope, as: UTF8.self))}".utf8))
    }
  }

  @Test("Where all publishers are enrolled, nobody on the broker ever sees a key") func nobodySees() async throws {
    let running = try await RunningHome()
    let (installation, audience) = (running.installation, running.audience)
    let identity = try Identity()
    try await installation.enroll("router", identity.keys.line, "--trust", "signed")
    let own = try await installation.json("clients", "list")["daemon"]
    let line = try #require(own?["line"]?.text)
    try await audience.until("the daemon's keys") {
      let info = $0.state("threadkeeper/bridge/info")
      return info?["enrolment_line"]?.text == line && info?["fingerprint"]?.text == own?["fingerprint"]?.text
    }
    let router = SealedRouter(
      identity: identity, daemon: try PublicIdentity(line: line), user: "router", agent: "a1b2c3d4e5f60701")

    Recorder.current?.allPublishersAreEnrolled()
    let home = try ThreadNetwork("home", networkKey: Self.key, pskc: Self.pskc)
    let announcement = try router.says("announce", 1, ["dataset": home.hex(), "name": "Living room"])
    try await running.publish(
      announcement, try router.says("dataset", 2, ["dataset": home.hex(at: 2, channel: 20)]),
      try router.says("heartbeat", 3), announcement,
      try router.says("leave", 4, on: "threadkeeper/in/router/heartbeat"),
      try router.says("leave", 4, on: "threadkeeper/in/other/leave"),
      BorderRouter(router.agent, user: "router").says("heartbeat"))
    try await audience.until("what was refused") { $0.events("message_rejected").count == 3 }
    #expect(
      audience.look { $0.events("message_rejected").compactMap { $0["code"]?.text } } == [
        "wrong_topic", "not_enrolled", "not_sealed",
      ])
    try await audience.until("the state") { $0.state("threadkeeper/router/\(router.agent)")?["active_timestamp"] == 2 }
    #expect(try await installation.dataset(of: router.agent) == home.hex(at: 2, channel: 20))
    try await audience.until("the one alert") {
      Set($0.alertEvents.map { $0["alertname"] }) == ["PreferredNetworkChanged"]
    }

    var needles = Needles()
    needles.add("network key", Self.key)
    needles.add("PSKc", Self.pskc)
    let heard = audience.look { $0.messages }
    #expect(heard.count > 20 && heard.contains { $0.topic.contains("/in/router/announce") })
    for message in heard {
      #expect(needles.found(in: Data(message.payload) + Data(message.topic.utf8)) == [], "\(message)")
    }
    // Who enrolled it is in the audit, with the number of the user who did it.
    let audit = try await installation.json("audit")
    try await running.stop()
    #expect(needles.found(in: running.daemon.log) == [])
    #expect(try needles.found(below: installation.directory.path).finds == [])
    let changes = audit.list.filter { "\($0)".contains("client-enrolment/home") }
    #expect(changes.map { $0["actor"]?.text } == ["command of user \(getuid())"])
  }

  @Test("The example's router seals with a shell script") func script() async throws {
    let running = try await RunningHome()
    let (broker, installation, audience) = (running.broker, running.installation, running.audience)
    let key = installation.directory.file("router.key")
    let made = try await installation.clientKeygen(key)
    try await installation.enroll("attic", made, "--trust", "signed")
    Recorder.current?.allPublishersAreEnrolled()
    let home = try ThreadNetwork("home", networkKey: Self.key, pskc: Self.pskc)
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../examples/sealed-router/announce.sh"
    ).standardized.path
    let tools = ThreadkeeperBinary.executable.deletingLastPathComponent().path
    let environment = [
      "PATH": "\(tools):/usr/bin:/bin", "HOME": installation.directory.path, "CLIENT_KEY": key,
      "DAEMON_LINE": try await installation.daemonLine(), "MQTT_USERNAME": "attic", "MQTT_HOST": "127.0.0.1",
      "MQTT_PORT": "\(broker.port)",
    ]
    func run(_ arguments: [String], _ input: String = "") throws -> Program.Result {
      try Program.run("/bin/sh", [script] + arguments, input: Array(input.utf8), environment: environment)
    }
    let agent = "a1b2c3d4e5f60718"
    let announced = try run(["announce", agent, "Attic"], try home.hex() + "\n")
    #expect(announced.status == 0, "\(announced.output)")
    try await audience.until("the router") { $0.events("router_announced").count == 1 }
    #expect(try await installation.dataset(of: agent) == home.hex())
    #expect(audience.state("threadkeeper/router/\(agent)")?["name"] == "Attic")
    #expect(try run(["heartbeat", agent]).status == 0)
    #expect(try run(["leave", agent]).status == 0)
    try await audience.until("the leave") { $0.events("router_left").count == 1 }
    #expect(audience.look { $0.events("message_rejected").isEmpty })
    for wrong in [[], ["party", agent], ["announce"]] { #expect(try run(wrong, "00").status == 64) }
    #expect(try run(["announce", agent], "zz").status == 65)
    #expect(try run(["announce", agent], "").status == 66)
    #expect(try run(["announce", "zz"], "00").status == 65)
    var needles = Needles()
    needles.add("network key", Self.key)
    for message in audience.look({ $0.messages }) { #expect(needles.found(in: Data(message.payload)) == []) }
    try await running.stop()
  }
}

extension Installation {
  /// Makes a client's key file.
  ///
  /// - Returns: its enrolment line.
  func clientKeygen(_ file: String) async throws -> String {
    let made = try await ThreadkeeperBinary.run(
      ["client", "keygen", "--out", file, "--json"], environment: environment)
    guard let line = JSON(made.output)?["line"]?.text else { throw DaemonProcess.Unexpected(description: made.error) }
    return line
  }
}
