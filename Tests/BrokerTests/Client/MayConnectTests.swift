import Broker
import Dispatch
import Synchronization
import TestKit
import Testing

@Suite("A client that may connect only while its process has the session", .timeLimit(.minutes(30)))
struct MayConnectTests {
  /// Whether it has, as a test sets it.
  private final class Held: Sendable {
    let value = Atomic(true)
    let asked = Atomic(0)

    /// What the process is doing meanwhile: it may be stopped for long.
    func look(_ meanwhile: () -> Void = {}) -> Bool {
      asked.add(1, ordering: .relaxed)
      let value = value.load(ordering: .relaxed)
      meanwhile()
      return value
    }

    func give(_ new: Bool) { value.store(new, ordering: .relaxed) }
  }

  private func configuration(_ broker: TestBroker, _ mayConnect: @escaping @Sendable () -> Bool)
    -> MosquittoConfiguration
  {
    var configuration = broker.configuration(clientID: "shard", "in/#")
    configuration.keepAlive = 10
    configuration.mayConnect = mayConnect
    return configuration
  }

  @Test("While it may not, no connection is made at all; then it comes by itself") func nothingIsSent() async throws {
    let held = Held()
    held.give(false)
    let (broker, client) = try FakeBroker.withClient(client: { $0.mayConnect = { held.look() } })
    try await eventually("ten attempts") { client.record.disconnections.count >= 10 }
    let all = client.record.disconnections
    #expect(all.allSatisfy { $0.error.reason == .sessionNotHeld && !$0.wasConnected })
    #expect(all.last?.failures ?? 0 >= 10 && all.allSatisfy { !$0.isFatal })
    #expect(broker.connectionCount == 0)
    held.give(true)
    try await eventually { !client.record.sessions.isEmpty }
    #expect(broker.connectionCount == 1)
  }

  @Test("A client waits for its place until another one's subscriptions are answered, and can stop") func places()
    async throws
  {
    let places = DispatchSemaphore(value: 1)
    func start(_ broker: FakeBroker, _ places: DispatchSemaphore?, _ held: Held = Held()) -> TestClient {
      var configuration = broker.configuration
      configuration.places = places
      configuration.mayConnect = { held.look() }
      return TestClient(configuration)
    }
    var silent = FakeBroker.Behaviour()
    silent.subscribeCode = nil
    let brokers = [try FakeBroker(silent), try FakeBroker(), try FakeBroker(), try FakeBroker()]
    let first = start(brokers[0], places)
    try await eventually { !first.record.sessions.isEmpty }
    let waiting = [Held(), Held()]
    let stopped = start(brokers[1], places, waiting[0])
    let second = start(brokers[2], places, waiting[1])
    // The first look is before the wait, all others while it waits.
    try await eventually { waiting.allSatisfy { $0.asked.load(ordering: .relaxed) >= 2 } }
    try await stopped.stop()
    let free = start(brokers[3], nil)
    try await free.ready()
    #expect(brokers[1].connectionCount == 0 && brokers[2].connectionCount == 0)
    // SUBACK: QoS 1 for the first packet.
    brokers[0].send([0x90, 4, 0, 1, 0, 1])
    try await second.ready()
    // One that is lost before it has subscribed leaves its place, too.
    brokers[0].dropConnection()
    try await eventually { first.record.sessions.count == 2 }
    let third = start(brokers[1], places)
    brokers[0].change { $0.subscribeCode = 1 }
    brokers[0].dropConnection()
    try await third.ready()
    for client in [first, second, third, free] { try await client.stop() }
    #expect(places.wait(timeout: .now() + 60) == .success)
    places.signal()
    // An optimized program frees an array, and what is in it alone, after its last use.
    withExtendedLifetime(brokers) {}
  }

  @Test("A client that waits for its place, and loses its session, waits no longer") func placeOfNobody() async throws {
    let held = Held()
    let (broker, client) = try FakeBroker.withClient(client: {
      $0.places = DispatchSemaphore(value: 0)
      $0.mayConnect = { held.look() }
    })
    try await eventually("it waits, and asks meanwhile") { held.asked.load(ordering: .relaxed) >= 4 }
    #expect(client.record.disconnections.isEmpty)
    held.give(false)
    #expect(try await client.disconnection().error.reason == .sessionNotHeld)
    #expect(broker.connectionCount == 0)
  }

