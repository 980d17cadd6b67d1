import Broker
import Foundation
import TestKit
import Testing
import ThreadRequests

/// The access list for a house, in real brokers that are set up as docs/guides/broker.md says. What its lines are:
/// `AccessListTests`; that nobody has more or less: `AccessRulesTests`.
@Suite("A broker that is in use already", .inTurns, .timeLimit(.minutes(30))) struct HouseAccessTests {
  private static let withLogins = "Debian, clients with logins"

  private let handbook: Handbook

  init() throws { handbook = try Handbook("docs/guides/broker.md") }

  /// What `threadkeeper acl` prints, without a broker.
  private func accessList(_ arguments: [String], _ settings: String = "") async throws -> String {
    let outcome = try await Installation(port: 1883, more: settings).command(arguments)
    try #require(outcome.status == 0 && outcome.error == "", "\(outcome.error)")
    return outcome.output
  }

  private func isTaken(_ topic: String, _ publisher: TestPublisher) async throws -> Bool {
    try await publisher.publish(topic, "{}") == .delivered
  }

  @Test("A kept login does what it did, speaks for no router, and reads no key below `in`") func keptLogin()
    async throws
  {
    let list = try await accessList(handbook.accessListArguments(below: Self.withLogins))
    let broker = try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords"],
      addition: try handbook.block(below: Self.withLogins, with: "acl_file /"), files: ["threadkeeper.acl": list],
      logins: ["threadkeeper", "hub", "other", "zigbee2mqtt", "homeassistant"])
    let installation = try Installation(port: broker.port, mqtt: broker.settings, hold: 0)
    let daemon = try await installation.start()
    let everything = try await broker.audience("zigbee2mqtt")
    let inbound = try await broker.audience("zigbee2mqtt", "threadkeeper/in/#")
    let home = try await broker.audience("homeassistant")
    let lamps = try await broker.publisher("zigbee2mqtt")
    let assistant = try await broker.publisher("homeassistant")
    for (login, topic, expected) in [
      (lamps, "zigbee2mqtt/lamp", true), (lamps, "homeassistant/light/lamp/config", true),
      (lamps, "threadkeeper/in/hub/announce", false), (lamps, "threadkeeper/in/zigbee2mqtt/request/ping", false),
      (lamps, "threadkeeper/bridge/state", false), (assistant, "house/heating/set", true),
      (assistant, "zigbee2mqtt/lamp/set", true), (assistant, "homeassistant/status", true),
      (assistant, "threadkeeper/bridge/state", false), (assistant, "threadkeeper/alert/x", false),
      (assistant, "threadkeeper/router/x/availability", false), (assistant, "threadkeeper/network/x", false),
      (assistant, "threadkeeper/in/homeassistant/announce", false),
      (assistant, "threadkeeper/out/hub/response/ping", false),
    ] { #expect(try await isTaken(topic, login) == expected, "\(topic)") }

    let router = BorderRouter(number: 1, user: "hub")
    let hub = try await broker.publisher("hub")
    let dataset = try ThreadNetwork("home").hex()
    #expect(try await hub.publish([router.announces(dataset)]) == [.delivered])
    #expect(try await isTaken("threadkeeper/in/hub/request/ping", hub))
    // The kept monitor sees the router's state. What comes next to the others comes after all that.
    try await home.until("the router") { $0.state(router.topic)?["credentials"] == "stored" }
    try await lamps.publish("zigbee2mqtt/last", "on")
    for audience in [everything, home] {
      try await audience.until("the last message") { $0.latest["zigbee2mqtt/last"] == "on" }
    }
    #expect(everything.look { $0.messages.allSatisfy { !$0.topic.hasPrefix("threadkeeper/") } })
    #expect(inbound.look { $0.messages.isEmpty })
    #expect(
      home.look {
        $0.messages.allSatisfy { !$0.topic.hasPrefix("threadkeeper/in/") && !$0.topic.hasPrefix("threadkeeper/out/") }
      })
    #expect(try await installation.status()["refused"] == nil)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "In each other house of the guide its clients go on as before, and cannot touch threadkeeper",
    arguments: [
      "Debian, clients without logins", "Home Assistant's broker add-on", "An access list that is there already",
    ]) func otherHouses(heading: String) async throws
  {
    let list = try await accessList(handbook.accessListArguments(below: heading))
    let broker: BrokerInUse
    /// Each with what it may and may not publish.
    let kept: [(login: String?, may: [String], mayNot: [String])]
    switch heading {
    case "Debian, clients without logins":
      broker = try BrokerInUse(
        house: ["allow_anonymous true"],
        // The document's password file is the only one.
        addition: try handbook.block(below: heading, with: "password_file").replacing(
          "threadkeeper.passwd", with: "passwords"), files: ["threadkeeper.acl": list],
        logins: ["threadkeeper", "hub", "homeassistant"])
      kept = [(login: nil, may: ["house/lamp", "homeassistant/status"], mayNot: ["threadkeeper/bridge/state"])]
    case "Home Assistant's broker add-on":
      broker = try BrokerInUse(
        // The add-on checks logins itself.
        house: ["allow_anonymous false", "password_file $/passwords", "max_queued_messages 8192"],
        addition: try handbook.block(below: heading, with: "acl_file /").replacing(
          "/share/mosquitto/", with: "/etc/mosquitto/"), files: ["accesscontrollist": list],
        logins: ["homeassistant", "addons", "hub"])
      kept = ["homeassistant", "addons"].map { login in
        (login: login, may: ["homeassistant/status", "house/lamp"], mayNot: ["threadkeeper/in/\(login)/announce"])
      }
    default:
      let own = "user nodered\ntopic readwrite #\n\nuser lamp\ntopic readwrite lamp/#\n\n"
      broker = try BrokerInUse(
        house: ["allow_anonymous false", "password_file $/passwords", "acl_file $/own.acl"],
        addition: "persistence true\n", files: ["own.acl": own + list],
        logins: ["threadkeeper", "hub", "nodered", "lamp"])
      kept = [
        (login: "nodered", may: ["house/heating"], mayNot: []),
        (login: "lamp", may: ["lamp/state"], mayNot: ["house/heating"]),
      ]
    }
    let everything = try await broker.audience(kept[0].login)
    #expect(try await isTaken("threadkeeper/in/hub/announce", try await broker.publisher("hub")))
    for (login, may, mayNot) in kept {
      let publisher = try await broker.publisher(login)
      for topic in may { #expect(try await isTaken(topic, publisher), "\(topic)") }
      for topic in mayNot + ["threadkeeper/in/hub/announce"] {
        #expect(try await !isTaken(topic, publisher), "\(topic)")
      }
    }
    // After all that was taken before.
    try await broker.publisher(kept[0].login).publish(kept[0].may[0], "the last")
    try await everything.until("the last message") { $0.latest[kept[0].may[0]] == "the last" }
    #expect(everything.look { $0.messages.allSatisfy { !$0.topic.hasPrefix("threadkeeper/in/") } })
  }

  @Test("Mosquitto enforces what the list says, for each role and each kind of topic") func roles() async throws {
    let approvers = ["anna", "boss", "chief"]
    let printed = try await accessList(
      [
        "acl", "--keep-anonymous", "--keep", "lamps", "--keep", "house", "--monitor", "house", "--monitor", "screen",
        "--keep", "boss", "--keep", "chief", "--monitor", "chief",
      ] + approvers.flatMap { ["--approver", $0] }, "consent: {approvers: [\(approvers.joined(separator: ", "))]}")
    let rules = AccessRules(printed)
    var list = AccessList(baseTopics: ["threadkeeper"], daemons: ["threadkeeper"])
    list.approvers = approvers
    let names = ["threadkeeper", "screen", "lamps", "house", "hub"] + approvers
    let broker = try BrokerInUse(
      house: ["allow_anonymous true", "password_file $/passwords"],
      addition: try handbook.block(below: Self.withLogins, with: "acl_file /"), files: ["threadkeeper.acl": printed],
      logins: names)
    let topics = Set(names.flatMap { list.samples(of: $0) } + ["house/lamp"]).sorted().filter { !$0.hasPrefix("$") }
    let logins = names + [nil]
    var audiences: [(login: String?, audience: Audience)] = []
    for login in logins { audiences.append((login, try await broker.audience(login))) }
    var writers: [String: TestPublisher] = [:]
    for login in logins {
      let publisher = try await broker.publisher(login)
      for topic in topics {
        let isAllowed = rules.allows(login, .write, topic)
        #expect(try await isTaken(topic, publisher) == isAllowed, "\(login ?? "-") writes \(topic)")
        if isAllowed { writers[topic] = publisher }
      }
    }
    for (login, audience) in audiences {
      let readable = topics.filter { rules.allows(login, .read, $0) }
      // What comes last comes after all that went before.
      let last = try #require(readable.first { writers[$0] != nil }, "\(login ?? "-")")
      try await writers[last]?.publish(last, "the last")
      try await audience.until("the last message") { $0.latest[last] == "the last" }
      #expect(
        audience.look { seen in topics.filter(Set(seen.messages.map(\.topic)).contains) }
          == readable.filter { writers[$0] != nil }, "\(login ?? "-") reads")
    }
  }

  /// A request whose name begins with a new level needs a line of the list.
  @Test("Approvers may decide and publish nothing else, in their own name or another") func approvers() async throws {
    let rules = AccessRules(
      try await accessList(
        ["acl", "--approver", "anna", "--keep", "boss", "--approver", "boss", "--monitor", "boss"] + [
          "--writes", "homeassistant/#", "--writes", "house/#",
        ], "consent: {approvers: [anna, boss]}"))
    let decisions: Set<RequestCommand> = [
      .approveConsent, .denyConsent, .askConsent, .setPreferred, .testAlerts, .confirmAlerts,
    ]
    func mayWrite(_ login: String, _ topic: String) -> Bool { rules.allows(login, .write, "threadkeeper/\(topic)") }
    for login in ["anna", "boss"] {
      for command in RequestCommand.allCases {
        let isDecision = decisions.contains(command)
        let request = "request/\(command.rawValue)"
        #expect(!isDecision || mayWrite(login, "in/\(login)/\(request)"), "\(login) \(command)")
        for user in ["boss", "hub", "anna"]
        where !isDecision && !(login == "anna" && command.rawValue.hasPrefix("consent/")) {
          #expect(!mayWrite(login, "in/\(user)/\(request)"), "\(login) \(user) \(command)")
        }
      }
      for event in ["announce", "dataset", "leave", "heartbeat", "offline", "ssid"] {
        for user in ["boss", "hub", "anna"] {
          #expect(!mayWrite(login, "in/\(user)/\(event)"), "\(login) \(user) \(event)")
        }
      }
      for topic in [
        "in", "in/hub", "in/boss/request/consent/approve/x", "in/boss/request/preferred/set/x", "out/hub/dataset/set",
        "out/\(login)/response/x",
      ] { #expect(!mayWrite(login, topic), "\(login) \(topic)") }
      #expect(rules.allows(login, .read, "threadkeeper/out/\(login)/response/x") == (login == "anna"))
      #expect(rules.allows(login, .read, "threadkeeper/bridge/consent"))
    }
    for login in ["anna", "boss"] {
      for topic in ["bridge/state", "router/x", "router/x/availability", "network/x", "alert/x"] {
        #expect(!mayWrite(login, topic), "\(login) \(topic)")
      }
    }
    #expect(!mayWrite("boss", "in/anna/request/consent/approve"))
    #expect(!mayWrite("boss", "in/anna/request/preferred/set"))
    for topic in ["house/heating/set", "homeassistant/status"] { #expect(rules.allows("boss", .write, topic)) }
  }

  @Test("An approver that the settings do not name is a warning; what cannot be is wrong usage") func warnings()
    async throws
  {
    let installation = try Installation(port: 1883, more: "consent: {approvers: [anna]}")
    #expect(try await installation.command("acl", "--approver", "anna").error == "")
    let unnamed = try await installation.command("acl", "--approver", "bob")
    #expect(unnamed.status == 0)
    #expect(unnamed.error.contains("`consent.approvers` does not name `bob`"), "\(unnamed.error)")
    for arguments in [
      ["--keep", "tk", "--daemon", "tk"], ["--keep", "a/b", "--approver", "a/b"], ["--approver", "a/b"],
      ["--keep", "a:b"], ["--keep", "a", "--writes", "threadkeeper/#"],
    ] {
      let outcome = try await installation.command(["acl"] + arguments)
      #expect(outcome.status == 64 && outcome.output == "", "\(arguments)")
    }
  }
}
