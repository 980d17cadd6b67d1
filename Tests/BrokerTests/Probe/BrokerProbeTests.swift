import TestKit
import Testing

@testable import Broker

@Suite("A probe of a broker") struct BrokerProbeTests {
  typealias Version = MosquittoConfiguration.ProtocolVersion
  private static let base = "threadkeeper"

  private func broker(extra: [String] = []) throws -> TestBroker {
    try TestBroker(
      logins: [.init("threadkeeper", role: .daemon), .init("hub"), .init("monitor", role: .monitor)],
      extraConfiguration: extra)
  }

  private func probe(_ broker: TestBroker, _ version: Version = .v5, user: String? = "threadkeeper") -> BrokerProbe {
    var connection = broker.configuration(clientID: "threadkeeper", user: user)
    connection.protocolVersion = version
    return BrokerProbe(connection, within: .seconds(60))
  }

  private func others(_ client: AccessReport.Client?) throws -> AccessReport.Others {
    var first: AccessReport.Others?
    if case .admitted(let homes)? = client { first = homes.first }
    return try #require(first, "not admitted: \(String(describing: client))")
  }

  private func refusal(_ client: AccessReport.Client?) throws -> MosquittoError {
    var found: MosquittoError?
    if case .refused(let error)? = client { found = error }
    return try #require(found, "let in: \(String(describing: client))")
  }

  @Test("A broker that gives all clients of a login one client id is found out", arguments: Version.both)
  func sharedClientID(version: Version) async throws {
    // The option is the listener's.
    let port = try UnusedPort.next()
    let broker = try broker(extra: ["listener \(port) 127.0.0.1", "use_username_as_clientid true"])
    var probe = probe(broker, version)
    #expect(await !probe.sharesClientID())
    probe.connection.port = port
    #expect(await probe.sharesClientID())
  }