  @Test("The session of another process at a real broker stays its own, with what waits in it") func rival()
    async throws
  {
    let (broker, held) = (try TestBroker(), Held())
    let zombie = TestClient(configuration(broker) { held.look() })
    try await zombie.ready()
    held.give(false)
    let owner = TestClient(broker.configuration(clientID: "shard", "in/#"))
    try await owner.ready()
    try await eventually("ten attempts of the other") { zombie.record.disconnections.count >= 10 }
    #expect(zombie.record.sessions.count == 1)
    let publisher = try await TestPublisher.start(broker)
    for number in 0..<20 { try await publisher.publish("in/\(number)", "x") }
    try await eventually { owner.handler.messageCount == 20 }
    #expect(owner.record.disconnections.isEmpty)
    #expect(zombie.handler.messages.isEmpty)
  }

  @Test("A process that is stopped between its look and CONNECT sends none when it goes on")
  func stoppedWhileConnecting() async throws {
    let (broker, held) = (try TestBroker(), Held())
    let owner = TestClient(broker.configuration(clientID: "shard", "in/#"))
    try await owner.ready()
    // The session goes to the owner while the process stands still after its first look.
    let zombie = TestClient(configuration(broker) { held.look { held.give(false) } })
    try await eventually { zombie.record.disconnections.count >= 5 }
    #expect(held.asked.load(ordering: .relaxed) >= 6)
    #expect(zombie.record.sessions.isEmpty)
    #expect(zombie.record.disconnections.allSatisfy { $0.error.reason == .sessionNotHeld })
    #expect(owner.record.disconnections.isEmpty)
  }

  @Test("A connection ends with the session: after a stop nothing is published, nor acknowledged")
  func stoppedWhileConnected() async throws {
    let (broker, held) = (try TestBroker(), Held())
    let listener = try await TestSubscriber.start(broker, "out/#")
    let client = TestClient(configuration(broker) { held.look() }) { _ in held.give(false) }
    try await client.ready()
    // Asked for in the same turn, after the batch.
    client.handler.offer([Publication(topic: "out/stale", payload: [1])])
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish("in/a", "x")
    try await eventually { client.record.disconnections.count >= 5 }
    #expect(client.record.sessions.count == 1)
    #expect(client.record.disconnections.last?.error.reason == .sessionNotHeld)
    let owner = TestClient(broker.configuration(clientID: "shard", "in/#"))
    try await eventually { owner.handler.messages.map(\.topic) == ["in/a"] }
    #expect(owner.record.sessions.first?.sessionPresent == true)
    #expect(client.handler.messages.map(\.topic) == ["in/a"])
    try await publisher.publish("out/end", "x")
    try await listener.wait { !$0.isEmpty }
    #expect(listener.messages.map(\.topic) == ["out/end"])
  }

  @Test("What is to be published between two ticks stays unsent") func betweenTicks() async throws {
    let (broker, held) = (try TestBroker(), Held())
    let listener = try await TestSubscriber.start(broker, "out/#")
    var configuration = configuration(broker) { held.look() }
    // No tick for five seconds.
    configuration.keepAlive = 60
    let client = TestClient(configuration)
    try await client.ready()
    held.give(false)
    client.publish([Publication(topic: "out/stale", payload: [1])])
    #expect(try await client.disconnection().error.reason == .sessionNotHeld)
    try await TestPublisher.start(broker).publish("out/end", "x")
    try await listener.wait { !$0.isEmpty }
    #expect(listener.messages.map(\.topic) == ["out/end"])
  }

  @Test("A quiet connection ends with the next tick, and its last publications stay unsent") func quiet() async throws {
    let (broker, held) = (try TestBroker(), Held())
    let listener = try await TestSubscriber.start(broker, "out/#")
    let client = TestClient(configuration(broker) { held.look() })
    try await client.ready()
    held.give(false)
    #expect(try await client.disconnection().error.reason == .sessionNotHeld)
    try await client.stop(finalPublications: [Publication(topic: "out/last", payload: [1])])
    #expect(listener.messages.isEmpty)
  }
}
