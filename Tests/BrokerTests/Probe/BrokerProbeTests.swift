// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@testable import Broker

@Suite("A probe of a broker")
struct BrokerProbeTests {
  private typealias Version = MosquittoConfiguration.ProtocolVersion
  private static let base = "threadkeeper"

  private func broker(extra: [String] = []) throws -> TestBroker {
    try TestBroker(
      logins: [
        .init("threadkeeper", role: .daemon), .init("hub"), .init("monitor", role: .monitor),
      ], extraConfiguration: extra)
  }

  private func probe(
    _ broker: TestBroker, _ version: MosquittoConfiguration.ProtocolVersion = .v5,
    user: String? = "threadkeeper"
  ) -> BrokerProbe {
    var connection = broker.configuration(clientID: "threadkeeper", user: user)
    connection.protocolVersion = version
    return BrokerProbe(connection, within: .seconds(60))
  }

  private func others(_ client: AccessReport.Client?) throws -> AccessReport.Others {
    var first: AccessReport.Others?
    if case .admitted(let homes)? = client { first = homes.first }
    return try #require(first, "not admitted: \(String(describing: client))")
  }

  @Test(
    "With the access list the daemon's login publishes and reads back everywhere, in both versions",
    arguments: [Version.v5, .v311])
  func own(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try broker()
    let report = try await probe(broker, version).access(to: [Self.base]).get()
    #expect(report.own.map(\.outcome) == .init(repeating: .delivered, count: 6))
    #expect(report.own.map(\.topic.group) == ProbeTopic.Group.allCases)
    #expect(report.refusedFilters.isEmpty && report.retained.isEmpty)
    #expect(report.session.protocolVersion == version)
    #expect(report.session.maximumQoS == 2 && report.session.areWildcardsAvailable)
    if version == .v5 { #expect(report.session.serverReceiveMaximum == 1000) }
    #expect(report.values["$SYS/broker/version"]?.contains("mosquitto") == true)
    guard case .refused(let error) = report.anonymous else {
      Issue.record("anonymous clients are let in")
      return
    }
    #expect(error.reason == .credentials)
    #expect(report.other == nil)
  }

  @Test(
    "With the access list another login speaks for itself, and reads and writes nothing of others",
    arguments: [Version.v5, .v311])
  func other(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try broker()
    let report = try await probe(broker, version).access(
      to: [Self.base], other: ("hub", broker.broker.password(of: "hub"))
    ).get()
    let hub = try others(report.other)
    #expect(hub.speaksForItself == .delivered && hub.readsOwnAnswers == .delivered)
    #expect(hub.readsAnswers == .lost && hub.readsEvents == .lost)
    #expect(hub.writesAnswers.isDelivered == false)
    #expect(hub.speaksForOthers.isDelivered == false)
    #expect(hub.publishesStates.isDelivered == false)
    if version == .v5, case .refused(let error) = hub.speaksForOthers {
      #expect(error.reason == .notAuthorized)
    } else {
      #expect(version == .v311 && hub.speaksForOthers == .lost)
    }
  }

  @Test(
    "Without an access list everybody reads answers and speaks for others, with a login and without",
    arguments: [Version.v5, .v311])
  func open(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try TestBroker()
    let report = try await probe(broker, version, user: nil).access(
      to: [Self.base], other: ("hub", "any")
    ).get()
    for client in [try others(report.anonymous), try others(report.other)] {
      #expect(client.readsAnswers == .delivered && client.readsEvents == .delivered)
      #expect(client.speaksForOthers == .delivered && client.publishesStates == .delivered)
      #expect(client.writesAnswers == .delivered)
    }
    #expect(try others(report.anonymous).speaksForItself == nil)
  }

  @Test("A login that may write nothing has each topic reported, and nothing is proven of others")
  func narrow() async throws {
    let broker = try broker()
    let report = try await probe(broker, user: "monitor").access(
      to: [Self.base], other: ("hub", broker.broker.password(of: "hub"))
    ).get()
    for own in report.own {
      guard case .refused(let error) = own.outcome else {
        Issue.record("\(own.topic.text): \(own.outcome)")
        continue
      }
      #expect(error.reason == .notAuthorized && error.message.contains(own.topic.text))
    }
    let hub = try others(report.other)
    #expect(hub.speaksForOthers.isDelivered == nil && hub.readsAnswers.isDelivered == nil)
  }

  @Test("It says what the broker keeps below `in/`, and of which routers")
  func retained() async throws {
    let broker = try broker()
    let publisher = try await TestPublisher.start(broker, user: "threadkeeper")
    for topic in ["in/hub/announce", "router/a1b2c3d4e5f60718/availability", "bridge/state"] {
      try await publisher.publish("\(Self.base)/\(topic)", "online", retain: true)
    }
    let report = try await probe(broker).access(to: [Self.base]).get()
    #expect(
      report.retained == [
        "threadkeeper/in/hub/announce", "threadkeeper/router/a1b2c3d4e5f60718/availability",
      ])
  }

