import Broker
import Foundation
import SodiumCrypto
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests
import Wire

@testable import BorderRouterAgent

/// The agent between a Home Assistant and a real broker, with a daemon that the test plays.
@Suite("The agent of Home Assistant", .timeLimit(.minutes(10))) struct HomeAssistantAgentTests {
  private let broker: TestBroker
  private let fake: FakeHomeAssistant
  private let subscriber: TestSubscriber
  private let log = RecordingLog()
  private let home = SampleNetwork.home
  private let topic = "threadkeeper/in/ha/credentials"
  private let left = "threadkeeper/in/ha/leave"

  init() async throws {
    broker = try TestBroker(persistence: true)
    fake = try FakeHomeAssistant()
    // Its session outlives a connection, so that it misses nothing.
    subscriber = TestSubscriber(broker.configuration(clientID: "subscriber", "threadkeeper/in/#"))
    let publisher = try await TestPublisher.start(broker)
    try await eventually {
      try await publisher.publish("threadkeeper/in/other", "")
      return !subscriber.messages.isEmpty
    }
  }

  private func configuration(
    _ keys: AgentKeys? = nil, writes: Bool = false, token: @escaping @Sendable () -> String = { "a-long-lived-token" }
  ) throws -> HomeAssistantConfiguration {
    var login = AgentLogin(base: "threadkeeper", user: "ha", broker: broker.configuration(clientID: "", user: "ha"))
    login.keys = keys
    var configuration = HomeAssistantConfiguration(login, address: try #require(HomeAssistantAddress(fake.url))) {
      () throws(HomeAssistantTrouble) in SecretBytes(copying: token().utf8)
    }
    configuration.poll = .milliseconds(20)
    configuration.writes = writes
    configuration.users = [getuid()]
    return configuration
  }

  /// Runs the agent for as long as `body`.
  private func run(_ configuration: HomeAssistantConfiguration, _ body: () async throws -> Void) async throws {
    let agent = Agent(configuration, logger: log.logger)
    try await agent.run(during: body)
  }

  /// Returns after so many more commands.
  private func more(_ commands: Int) async throws {
    let count = fake.commands.count
    try await eventually { fake.commands.count > count + commands }
  }

  private func logged(_ text: String) async throws {
    try await eventually("\(text) in the log") { log.lines.contains { $0.contains(text) } }
  }

  /// Whether it can do its work.
  private func reported(_ event: String) async throws {
    try await eventually("\(event) of the agent") {
      subscriber.messages.contains { $0.topic == "threadkeeper/in/ha/\(event)" }
    }
  }

  private func object(_ payload: [UInt8]) throws -> [String: String] {
    let value = try JSONSerialization.jsonObject(with: Data(payload))
    return try #require(value as? [String: Any]).mapValues { "\($0)" }
  }

  private var events: [IncomingMessage] { subscriber.messages.filter { $0.topic == topic } }

  private func received(_ count: Int) async throws { try await eventually("\(count) events") { events.count == count } }

  @Test("What is there, what is added and what changes is published, with all fields") func published() async throws {
    let dataset = try home.dataset(at: 1)
    fake.add(dataset, isPreferred: true, borderAgent: "230c6a1ac57f6f4be262acf32e5ef52c")
    try await run(configuration()) {
      try await received(1)
      let first = try #require(events.first)
      var fields = try object(first.payload)
      #expect(fields.removeValue(forKey: "seq").flatMap { UInt64($0) } != nil)
      #expect(
        fields == [
          "dataset": dataset.hex, "border_agent_id": "230c6a1ac57f6f4be262acf32e5ef52c", "preferred": "1",
          "name": "Home Assistant",
        ])
      #expect(first.qos == 1 && !first.isRetained)
      #expect(first.responseTopic == "threadkeeper/out/ha/response/event/home-assistant")
      let guest = fake.add(try SampleNetwork.guest.dataset(at: 1))
      try await received(2)
      #expect(try object(events[1].payload)["preferred"] == "0")
      fake.prefer(guest)
      try await received(4)
      fake.prefer("")
      try await received(5)
      fake.delete(guest)
      try await eventually("that it is gone") { subscriber.messages.contains { $0.topic == left } }
      let gone = try #require(subscriber.messages.first { $0.topic == left })
      #expect(try object(gone.payload)["ext_pan_id"] == SampleNetwork.guest.extendedPANID)
      #expect(events.count == 5)
    }
    #expect(!log.lines.contains { $0.contains(home.networkKey) || $0.contains("token") })
  }

  @Test("Border routers that Home Assistant sees are published by the name of the agent, as many as an event can hold")
  func sightings() async throws {
    var configuration = try configuration()
    configuration.quiet = .milliseconds(100)
    func seen() throws -> [[[String: Any]]] {
      try subscriber.messages.filter { $0.topic == "threadkeeper/in/ha/sightings" }.map { message in
        let event = try #require(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
        #expect(event["agent"] as? String == "home_assistant \(fake.url)")
        return try #require(event["routers"] as? [[String: Any]])
      }
    }
    fake.see([FakeHomeAssistant.router("0011223344556677", ["network_name": "home"])])
    try await run(configuration) {
      try await eventually("the router") { try seen().last?.count == 1 }
      #expect(try seen().last?.first?["ext_address"] as? String == "0011223344556677")
      fake.see([FakeHomeAssistant.gone("0011223344556677")])
      try await eventually("none") { try seen().last?.isEmpty == true }
      let long = ["network_name": "a longer network", "vendor_name": String(repeating: "v", count: 64)]
      fake.see((1...200).map { FakeHomeAssistant.router(String(format: "%016x", $0), long) })
      try await eventually("the first ones") { try seen().last?.isEmpty == false }
      #expect(try seen().last?.count ?? 0 > 20)
      #expect(subscriber.messages.allSatisfy { $0.payload.count <= InboundLimits.payloadBytes })
    }
    #expect(log.levels.allSatisfy { $0 < .warning })
  }

  @Test("Border routers are looked for also between two lists that are long apart") func sightingsBetweenLists()
    async throws
  {
    var configuration = try configuration()
    configuration.poll = .seconds(3_600)
    configuration.sightingInterval = .milliseconds(20)
    configuration.quiet = .milliseconds(100)
    func sees(_ address: String) -> Bool {
      subscriber.messages.contains {
        $0.topic.hasSuffix("/sightings") && String(decoding: $0.payload, as: UTF8.self).contains(address)
      }
    }
    try await run(configuration) {
      for address in (1...4).map({ String(format: "%016x", $0) }) {
        fake.see([FakeHomeAssistant.router(address, ["network_name": "home"])])
        try await eventually("the router \(address)") { sees(address) }
      }
    }
    #expect(fake.commands.count { $0 == "thread/list_datasets" } <= 2)
  }

  @Test("A list that became due during a look is read soon, and not an interval later") func overdueList() throws {
    var configuration = try configuration()
    configuration.poll = .seconds(60)
    let now = Duration.seconds(1_000)
    let cases: [(listed: Duration?, isConnected: Bool, pause: Duration)] = [
      (nil, true, .seconds(60)), (.seconds(997), true, .seconds(57)), (.seconds(937), true, .seconds(1)),
      (.seconds(937), false, .seconds(60)),
    ]
    for (listed, isConnected, pause) in cases {
      #expect(configuration.pause(listed: listed, at: now, isConnected: isConnected) == pause)
    }
    // Border routers are looked for between two lists that are long apart.
    configuration.poll = .seconds(3_600)
    #expect(configuration.pause(listed: now, at: now, isConnected: true) == .seconds(60))
    configuration.poll = .milliseconds(20)
    #expect(configuration.pause(listed: .zero, at: now, isConnected: true) == .milliseconds(20))
  }

  @Test("An event with as many border routers as it can hold fits into an envelope, too") func sealedSightings() throws
  {
    let configuration = try configuration(AgentKeys(own: Identity(), daemon: Identity().keys))
    var router = SightedRouter()
    (router.address, router.name) = (WireHex(7), String(repeating: "n", count: 63))
    let event = configuration.event(Array(repeating: router, count: 200), by: String(repeating: "a", count: 128))
    #expect(event.routers?.count ?? 0 > 20)
    var writer = configuration.login.writer
    let publication = try writer.publication(of: event, now: 1_800_000_000_000_000_000)
    #expect(publication.payload.count <= InboundLimits.payloadBytes)
  }

  @Test("After a broken connection to the broker only what is new is published") func again() async throws {
    fake.add(try home.dataset(at: 1))
    try await run(configuration()) {
      try await received(1)
      broker.stop()
      try await eventually { log.levels.contains(.warning) }
      fake.add(try SampleNetwork.guest.dataset(at: 1))
      try broker.start()
      try await eventually { events.count > 1 }
      try await more(2)
    }
    // The broker may send one twice.
    #expect(Set(events.map(\.correlationData)).count == 2)
  }

  @Test("A late answer to an earlier event about a network says nothing of the latest one") func lateAnswer()
    async throws
  {
    let daemon = try await TestPublisher.start(broker)
    let network = fake.add(try home.dataset(at: 1))
    try await run(configuration()) {
      try await received(1)
      fake.prefer(network)
      try await received(2)
      for (event, message) in zip(events, ["the first", "the latest"]) {
        let error = #"{"code":"too_many_networks","message":"\#(message)"}"#
        try await daemon.publish([
          Publication(
            topic: try #require(event.responseTopic),
            payload: Array(#"{"error":\#(error),"status":"error","v":1}"#.utf8), correlationData: event.correlationData)
        ])
      }
      try await logged("(too_many_networks): the latest")
    }
    #expect(!log.lines.contains { $0.contains("the first") })
  }

  @Test("A token that was refused is not tried again, until there is another one") func refusedToken() async throws {
    fake.add(try home.dataset(at: 1))
    let shared = SharedText()
    try await run(configuration(token: { shared.value.withLock { $0 } })) {
      try await logged("does not accept the token")
      #expect(fake.logins == 1)
      try await reported("offline")
      shared.value.withLock { $0 = "a-long-lived-token" }
      try await received(1)
      try await logged("it answers again")
      try await reported("heartbeat")
    }
    #expect(log.lines.count { $0.contains("does not accept the token") } == 1)
    let offline = try #require(subscriber.messages.first { $0.topic.hasSuffix("/offline") })
    let fields = try object(offline.payload)
    #expect(fields["agent"] == "home_assistant \(fake.url)" && fields["seq"] != nil)
    #expect(fields["reason"]?.hasPrefix("it does not accept the token; make") == true)
    #expect(offline.qos == 1 && !offline.isRetained && offline.responseTopic == nil)
  }

  private final class SharedText: Sendable { let value = Mutex("another") }

  @Test("Without a connection to the broker Home Assistant is not asked") func withoutBroker() async throws {
    fake.add(try home.dataset(at: 1))
    broker.stop()
    try await run(configuration()) {
      try await eventually { log.levels.contains(.warning) }
      #expect(fake.logins == 0)
      try broker.start()
      try await logged("is published")
    }
  }

  @Test("What is not read in the time of a look is read with the next one") func lookLimit() async throws {
    for network in [home, .guest] { fake.add(try network.dataset(at: 1)) }
    var configuration = try configuration()
    configuration.lookLimit = .zero
    try await run(configuration) {
      try await eventually(within: .seconds(60)) { log.lines.count { $0.contains("is published") } == 2 }
    }
    let list = "thread/list_datasets"
    #expect(fake.commands.prefix(4) == [list, "thread/get_dataset_tlv", list, "thread/get_dataset_tlv"])
  }

  // MARK: Writing

  /// What the daemon knows and answers.
  private final class Daemon {
    private let identity: Identity
    private let own: Identity
    private let publisher: TestPublisher
    private let subscriber: TestSubscriber
    /// Lists that were asked for, and answered.
    private(set) var answered = 0

    var keys: AgentKeys { AgentKeys(own: own, daemon: identity.keys) }

    init(at broker: TestBroker) async throws {
      (own, identity) = (try Identity(), try Identity())
      publisher = try await TestPublisher.start(broker)
      subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/ha/request/#")
    }

    /// What a person has agreed to.
    func orders(_ fields: String, id: String, lifetime: Int64 = 30, from other: Identity? = nil) async throws {
      let topic = "threadkeeper/out/ha/dataset/change"
      let envelope = try Envelope.seal(
        Array(#"{"id":"\#(id)",\#(fields)}"#.utf8), to: own.keys, from: other ?? identity,
        at: .init(topic: topic, order: .identifier(id), now: Int64(Date().timeIntervalSince1970), lifetime: lifetime))
      try await publisher.publish([
        Publication(topic: topic, payload: SealedPayload(envelope).json(), contentType: "application/json")
      ])
    }

    func requests(_ command: String) -> [IncomingMessage] {
      subscriber.messages.filter { $0.topic.hasSuffix("/request/\(command)") }
    }

    private func answer(_ request: IncomingMessage, _ data: [UInt8]) async throws {
      try await publisher.publish([
        Publication(
          topic: try #require(request.responseTopic),
          payload: Array(#"{"data":"#.utf8) + data + Array(#","status":"ok","v":1}"#.utf8),
          correlationData: request.correlationData)
      ])
    }

    /// Names a preferred network for each list, until a condition holds.
    func lists(_ network: SampleNetwork, at seconds: Int, until condition: () -> Bool) async throws {
      let entry = #"{"ext_pan_id":"\#(network.extendedPANID)","preferred":true,"active_timestamp":\#(seconds)}"#
      try await eventually {
        let requests = requests("networks/list")
        if let last = requests.last, requests.count > answered {
          answered = requests.count
          try await answer(last, Array(#"{"networks":[\#(entry)]}"#.utf8))
        }
        return condition()
      }
    }

    /// Answers lists until credentials are asked for, and gives these, as after the yes of a person.
    func gives(_ dataset: OperationalDataset, of network: SampleNetwork) async throws {
      try await lists(network, at: 5) { !requests("preferred/get").isEmpty }
      let request = try #require(requests("preferred/get").last)
      let transaction = String(decoding: request.correlationData ?? [], as: UTF8.self)
      let record = CredentialRecord(
        agent: nil, network: try #require(dataset.extendedPANID), dataset: dataset, isActive: true)
      let envelope = try Envelope.seal(
        AnswerData(credentials: [record]).json(), to: own.keys, from: identity,
        at: .init(
          topic: try #require(request.responseTopic), order: .identifier(transaction),
          now: Int64(Date().timeIntervalSince1970), lifetime: 30))
      try await answer(request, AnswerData(sealed: envelope).json())
    }
  }

  @Test("That threadkeeper never answers is logged once") func unansweredLists() async throws {
    var configuration = try configuration(await Daemon(at: broker).keys, writes: true)
    configuration.silence = .milliseconds(300)
    try await run(configuration) {
      try await logged("(no_answer)")
      try await more(8)
    }
    #expect(log.lines.count { $0.contains("(no_answer)") } == 1)
  }

  @Test("After a look with trouble the home is not asked") func troubledLook() async throws {
    let daemon = try await Daemon(at: broker)
    try await run(configuration(daemon.keys, writes: true)) {
      try await eventually { !daemon.requests("networks/list").isEmpty }
      fake.refuse("thread/list_datasets", "unknown_error")
      try await logged("(unknown_error)")
      try await more(0)
    }
    // One for each look but the last two.
    #expect(daemon.requests("networks/list").count <= fake.commands.count - 2)
  }

  @Test(
    "A request or event that the broker refuses is logged once",
    arguments: [("request/#", "(refused): the broker"), ("credentials", "the broker has rejected")]) func refused(
      _ topic: String, _ words: String
    ) async throws
  {
    fake.add(try home.dataset(at: 1))
    let directory = try TemporaryDirectory()
    try """
    topic readwrite #
    user ha
    topic readwrite threadkeeper/#
    topic deny threadkeeper/in/+/\(topic)
    """.write(toFile: directory.file("acl"), atomically: true, encoding: .utf8)
    let broker = try TestBroker(extraConfiguration: ["acl_file \(directory.file("acl"))"])
    var configuration = try configuration(await Daemon(at: broker).keys, writes: true)
    configuration.login.broker = broker.configuration(clientID: "", user: "ha")
    try await run(configuration) {
      try await logged(words)
      try await more(3)
    }
    #expect(log.levels.count { $0 == .warning } == 1)
  }

  @Test("A denial outlives the agent, in a file") func remembersDenial() async throws {
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

  @Test(
    "With --write, what a person agrees to is added, or replaces an older one, and is preferred, once",
    arguments: [true, false]) func writes(isOlder: Bool) async throws
  {
    let daemon = try await Daemon(at: broker)
    let dataset = try home.dataset(at: 5)
    fake.add(try home.dataset(at: 1), isPreferred: isOlder)
    if !isOlder { fake.add(try SampleNetwork.guest.dataset(at: 1), isPreferred: true) }
    let before = fake.preferred
    try await run(configuration(daemon.keys, writes: true)) {
      try await daemon.lists(home, at: 5) { !daemon.requests("preferred/get").isEmpty }
      #expect(fake.preferred == before)
      try await daemon.gives(dataset, of: home)
      try await logged("it prefers the home's network")
      #expect(fake.preferred == home.extendedPANID)
      // In step now: the list is asked for, and nothing else.
      let answered = daemon.answered
      try await daemon.lists(home, at: 5) { daemon.answered > answered + 4 }
      #expect(daemon.requests("preferred/get").count == 1)
    }
    #expect(fake.datasets[home.extendedPANID] == dataset.hex)
    #expect(fake.datasets.count == (isOlder ? 1 : 2))
    #expect(!fake.commands.contains { $0.contains("delete") })
    #expect(!log.lines.contains { $0.contains(dataset.hex) || $0.contains(home.networkKey) })
  }

  @Test("With --write, a network is deleted as a person has agreed, once, and that it is gone is published")
  func deletes() async throws {
    let daemon = try await Daemon(at: broker)
    let guest = SampleNetwork.guest
    fake.add(try home.dataset(at: 1), isPreferred: true)
    fake.add(try guest.dataset(at: 1))
    let delete = #""delete":true,"ext_pan_id":"\#(guest.extendedPANID)""#
    func deletions() -> Int { fake.commands.count { $0 == "thread/delete_dataset" } }
    func gone() -> Int { subscriber.messages.count { $0.topic == left } }
    try await run(configuration(daemon.keys, writes: true)) {
      try await received(2)
      // Of somebody else, and without what is to be done.
      try await daemon.orders(delete, id: "c-1", from: Identity())
      try await logged("a change that was sent is not made: ")
      try await daemon.orders(#""ext_pan_id":"\#(guest.extendedPANID)""#, id: "c-2")
      try await logged("it does not say what is to be done")
      #expect(deletions() == 0)
      // Home Assistant refuses to delete the preferred one.
      try await daemon.orders(#""delete":true,"ext_pan_id":"\#(home.extendedPANID)""#, id: "c-3")
      try await logged("(not_allowed)")
      try await daemon.orders(delete, id: "c-4")
      try await eventually("the deletion") { gone() == 1 }
      #expect(fake.datasets.keys.sorted() == [home.extendedPANID] && deletions() == 2)
      // The report may be lost: the same order is answered by it again.
      try await daemon.orders(delete, id: "c-4")
      try await eventually("that it is gone, again") { gone() == 2 }
      // It has come back, from a phone: somebody repeats the former order.
      fake.add(try guest.dataset(at: 2))
      try await received(3)
      try await daemon.orders(delete, id: "c-4")
      try await more(6)
      #expect(deletions() == 2 && fake.datasets.count == 2)
    }
    #expect(!log.lines.contains { $0.contains(guest.networkKey) })
  }

  @Test("With --write, another border agent is preferred as a person has agreed, and published") func prefersAgent()
    async throws
  {
    let daemon = try await Daemon(at: broker)
    fake.add(try home.dataset(at: 1), isPreferred: true, borderAgent: "230c6a1ac57f6f4be262acf32e5ef52c")
    let (agent, address) = ("aabb6a1ac57f6f4be262acf32e5ef52c", "0011223344556677")
    try await run(configuration(daemon.keys, writes: true)) {
      try await received(1)
      try await daemon.orders(
        #""border_agent_id":"\#(agent)","ext_address":"\#(address)","ext_pan_id":"\#(home.extendedPANID)""#, id: "c-1")
      try await received(2)
      #expect(fake.borderAgents[home.extendedPANID] == [agent, address])
    }
  }

  @Test("Without --write nothing is changed, whatever comes") func changesNothing() async throws {
    let daemon = try await Daemon(at: broker)
    fake.add(try home.dataset(at: 1))
    try await run(configuration(daemon.keys)) {
      try await received(1)
      try await daemon.orders(#""delete":true,"ext_pan_id":"\#(home.extendedPANID)""#, id: "c-1")
      try await more(3)
    }
    #expect(fake.datasets.count == 1 && !fake.commands.contains("thread/delete_dataset"))
  }

  @Test("Where Home Assistant keeps another dataset of the network, that is said, and it is not preferred")
  func keepsAnother() async throws {
    let daemon = try await Daemon(at: broker)
    // The same age, another key.
    fake.add(try home.with { $0.networkKey = SampleNetwork.guest.networkKey }.dataset(at: 5))
    try await run(configuration(daemon.keys, writes: true)) {
      try await daemon.gives(home.dataset(at: 5), of: home)
      try await logged("it keeps another dataset")
      #expect(fake.preferred == nil)
      // Home Assistant would log both, with their keys.
      #expect(!fake.commands.contains("thread/add_dataset_tlv"))
    }
  }
}
