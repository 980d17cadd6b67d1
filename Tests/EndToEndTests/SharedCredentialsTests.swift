// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Synchronization
import TestKit
import Testing
import ThreadNetwork

/// Credentials that a login shares which is no border router, as the agent of Home Assistant does, in a home of makers'
/// routers. On the broker is no key at any time.
@Suite(
  "Shared credentials of a home of makers' routers, with avahi-daemon", .inTurns,
  .timeLimit(.minutes(30)),
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")"))
struct SharedCredentialsTests {
  private static let consent = "threadkeeper/bridge/consent"

  private let network: LocalNetwork
  private let services: ServicePublisher
  private let broker: TestBroker
  private let home: ThreadNetwork
  private let routers: [AdvertisedRouter]

  init() async throws {
    Recorder.current?.allPublishersAreEnrolled()
    network = try LocalNetwork()
    services = try ServicePublisher(network)
    broker = try TestBroker()
    home = try ThreadNetwork("MyHome1")
    routers = [AdvertisedRouter(1, home), AdvertisedRouter(2, home)]
  }

  /// A daemon in whose home the network is preferred by its Extended PAN ID alone, and a login that is enrolled.
  private final class Scene: Sendable {
    let installation: Installation
    let audience: Audience
    let daemon: DaemonProcess
    private let publisher: TestPublisher
    private let identity: Identity
    private let line: String
    private let number = Mutex<UInt64>(0)

    init(_ test: SharedCredentialsTests, _ settings: String) async throws {
      let installation = try Installation(
        test.broker, hold: 0, more: settings, variables: test.network.environment())
      for (name, router) in zip(["Hall", "Attic"], test.routers) {
        try test.services.publish(name, text: router.text)
      }
      let audience = try await Audience.start(test.broker)
      daemon = try await installation.start()
      publisher = try await TestPublisher.start(test.broker)
      let identity = try Identity()
      let enrolled = try await installation.command(
        "clients", "enroll", "ha", identity.keys.line, "--trust", "signed")
      #expect(enrolled.status == 0, "\(enrolled.error)")
      line = try await installation.daemonLine()
      let topics = test.routers.map(\.topic)
      try await audience.until("the routers") { heard in
        topics.allSatisfy { heard.state($0) != nil }
      }
      let preferred = try await installation.command(
        "preferred", "set", test.home.extendedPANID)
      #expect(preferred.status == 0, "\(preferred.error)")
      (self.installation, self.audience, self.identity) = (installation, audience, identity)
    }

    func share(_ dataset: String, _ more: String = "") async throws {
      let topic = "threadkeeper/in/ha/credentials"
      let sequence = number.withLock {
        $0 += 1
        return $0
      }
      let envelope = try Envelope.seal(
        Array(#"{"dataset":"\#(dataset)","name":"Home Assistant"\#(more)}"#.utf8),
        to: try PublicIdentity(line: line), from: identity,
        at: .init(
          topic: topic, order: .sequence(sequence), now: Int64(Date().timeIntervalSince1970)))
      try await publisher.publish([
        Publication(
          topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
      ])
    }

    func client(_ confirm: (@Sendable (String) -> Bool?)? = nil) -> THClient {
      THClient(
        configuration: .init(storeDirectory: installation.storePath, confirmConsent: confirm))
    }

    func pending() async throws -> [JSON] {
      try await installation.json("consent", "list")["pending"]?.list ?? []
    }

    func dataset() async throws -> String? {
      try await installation.json("preferred", "show", "--show-secrets")["dataset"]?.text
    }
  }

  @Test("From preferred by its id to credentials for programs: asked, accepted, followed")
  func life() async throws {
    let scene = try await Scene(self, "")
    let (installation, client) = (scene.installation, scene.client())
    #expect(try await installation.command("networks", "accept-credentials").status == 66)
    try await scene.share(try home.hex(), #","border_agent_id":"\#(routers[0].agent)""#)
    try await scene.audience.until("the question") {
      $0.state(Self.consent)?["command"] == "credentials/accept"
        && $0.state("threadkeeper/network/\(home.extendedPANID)")?["shared_by"] == ["ha"]
    }
    let question = try #require(try await scene.pending().first)
    #expect(question["requester"] == "login ha (team ha)")
    #expect(
      question["reason"]?.text?.contains(
        #"has the credentials of the preferred network "MyHome1" (\#(home.extendedPANID)). Use them?"#
      )
        == true, "\(question)")
    #expect(await !client.isPreferredAvailable())
    #expect(
      try await installation.command("preferred", "show").output.contains(
        "`threadkeeper networks accept-credentials`"))
    let listed = try await installation.command("networks")
    #expect(listed.output.contains("SHARED BY") && listed.output.contains("ha"), "\(listed.output)")

    let accepted = try await installation.command("networks", "accept-credentials")
    #expect(accepted.status == 0, "\(accepted.error)")
    #expect(
      accepted.output
        == "The preferred network MyHome1 (\(home.extendedPANID)) has these credentials now.\n")
    try await scene.audience.until("the credentials") {
      $0.state(Self.consent)?["pending"] == 0
        && !$0.alerts("alert_raised", "PreferredNetworkChanged").isEmpty
        && !$0.events("preferred_changed").isEmpty
        && $0.state(routers[1].topic)?["preferred"] == "match"
    }
    #expect(await client.isPreferredAvailable())
    #expect(try await scene.dataset() == home.hex())
    let again = try await installation.json("networks", "accept-credentials")
    #expect(again["changed"] == false)

