import Broker
import Foundation
import TestKit
import Testing

@Suite("Planted keys", .inTurns, .timeLimit(.minutes(30))) struct PlantedKeyTests {
  private static let key: [UInt8] = [
    0xC7, 0x1D, 0x9A, 0x63, 0xE8, 0x0F, 0xB2, 0x54, 0x3E, 0xA9, 0x71, 0xD6, 0x08, 0xFB, 0x45, 0x9C,
  ]
  private static let pskc: [UInt8] = [
    0x5B, 0xE2, 0x37, 0xC8, 0x94, 0x1F, 0x6D, 0xA0, 0xF3, 0x2C, 0x8E, 0x59, 0xB7, 0x04, 0xDA, 0x61,
  ]

  /// That none came to the broker: the `Recorder`, which knows these secrets too. In lines of text: the logs of other
  /// tests.
  @Test("A network's secrets are found in no file, log line or output") func markers() async throws {
    let home = try ThreadNetwork("home", networkKey: Self.key, pskc: Self.pskc)
    var needles = Needles()
    needles.add(home)
    let broker = try TestBroker()
    let installation = try Installation(port: broker.port, hold: 0, more: "  format: json", logLevel: "trace")
    let audience = try await Audience.start(broker)
    var daemon = try await installation.start()
    var logs: [String] = []
    let publisher = try await TestPublisher.start(broker)
    let guests = try ThreadNetwork("guest-thread")
    let router = BorderRouter("a1b2c3d4e5f60701")
    let stray = BorderRouter("a1b2c3d4e5f60702")

    try await publisher.publish([
      router.announces(try home.hex()), stray.announces(try guests.hex()),
      router.changes(to: try home.hex(at: 2, channel: 20)), router.changes(to: try home.hex(at: 1)),
      router.changes(to: try home.hex(at: 2, channel: 21)), stray.changes(to: try home.hex(at: 2, channel: 20)),
    ])
    let rejections = try rejected(home, router)
    let requests = try requests(home, router)
    try await publisher.publish(rejections + requests)
    try await audience.until("all of it") {
      $0.events("message_rejected").count == rejections.count
        && $0.messages.count { $0.topic.contains("/out/") } == requests.count && $0.events("dataset_ignored").count == 2
        && !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
    }
    try await look(for: needles, installation, while: "it runs")
    try await lookAtOutputs(for: needles, installation, home: home, of: router)

    logs.append(daemon.log)
    try await daemon.kill9()
    try await look(for: needles, installation, while: "it lies there after kill -9")
    daemon = try await installation.start()
    try await publisher.publish([router.leaves, stray.announces(try home.hex(at: 3))])
    try await audience.until("the leave") { heard in
      heard.events("router_left").count == 1 && heard.state(stray.topic)?["active_timestamp"] == 3
    }
    try await look(for: needles, installation, while: "it runs after a leave")
    #expect(try await daemon.stop() == .exit(0))
    logs.append(daemon.log)
    try await look(for: needles, installation, while: "it is stopped")

    for log in logs {
      #expect(needles.found(in: log) == [])
      #expect(log.contains("intake connected"), "the log is not what was looked at")
      for line in log.split(separator: "\n") { #expect(JSON(String(line))?["level"] != nil, "\(line)") }
    }
    let said = audience.look { heard in
      heard.messages.filter { $0.topic.contains("/in/") }.flatMap { needles.found(in: Data($0.payload)) }
    }
    #expect(!said.isEmpty, "the search finds nothing where something is")
  }

  /// Messages that are refused, every one of them with a secret in it.
  private func rejected(_ home: ThreadNetwork, _ router: BorderRouter) throws -> [Publication] {
    let hex = try home.hex()
    let key = String(hex.split(separator: "0510", maxSplits: 1)[1].prefix(32))
    func raw(_ kind: String, _ text: String, user: String = "border-router") -> Publication {
      Publication(topic: "threadkeeper/in/\(user)/\(kind)", payload: Array(text.utf8))
    }
    let tampered = [
      String(hex.dropLast()), String(hex.dropLast(2)), hex + hex, hex + "0510\(key)",
      hex.replacingOccurrences(of: "0510", with: "050f"), "zz" + hex, hex + " " + hex,
    ]
    return tampered.map { router.announces($0) } + [
      raw("dataset", "{\"border_agent_id\":\"\(router.agent)\",\"dataset\":\"\(hex)\""), raw("dataset", hex),
      raw("dataset", "\"\(hex)\""), raw("dataset", "[\"\(hex)\"]"), router.says("dataset", ("dataset", "[\"\(hex)\"]")),
      router.says("dataset", ("dataset", "{\"tlvs\":\"\(hex)\"}")),
      router.says("dataset", ("seq", "\"\(key)\""), ("dataset", "\"\(hex)\"")),
      router.says("dataset", ("sealed", "\"\(hex)\"")),
      router.says("dataset", ("name", "\"\(hex)\""), ("dataset", "\"\(hex)\"")),
      router.says("announce", ("ext_address", "\"\(key)\""), ("dataset", "\"\(hex)\"")),
      raw("announce", "{\"border_agent_id\":\"\(hex)\",\"dataset\":\"\(hex)\"}"),
      raw("announce", "{\"border_agent_id\":\"\(key)0\"}"), raw("leave", "{\"dataset\":\"\(hex)\"}"),
      raw("unknown", hex), raw("request", hex),
      raw("dataset", "{\"border_agent_id\":\"\(router.agent)\",\"dataset\":\"\(hex)\"}", user: "mallory"),
      BorderRouter("a1b2c3d4e5f607ff").says("heartbeat", ("dataset", "\"\(hex)\"")),
      Publication(topic: "threadkeeper/in/border-router/dataset", payload: Array(hex.utf8), retain: true),
    ]
  }

  /// Requests with a secret in every one of them, fulfilled and refused.
  private func requests(_ home: ThreadNetwork, _ router: BorderRouter) throws -> [Publication] {
    let hex = try home.hex()
    func ask(_ command: String, _ text: String) -> Publication {
      Publication(topic: "threadkeeper/in/border-router/request/\(command)", payload: Array(text.utf8))
    }
    let whole =
      "{\"border_agent_id\":\"\(router.agent)\",\"dataset\":\"\(hex)\"," + "\"ext_pan_id\":\"\(home.extendedPANID)\"}"
    return [
      "credentials/store", "credentials/get", "credentials/list", "preferred/check", "preferred/get", "network/get",
      "networks/nearby", "routers/list", "networks/list", "alerts/list", "consent/approve", "party",
    ].map { ask($0, whole) } + [
      ask("credentials/store", "{\"dataset\":\"\(hex)\"}"), ask("credentials/store", hex),
      ask("ping", "{\"dataset\":[\"\(hex)\"]}"), ask("credentials/get", "{\"border_agent_id\":\"\(hex)\"}"),
      ask("preferred/check", "{\"dataset\":\"\(hex)00\"}"), ask("preferred/set", "{\"ext_pan_id\":\"\(hex)\"}"),
      ask("consent/deny", "{\"id\":\"\(hex.prefix(60))\"}"),
    ]
  }

  private func look(for needles: Needles, _ installation: Installation, while state: String) async throws {
    let (finds, files) = try needles.found(below: installation.directory.path)
    #expect(finds == [], "while \(state)")
    #expect(files >= 5, "while \(state): there were hardly any files to look at")
  }

  private func lookAtOutputs(
    for needles: Needles, _ installation: Installation, home: ThreadNetwork, of router: BorderRouter
  ) async throws {
    let commands = [
      ["status"], ["routers"], ["networks"], ["alerts"], ["alerts", "--all"], ["credentials", "list"],
      ["credentials", "get", router.agent], ["acl"], ["check-config"],
    ]
    for command in commands {
      for form in [[], ["--json"]] {
        let outcome = try await ThreadkeeperBinary.run(command + form + ["--config", installation.configuration])
        #expect(outcome.status == 0, "\(command): \(outcome.error)")
        #expect(needles.found(in: outcome.output + outcome.error) == [], "\(command)")
      }
    }
    let shown = try await installation.command("credentials", "get", router.agent, "--show-secrets")
    #expect(!needles.found(in: shown.output).isEmpty)
    let outcome = try await ThreadkeeperBinary.run("dataset", "decode", "-", input: .text(try home.hex()))
    #expect(needles.found(in: outcome.output + outcome.error) == [])
  }
}
