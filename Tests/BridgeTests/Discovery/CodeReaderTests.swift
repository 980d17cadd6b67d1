import BorderAgentDouble
import SodiumCrypto
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadkeeperSupport

@testable import Bridge
@testable import Home
@testable import MeshCoP

/// Routers 8 and 9 stand on this machine. The home knows no network.
@Suite("Border routers are read by a code", .serialized) struct CodeReaderTests {
  private let kit: LoopKit
  private let reader: CodeReader
  private let dataset = OperationalDataset.of(1)
  private let agent = BorderAgentID(high: 9, low: 9)
  private let other = BorderAgentID(high: 8, low: 8)
  private static let code = "916371366"

  init() throws {
    kit = try LoopKit(discovers: true)
    reader = CodeReader(kit.loop, home: "home", hashKey: LoopKit.hashKey, timeout: .milliseconds(300))
  }

  private func server(_ active: OperationalDataset? = nil, isSilent: Bool = false) throws -> BorderAgentServer {
    let secret = try #require(RouterCode(Self.code)).secret
    let double = try BorderAgentDouble(secret: secret, active: active?.bytes ?? dataset.bytes, random: RandomBytes.fill)
    return try BorderAgentServer(double, isSilent: isSilent)
  }

  private func record(_ agent: BorderAgentID, port: UInt16?) throws -> Advertisement {
    var one = try #require(Advertisement([agent]))
    (one.network, one.networkName) = (dataset.extendedPANID, "net1")
    // The border agent itself is elsewhere.
    (one.endpoint, one.codePort) = ("127.0.0.1, 9", port)
    return one
  }

  private func see(_ records: Advertisement..., unnamed: Set<String> = []) throws {
    try kit.loop.see(Sightings(records))
    reader.update(records, unnamed: unnamed, in: kit.home)
  }

  private func join(_ code: String = code, _ agent: BorderAgentID? = nil, by actor: String = "uid 0") async throws
    -> CodeReader.Joined
  {
    try await SystemThread.result { [reader] in
      try reader.read(with: #require(RouterCode(code)), from: agent, for: actor)
    }
  }

  private func obstacle(_ code: String = code, _ agent: BorderAgentID? = nil) async throws -> CodeReader.Obstacle {
    try #require(await #expect(throws: CodeReader.Obstacle.self) { try await join(code, agent) })
  }

  @Test("What came is in the store when it returns, and the router's own border agent was left alone") func joined()
    async throws
  {
    let server = try server()
    defer { server.stop() }
    try see(record(agent, port: server.port), record(other, port: nil))
    let joined = try await join()
    #expect(joined.agent == agent && joined.network == .choice && joined.dataset.network == dataset.extendedPANID)
    #expect(try kit.dataset(.router(agent)) == dataset && kit.home.preferred == nil)
    #expect(server.router.isClosed && server.router.clientErrors == [])
  }

  @Test("A window that opens later is waited for") func waits() async throws {
    let server = try server()
    defer { server.stop() }
    let patient = CodeReader(kit.loop, home: "home", hashKey: LoopKit.hashKey)
    let records = [try record(agent, port: server.port)]
    try kit.loop.see(Sightings(records))
    async let joined = SystemThread.result {
      try patient.read(with: #require(RouterCode(Self.code)), from: nil, for: "a")
    }
    try await eventually("it waits") { patient.waiting == 1 }
    let began = ContinuousClock.now
    patient.update([try record(agent, port: nil)], unnamed: [], in: kit.home)
    patient.update(records, unnamed: [], in: kit.home)
    #expect(try await joined.agent == agent)
    #expect(began.duration(to: .now) < .seconds(20), "it does not wait to the end")
  }

  @Test("The code of a caller who has hung up meanwhile is not tried") func hungUp() async throws {
    let server = try server()
    defer { server.stop() }
    let patient = CodeReader(kit.loop, home: "home", hashKey: LoopKit.hashKey)
    let records = [try record(agent, port: server.port)]
    try kit.loop.see(Sightings(records))
    let isThere = Atomic(true)
    let joined = Task {
      try await SystemThread.result {
        try patient.read(with: #require(RouterCode(Self.code)), from: nil, for: "a") {
          if !isThere.load(ordering: .relaxed) { throw CancellationError() }
        }
      }
    }
    try await eventually("it waits") { patient.waiting == 1 }
    isThere.store(false, ordering: .relaxed)
    patient.update(records, unnamed: [], in: kit.home)
    await #expect(throws: CancellationError.self) { try await joined.value }
    #expect(kit.home.routers[agent]?.dataset == nil && !server.router.isClosed)
  }

  @Test("Nothing is tried where no router shows a code, or several do and none is named") func choice() async throws {
    let server = try server()
    defer { server.stop() }
    #expect(try await obstacle() == .noWindow)
    try see(unnamed: ["attic.local"])
    #expect(try await obstacle() == .noRouter(host: "attic.local"))
    try see(record(agent, port: nil))
    #expect(try await obstacle() == .noWindow)
    try see(record(agent, port: server.port), record(other, port: 9))
    #expect(try await obstacle() == .several([agent, other]))
    try see(record(agent, port: server.port), record(other, port: nil))
    #expect(try await obstacle(Self.code, other) == .notOpen)
    try see(record(agent, port: server.port), record(other, port: 9))
    #expect(try await join(Self.code, agent).agent == agent)
  }

  @Test("Wrong codes are counted for each window") func wrong() async throws {
    let servers = [try server(), try server()]
    defer { for server in servers { server.stop() } }
    try see(record(agent, port: servers[0].port))
    for left in [9, 8] { #expect(try await obstacle("123456784") == .wrongCode(left: left)) }
    try see(record(agent, port: servers[1].port))
    #expect(try await obstacle("123456784") == .wrongCode(left: 9))
    #expect(kit.home.routers[agent]?.reading == nil, "it says nothing of the router")
    #expect(try await join().agent == agent)
  }

  @Test("A port that is closed is a window that is over") func closed() async throws {
    let server = try server()
    let port = server.port
    server.stop()
    try see(record(agent, port: port))
    #expect(try await obstacle() == .windowClosed)
  }

  @Test("A dataset that is not complete joins nothing") func incomplete() async throws {
    let server = try server(dataset.removing(.pskc))
    defer { server.stop() }
    try see(record(agent, port: server.port))
    #expect(try await obstacle() == .incomplete)
    #expect(kit.home.routers[agent]?.dataset == nil)
  }

  @Test("While a router is asked no other code is tried, and a stop ends it at once") func stop() async throws {
    let server = try server(isSilent: true)
    defer { server.stop() }
    try see(record(agent, port: server.port))
    async let first = obstacle()
    await server.waitForDatagram()
    #expect(try await obstacle() == .busy)
    try await SystemThread.result { [reader] in reader.stop() }
    // After eight seconds it would be that the router does not answer.
    #expect(try await first == .failed(.stopped))
  }

  @Test("One caller may try twenty in ten minutes, and others beside") func often() async throws {
    let server = try server()
    let port = server.port
    server.stop()
    try see(record(agent, port: port))
    for _ in 0..<20 { #expect(try await obstacle() == .windowClosed) }
    #expect(try await obstacle() == .tooOften)
    await #expect(throws: CodeReader.Obstacle.windowClosed) { try await join(by: "the page") }
  }
}
