import Broker
import Foundation
import TestKit
import Testing

/// TLS, MQTT 3.1.1 and logins: `BrokerKindTests`. Devices of Home Assistant that are refused:
/// `RefusedPublicationsTests`.
@Suite("What a broker asks of its clients", .inTurns, .timeLimit(.minutes(30))) struct BrokerAccessTests {
  @Test("A wrong access list stands in `status`, until it is the one that `acl` prints") func wrongAccessList()
    async throws
  {
    let password = "sesame-of-anna"
    let broker = try TestBroker(
      logins: [
        .init("anna", role: .client, password: password), .init("monitor", role: .monitor),
        .init("border-router", role: .client),
      ], baseTopics: ["threadkeeper"])
    let installation = try Installation(broker, mqtt: ["username: anna", "password: \(password)"])
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    try await eventually("the refusals") {
      let refused = try await installation.status()["refused"]
      return refused?["topics"]?.number ?? 0 >= 4
        && refused?["last_topic"]?.text?.hasPrefix("threadkeeper/bridge/") == true
        && refused?["problem"]?.text?.contains("access list") == true
        && refused?["remedy"]?.text?.contains("threadkeeper acl") == true
    }
    let words = try await installation.run("status")
    #expect(words.contains("\nrefused ") && words.contains("`anna`"), "\(words)")

    let list = try await installation.run("acl", "--monitor", "monitor")
    let observer = broker.observerLogin.map { "user \($0)\ntopic readwrite #\n" } ?? ""
    try Data((list + observer).utf8).write(to: URL(fileURLWithPath: "\(broker.directory)/acl"))
    try broker.signal(SIGHUP)
    // A new router changes what the daemon says of itself: that does not wait for its minute.
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let announcement = BorderRouter(number: 1).announces(try ThreadNetwork("home").hex())
    try await eventually("the daemon's word") {
      try await publisher.publish([announcement])
      return audience.state("threadkeeper/bridge/state") == ["state": "online"]
    }
    try await eventually("nothing in `status`") { try await installation.status()["refused"] == nil }
    #expect(try await !installation.run("status").contains("refused"))
    // Also what changes once in weeks.
    try await audience.until("the overviews") {
      $0.state("threadkeeper/bridge/alerts") != nil && $0.state("threadkeeper/bridge/consent") != nil
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A copy of the store in another directory runs beside the first, each with sessions that nobody can guess")
  func copied() async throws {
    let one = try await RunningHome(logins: EmbeddedBrokerConfiguration.Login.home)
    let broker = one.broker
    try await one.until("the id of the store") { $0.state("threadkeeper/bridge/info")?["instance_id"]?.text != nil }
    let published = try #require(one.state("threadkeeper/bridge/info")?["instance_id"]?.text)
    try await one.stop()
    // Sessions of this name could be a daemon's that is away.
    for end in ["intake", "status"] {
      var stolen = broker.configuration(clientID: "threadkeeper-\(published)-\(end)", user: "monitor")
      stolen.cleanStart = false
      let thief = TestClient(stolen)
      try await thief.ready()
      #expect(thief.handler.record.sessions.first?.sessionPresent == false)
      try await thief.stop()
    }

    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let other = try Installation(broker, mqtt: ["username: threadkeeper", "password: '\(password)'"])
    for name in ["store", "store.key", "store.anchor"] {
      try FileManager.default.copyItem(
        atPath: one.installation.directory.file(name), toPath: other.directory.file(name))
    }
    try await one.start()
    let second = try await other.start()
    let router = BorderRouter(number: 1)
    try await one.publish(router.announces(try ThreadNetwork("home").hex()))
    for installation in [one.installation, other] {
      try await eventually("the router in both stores") { try await installation.status()["routers"] == 1 }
    }
    #expect(!(one.daemon.log + second.log).contains("disconnected"))
    try await one.stop()
    #expect(try await second.stop() == .exit(0))
  }
}
