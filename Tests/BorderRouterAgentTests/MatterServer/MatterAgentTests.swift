import Broker
import Foundation
import SodiumCrypto
import TestKit
import Testing
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

@testable import BorderRouterAgent

/// The agent between a Matter server and a real broker, with a daemon that the test plays.
@Suite("The agent of a Matter server", .timeLimit(.minutes(10))) struct MatterAgentTests {
  private let broker: TestBroker
  private let log = RecordingLog()
  private let home = SampleNetwork.home
  private let daemon: Daemon

  init() async throws {
    broker = try TestBroker()
    daemon = try await Daemon(at: broker)
  }

  /// What the daemon knows and answers.
  private final class Daemon {
    private let identity: Identity
    private let own: Identity
    private let publisher: TestPublisher
    private let subscriber: TestSubscriber
    private var answered = 0

    var keys: AgentKeys { AgentKeys(own: own, daemon: identity.keys) }

    init(at broker: TestBroker) async throws {
      (own, identity) = (try Identity(), try Identity())
      publisher = try await TestPublisher.start(broker)
      subscriber = try await TestSubscriber.start(broker, "threadkeeper/in/matter/#")
    }

    func requests(_ command: String) -> [IncomingMessage] {
      subscriber.messages.filter { $0.topic.hasSuffix("/request/\(command)") }
    }

    /// What it has reported of itself.
    func reports(_ event: String) -> Int { subscriber.messages.count { $0.topic == "threadkeeper/in/matter/\(event)" } }

    private func answer(_ request: IncomingMessage, _ json: String) async throws {
      try await publisher.publish([
        Publication(
          topic: try #require(request.responseTopic), payload: Array(json.utf8),
          correlationData: request.correlationData)
      ])
    }

    /// Lists what is preferred, each time that it is asked, until a condition holds.
    func lists(_ network: SampleNetwork?, at seconds: Int = 5, until condition: () -> Bool) async throws {
      let entry = network.map {
        #"{"ext_pan_id":"\#($0.extendedPANID)","preferred":true,"active_timestamp":\#(seconds)}"#
      }
      try await eventually {
        let requests = requests("networks/list")
        if let last = requests.last, requests.count > answered {
          answered = requests.count
          try await answer(last, #"{"data":{"networks":[\#(entry ?? "")]},"status":"ok","v":1}"#)
        }
        return condition()
      }
    }

    /// Gives these, as after the yes of a person.
    func gives(_ dataset: OperationalDataset) async throws {
      let request = try #require(requests("preferred/get").last)
      let transaction = String(decoding: request.correlationData ?? [], as: UTF8.self)
      let record = CredentialRecord(
        agent: nil, network: try #require(dataset.extendedPANID), dataset: dataset, isActive: true)
      let envelope = try Envelope.seal(
        AnswerData(credentials: [record]).json(), to: own.keys, from: identity,
        at: .init(
          topic: try #require(request.responseTopic), order: .identifier(transaction),
          now: Int64(Date().timeIntervalSince1970), lifetime: 30))
      let data = String(decoding: AnswerData(sealed: envelope).json(), as: UTF8.self)
      try await answer(request, #"{"data":\#(data),"status":"ok","v":1}"#)
    }

    func refuses(_ code: String) async throws {
      let request = try #require(requests("preferred/get").last)
      try await answer(request, #"{"error":{"code":"\#(code)","message":"no"},"status":"error","v":1}"#)
    }
  }

  /// Runs the agent for as long as `body`.
  private func run(_ url: String, _ body: () async throws -> Void) async throws {
    let login = AgentLogin(
      base: "threadkeeper", user: "matter", broker: broker.configuration(clientID: "", user: "matter"))
    var configuration = MatterConfiguration(
      login, keys: daemon.keys, address: try #require(HomeAssistantAddress(matterServer: url)))
    configuration.poll = .milliseconds(20)
    configuration.users = [getuid()]
    let agent = Agent(configuration, logger: log.logger)
    try await agent.run(during: body)
  }

  private func logged(_ text: String) async throws {
    try await eventually("\(text) in the log") { log.lines.contains { $0.contains(text) } }
  }

  private var isAsked: Bool { !daemon.requests("preferred/get").isEmpty }

  @Test(
    "What a person agrees to is given once, and again when the server has forgotten it; no key is in the log",
    arguments: [11, 12, 13]) func given(schema: Int) async throws
  {
    let server = try FakeMatterServer(schema: schema, leastSchema: schema == 11 ? 9 : 11)
    let dataset = try home.dataset(at: 5)
    try await run(server.url) {
      try await daemon.lists(home) { isAsked }
      try await eventually("what it lacks") { daemon.reports("heartbeat") > 0 }
      #expect(server.dataset == nil)
      try await daemon.gives(dataset)
      try await daemon.lists(home) { server.dataset == dataset.hex && daemon.reports("heartbeat") > 1 }
      let count = server.connections
      try await daemon.lists(home) { server.connections > count + 4 }
      #expect(server.commands.count { $0 == "set_thread_dataset" } == 1)
      server.set(nil)
      try await daemon.lists(home) { server.dataset == dataset.hex }
      #expect(daemon.requests("preferred/get").count == 1)
    }
    #expect(!log.lines.contains { $0.contains(dataset.hex) || $0.contains(home.networkKey) })
  }

  @Test("From schema 12 on, another network there is replaced, and what the home prefers no more is taken back")
  func takenBack() async throws {
    let server = try FakeMatterServer(schema: 12, leastSchema: 11)
    server.set(try SampleNetwork.guest.dataset(at: 9))
    let dataset = try home.dataset(at: 5)
    try await run(server.url) {
      try await daemon.lists(home) { isAsked }
      try await daemon.gives(dataset)
      try await daemon.lists(home) { server.dataset == dataset.hex }
      server.set(try SampleNetwork.guest.dataset(at: 9))
      try await daemon.lists(home) { server.dataset == dataset.hex }
      try await daemon.lists(nil) { server.dataset == nil }
      try await logged("were taken back")
    }
  }

  @Test("Without a yes the server gets nothing, and the agent says why") func denied() async throws {
    let server = try FakeMatterServer()
    try await run(server.url) {
      try await daemon.lists(home) { isAsked }
      try await daemon.refuses("consent_denied")
      try await logged("(consent_denied): no")
      let count = server.connections
      try await daemon.lists(home) { server.connections > count + 4 }
      #expect(daemon.requests("preferred/get").count == 1)
    }
    #expect(server.commands.isEmpty)
  }

  @Test("A server that refuses the credentials is asked once in ten minutes, and the agent says so") func refused()
    async throws
  {
    let server = try FakeMatterServer()
    server.refuse("set_thread_dataset", 8)
    try await run(server.url) {
      try await daemon.lists(home) { isAsked }
      try await daemon.gives(home.dataset(at: 5))
      try await logged("it does not take the home's credentials (error 8)")
      let count = server.connections
      try await daemon.lists(home) { server.connections > count + 4 }
      #expect(server.commands == ["set_thread_dataset"])
    }
  }

  @Test("A server that goes and comes back is given them again, while the broker is away") func away() async throws {
    var server: FakeMatterServer? = try FakeMatterServer()
    let (url, port) = (try #require(server?.url), try #require(server?.port))
    let dataset = try home.dataset(at: 5)
    try await run(url) {
      try await daemon.lists(home) { isAsked }
      try await daemon.gives(dataset)
      try await daemon.lists(home) { server?.dataset == dataset.hex }
      server = nil
      try await eventually("the trouble") { log.levels.contains(.warning) }
      broker.stop()
      let again = try FakeMatterServer(port: port)
      try await eventually(within: .seconds(60), "the credentials") { again.dataset == dataset.hex }
      try broker.start()
    }
  }

  // MARK: Troubles of the server

  private func trouble(_ url: String) async throws -> HomeAssistantTrouble? {
    let address = try #require(HomeAssistantAddress(matterServer: url))
    return try await SystemThread.result {
      do throws(HomeAssistantTrouble) {
        let client = try MatterClient(address, of: [getuid()], timeout: .seconds(60), signal: nil)
        defer { client.close() }
        _ = try client.server()
        return nil
      } catch { return error }
    }
  }

  private func trouble(greeting: String) async throws -> HomeAssistantTrouble? {
    let server = try WebSocketServer { peer in
      peer.accept()
      peer.send(greeting)
      while peer.receive() != nil {}
    }
    return try await trouble("ws://127.0.0.1:\(server.port)")
  }

  @Test("A greeting that is none, or for newer clients only, is refused") func greetings() async throws {
    #expect(try await trouble(greeting: "hello") == .notJSON)
    #expect(try await trouble(greeting: "[]") == .notJSON)
    #expect(try await trouble(greeting: #"{"type":"auth_required","ha_version":"2025.4.4"}"#) == .otherForm)
    #expect(try await trouble(greeting: #"{"schema_version":"11"}"#) == .otherForm)
    let newer = try FakeMatterServer(schema: 15, leastSchema: 14)
    #expect(try await trouble(newer.url) == .newerSchema(14))
    withExtendedLifetime(newer) {}
    let server = try FakeMatterServer(schema: 12)
    server.refuse("get_all_credentials", 9)
    #expect(try await trouble(server.url) == .refused("error 9"))
  }

  @Test("Where it is: /ws at port 5580, with and without TLS") func addresses() {
    func read(_ text: String) -> String? { HomeAssistantAddress(matterServer: text).map { "\($0) \($0.path)" } }
    for text in ["ws://ha.local", "ws://ha.local/", "ws://ha.local:5580/ws", "http://ha.local:5580"] {
      #expect(read(text) == "http://ha.local:5580 /ws")
    }
    #expect(read("wss://ha.local/matter/ws") == "https://ha.local /matter/ws")
    for text in ["ha.local:5580", "ws://ha.local/api/websocket", "ws://anna:secret@ha.local"] {
      #expect(read(text) == nil)
    }
    #expect(HomeAssistantAddress(matterServer: "ws://192.168.1.5:5580/ws")?.isPlaintextElsewhere == true)
    for text in ["ws://127.0.0.1:5580/ws", "ws://localhost/ws", "wss://192.168.1.5/ws"] {
      #expect(HomeAssistantAddress(matterServer: text)?.isPlaintextElsewhere == false)
    }
  }
}