  @Test(
    "With the access list the daemon publishes and reads everywhere, another login for itself only",
    arguments: Version.both) func withList(version: Version) async throws
  {
    let broker = try broker()
    let report = try await probe(broker, version).access(
      to: [Self.base], other: ("hub", broker.broker.password(of: "hub"))
    ).get()
    #expect(report.own.map(\.outcome) == .init(repeating: .delivered, count: 6))
    #expect(report.own.map(\.topic.group) == ProbeTopic.Group.allCases)
    #expect(report.refusedFilters.isEmpty && report.retained.isEmpty)
    #expect(report.session.protocolVersion == version)
    #expect(report.session.maximumQoS == 2 && report.session.areWildcardsAvailable)
    if version == .v5 { #expect(report.session.serverReceiveMaximum == 1000) }
    #expect(report.values["$SYS/broker/version"]?.contains("mosquitto") == true)
    #expect(try refusal(report.anonymous).reason == .credentials)
    let hub = try others(report.other)
    #expect(hub.speaksForItself == .delivered && hub.readsOwnAnswers == .delivered)
    #expect(hub.readsAnswers == .lost && hub.readsEvents == .lost)
    #expect(hub.writesAnswers.isDelivered == false && hub.publishesStates.isDelivered == false)
    // With 3.1.1 a broker does not say what it denies.
    if version == .v311 { #expect(hub.speaksForOthers == .lost) }
    if version == .v5 { #expect(hub.speaksForOthers.refusal?.reason == .notAuthorized) }
  }

  @Test(
    "Without an access list everybody reads answers and speaks for others, with a login and without",
    arguments: Version.both) func open(version: Version) async throws
  {
    let broker = try TestBroker()
    let report = try await probe(broker, version, user: nil).access(to: [Self.base], other: ("hub", "any")).get()
    for client in [try others(report.anonymous), try others(report.other)] {
      #expect(client.readsAnswers == .delivered && client.readsEvents == .delivered)
      #expect(client.speaksForOthers == .delivered && client.publishesStates == .delivered)
      #expect(client.writesAnswers == .delivered)
    }
    #expect(try others(report.anonymous).speaksForItself == nil)
  }

  @Test("A login that may write nothing has each topic reported, and nothing is proven of others") func narrow()
    async throws
  {
    let broker = try broker()
    let report = try await probe(broker, user: "monitor").access(
      to: [Self.base], other: ("hub", broker.broker.password(of: "hub"))
    ).get()
    for own in report.own {
      let error = try #require(own.outcome.refusal, "\(own.topic.text): \(own.outcome)")
      #expect(error.reason == .notAuthorized && error.message.contains(own.topic.text))
    }
    let hub = try others(report.other)
    #expect(hub.speaksForOthers.isDelivered == nil && hub.readsAnswers.isDelivered == nil)
  }

  @Test("It says what the broker keeps below `in/`, and of which routers") func retained() async throws {
    let broker = try broker()
    let publisher = try await TestPublisher.start(broker, user: "threadkeeper")
    for topic in ["in/hub/announce", "router/a1b2c3d4e5f60718/availability", "bridge/state"] {
      try await publisher.publish("\(Self.base)/\(topic)", "online", retain: true)
    }
    let report = try await probe(broker).access(to: [Self.base]).get()
    #expect(report.retained == ["threadkeeper/in/hub/announce", "threadkeeper/router/a1b2c3d4e5f60718/availability"])
  }

  @Test(
    "What the broker keeps of another program is not noted, also where the daemon reads its topics",
    arguments: Version.both) func retainedOfOthers(version: Version) async throws
  {
    let broker = try TestBroker()
    let publisher = try await TestPublisher.start(broker)
    for topic in [
      "zigbee2mqtt/lamp/availability", "zigbee2mqtt/router/1/availability", "\(Self.base)/router/1/2/availability",
      "\(Self.base)/in/hub/availability",
    ] { try await publisher.publish(topic, "online", retain: true) }
    let report = try await probe(broker, version, user: nil).access(
      to: [Self.base], filters: ["zigbee2mqtt/#", "\(Self.base)/router/#"]
    ).get()
    #expect(report.retained == ["\(Self.base)/in/hub/availability"])
  }

  @Test("Another login does not come with the daemon's certificate") func certificate() async throws {
    let certificates = try TestCertificates.shared()
    let port = try UnusedPort.next()
    let broker = try TestBroker(extraConfiguration: [
      "listener \(port) 127.0.0.1", "cafile \(certificates.authority)", "certfile \(certificates.server)",
      "keyfile \(certificates.serverKey)", "require_certificate true",
    ])
    var probe = probe(broker, user: nil)
    probe.connection.port = port
    probe.connection.tls = .init(
      caFile: certificates.authority, certificateFile: certificates.client, keyFile: certificates.clientKey)
    let report = try await probe.access(to: [Self.base], other: ("hub", "any")).get()
    #expect(report.own.allSatisfy { $0.outcome == .delivered })
    for client in [report.anonymous, try #require(report.other)] {
      let error = try refusal(client)
      #expect([.tlsClientCertificate, .closedByBroker].contains(error.reason), "\(error)")
    }
    let other = probe.connection.asAnother("hub", "any")
    #expect(other.tls == .init(caFile: certificates.authority) && other.username == "hub")
  }

  @Test("It retains nothing, and a client with the daemon's client ids keeps its connection") func noTraces()
    async throws
  {
    let broker = try broker()
    let daemon = TestClient(broker.configuration(clientID: "threadkeeper", user: "threadkeeper", "threadkeeper/#"))
    try await daemon.ready()
    _ = try await probe(broker).access(to: [Self.base]).get()
    let later = try await TestSubscriber.start(broker, user: "threadkeeper", "threadkeeper/#")
    try await TestPublisher.start(broker, user: "threadkeeper").publish("threadkeeper/x", "last")
    try await later.wait { $0.contains { $0.topic == "threadkeeper/x" } }
    #expect(later.messages.allSatisfy { !$0.isRetained })
    #expect(daemon.handler.record.disconnections.isEmpty)
    let heard = Set(daemon.handler.messages.map(\.topic))
    #expect(heard.allSatisfy { $0.hasSuffix("/probe") || $0 == "threadkeeper/x" }, "\(heard)")
  }

  @Test("Each home is tried by itself") func homes() async throws {
    let broker = try broker()
    let report = try await probe(broker).access(to: [Self.base, "elsewhere"]).get()
    #expect(report.own.count == 12 && report.other == nil)
    for own in report.own { #expect((own.outcome == .delivered) == (own.topic.base == Self.base), "\(own.topic.text)") }
  }

  @Test("Why the broker is not reached is said in words") func notReached() async throws {
    let broker = try broker()
    var wrong = probe(broker)
    wrong.connection.password = "wrong"
    var gone = wrong
    gone.connection.port = try UnusedPort.next()
    var unknown = wrong
    unknown.connection.host = "no-such-host.invalid"
    for (probe, reason) in [
      (wrong, MosquittoError.Reason.credentials), (gone, .nothingListens), (unknown, .unknownHost),
    ] {
      let greeting = await #expect(throws: MosquittoError.self) { try await probe.greeting().get() }
      #expect(greeting?.reason == reason && greeting?.message.isEmpty == false)
      let access = await #expect(throws: MosquittoError.self) { try await probe.access(to: [Self.base]).get() }
      #expect(access?.reason == reason)
    }
    #expect(try await probe(broker).greeting().get().maximumQoS == 2)
  }

  @Test("A broker that takes the connection and says nothing is given up at the limit") func silence() async throws {
    let broker = try FakeBroker()
    broker.change { $0.connectCode = nil }
    let probe = BrokerProbe(
      MosquittoConfiguration(host: "127.0.0.1", port: broker.port, clientID: "threadkeeper"), within: .milliseconds(300)
    )
    let error = await #expect(throws: MosquittoError.self) { try await probe.greeting().get() }
    #expect(error?.reason == .noAnswer)
  }

  @Test("What is published has arrived when the broker has taken it; what it refuses is named") func publish()
    async throws
  {
    let broker = try broker()
    let listener = try await TestSubscriber.start(broker, user: "threadkeeper", "threadkeeper/#")
    let own = Publication(topic: "threadkeeper/in/hub/announce", payload: [1], retain: true, token: 1)
    let others = Publication(topic: "threadkeeper/bridge/state", payload: [1], token: 2)
    #expect(await probe(broker, user: "hub").publish([own]) == nil)
    let error = await probe(broker, user: "hub").publish([own, others])
    #expect(error?.reason == .notAuthorized)
    #expect(await probe(broker, user: nil).publish([own])?.reason == .credentials)
    try await listener.wait { $0.count == 2 }
    #expect(listener.messages.allSatisfy { $0.topic == own.topic })
    let late = try await TestSubscriber.start(broker, user: "threadkeeper", "threadkeeper/#")
    try await late.wait { $0.map(\.topic) == [own.topic] && $0.allSatisfy(\.isRetained) }
  }

  @Test("Whether a broker keeps a session while its client is away is found out") func session() async throws {
    let real = try broker()
    #expect(try await probe(real).keepsSession().get())
    let error = await #expect(throws: MosquittoError.self) { try await probe(real, user: nil).keepsSession().get() }
    #expect(error?.reason == .credentials)
    let forgetful = try FakeBroker()
    forgetful.change { $0.sessionPresent = false }
    let other = BrokerProbe(
      MosquittoConfiguration(host: "127.0.0.1", port: forgetful.port, clientID: "threadkeeper"), within: .seconds(60))
    #expect(try await other.keepsSession().get() == false)
    let ids = forgetful.events.compactMap {
      if case .connected(let id, let cleanStart) = $0, !cleanStart { id } else { nil }
    }
    #expect(ids.count == 2 && Set(ids).count == 1)
  }

  @Test("What a broker does not offer is known from its answer") func offers() async throws {
    let broker = try TestBroker(receiveMaximum: 7, extraConfiguration: ["max_packet_size 100000"])
    let session = try await probe(broker, user: nil).greeting().get()
    #expect(session.maximumPacketSize == 100_000 && session.serverReceiveMaximum == 7)
  }
}

extension ProbeOutcome {
  fileprivate var refusal: MosquittoError? { if case .refused(let error) = self { error } else { nil } }
}