  @Test(
    "What the broker keeps of another program is not noted, also where the daemon reads its topics",
    arguments: [Version.v5, .v311])
  func retainedOfOthers(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try TestBroker()
    let publisher = try await TestPublisher.start(broker)
    for topic in [
      "zigbee2mqtt/lamp/availability", "zigbee2mqtt/router/1/availability",
      "\(Self.base)/router/1/2/availability", "\(Self.base)/in/hub/availability",
    ] {
      try await publisher.publish(topic, "online", retain: true)
    }
    let report = try await probe(broker, version, user: nil).access(
      to: [Self.base], filters: ["zigbee2mqtt/#", "\(Self.base)/router/#"]
    ).get()
    #expect(report.retained == ["\(Self.base)/in/hub/availability"])
  }

  @Test("Another login does not come with the daemon's certificate")
  func certificate() async throws {
    let certificates = try TestCertificates()
    let port = try UnusedPort.next()
    let broker = try TestBroker(extraConfiguration: [
      "listener \(port) 127.0.0.1", "cafile \(certificates.authority)",
      "certfile \(certificates.server)", "keyfile \(certificates.serverKey)",
      "require_certificate true",
    ])
    var probe = probe(broker, user: nil)
    probe.connection.port = port
    probe.connection.tls = .init(
      caFile: certificates.authority, certificateFile: certificates.client,
      keyFile: certificates.clientKey)
    let report = try await probe.access(to: [Self.base], other: ("hub", "any")).get()
    #expect(report.own.allSatisfy { $0.outcome == .delivered })
    for client in [report.anonymous, try #require(report.other)] {
      guard case .refused(let error) = client else {
        Issue.record("let in: \(client)")
        continue
      }
      #expect([.tlsClientCertificate, .closedByBroker].contains(error.reason), "\(error)")
    }
    let other = probe.connection.asAnother("hub", "any")
    #expect(other.tls == .init(caFile: certificates.authority) && other.username == "hub")
  }

  @Test("It retains nothing, and a client with the daemon's client ids keeps its connection")
  func noTraces() async throws {
    let broker = try broker()
    let daemon = TestClient(
      broker.configuration(clientID: "threadkeeper", user: "threadkeeper", "threadkeeper/#"))
    try await daemon.ready()
    _ = try await probe(broker).access(to: [Self.base]).get()
    let later = try await TestSubscriber.start(broker, user: "threadkeeper", "threadkeeper/#")
    try await TestPublisher.start(broker, user: "threadkeeper").publish("threadkeeper/x", "last")
    try await later.wait { $0.contains { $0.topic == "threadkeeper/x" } }
    #expect(later.messages.allSatisfy { !$0.isRetained })
    #expect(daemon.handler.record.disconnections.isEmpty)
    let heard = Set(daemon.handler.messages.map(\.topic))
    #expect(heard.allSatisfy { $0.hasSuffix("/probe") || $0 == "threadkeeper/x" }, "\(heard)")
    try await daemon.stop()
  }

