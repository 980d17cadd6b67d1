// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadNetwork

/// Border routers of makers, of which nothing is known but what they advertise: no login, no dataset.
@Suite(
  "A home of makers' routers only, with avahi-daemon", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")"))
struct MakersRoutersTests {
  private let network: LocalNetwork
  private let publisher: ServicePublisher
  private let broker: TestBroker
  private let port: UInt16
  private let installation: Installation
  private let audience: Audience
  private let apple: ThreadNetwork
  private let amazon: ThreadNetwork

  init() async throws {
    network = try LocalNetwork()
    publisher = try ServicePublisher(network)
    broker = try TestBroker()
    port = try UnusedPort.next()
    installation = try Installation(
      broker, hold: 0,
      more: """
        consent: {approvers: [anna], approvers_trust: broker}
        home_assistant: {login: homeassistant}
        http: {enabled: true, port: \(port), token: \(PageHome.token)}
        """, variables: network.environment())
    audience = try await Audience.start(broker)
    apple = try ThreadNetwork("MyHome1")
    amazon = try ThreadNetwork("AMZN-2")
  }

  private var client: THClient {
    THClient(configuration: .init(storeDirectory: installation.storePath, confirmConsent: nil))
  }

  private func publish(_ name: String, _ router: AdvertisedRouter) throws {
    try publisher.publish(name, text: router.text)
  }

  private func fires(_ name: String, _ severity: String) -> (Audience.Heard) -> Bool {
    { heard in
      heard.alertEvents.last { $0["alertname"]?.text == name }
        .map { $0["status"] == "firing" && $0["severity"]?.text == severity } ?? false
    }
  }

  /// Two routers on one network, and one on another.
  private func start() async throws -> (DaemonProcess, [AdvertisedRouter]) {
    let routers = [
      AdvertisedRouter(1, apple), AdvertisedRouter(2, apple), AdvertisedRouter(3, amazon),
    ]
    for (name, router) in zip(["Hall", "Attic", "Speaker"], routers) { try publish(name, router) }
    let daemon = try await installation.start()
    try await audience.until("the warning") { fires("NoPreferredNetwork", "warning")($0) }
    return (daemon, routers)
  }

  private func prefer(_ network: String) async throws {
    let outcome = try await installation.command("preferred", "set", network)
    #expect(outcome.status == 0, "\(outcome.error)")
  }

  @Test("The alert names the networks, and its remedy chooses one, which is then watched")
  func life() async throws {
    let (first, routers) = try await start()
    let alert = try #require(
      audience.look { $0.alertEvents.last { $0["alertname"] == "NoPreferredNetwork" } })
    let remedy = try #require(alert["remedy"]?.text)
    for network in [apple, amazon] {
      #expect(alert["summary"]?.text?.contains("\"\(network.name)\"") == true)
      #expect(remedy.contains("`threadkeeper preferred set \(network.extendedPANID)`"))
    }
    #expect(try await installation.command("preferred", "set", "0102030405060708").status == 66)

    try await prefer(apple.extendedPANID)
    try await audience.until("the routers, checked") {
      $0.state(routers[0].topic)?["preferred"] == "match"
        && $0.state(routers[1].topic)?["preferred"] == "match"
        && $0.state(routers[2].topic)?["preferred"] == "mismatch"
        && $0.state("threadkeeper/network/\(apple.extendedPANID)")?["preferred"] == true
    }
    try await audience.until("the end of the warning") {
      !$0.alerts("alert_resolved", "NoPreferredNetwork").isEmpty
    }
    #expect(try await first.stop() == .exit(0))
    let daemon = try await installation.start()
    #expect(try await installation.json("preferred", "show")["network_name"] == "MyHome1")

    var attic = routers[1]
    attic.network = amazon
    try publish("Attic", attic)
    try await audience.until("the router that moved") {
      fires("PreferredNetworkMismatch", "warning")($0)
    }
    try publish("Attic", routers[1])
    try await audience.until("the router that is back") {
      $0.state(attic.topic)?["preferred"] == "match"
    }
    attic.network = apple
    attic.partition = 2
    try publish("Attic", attic)
    try await audience.until("the split") { fires("NetworkSplit", "warning")($0) }
    try publish("Newcomer", AdvertisedRouter(4, apple))
    try publisher.withdraw("Hall")
    try await audience.until("the router that is gone") {
      fires("BorderRouterOffline", "warning")($0)
    }

