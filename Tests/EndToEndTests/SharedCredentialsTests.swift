import Broker
import Foundation
import TestKit
import Testing
import ThreadNetwork

/// Credentials that a login shares which is no border router, as the agent of Home Assistant does, in a home of makers'
/// routers. On the broker is no key at any time. The page and a program with consent: `BrowserChangeTests`; what was
/// denied, who is trusted, and the own team: `SharedCredentialsTests` of `Home`.
@Suite(
  "Shared credentials of a home of makers' routers, with avahi-daemon", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) struct SharedCredentialsTests
{
  private let local: LocalNetwork
  private let home: ThreadNetwork
  private let routers: [AdvertisedRouter]

  init() throws {
    Recorder.current?.allPublishersAreEnrolled()
    local = try LocalNetwork()
    home = try ThreadNetwork("MyHome1")
    routers = [AdvertisedRouter(1, home), AdvertisedRouter(2, home)]
  }

  /// A daemon in whose home the network is preferred by its Extended PAN ID alone, and a login that is enrolled.
  private struct Scene: Sendable {
    let running: RunningHome
    let services: ServicePublisher
    private let identity: Identity
    private let line: String

    var installation: Installation { running.installation }
    var client: THClient { THClient(configuration: .init(storeDirectory: installation.storePath, confirmConsent: nil)) }

    init(_ test: SharedCredentialsTests) async throws {
      services = try ServicePublisher(test.local)
      for (name, router) in zip(["Hall", "Attic"], test.routers) { try services.publish(name, text: router.text) }
      running = try await RunningHome(variables: test.local.environment())
      identity = try Identity()
      try await running.installation.enroll("ha", identity.keys.line, "--trust", "signed")
      line = try await running.installation.daemonLine()
      try await running.until("the routers") { heard in test.routers.allSatisfy { heard.state($0.topic) != nil } }
      try await running.installation.run("preferred", "set", test.home.extendedPANID)
    }

    func share(_ dataset: String, _ more: String = "") async throws {
      try await running.publish(
        identity.seals(
          #"{"dataset":"\#(dataset)","name":"Home Assistant"\#(more)}"#, to: line, at: "threadkeeper/in/ha/credentials")
      )
    }

    func dataset() async throws -> String? {
      try await installation.json("preferred", "show", "--show-secrets")["dataset"]?.text
    }
  }

  @Test("From preferred by its id to credentials for programs: asked, accepted by the command") func accepted()
    async throws
  {
    let scene = try await Scene(self)
    let (installation, running) = (scene.installation, scene.running)
    #expect(try await installation.command("networks", "accept-credentials").status == 66)
    let consent = "threadkeeper/bridge/consent"
    try await scene.share(try home.hex(), #","border_agent_id":"\#(routers[0].agent)""#)
    try await running.until("the question") {
      $0.state(consent)?["command"] == "credentials/accept"
        && $0.state("threadkeeper/network/\(home.extendedPANID)")?["shared_by"] == ["ha"]
    }
    let question = try await installation.question()
    #expect(question["requester"] == "login ha (team ha)")
    let words = #"has the credentials of the preferred network "MyHome1" (\#(home.extendedPANID)). Use them?"#
    #expect(question["reason"]?.text?.contains(words) == true, "\(question)")
    #expect(await !scene.client.isPreferredAvailable())
    #expect(try await installation.run("preferred", "show").contains("`threadkeeper networks accept-credentials`"))
    let listed = try await installation.run("networks")
    #expect(listed.contains("SHARED BY") && listed.contains("ha"), "\(listed)")

    #expect(
      try await installation.run("networks", "accept-credentials")
        == "The preferred network MyHome1 (\(home.extendedPANID)) has these credentials now.\n")
    try await running.until("the credentials") {
      $0.state(consent)?["pending"] == 0 && !$0.alerts("alert_raised", "PreferredNetworkChanged").isEmpty
        && !$0.events("preferred_changed").isEmpty && $0.state(routers[1].topic)?["preferred"] == "match"
    }
    #expect(await scene.client.isPreferredAvailable())
    #expect(try await scene.dataset() == home.hex())
    try await running.until("that the routers' credentials are here") { heard in
      routers.allSatisfy { heard.state($0.topic)?["credentials"] == "shared" }
    }
    #expect(try await installation.status()["credentials"] == 1)
    let kept = try await installation.json("credentials", "list").list
    #expect(kept.map { $0["shared_by"]?.text } == ["ha"])
    #expect(try await installation.run("credentials", "list").contains("SHARED BY"))
    #expect(try await installation.json("networks", "accept-credentials")["changed"] == false)
    async let asked = scene.client.preferredCredentials()
    try await installation.decide("approve")
    let given = try await asked
    #expect(given.activeOperationalDataSet == Data(hex: try home.hex()))
    #expect(given.borderAgentID == Data(hex: routers[0].agent))
    #expect(given.networkName == "MyHome1")
    try await running.stop()

    // Without a daemon.
    let alone = THClient(
      configuration: .init(storeDirectory: installation.storePath, confirmConsent: { $0.contains("MyHome1") }))
    #expect(await alone.isPreferredAvailable())
    #expect(try await alone.preferredCredentials().activeOperationalDataSet == Data(hex: home.hex()))
  }
}
