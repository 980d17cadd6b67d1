// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing
import ThreadRequests

/// The access list for a house, in real brokers that are set up as docs/guides/broker.md says.
@Suite("A broker that is in use already", .inTurns, .timeLimit(.minutes(30)))
struct HouseAccessTests {
  private static let withLogins = "Debian, clients with logins"
  private static let withoutLogins = "Debian, clients without logins"
  private static let addOn = "Home Assistant's broker add-on"

  private let handbook: Handbook

  init() throws { handbook = try Handbook("docs/guides/broker.md") }

  /// What `threadkeeper acl` prints, without a broker.
  private func accessList(_ arguments: [String]) async throws -> String {
    let outcome = try await Installation(port: 1883).command(arguments)
    try #require(outcome.status == 0, "\(outcome.error)")
    return outcome.output
  }

  /// Debian's broker of a house whose clients have logins, with what the document adds.
  private func houseWithLogins() async throws -> BrokerInUse {
    let list = try await accessList(handbook.accessListArguments(below: Self.withLogins))
    return try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords"],
      addition: try handbook.block(below: Self.withLogins, with: "acl_file /"),
      files: ["threadkeeper.acl": list],
      logins: ["threadkeeper", "hub", "other", "zigbee2mqtt", "homeassistant"])
  }

  private func isTaken(_ topic: String, _ publisher: TestPublisher) async throws -> Bool {
    try await publisher.publish(topic, "{}") == .delivered
  }

  @Test("A kept login does what it did, speaks for no router, and reads no key below `in`")
  func keptLogin() async throws {
    let broker = try await houseWithLogins()
    let installation = try Installation(port: broker.port, mqtt: broker.settings, hold: 0)
    let daemon = try await installation.start()
    let everything = try await broker.audience("zigbee2mqtt")
    let inbound = try await broker.audience("zigbee2mqtt", "threadkeeper/in/#")
    let home = try await broker.audience("homeassistant")

    let lamps = try await broker.publisher("zigbee2mqtt")
    for (topic, expected) in [
      ("zigbee2mqtt/lamp", true), ("homeassistant/light/lamp/config", true),
      ("homeassistant/status", true), ("threadkeeper/in/hub/announce", false),
      ("threadkeeper/in/zigbee2mqtt/announce", false),
      ("threadkeeper/in/zigbee2mqtt/request/ping", false),
      ("threadkeeper/out/hub/dataset/set", false), ("threadkeeper/bridge/state", false),
    ] {
      #expect(try await isTaken(topic, lamps) == expected, "\(topic)")
    }
    let assistant = try await broker.publisher("homeassistant")
    for (topic, expected) in [
      ("homeassistant/status", true), ("house/heating/set", true),
      ("threadkeeper/in/hub/announce", false), ("threadkeeper/in/homeassistant/announce", false),
      ("threadkeeper/out/hub/response/ping", false),
    ] {
      #expect(try await isTaken(topic, assistant) == expected, "\(topic)")
    }

    let router = BorderRouter(number: 1, user: "hub")
    let hub = try await broker.publisher("hub")
    let network = try ThreadNetwork("home")
    #expect(try await hub.publish([router.announces(try network.hex())]) == [.delivered])
    #expect(
      try await hub.publish("threadkeeper/in/hub/request/ping", "{}") == .delivered)
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
        $0.messages.allSatisfy {
          !$0.topic.hasPrefix("threadkeeper/in/") && !$0.topic.hasPrefix("threadkeeper/out/")
        }
      })
    #expect(try await installation.json("status")["refused"] == nil)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Clients without a login go on as before, beside logins, and cannot touch threadkeeper")
  func withoutLogins() async throws {
    let list = try await accessList(handbook.accessListArguments(below: Self.withoutLogins))
    // The document's password file is the only one.
    let addition = try handbook.block(below: Self.withoutLogins, with: "password_file")
      .replacing("threadkeeper.passwd", with: "passwords")
    let broker = try BrokerInUse(
      house: ["allow_anonymous true"], addition: addition, files: ["threadkeeper.acl": list],
      logins: ["threadkeeper", "hub", "homeassistant"])
    let installation = try Installation(port: broker.port, mqtt: broker.settings, hold: 0)
    let daemon = try await installation.start()
    let everything = try await broker.audience(nil)
    let monitor = try await broker.audience("homeassistant", "threadkeeper/#")
    let anonymous = try await broker.publisher(nil)
    for (topic, expected) in [
      ("house/lamp", true), ("homeassistant/status", true),
      ("threadkeeper/in/hub/announce", false), ("threadkeeper/bridge/state", false),
    ] {
      #expect(try await isTaken(topic, anonymous) == expected, "\(topic)")
    }
    let router = BorderRouter(number: 1, user: "hub")
    let hub = try await broker.publisher("hub")
    let network = try ThreadNetwork("home")
    #expect(try await hub.publish([router.announces(try network.hex())]) == [.delivered])
    try await monitor.until("the router") { $0.state(router.topic)?["credentials"] == "stored" }
    try await anonymous.publish("house/last", "on")
    try await everything.until("the last message") { $0.latest["house/last"] == "on" }
    #expect(everything.look { $0.messages.allSatisfy { !$0.topic.hasPrefix("threadkeeper/") } })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The list for Home Assistant's add-on keeps its two logins")
  func addOn() async throws {
    let list = try await accessList(handbook.accessListArguments(below: Self.addOn))
    let addition = try handbook.block(below: Self.addOn, with: "acl_file /")
      .replacing("/share/mosquitto/", with: "/etc/mosquitto/")
    let broker = try BrokerInUse(
      // The add-on checks logins itself.
      house: ["allow_anonymous false", "password_file $/passwords", "max_queued_messages 8192"],
      addition: addition, files: ["accesscontrollist": list],
      logins: ["homeassistant", "addons", "hub"])
    for login in ["homeassistant", "addons"] {
      let kept = try await broker.publisher(login)
      #expect(try await isTaken("homeassistant/status", kept))
      #expect(try await isTaken("house/lamp", kept))
      #expect(try await !isTaken("threadkeeper/in/hub/announce", kept))
      #expect(try await !isTaken("threadkeeper/in/\(login)/announce", kept))
    }
    #expect(
      try await isTaken("threadkeeper/in/hub/announce", try await broker.publisher("hub")))
  }

  @Test(
    "Added to the end of a list that is there, it denies threadkeeper's topics to who may do everything"
  )
  func existingList() async throws {
    let heading = "An access list that is there already"
    let list = try await accessList(handbook.accessListArguments(below: heading))
    let own = "user nodered\ntopic readwrite #\n\nuser lamp\ntopic readwrite lamp/#\n\n"
    let broker = try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords", "acl_file $/own.acl"],
      addition: "persistence true\n", files: ["own.acl": own + list],
      logins: ["threadkeeper", "hub", "nodered", "lamp"])
    let everything = try await broker.audience("nodered")
    let nodered = try await broker.publisher("nodered")
    let lamp = try await broker.publisher("lamp")
    let hub = try await broker.publisher("hub")
    #expect(try await !isTaken("threadkeeper/in/hub/announce", nodered))
    #expect(try await isTaken("threadkeeper/in/hub/announce", hub))
    #expect(try await isTaken("lamp/state", lamp))
    #expect(try await !isTaken("house/heating", lamp))
    #expect(try await isTaken("house/heating", nodered))
    try await everything.until("the last message") { $0.latest["house/heating"] == "{}" }
    #expect(everything.look { $0.messages.allSatisfy { !$0.topic.hasPrefix("threadkeeper/") } })
  }

  @Test("An approver can decide, be answered and read what waits, and publish nothing else")
  func approver() async throws {
    let list = try await accessList(["acl", "--approver", "anna", "--monitor", "anna"])
    let narrow = try await accessList(["acl", "--approver", "anna"])
    for list in [list, narrow] {
      let broker = try BrokerInUse(
        house: ["allow_anonymous false", "password_file $/passwords"],
        addition: try handbook.block(below: Self.withLogins, with: "acl_file /"),
        files: ["threadkeeper.acl": list], logins: ["threadkeeper", "anna", "hub"])
      let installation = try Installation(
        port: broker.port, mqtt: broker.settings,
        more: "consent: {approvers: [anna], approvers_trust: broker}")
      let daemon = try await installation.start()
      let audience = try await broker.audience("anna")
      let anna = try await broker.publisher("anna")
      let own = "threadkeeper/in/anna"
      for command in RequestCommand.allCases
      where !command.rawValue.hasPrefix("consent/") && command != .setPreferred {
        #expect(try await !isTaken("\(own)/request/\(command.rawValue)", anna), "\(command)")
      }
      for event in ["announce", "dataset", "leave", "heartbeat", "offline", "ssid"] {
        #expect(try await !isTaken("\(own)/\(event)", anna), "\(event)")
      }
      for topic in ["in/hub/request/consent/approve", "bridge/state", "out/anna/response/x"] {
        #expect(try await !isTaken("threadkeeper/\(topic)", anna), "\(topic)")
      }
      #expect(
        try await anna.publish(
          "\(own)/request/consent/approve", #"{"id":"c-0123456789abcdef","scope":"once"}"#)
          == .delivered)
      try await audience.until("the answer, and what waits") {
        let answer = $0.state("threadkeeper/out/anna/response/consent/approve")
        return answer?["error"]?["code"] == "stale_id"
          && $0.state("threadkeeper/bridge/consent")?["pending"] == 0
      }
      #expect(try await daemon.stop() == .exit(0))
    }
  }

  @Test("A kept approver does what it did and decides in its own name, and for nobody else")
  func keptApprover() async throws {
    let settings = """
      consent: {approvers: [anna], approvers_trust: broker}
      home_assistant: {login: homeassistant}
      """
    let list = try await {
      let outcome = try await Installation(port: 1883, more: settings).command(
        "acl", "--keep", "homeassistant", "--monitor", "homeassistant", "--approver",
        "homeassistant")
      try #require(outcome.status == 0 && outcome.error == "", "\(outcome.error)")
      return outcome.output
    }()
    let broker = try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords"],
      addition: try handbook.block(below: Self.withLogins, with: "acl_file /"),
      files: ["threadkeeper.acl": list],
      logins: ["threadkeeper", "anna", "homeassistant", "hub"])
    let installation = try Installation(port: broker.port, mqtt: broker.settings, more: settings)
    let daemon = try await installation.start()
    let monitor = try await broker.audience("homeassistant")
    let home = try await broker.publisher("homeassistant")
    for topic in ["house/heating/set", "homeassistant/status", "zigbee2mqtt/lamp/set"] {
      #expect(try await isTaken(topic, home), "\(topic)")
    }
    let decisions: Set<RequestCommand> = [
      .approveConsent, .denyConsent, .askConsent, .setPreferred,
    ]
    for user in ["homeassistant", "hub", "anna"] {
      for command in RequestCommand.allCases where !decisions.contains(command) {
        #expect(
          try await !isTaken("threadkeeper/in/\(user)/request/\(command.rawValue)", home),
          "\(user) \(command)")
      }
      for event in ["announce", "dataset", "leave", "heartbeat", "offline", "ssid", "announce/x"] {
        // Three levels below `in` are no event.
        let isAllowed = event.contains("/")
        #expect(
          try await isTaken("threadkeeper/in/\(user)/\(event)", home)
            == (isAllowed && user != "anna"), "\(user) \(event)")
      }
    }
    for topic in [
      "in/anna/request/consent/approve", "in/anna/request/consent/deny", "in/anna", "in",
      "in/homeassistant/request/consent/approve/x", "in/anna/request/preferred/set",
      "in/homeassistant/request/preferred/set/x", "out/hub/dataset/set",
      "out/homeassistant/response/x",
    ] {
      #expect(try await !isTaken("threadkeeper/\(topic)", home), "\(topic)")
    }

    // What it decides is answered; only threadkeeper and hub see what hub publishes and receives.
    let hub = try await broker.publisher("hub")
    let told = try await broker.audience("hub")
    #expect(try await hub.publish("threadkeeper/in/hub/request/ping", "{}") == .delivered)
    for user in ["homeassistant", "hub"] {
      #expect(
        try await home.publish(
          "threadkeeper/in/\(user)/request/consent/approve",
          #"{"id":"c-0123456789abcdef","scope":"once"}"#) == .delivered)
    }
    // Who is no approver gets no further by another's hand.
    try await told.until("the answers") {
      $0.state("threadkeeper/out/hub/response/consent/approve")?["error"]?["code"]
        == "not_authorized" && $0.state("threadkeeper/out/hub/response/ping") != nil
    }
    let daemonSees = try await broker.audience("threadkeeper")
    #expect(
      try await home.publish(
        "threadkeeper/in/homeassistant/request/consent/deny", #"{"id":"c-0123456789abcdef"}"#)
        == .delivered)
    try await daemonSees.until("the answer to Home Assistant") {
      $0.state("threadkeeper/out/homeassistant/response/consent/deny")?["error"]?["code"]
        == "stale_id"
    }
    try await home.publish("house/last", "on")
    try await monitor.until("the last message") { $0.latest["house/last"] == "on" }
    #expect(
      monitor.look {
        $0.messages.allSatisfy {
          !$0.topic.hasPrefix("threadkeeper/out/")
            && (!$0.topic.hasPrefix("threadkeeper/in/") || $0.topic.contains("/request/consent/")
              || $0.topic.hasSuffix("/announce/x"))
        } && $0.state("threadkeeper/bridge/consent")?["pending"] == 0
      })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Mosquitto enforces what the list says, for each role and each kind of topic")
  func roles() async throws {
    let approvers = ["anna", "boss", "chief"]
    let printed = try await Installation(
      port: 1883, more: "consent: {approvers: [\(approvers.joined(separator: ", "))]}"
    ).command(
      [
        "acl", "--keep-anonymous", "--keep", "lamps", "--keep", "house", "--monitor", "house",
        "--monitor", "screen", "--keep", "boss", "--keep", "chief", "--monitor", "chief",
      ] + approvers.flatMap { ["--approver", $0] })
    try #require(printed.status == 0 && printed.error == "", "\(printed.error)")
    let rules = AccessRules(printed.output)
    var list = AccessList(baseTopics: ["threadkeeper"], daemons: ["threadkeeper"])
    list.approvers = approvers
    let names = ["threadkeeper", "screen", "lamps", "house", "hub"] + approvers
    let broker = try BrokerInUse(
      house: ["allow_anonymous true", "password_file $/passwords"],
      addition: try handbook.block(below: Self.withLogins, with: "acl_file /"),
      files: ["threadkeeper.acl": printed.output], logins: names)
    let topics = Set(names.flatMap { list.samples(of: $0) } + ["house/lamp"]).sorted()
      .filter { !$0.hasPrefix("$") }
    let logins = names + [nil]
    var audiences: [(login: String?, audience: Audience)] = []
    for login in logins { audiences.append((login, try await broker.audience(login))) }
    var writers: [String: TestPublisher] = [:]
    for login in logins {
      let publisher = try await broker.publisher(login)
      for topic in topics {
        let isAllowed = rules.allows(login, .write, topic)
        #expect(
          try await isTaken(topic, publisher) == isAllowed, "\(login ?? "-") writes \(topic)")
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

  @Test("An approver that the settings do not name is a warning; what cannot be is wrong usage")
  func warnings() async throws {
    let installation = try Installation(port: 1883, more: "consent: {approvers: [anna]}")
    let named = try await installation.command("acl", "--approver", "anna")
    #expect(named.status == 0 && named.error == "", "\(named.error)")
    let unnamed = try await installation.command("acl", "--approver", "bob")
    #expect(unnamed.status == 0)
    #expect(unnamed.error.contains("`consent.approvers` does not name `bob`"), "\(unnamed.error)")
    for arguments in [
      ["--keep", "tk", "--daemon", "tk"], ["--keep", "a/b", "--approver", "a/b"],
      ["--approver", "a/b"], ["--keep", "a:b"],
    ] {
      let outcome = try await installation.command(["acl"] + arguments)
      #expect(outcome.status == 64 && outcome.output == "", "\(arguments)")
    }
  }
}
