import Foundation
import TestKit
import Testing
import ThreadNetwork

/// Border routers of makers, of which nothing is known but what they advertise: no login, no dataset. What two logins
/// report of such a network, and who may choose it: `PreferredNetworkTests`, `PreferredRequestTests`, `DecisionTests`.
@Suite(
  "A home of makers' routers only, with avahi-daemon", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) struct MakersRoutersTests
{
  @Test("The alert names the networks, a button or a remedy chooses one, which is then watched") func life()
    async throws
  {
    let network = try LocalNetwork()
    let publisher = try ServicePublisher(network)
    let apple = try ThreadNetwork("MyHome1")
    let amazon = try ThreadNetwork("AMZN-2")
    func publish(_ name: String, _ router: AdvertisedRouter) throws { try publisher.publish(name, text: router.text) }
    let routers = [AdvertisedRouter(1, apple), AdvertisedRouter(2, apple), AdvertisedRouter(3, amazon)]
    for (name, router) in zip(["Hall", "Attic", "Speaker"], routers) { try publish(name, router) }
    let running = try await RunningHome(
      more: "home_assistant: {login: homeassistant}", variables: network.environment())
    let installation = running.installation
    func fires(_ name: String, _ severity: String = "warning") async throws {
      try await running.until(name) { heard in
        heard.alertEvents.last { $0["alertname"]?.text == name }.map {
          $0["status"] == "firing" && $0["severity"]?.text == severity
        } ?? false
      }
    }
    func untilPreferred(_ matching: AdvertisedRouter...) async throws {
      try await running.until("the routers, checked") { heard in
        matching.allSatisfy { heard.state($0.topic)?["preferred"] == "match" }
      }
    }
    func shown() async throws -> JSON { try await installation.json("preferred", "show") }
    try await fires("NoPreferredNetwork")
    let alert = try #require(running.audience.look { $0.alertEvents.last { $0["alertname"] == "NoPreferredNetwork" } })
    let remedy = try #require(alert["remedy"]?.text)
    for network in [apple, amazon] {
      #expect(alert["summary"]?.text?.contains("\"\(network.name)\"") == true)
      #expect(remedy.contains("`threadkeeper preferred set \(network.extendedPANID)`"))
    }
    #expect(try await installation.command("preferred", "set", "0102030405060708").status == 66)

    // Home Assistant has a button for each network while none is preferred.
    let topics = [apple, amazon].map {
      "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_n-\($0.extendedPANID)/config"
    }
    func button(_ topic: String) -> JSON? { running.state(topic)?["components"]?["prefer"] }
    try await running.until("both buttons") { heard in
      topics.allSatisfy { heard.state($0)?["components"]?["prefer"] != nil }
    }
    let (first, second) = try (#require(button(topics[0])), #require(button(topics[1])))
    #expect(first["name"]?.text?.contains("MyHome1") == true)
    let request = "threadkeeper/in/homeassistant/request/preferred/set"
    #expect(first["command_topic"]?.text == request)
    func press(_ button: JSON, _ answered: (JSON) -> Bool) async throws {
      try await running.publisher.publish(request, try #require(button["payload_press"]?.text))
      try await running.until("the answer") {
        $0.state("threadkeeper/out/homeassistant/response/preferred/set").map(answered) == true
      }
    }
    try await press(first) { $0["data"] == ["changed": true, "available": false] }
    try await running.until("no button, and the end of the warning") { heard in
      topics.allSatisfy { heard.latest[$0]?.isEmpty == true }
        && !heard.alerts("alert_resolved", "NoPreferredNetwork").isEmpty
    }
    // Pressed a moment too late.
    try await press(second) { $0["error"]?["code"] == "not_authorized" }
    try await untilPreferred(routers[0], routers[1])
    #expect(running.state(routers[2].topic)?["preferred"] == "mismatch")
    #expect(running.state("threadkeeper/network/\(apple.extendedPANID)")?["preferred"] == true)

    // Programs are answered that the network is preferred and its credentials are not here.
    let client = THClient(configuration: .init(storeDirectory: installation.storePath, confirmConsent: nil))
    #expect(await !client.isPreferredAvailable())
    let error = await #expect(throws: THError.self) { _ = try await client.preferredCredentials() }
    #expect(error?.reason == .noPreferredNetwork)
    #expect(error?.localizedDescription.contains("its credentials are not here") == true)
    #expect(try await installation.command("preferred", "show", "--show-secrets").status == 66)

    try await running.restart()
    #expect(try await shown()["network_name"] == "MyHome1")
    var attic = routers[1]
    attic.network = amazon
    try publish("Attic", attic)
    try await fires("PreferredNetworkMismatch")
    try publish("Attic", routers[1])
    try await untilPreferred(attic)
    attic.network = apple
    attic.partition = 2
    try publish("Attic", attic)
    try await fires("NetworkSplit")
    try publish("Newcomer", AdvertisedRouter(4, apple))
    try publisher.withdraw("Hall")
    try await fires("BorderRouterOffline")

    // All that are there go to the other network.
    attic.network = amazon
    try publish("Attic", attic)
    try publish("Hall", AdvertisedRouter(1, amazon))
    try publisher.withdraw("Newcomer")
    try await fires("HomeMoved")
    try await installation.run("preferred", "set", amazon.extendedPANID)
    try await untilPreferred(attic, routers[2])
    let former = try await installation.json("preferred", "show", "--history").list.first
    #expect(former?["network_name"] == "MyHome1")
    try await installation.run("preferred", "forget")
    try await installation.run("preferred", "set", try #require(former?["id"]?.text))
    #expect(try await shown()["network_name"] == "MyHome1")

    // A person takes the credentials that a router reports, by the command that is printed.
    let agent = BorderRouter(number: 1)
    try await running.publish(agent.announces(try apple.hex()))
    try await running.until("the report") { $0.state(agent.topic)?["preferred"] == "match" }
    let before = try await shown()
    #expect(before["credentials"] == false)
    #expect(before["reported_by"]?.list.map(\.text) == [agent.agent])
    let command = try #require(
      try await installation.run("preferred", "show").split(separator: "`").first { $0.hasPrefix("threadkeeper ") })
    try await installation.run(command.split(separator: " ").dropFirst().map(String.init))
    #expect(try await shown()["credentials"] == true)
    #expect(await client.isPreferredAvailable())
    try await running.stop()
    #expect(try installation.verify().matchesManifest)
  }
}