    async let asked = client.preferredCredentials()
    try await eventually("the question of the program") { try await scene.pending().count == 1 }
    let id = try #require(try await scene.pending().first?["id"]?.text)
    #expect(try await installation.command("consent", "approve", id).status == 0)
    let given = try await asked
    #expect(given.activeOperationalDataSet == Data(hex: try home.hex()))
    #expect(given.borderAgentID == Data(hex: routers[0].agent))
    #expect(given.networkName == "MyHome1")

    // What changes there is followed, with the same keys.
    let newer = try home.hex(at: 2, channel: 20)
    try await scene.share(newer)
    try await eventually("the newer dataset") { try await scene.dataset() == newer }
    #expect(try await scene.pending().isEmpty)
    try await scene.share(try home.hex())
    try await scene.audience.until("that it is stale") {
      $0.alerts("alert_raised", "StaleDataset").contains {
        $0["summary"]?.text?.hasPrefix(#""Home Assistant" (login ha) has an older dataset"#) == true
      }
    }
    #expect(try await scene.dataset() == newer)
    try await scene.share(newer)
    try await scene.audience.until("that it is not any more") {
      !$0.alerts("alert_resolved", "StaleDataset").isEmpty
    }
    #expect(try installation.audit().contains("mqtt user ha: added"))
    #expect(try await scene.daemon.stop() == .exit(0))
    #expect(try installation.verify().matchesManifest)

    // Without a daemon.
    let alone = scene.client { $0.contains("MyHome1") }
    #expect(await alone.isPreferredAvailable())
    #expect(
      try await alone.preferredCredentials().activeOperationalDataSet == Data(hex: newer))
    var needles = Needles()
    needles.add("the network key", home.networkKey)
    #expect(needles.found(in: scene.daemon.log).isEmpty)
  }

  @Test("What a person has denied is not asked again, and accepted by the command all the same")
  func denied() async throws {
    let scene = try await Scene(self, "")
    try await scene.share(try home.hex())
    try await eventually("the question") { try await scene.pending().count == 1 }
    let id = try #require(try await scene.pending().first?["id"]?.text)
    let denied = try await scene.installation.command("consent", "deny", id)
    #expect(denied.output.contains("are not used"), "\(denied.output)")
    try await scene.share(try home.hex())
    try await scene.audience.until("nothing that waits") {
      $0.state(Self.consent)?["pending"] == 0
    }
    #expect(try await scene.pending().isEmpty)
    #expect(await !scene.client().isPreferredAvailable())
    let other = try await scene.installation.command(
      "networks", "accept-credentials", "0102030405060708")
    #expect(other.status == 64, "\(other.error)")
    #expect(
      try await scene.installation.command("networks", "accept-credentials", home.extendedPANID)
        .status == 0)
    #expect(await scene.client().isPreferredAvailable())
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  @Test(
    "A program of the sender's own team has what it shares, under the border agent that it names")
  func ownTeam() async throws {
    let scene = try await Scene(self, "teams: {shelf: [ha]}\nclient_users: {\(geteuid()): shelf}")
    let client = scene.client()
    let agent = Data(hex: routers[0].agent)
    try await scene.share(try home.hex(), #","border_agent_id":"\#(routers[0].agent)""#)
    try await eventually("the credentials") { try await client.allCredentials().count == 1 }
    let found = try await client.credentials(forBorderAgentID: agent)
    #expect(found.activeOperationalDataSet == Data(hex: try home.hex()))
    #expect(found.borderAgentID == agent)
    #expect(try await client.allActiveCredentials().count == 1)
    #expect(await !client.isPreferredAvailable(), "nobody has agreed yet")
    #expect(try await scene.daemon.stop() == .exit(0))
    // Without a daemon, and its settings, each login is a team, and a program says itself which one it is.
    let alone = THClient(
      configuration: .init(
        storeDirectory: scene.installation.storePath, team: "ha", confirmConsent: nil))
    #expect(
      try await alone.credentials(forBorderAgentID: agent).activeOperationalDataSet
        == found.activeOperationalDataSet)
  }

  @Test("Who is trusted is not asked about; another preferred network there is an alert")
  func trusted() async throws {
    let scene = try await Scene(self, "home_assistant: {trusted: [ha]}")
    try await scene.share(try home.hex())
    try await eventually("the credentials") { await scene.client().isPreferredAvailable() }
    #expect(try await scene.pending().isEmpty)

    let other = try ThreadNetwork("ha-thread")
    try await scene.share(try other.hex(), #","preferred":true"#)
    try await scene.audience.until("the alert") {
      !$0.alerts("alert_raised", "HomeAssistantDiffers").isEmpty
    }
    let alert = try #require(
      scene.audience.look { $0.alerts("alert_raised", "HomeAssistantDiffers").last })
    #expect(
      alert["summary"]?.text
        == #""Home Assistant" (login ha) prefers network "ha-thread" (\#(other.extendedPANID)), "#
        + #"this home prefers "MyHome1" (\#(home.extendedPANID))"#)
    #expect(alert["user"] == "ha" && alert["severity"] == "warning")
    let command = "preferred set \(other.extendedPANID)"
    #expect(alert["remedy"]?.text?.contains("`threadkeeper \(command)`") == true)
    let followed = try await scene.installation.command(
      command.split(separator: " ").map(String.init))
    #expect(followed.status == 0, "\(followed.error)")
    try await scene.audience.until("the end of the alert") {
      !$0.alerts("alert_resolved", "HomeAssistantDiffers").isEmpty
    }
    #expect(try await scene.dataset() == other.hex())

    let forgotten = try await scene.installation.command(
      "networks", "forget", home.extendedPANID)
    #expect(forgotten.status == 0, "\(forgotten.error)")
    #expect(forgotten.output.contains("what the login ha shares of it"), "\(forgotten.output)")
    #expect(try await scene.daemon.stop() == .exit(0))
  }
}