    // All that are there go to the other network.
    attic.network = amazon
    try publish("Attic", attic)
    try publish("Hall", AdvertisedRouter(1, amazon))
    try publisher.withdraw("Newcomer")
    try await audience.until("the home that moved") { fires("HomeMoved", "warning")($0) }
    try await prefer(amazon.extendedPANID)
    try await audience.until("the other network") {
      $0.state(attic.topic)?["preferred"] == "match"
        && $0.state(routers[2].topic)?["preferred"] == "match"
    }
    let former = try await installation.json("preferred", "show", "--history").list.first
    #expect(former?["network_name"] == "MyHome1")
    #expect(try await installation.command("preferred", "forget").status == 0)
    try await prefer(try #require(former?["id"]?.text))
    #expect(try await installation.json("preferred", "show")["network_name"] == "MyHome1")
    #expect(try await daemon.stop() == .exit(0))
    #expect(try installation.verify().matchesManifest)
  }

  @Test("Programs are answered that the network is preferred and its credentials are not here")
  func programs() async throws {
    let (daemon, _) = try await start()
    try await prefer(apple.extendedPANID)
    #expect(await !client.isPreferredAvailable())
    do {
      _ = try await client.preferredCredentials()
      Issue.record("credentials that nobody has")
    } catch let error as THError {
      #expect(error.reason == .noPreferredNetwork)
      #expect(error.localizedDescription.contains("its credentials are not here"))
    }
    let own = try Data(hex: apple.hex())
    #expect(await !client.isPreferred(forActiveOperationalDataset: own))
    #expect(
      try await client.preferredMatch(forActiveOperationalDataset: own) == .noPreferredNetwork)
    #expect(
      try await client.preferredMatch(forActiveOperationalDataset: Data(hex: amazon.hex()))
        == .mismatch(differing: ["ext_pan_id"]))
    let shown = try await installation.command("preferred", "show")
    #expect(shown.status == 0 && shown.output.contains("not here"), "\(shown.output)")
    #expect(try await installation.command("preferred", "show", "--show-secrets").status == 66)
    #expect(try await installation.command("preferred", "check", apple.hex()).status == 1)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("One login alone brings no credentials of the network; a second one that agrees does")
  func reports() async throws {
    let (daemon, _) = try await start()
    try await prefer(apple.extendedPANID)
    let publisher = try await TestPublisher.start(broker)
    let (agent, other) = (
      BorderRouter(number: 1, user: "one"), BorderRouter(number: 2, user: "two")
    )
    try await publisher.publish([agent.announces(try apple.hex())])
    try await audience.until("the report") { $0.state(agent.topic)?["preferred"] == "match" }
    let before = try await installation.json("preferred", "show")
    #expect(before["credentials"] == false)
    #expect(before["reported_by"]?.list.map(\.text) == [agent.agent])
    #expect(await !client.isPreferredAvailable())
    try await publisher.publish([
      BorderRouter(number: 3, user: "one").announces(try apple.hex())
    ])
    try await audience.until("another report of the same login") {
      $0.state(BorderRouter(number: 3).topic)?["preferred"] == "match"
    }
    #expect(await !client.isPreferredAvailable())

    try await publisher.publish([other.announces(try apple.hex())])
    try await audience.until("the credentials") { fires("PreferredNetworkChanged", "info")($0) }
    let shown = try await installation.json("preferred", "show", "--show-secrets")
    #expect(shown["dataset"]?.text == (try apple.hex()))
    #expect(await client.isPreferredAvailable())
    #expect(await client.isPreferred(forActiveOperationalDataset: Data(hex: try apple.hex())))
    #expect(try await installation.json("preferred", "show", "--history") == [])
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A person takes the credentials that a router reports, or brings them")
  func person() async throws {
    let (daemon, _) = try await start()
    try await prefer(apple.extendedPANID)
    let publisher = try await TestPublisher.start(broker)
    let agent = BorderRouter(number: 1)
    try await publisher.publish([agent.announces(try apple.hex())])
    try await audience.until("the report") { $0.state(agent.topic)?["preferred"] == "match" }
    let command = try #require(
      try await installation.command("preferred", "show").output
        .split(separator: "`").first { $0.hasPrefix("threadkeeper ") })
    #expect(
      try await installation.command(command.split(separator: " ").dropFirst().map(String.init))
        .status == 0)
    #expect(try await installation.json("preferred", "show")["credentials"] == true)

    try await prefer(amazon.extendedPANID)
    #expect(try await installation.json("preferred", "show")["credentials"] == false)
    try await prefer(amazon.hex())
    #expect(try await installation.json("preferred", "show")["credentials"] == true)
    // With its credentials again.
    try await prefer(apple.extendedPANID)
    #expect(await client.isPreferredAvailable())
    #expect(try await daemon.stop() == .exit(0))
  }

  private let shown = "Authorization: Bearer \(PageHome.token)"

  /// Waits for a state of the page that has all of these.
  private func page(_ parts: String...) async throws {
    let connection = try await RawConnection(port: Int(port))
    try await connection.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\(shown)\r\n\r\n")
    var text = ""
    while !text.split(separator: "\n").contains(where: { line in
      parts.allSatisfy { line.contains($0) }
    }) {
      let more = try await connection.read()
      try #require(!more.isEmpty, "\(text)")
      text += more
    }
  }

  @Test("The page says that nothing is chosen, chooses one, and that its credentials are not here")
  func status() async throws {
    let (daemon, _) = try await start()
    try await page(#""undecided":true"#, "NoPreferredNetwork")
    let body = #"{"home":"home","ext_pan_id":"\#(amazon.extendedPANID)"}"#
    let connection = try await RawConnection(port: Int(port))
    try await connection.send(
      """
      POST /networks/prefer HTTP/1.1\r
      Host: localhost\r
      Content-Length: \(body.utf8.count)\r
      Content-Type: application/json\r
      \(shown)\r
      \r
      \(body)
      """)
    let answer = try RawAnswer(await connection.readToEnd())
    #expect(answer.status == 200 && answer.body.contains("not here"), "\(answer.body)")
    try await page(#""undecided":false"#, #""credentials":false"#)
    #expect(try await installation.json("preferred", "show")["network_name"] == "AMZN-2")
    #expect(try await daemon.stop() == .exit(0))
  }

  private func ask(_ user: String, _ payload: String) async throws -> JSON {
    let answers = "threadkeeper/out/\(user)/response/preferred/set"
    let before = audience.look { heard in heard.messages.count { $0.topic == answers } }
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish("threadkeeper/in/\(user)/request/preferred/set", payload)
    try await audience.until("the answer") { heard in
      heard.messages.count { $0.topic == answers } > before
    }
    return try #require(audience.state(answers))
  }

  @Test(
    "An approver chooses a network over MQTT by its Extended PAN ID, and another login does not")
  func approver() async throws {
    let (daemon, _) = try await start()
    let request = #"{"ext_pan_id":"\#(amazon.extendedPANID)"}"#
    #expect(try await ask("bob", request)["error"]?["code"] == "not_found")
    #expect(try await ask("anna", request)["data"] == ["changed": true, "available": false])
    #expect(try await installation.json("preferred", "show")["network_name"] == "AMZN-2")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Home Assistant has a button for each network while none is preferred")
  func buttons() async throws {
    let (daemon, _) = try await start()
    let topics = [apple, amazon].map {
      "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_n-\($0.extendedPANID)/config"
    }
    func button(_ topic: String) -> JSON? { audience.state(topic)?["components"]?["prefer"] }
    try await audience.until("both buttons") { heard in
      topics.allSatisfy { heard.state($0)?["components"]?["prefer"] != nil }
    }
    let (first, second) = try (#require(button(topics[0])), #require(button(topics[1])))
    #expect(first["name"]?.text?.contains("MyHome1") == true)
    #expect(first["command_topic"] == "threadkeeper/in/homeassistant/request/preferred/set")
    let payload = try #require(first["payload_press"]?.text)
    #expect(try await ask("homeassistant", payload)["data"]?["changed"] == true)
    try await audience.until("no button") { heard in
      topics.allSatisfy { heard.latest[$0]?.isEmpty == true }
    }
    // Pressed a moment too late.
    let late = try await ask("homeassistant", try #require(second["payload_press"]?.text))
    #expect(late["error"]?["code"] == "not_authorized")
    #expect(try await installation.json("preferred", "show")["network_name"] == "MyHome1")
    #expect(try await daemon.stop() == .exit(0))
  }
}
