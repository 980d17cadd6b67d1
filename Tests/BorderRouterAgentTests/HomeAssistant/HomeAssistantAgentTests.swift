// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import SodiumCrypto
import Synchronization
import TestKit
import Testing
import ThreadDataset

@testable import BorderRouterAgent

/// The agent between a Home Assistant and a real broker, with a daemon that the test plays.
@Suite("The agent of Home Assistant", .timeLimit(.minutes(10)))
struct HomeAssistantAgentTests {
  private let broker: TestBroker
  private let fake: FakeHomeAssistant
  private let log = RecordingLog()
  private let home = SampleNetwork.home
  private let topic = "threadkeeper/in/ha/credentials"

  init() throws {
    broker = try TestBroker(persistence: true)
    fake = try FakeHomeAssistant()
  }

  private func configuration(
    _ keys: AgentKeys? = nil, token: @escaping @Sendable () -> String = { "a-long-lived-token" }
  ) throws -> HomeAssistantConfiguration {
    var login = AgentLogin(
      base: "threadkeeper", user: "ha", broker: broker.configuration(clientID: "", user: "ha"))
    login.keys = keys
    var configuration = HomeAssistantConfiguration(
      login, address: try #require(HomeAssistantAddress(fake.url))
    ) { () throws(HomeAssistantTrouble) in SecretBytes(copying: token().utf8) }
    configuration.poll = .milliseconds(100)
    configuration.users = [getuid()]
    return configuration
  }

  /// Runs the agent for as long as `body`.
  private func run(
    _ configuration: HomeAssistantConfiguration, _ body: () async throws -> Void
  ) async throws {
    let agent = Agent(configuration, logger: log.logger)
    let task = Task { try await agent.run() }
    do {
      try await body()
    } catch {
      agent.stop()
      _ = await task.result
      throw error
    }
    agent.stop()
    try await task.value
  }

  private func object(_ payload: [UInt8]) throws -> [String: String] {
    let value = try JSONSerialization.jsonObject(with: Data(payload))
    return try #require(value as? [String: Any]).mapValues { "\($0)" }
  }

  private func events(_ subscriber: TestSubscriber) -> [IncomingMessage] {
    subscriber.messages.filter { $0.topic == topic }
  }

