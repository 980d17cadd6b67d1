import BorderAgentDouble
import Logging
import SodiumCrypto
import TestKit
import Testing
import ThreadDataset
import ThreadkeeperSupport

@testable import Bridge
@testable import Home

/// Router 9 stands on this machine. The home has the credentials of network 1 of router 1's login.
@Suite("Border routers are read", .serialized) struct RouterReaderTests {
  private let kit: LoopKit
  private let reader: RouterReader
  private let log = RecordingLog()
  private let dataset = OperationalDataset.of(1)
  private let agent = BorderAgentID(high: 9, low: 9)

  init() throws {
    kit = try LoopKit(discovers: true)
    try kit.receive(.announce(1, dataset))
    reader = RouterReader(kit.loop, home: "home", hashKey: LoopKit.hashKey, logger: log.logger)
  }

  private func server(_ active: OperationalDataset, key: UInt8 = 1, pending: [UInt8] = []) throws -> BorderAgentServer {
    let pskc = SecretBytes(copying: try #require(OperationalDataset.of(1, key: key).pskc).bytes)
    return try BorderAgentServer(
      BorderAgentDouble(secret: pskc, active: active.bytes, pending: pending, random: RandomBytes.fill))
  }

  private func advertisement(port: UInt16, _ change: (inout Advertisement) -> Void = { _ in }) throws -> Advertisement {
    var one = try #require(Advertisement([agent]))
    (one.network, one.networkName, one.activeSeconds) = (dataset.extendedPANID, "net1", 1)
    (one.takesPSKc, one.endpoint) = (true, "127.0.0.1, \(port)")
    change(&one)
    return one
  }

  private func see(_ records: Advertisement...) throws {
    try kit.loop.see(Sightings(records))
    reader.update(records, in: kit.home)
  }

  /// As a person does.
  private func ask() async throws -> RouterReader.Answer {
    try await SystemThread.result { [reader, agent] in try reader.read(agent) }
  }

  @Test("One that has the PSKc is read when it is seen, and its dataset is in the store") func read() async throws {
    let server = try server(.of(1, at: 2, channel: 20))
    defer { server.stop() }
    reader.start()
    defer { reader.stop() }
    try see(advertisement(port: server.port))
    try await eventually("it is read") { kit.home.routers[agent]?.reading?.readAt != nil }
    #expect(try kit.dataset(.router(agent)) == .of(1, at: 2, channel: 20))
    #expect(try kit.dataset(.home) == .of(1, at: 2, channel: 20))
    #expect(kit.home.routers[agent]?.owner == nil)
    let secrets = [dataset.hex, dataset.pskc?.revealedHex, dataset.networkKey?.revealedHex].compactMap(\.self)
    for secret in secrets { #expect(!log.lines.contains { $0.contains(secret) }) }
  }

  @Test("What is pending there is noted") func pending() async throws {
    let later = OperationalDataset.of(1, at: 9, channel: 25)
    let pending = later.bytes + [51, 8, 0, 0, 0, 0, 0, 9, 0, 0, 52, 4, 0, 0, 0xE2, 0x90]
    let server = try server(dataset, pending: pending)
    defer { server.stop() }
    reader.start()
    defer { reader.stop() }
    try see(advertisement(port: server.port))
    try await eventually("it is read") { kit.home.routers[agent]?.reading?.pending != nil }
    let change = try #require(kit.home.routers[agent]?.reading?.pending)
    #expect(change.channel == 25 && change.differs == .channel && change.at == kit.time.now.adding(seconds: 58))
  }

  @Test("One that has another PSKc refuses, and nothing of it is stored") func refused() async throws {
    let server = try server(dataset, key: 2)
    defer { server.stop() }
    reader.start()
    defer { reader.stop() }
    try see(advertisement(port: server.port))
    try await eventually("it has refused") { kit.home.routers[agent]?.reading?.problem == .refused }
    #expect(kit.home.routers[agent]?.dataset == nil)
    guard case .failure(.refused) = try await ask() else {
      Issue.record("it was read")
      return
    }
  }

  @Test("A person is answered after the conversation, and told why a router is not read") func asked() async throws {
    let server = try server(dataset)
    defer { server.stop() }
    reader.start()
    defer { reader.stop() }
    #expect(throws: RouterReader.Obstacle.notOnLocalNetwork) { try reader.read(agent) }
    for (change, obstacle) in [
      ({ $0.takesPSKc = false }, .takesNoPSKc), ({ $0.endpoint = nil }, .takesNoPSKc),
      ({ $0.endpoint = "nowhere" }, .takesNoPSKc), ({ $0.network = nil }, .noCredentials(nil)),
      ({ $0.network = ExtendedPANID(number: 5) }, .noCredentials(ExtendedPANID(number: 5))),
    ] as [((inout Advertisement) -> Void, RouterReader.Obstacle)] {
      try see(advertisement(port: server.port, change))
      #expect(throws: obstacle) { try reader.read(agent) }
    }
    try see(advertisement(port: server.port))
    let answer = try await ask()
    guard case .success(.datasets(let active, pending: nil)) = answer else {
      Issue.record("it was not read: \(answer)")
      return
    }
    #expect(active.network == dataset.extendedPANID && kit.home.routers[agent]?.reading?.readAt != nil)
  }

  @Test("A person whose router goes before it is read is answered at once") func gone() async throws {
    // Nothing is read: it was not started.
    try see(advertisement(port: 1))
    let answer = Task { try await ask() }
    try await eventually("the call waits") { reader.waiting == 1 }
    try see()
    await #expect(throws: RouterReader.Obstacle.notOnLocalNetwork) { try await answer.value }
    #expect(reader.waiting == 0)
  }

  @Test("A record that is not listed is not read") func unlisted() async throws {
    let server = try server(dataset)
    defer { server.stop() }
    var own = try #require(Advertisement([.agent(1)]))
    own.network = dataset.extendedPANID
    var other = try #require(Advertisement([agent, .agent(1)]))
    (other.network, other.takesPSKc, other.endpoint) = (own.network, true, "127.0.0.1, \(server.port)")
    try see(own, other)
    #expect(kit.home.refusedSightings.map(\.reason) == [.again(.agent(1))])
    #expect(throws: RouterReader.Obstacle.notOnLocalNetwork) { try reader.read(agent) }
    // Its router's own record is gone.
    reader.start()
    defer { reader.stop() }
    try see(other)
    let outcome = try await ask().get()
    #expect(outcome == .datasets(try #require(kit.home.routers[.agent(1)]?.dataset), pending: nil))
  }

  @Test("A person reads a router under each of its ids, and before others that name one of them") func ids()
    async throws
  {
    let servers = try [server(dataset, key: 2), server(dataset)]
    defer { for server in servers { server.stop() } }
    reader.start()
    defer { reader.stop() }
    let (other, short) = (BorderAgentID(high: 8, low: 8), BorderAgentID(high: 9, low: 0))
    var records = try [[other, agent, short], [agent, short]].enumerated().map { index, ids in
      var record = try #require(Advertisement(ids))
      (record.network, record.takesPSKc) = (dataset.extendedPANID, true)
      record.endpoint = "127.0.0.1, \(servers[index].port)"
      return record
    }
    try kit.loop.see(Sightings(records))
    reader.update(records, in: kit.home)
    let outcome = try await ask().get()
    #expect(outcome == .datasets(try #require(kit.home.routers[agent]?.dataset), pending: nil))
    records.removeFirst()
    try kit.loop.see(Sightings(records))
    reader.update(records, in: kit.home)
    let again = try await SystemThread.result { [reader] in try reader.read(short) }
    #expect(try again.get() == outcome)
  }

  @Test("A stop ends a conversation at once, and says nothing of the router") func stop() async throws {
    let pskc = SecretBytes(copying: try #require(dataset.pskc).bytes)
    let double = try BorderAgentDouble(secret: pskc, active: dataset.bytes, random: RandomBytes.fill)
    let server = try BorderAgentServer(double, isSilent: true)
    defer { server.stop() }
    reader.start()
    try see(advertisement(port: server.port))
    await server.waitForDatagram()
    let began = ContinuousClock.now
    try await SystemThread.result { [reader] in reader.stop() }
    // By itself it would end after eight: `RetransmissionTimer.limit`.
    #expect(began.duration(to: .now) < .seconds(7))
    #expect(kit.home.routers[agent]?.reading == nil)
  }
}