  @Test("Each home is tried by itself")
  func homes() async throws {
    let broker = try broker()
    let report = try await probe(broker).access(to: [Self.base, "elsewhere"]).get()
    #expect(report.own.count == 12)
    for own in report.own {
      #expect((own.outcome == .delivered) == (own.topic.base == Self.base), "\(own.topic.text)")
    }
  }

  @Test("Why the broker is not reached is said in words")
  func notReached() async throws {
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
      guard case .failure(let error) = await probe.greeting() else {
        Issue.record("reached, instead of \(reason)")
        continue
      }
      #expect(error.reason == reason && !error.message.isEmpty)
      guard case .failure(let again) = await probe.access(to: [Self.base]) else {
        Issue.record("reached, instead of \(reason)")
        continue
      }
      #expect(again.reason == reason)
    }
    #expect(try await probe(broker).greeting().get().maximumQoS == 2)
  }

  @Test("A broker that takes the connection and says nothing is given up at the limit")
  func silence() async throws {
    var behaviour = FakeBroker.Behaviour()
    behaviour.connectCode = nil
    let broker = try FakeBroker(behaviour)
    let probe = BrokerProbe(
      MosquittoConfiguration(host: "127.0.0.1", port: broker.port, clientID: "threadkeeper"),
      within: .milliseconds(300))
    guard case .failure(let error) = await probe.greeting() else {
      Issue.record("reached")
      return
    }
    #expect(error.reason == .noAnswer)
    broker.stop()
  }

  @Test("What is published has arrived when the broker has taken it; what it refuses is named")
  func publish() async throws {
    let broker = try broker()
    let listener = try await TestSubscriber.start(broker, user: "threadkeeper", "threadkeeper/#")
    let own = Publication(
      topic: "threadkeeper/in/hub/announce", payload: [1], retain: true, token: 1)
    let others = Publication(topic: "threadkeeper/bridge/state", payload: [1], token: 2)
    #expect(await probe(broker, user: "hub").publish([own]) == nil)
    let error = await probe(broker, user: "hub").publish([own, others])
    #expect(error?.reason == .notAuthorized)
    #expect(await probe(broker, user: nil).publish([own])?.reason == .credentials)
    try await listener.wait { $0.count == 2 }
    #expect(listener.messages.allSatisfy { $0.topic == own.topic })
    let late = try await TestSubscriber.start(broker, user: "threadkeeper", "threadkeeper/#")
    try await late.wait { $0.map(\.topic) == [own.topic] && $0.allSatisfy(\.isRetained) }
    try await listener.stop()
    try await late.stop()
  }

  @Test("Whether a broker keeps a session while its client is away is found out")
  func session() async throws {
    let real = try broker()
    #expect(try await probe(real).keepsSession().get())
    guard case .failure(let error) = await probe(real, user: nil).keepsSession() else {
      Issue.record("reached without a login")
      return
    }
    #expect(error.reason == .credentials)
    var behaviour = FakeBroker.Behaviour()
    behaviour.sessionPresent = false
    let forgetful = try FakeBroker(behaviour)
    let probe = BrokerProbe(
      MosquittoConfiguration(host: "127.0.0.1", port: forgetful.port, clientID: "threadkeeper"),
      within: .seconds(60))
    #expect(try await probe.keepsSession().get() == false)
    let ids = forgetful.events.compactMap {
      if case .connected(let id, let cleanStart) = $0, !cleanStart { id } else { nil }
    }
    #expect(ids.count == 2 && Set(ids).count == 1)
    forgetful.stop()
  }

  @Test("What a broker does not offer is known from its answer")
  func offers() async throws {
    let broker = try TestBroker(
      receiveMaximum: 7, extraConfiguration: ["max_packet_size 100000"])
    let session = try await probe(broker, user: nil).greeting().get()
    #expect(session.maximumPacketSize == 100_000 && session.serverReceiveMaximum == 7)
  }
}