  @Test("What is there, what is added and what changes is published, with all fields")
  func published() async throws {
    let subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/#")
    let dataset = try home.dataset(at: 1)
    fake.add(dataset, isPreferred: true, borderAgent: "230c6a1ac57f6f4be262acf32e5ef52c")
    try await run(configuration()) {
      try await subscriber.wait { !$0.isEmpty }
      let first = try #require(events(subscriber).first)
      var fields = try object(first.payload)
      #expect(fields.removeValue(forKey: "seq").flatMap { UInt64($0) } != nil)
      #expect(
        fields == [
          "dataset": dataset.hex, "border_agent_id": "230c6a1ac57f6f4be262acf32e5ef52c",
          "preferred": "1", "name": "Home Assistant",
        ])
      #expect(first.qos == 1 && !first.isRetained)
      #expect(first.responseTopic == "threadkeeper/out/ha/response/event/home-assistant")
      let guest = fake.add(try SampleNetwork.guest.dataset(at: 1))
      try await subscriber.wait { _ in events(subscriber).count == 2 }
      #expect(try object(events(subscriber)[1].payload)["preferred"] == "0")
      fake.prefer(guest)
      try await subscriber.wait { _ in events(subscriber).count == 4 }
      // Deleted there: nothing.
      fake.delete(guest)
      let count = fake.commands.count
      try await eventually { fake.commands.count > count + 2 }
      #expect(events(subscriber).count == 4)
    }
    #expect(!log.lines.contains { $0.contains(home.networkKey) || $0.contains("token") })
  }

  @Test("With keys it is sealed to the daemon, and signed")
  func sealed() async throws {
    let (own, daemon) = (try Identity(), try Identity())
    let subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/#")
    fake.add(try home.dataset(at: 1))
    try await run(configuration(AgentKeys(own: own, daemon: daemon.keys))) {
      try await subscriber.wait { !$0.isEmpty }
    }
    let payload = try #require(events(subscriber).first?.payload)
    let outside = try #require(
      try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
    #expect(Array(outside.keys) == ["sealed"])
    let opened = try Envelope.open(
      Array(JSONSerialization.data(withJSONObject: try #require(outside["sealed"]))), with: daemon,
      from: [own.keys], topic: topic, now: Int64(Date().timeIntervalSince1970))
    #expect(try object(opened.body)["dataset"] == home.dataset(at: 1).hex)
  }

  @Test("After a broken connection to the broker only what is new is published")
  func again() async throws {
    // Its session outlives the connection, so that it misses nothing.
    let subscriber = TestSubscriber(
      broker.configuration(clientID: "subscriber", "threadkeeper/in/#"))
    let publisher = try await TestPublisher.start(broker)
    try await eventually {
      try await publisher.publish([Publication(topic: "threadkeeper/in/other", payload: [])])
      return !subscriber.messages.isEmpty
    }
    fake.add(try home.dataset(at: 1))
    try await run(configuration()) {
      try await subscriber.wait { _ in events(subscriber).count == 1 }
      broker.stop()
      try await eventually { log.levels.contains(.warning) }
      fake.add(try SampleNetwork.guest.dataset(at: 1))
      try broker.start()
      try await subscriber.wait { _ in events(subscriber).count > 1 }
      let count = fake.commands.count
      try await eventually { fake.commands.count > count + 2 }
    }
    // The broker may send one twice.
    #expect(Set(events(subscriber).map(\.correlationData)).count == 2)
  }

  @Test("A rejection is logged with its reason, once")
  func rejected() async throws {
    let subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/#")
    let daemon = try await TestPublisher.start(broker)
    fake.add(try home.dataset(at: 1))
    try await run(configuration()) {
      try await subscriber.wait { !$0.isEmpty }
      let event = try #require(events(subscriber).first)
      try await daemon.publish([
        Publication(
          topic: try #require(event.responseTopic),
          payload: Array(
            #"{"error":{"code":"too_many_networks","message":"there are 32"},"status":"error","v":1}"#
              .utf8), correlationData: event.correlationData)
      ])
      try await eventually {
        log.lines.contains { $0.contains("(too_many_networks): there are 32") }
      }
      let count = fake.commands.count
      try await eventually { fake.commands.count > count + 2 }
      #expect(events(subscriber).count == 1)
    }
  }

  @Test("A token that was refused is not tried again, until there is another one")
  func refusedToken() async throws {
    let subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/#")
    fake.add(try home.dataset(at: 1))
    let shared = SharedText()
    try await run(configuration(token: { shared.value.withLock { $0 } })) {
      try await eventually { log.lines.contains { $0.contains("does not accept the token") } }
      #expect(fake.logins == 1)
      shared.value.withLock { $0 = "a-long-lived-token" }
      try await subscriber.wait { !$0.isEmpty }
      try await eventually { log.lines.contains { $0.contains("it answers again") } }
    }
    #expect(log.lines.count { $0.contains("does not accept the token") } == 1)
  }

  private final class SharedText: Sendable {
    let value = Mutex("another")
  }

  @Test("Without a connection to the broker Home Assistant is not asked")
  func withoutBroker() async throws {
    fake.add(try home.dataset(at: 1))
    broker.stop()
    try await run(configuration()) {
      try await eventually { log.levels.contains(.warning) }
      #expect(fake.logins == 0)
      try broker.start()
      try await eventually { log.lines.contains { $0.contains("is published") } }
    }
  }

  @Test("What is not read in the time of a look is read with the next one")
  func lookLimit() async throws {
    for network in [home, .guest] { fake.add(try network.dataset(at: 1)) }
    var configuration = try configuration()
    configuration.lookLimit = .zero
    try await run(configuration) {
      try await eventually(within: .seconds(60)) {
        log.lines.count { $0.contains("is published") } == 2
      }
    }
    let list = "thread/list_datasets"
    #expect(
      fake.commands.prefix(4) == [list, "thread/get_dataset_tlv", list, "thread/get_dataset_tlv"])
  }

  // MARK: Writing

  /// What the daemon knows and answers.
  private struct Daemon {
    let identity: Identity
    let client: PublicIdentity
    let publisher: TestPublisher

    func answer(_ request: IncomingMessage, _ payload: [UInt8]) async throws {
      try await publisher.publish([
        Publication(
          topic: try #require(request.responseTopic), payload: payload,
          correlationData: request.correlationData)
      ])
    }

    func lists(_ request: IncomingMessage, _ network: SampleNetwork, at seconds: Int) async throws {
      let entry =
        #"{"ext_pan_id":"\#(network.extendedPANID)","preferred":true,"active_timestamp":\#(seconds)}"#
      try await answer(
        request, Array(#"{"data":{"networks":[\#(entry)]},"status":"ok","v":1}"#.utf8))
    }

    func gives(_ request: IncomingMessage, _ dataset: OperationalDataset) async throws {
      let transaction = String(decoding: request.correlationData ?? [], as: UTF8.self)
      let envelope = try Envelope.seal(
        Array(#"{"credentials":[{"dataset":"\#(dataset.hex)"}]}"#.utf8), to: client, from: identity,
        at: .init(
          topic: try #require(request.responseTopic), order: .identifier(transaction),
          now: Int64(Date().timeIntervalSince1970), lifetime: 30))
      try await answer(
        request,
        Array(#"{"data":{"sealed":"#.utf8) + envelope + Array(#"},"status":"ok","v":1}"#.utf8))
    }
  }

  @Test("That threadkeeper never answers is logged once")
  func unansweredLists() async throws {
    let (own, identity) = (try Identity(), try Identity())
    var configuration = try configuration(AgentKeys(own: own, daemon: identity.keys))
    configuration.writes = true
    configuration.silence = .milliseconds(300)
    try await run(configuration) {
      try await eventually { log.lines.contains { $0.contains("(no_answer)") } }
      let count = fake.commands.count
      try await eventually { fake.commands.count > count + 8 }
    }
    #expect(log.lines.count { $0.contains("(no_answer)") } == 1)
  }

  @Test("After a look with trouble the home is not asked")
  func troubledLook() async throws {
    let (own, identity) = (try Identity(), try Identity())
    let subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/ha/request/#")
    var configuration = try configuration(AgentKeys(own: own, daemon: identity.keys))
    configuration.writes = true
    try await run(configuration) {
      try await subscriber.wait { !$0.isEmpty }
      fake.refuse("thread/list_datasets", "unknown_error")
      try await eventually { log.lines.contains { $0.contains("(unknown_error)") } }
      let count = fake.commands.count
      try await eventually { fake.commands.count > count }
    }
    // One for each look but the last two.
    #expect(subscriber.messages.count <= fake.commands.count - 2)
  }

  @Test("A request that the broker refuses is logged once")
  func refusedRequests() async throws {
    let directory = try TemporaryDirectory()
    try """
    topic readwrite #
    user ha
    topic readwrite threadkeeper/#
    topic deny threadkeeper/in/+/request/#
    """.write(toFile: directory.file("acl"), atomically: true, encoding: .utf8)
    let broker = try TestBroker(extraConfiguration: ["acl_file \(directory.file("acl"))"])
    let (own, identity) = (try Identity(), try Identity())
    var configuration = try configuration(AgentKeys(own: own, daemon: identity.keys))
    configuration.login.broker = broker.configuration(clientID: "", user: "ha")
    configuration.writes = true
    try await run(configuration) {
      try await eventually { log.lines.contains { $0.contains("(refused): the broker") } }
      let count = fake.commands.count
      try await eventually { fake.commands.count > count + 3 }
    }
    #expect(log.levels.count { $0 == .warning } == 1)
  }

  @Test(
    "An older dataset of the preferred network is replaced after a yes, and a person is not asked again"
  )
  func replacesOlder() async throws {
    let (own, identity) = (try Identity(), try Identity())
    let subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/#")
    let daemon = Daemon(
      identity: identity, client: own.keys, publisher: try await TestPublisher.start(broker))
    fake.add(try home.dataset(at: 1), isPreferred: true)
    var configuration = try configuration(AgentKeys(own: own, daemon: identity.keys))
    configuration.writes = true
    func requests(_ command: String) -> [IncomingMessage] {
      subscriber.messages.filter { $0.topic == "threadkeeper/in/ha/request/\(command)" }
    }
    try await run(configuration) {
      var answered = 0
      func lists(until condition: () -> Bool) async throws {
        try await eventually {
          if let last = requests("networks/list").last, requests("networks/list").count > answered {
            answered = requests("networks/list").count
            try await daemon.lists(last, home, at: 5)
          }
          return condition()
        }
      }
      try await lists { !requests("preferred/get").isEmpty }
      try await daemon.gives(
        try #require(requests("preferred/get").last), try home.dataset(at: 5))
      try await eventually { log.lines.contains { $0.contains("it prefers the home's network") } }
      let count = answered
      try await lists { answered > count + 4 }
      #expect(requests("preferred/get").count == 1)
    }
    #expect(fake.datasets[home.extendedPANID] == (try home.dataset(at: 5)).hex)
  }

  @Test("A denial outlives the agent, in a file")
  func remembersDenial() async throws {
    let directory = try TemporaryDirectory()
    var configuration = try configuration()
    configuration.deniedFile = directory.file("denied")
    #expect(configuration.denied == nil)
    try configuration.remember("1111111122222222 5 - -")
    #expect(configuration.denied == "1111111122222222 5 - -")
    var other = configuration
    other.address = try #require(HomeAssistantAddress("http://ha.local"))
    #expect(other.denied == nil)
    try configuration.remember(nil)
    #expect(configuration.denied == nil)
  }

  @Test("With --write, what a person agrees to is added and preferred there; nothing is deleted")
  func writes() async throws {
    let (own, identity) = (try Identity(), try Identity())
    let subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/#")
    let daemon = Daemon(
      identity: identity, client: own.keys, publisher: try await TestPublisher.start(broker))
    let dataset = try home.dataset(at: 5)
    fake.add(try SampleNetwork.guest.dataset(at: 1), isPreferred: true)
    fake.add(try home.dataset(at: 1))
    var configuration = try configuration(AgentKeys(own: own, daemon: identity.keys))
    configuration.writes = true
    func requests(_ command: String) -> [IncomingMessage] {
      subscriber.messages.filter { $0.topic == "threadkeeper/in/ha/request/\(command)" }
    }
    try await run(configuration) {
      try await eventually { !requests("networks/list").isEmpty }
      var answered = 0
      try await eventually {
        if let last = requests("networks/list").last, requests("networks/list").count > answered {
          answered = requests("networks/list").count
          try await daemon.lists(last, home, at: 5)
        }
        return !requests("preferred/get").isEmpty
      }
      #expect(fake.preferred == SampleNetwork.guest.extendedPANID)
      try await daemon.gives(try #require(requests("preferred/get").last), dataset)
      try await eventually { fake.preferred == home.extendedPANID }
      #expect(fake.datasets[home.extendedPANID] == dataset.hex && fake.datasets.count == 2)
      try await eventually { log.lines.contains { $0.contains("it prefers the home's network") } }
      // In step now: the list is asked for, and nothing else.
      answered = requests("networks/list").count
      try await eventually { requests("networks/list").count > answered }
      try await daemon.lists(try #require(requests("networks/list").last), home, at: 5)
      answered = requests("networks/list").count
      try await eventually { requests("networks/list").count > answered + 1 }
      #expect(requests("preferred/get").count == 1)
    }
    #expect(!fake.commands.contains { $0.contains("delete") })
    #expect(!log.lines.contains { $0.contains(dataset.hex) || $0.contains(home.networkKey) })
  }

  @Test(
    "Where Home Assistant keeps another dataset of the network, that is said, and it is not preferred"
  )
  func keepsAnother() async throws {
    let (own, identity) = (try Identity(), try Identity())
    let subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/#")
    let daemon = Daemon(
      identity: identity, client: own.keys, publisher: try await TestPublisher.start(broker))
    // The same age, another key.
    fake.add(
      try home.with { $0.networkKey = SampleNetwork.guest.networkKey }.dataset(at: 5))
    var configuration = try configuration(AgentKeys(own: own, daemon: identity.keys))
    configuration.writes = true
    func requests(_ command: String) -> [IncomingMessage] {
      subscriber.messages.filter { $0.topic == "threadkeeper/in/ha/request/\(command)" }
    }
    try await run(configuration) {
      var answered = 0
      try await eventually {
        if let last = requests("networks/list").last, requests("networks/list").count > answered {
          answered = requests("networks/list").count
          try await daemon.lists(last, home, at: 5)
        }
        return !requests("preferred/get").isEmpty
      }
      try await daemon.gives(
        try #require(requests("preferred/get").last), try home.dataset(at: 5))
      try await eventually { log.lines.contains { $0.contains("it keeps another dataset") } }
      #expect(fake.preferred == nil)
      // Home Assistant would log both, with their keys.
      #expect(!fake.commands.contains("thread/add_dataset_tlv"))
    }
  }
}
