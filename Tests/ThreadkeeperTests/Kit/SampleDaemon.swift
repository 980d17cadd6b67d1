import Bridge
import Broker
import DaemonTestKit
import Home
import HomeStore
import KeychainCore
import LocalAPI
import Logging
import SodiumCrypto
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Threadkeeper

extension OperationContext {
  /// Of a daemon that is not connected to its broker.
  ///
  /// - Parameters:
  ///   - homes: of the settings; nil: the one that is there without them.
  ///   - records: nil: those of the store.
  init(_ store: TemporaryStore, homes: [String]? = nil, records: (any DaemonStore)? = nil) throws {
    var settings = MovedStore.settings(store)
    // A shard has no private broker.
    if records != nil { settings.mqtt.host = .named("127.0.0.1") }
    (settings.eachHome.routersPerTeam, settings.eachHome.routersPerHome) = (10_000, 20_000)
    if let homes { settings.homes = homes.map { .init(name: $0, base: "tk/\($0)") } }
    let logger = Logger(label: "test")
    self.init(
      settings,
      bridge: try Bridge(
        BridgeConfiguration(settings, version: threadkeeperVersion),
        connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test",
        store: records ?? SealedRecords(store.keychain), logger: logger), logger: logger)
  }

  /// Why it is not done.
  func failure(of operation: some Threadkeeper.Operation) throws -> CommandFailure {
    try #require(#expect(throws: CommandFailure.self, "\(operation)") { _ = try operation.perform(self) })
  }

  /// Takes what the login `user` publishes.
  func receive(_ event: String, from user: String = "hub", _ payloads: [String]) throws {
    try bridge.loop.received(
      payloads.map { IncomingMessage(topic: "threadkeeper/in/\(user)/\(event)", payload: Array($0.utf8)) })
  }

  /// Has the network preferred, by an administrator.
  func prefer(_ network: SampleNetwork, at timestamp: UInt64) throws {
    var request = ThreadRequest(.setPreferred)
    request.dataset = try network.dataset(at: timestamp)
    var local = LocalRequest(request, user: 0, team: "root")
    local.isAdministrator = true
    let outcome = bridge.requests.answer(local, by: bridge.loop, isOwnUser: true, at: SystemClock().now())
    guard case .answer(let answer) = outcome else { throw CancellationError() }
    _ = try answer.result()
  }
}

extension Threadkeeper.Operation {
  /// Has a daemon do it that listens there.
  func perform(at path: String, within limit: Duration = .seconds(600)) async throws -> Reply {
    let client = try #require(try await VarlinkClient.connect(to: path, within: limit))
    let call = OperationCall(self)
    return try await client.call(call.method, call, within: limit).reply
  }
}

/// A daemon's operations over a socket, for a client that may be as slow as the machine.
struct OperationServer {
  let context: OperationContext
  private let path: String
  private let server: VarlinkServer

  init(_ store: TemporaryStore) throws {
    context = try OperationContext(store)
    path = store.path + "/varlink.sock"
    var limits = VarlinkLimits.owner
    (limits.silence, limits.sending) = (.seconds(600), .seconds(600))
    server = try VarlinkServer(
      path: path, limits: limits,
      service: VarlinkService(
        .init(vendor: "a", product: "a", version: "1", url: ""), interfaces: [.admin],
        endpoints: OperationHandler(context).endpoints, failure: { VarlinkError(failing: $0) }))
  }

  func perform<Performed: Operation>(_ operation: Performed) async throws -> Performed.Reply {
    try await operation.perform(at: path)
  }

  /// - Parameter each: false ends it.
  func follow<Performed: StreamOperation>(_ operation: Performed, _ each: (Performed.Reply) throws -> Bool) async throws
  {
    let client = try #require(try await VarlinkClient.connect(to: path, within: .seconds(600)))
    let call = OperationCall(operation)
    for try await reply in try client.replies(to: call.stream, call, firstWithin: .seconds(600)) {
      guard try each(reply.reply) else { return }
    }
  }
}

/// A home that a test feeds.
struct SampleHome {
  private static let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))

  private(set) var home: Home
  private var rules = HomeRules { .random(in: .min ... .max) }
  var now = WireTime(milliseconds: 1_700_000_000_000)

  init() {
    (rules.settings.routersPerTeam, rules.settings.routersPerHome) = (10_000, 10_000)
    home = Home(rules: rules)
  }

  /// Records of it that cannot be read.
  mutating func damage() { home.hasDamage = true }

  @discardableResult mutating func handle(_ input: HomeInput) -> HomeOutput {
    home.handle(input, at: now, rules: rules)
  }

  mutating func tick(after seconds: Int) {
    now = now.adding(seconds: seconds)
    handle(.tick(Link(connection: 1, listeningSince: now.adding(seconds: -3_600))))
  }

  mutating func publish(
    _ kind: RouterMessage.Kind, _ agent: UInt64, on network: SampleNetwork? = nil, from user: ExactName = "otbr",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) throws {
    var message = RouterMessage(kind, .router(Self.agent(agent)))
    message.dataset = try network.map { try #require(DatasetSummary($0.dataset(at: 1), key: Self.key)) }
    change(&message)
    handle(.message(message, from: user))
  }

  /// What a login shares that is no border router.
  mutating func share(_ network: SampleNetwork, from user: ExactName = "ha") throws {
    let dataset = try #require(DatasetSummary(network.dataset(at: 1), key: Self.key))
    var message = RouterMessage(.credentials, .network(dataset.network))
    message.dataset = dataset
    handle(.message(message, from: user))
  }

  /// All that is on the local network is one router.
  mutating func see(_ agent: UInt64, on network: SampleNetwork) throws {
    var seen = try #require(Advertisement([Self.agent(agent)]))
    seen.network = ExtendedPANID(hex: network.extendedPANID)
    seen.networkName = network.name
    (seen.offMeshPrefix, seen.sharesByCode) = (0xFD97_FF26_5534_0001, true)
    handle(.sightings(Sightings([seen])))
  }

  /// What a router has said that is seen.
  mutating func read(_ agent: UInt64, on network: SampleNetwork, pending: SampleNetwork? = nil) throws {
    let active = try #require(DatasetSummary(network.dataset(at: 1), key: Self.key))
    let later = try pending.flatMap { DatasetSummary(try $0.dataset(at: 2), key: Self.key) }
    let seen = try #require(Advertisement([Self.agent(agent)]))
    let pskc = try #require(active.parameters?.pskc)
    let outcome = ReadingResult.Outcome.datasets(active, pending: later.map { .init($0, delay: 58_000) })
    handle(.reading(ReadingResult(seen, of: active.network, pskc: pskc, outcome)))
  }

  /// As an administrator.
  mutating func request(_ request: HomeRequest) {
    var context = RequestContext(Requester(.systemUser(0), team: "root"), reply: .caller, actor: "root")
    context.isAdministrator = true
    handle(.request(request, context))
  }

  static func agent(_ number: UInt64) -> BorderAgentID { BorderAgentID(high: number, low: 0) }
}
