import Broker
import TestKit
import Testing

@Suite("A client that connects early", .timeLimit(.minutes(30))) struct EarlyConnectionTests {
  private let fake: FakeBroker

  init() throws { fake = try FakeBroker() }

  private static let connected = FakeBroker.Event.connected(clientID: "intake", cleanStart: false)

  /// That has no subscriptions yet.
  private func client(_ change: (inout MosquittoConfiguration) -> Void = { _ in }) -> MosquittoClient {
    var configuration = fake.configuration
    configuration.subscriptions = []
    change(&configuration)
    return MosquittoClient(configuration)
  }

  @Test(
    "Waits for run before it subscribes, receives and acknowledges",
    arguments: MosquittoConfiguration.ProtocolVersion.both) func waits(
      _ version: MosquittoConfiguration.ProtocolVersion
    ) async throws
  {
    let client = client { $0.protocolVersion = version }
    client.connectEarly()
    try await eventually { fake.events == [Self.connected] }
    // Of the session that the broker has.
    fake.publish(FakeBroker.messages(3))
    let handler = RecordingHandler()
    var configuration = fake.configuration
    configuration.protocolVersion = version
    client.serve(configuration, by: handler)
    fake.mark("run")
    let work = RunningWork { try await client.run() }
    try await eventually { handler.messageCount == 3 && handler.look { $0.subscribed.count == 1 } }
    client.stop()
    try await work.end(within: .seconds(60), "the client")
    try await eventually { fake.events.last == .closed }
    #expect(fake.events.prefix(2) == [Self.connected, .mark("run")])
    #expect(fake.acknowledgements.count == 3 && fake.events.contains(.subscribed("in/#")))
    #expect(fake.connectionCount == 1 && handler.record.sessions.count == 1)
  }

  @Test("Is given up with DISCONNECT, before and after the broker's answer", arguments: [true, false]) func abandoned(
    _ answers: Bool
  ) async throws {
    fake.change { $0.connectCode = answers ? 0 : nil }
    let client = client()
    client.connectEarly()
    try await eventually { fake.events == [Self.connected] }
    client.abandon()
    try await eventually { fake.events.last == .closed }
    #expect(fake.events == [Self.connected, .disconnected, .closed])
    // What has ended does not begin again.
    try await client.run()
    #expect(fake.connectionCount == 1)
  }

  @Test("A stop before the handler is known ends it, whatever is to be published last") func stopped() async throws {
    let client = client()
    client.connectEarly()
    try await eventually { fake.events == [Self.connected] }
    client.stop(finalPublications: [Publication(topic: "t", payload: [1])])
    try await client.run()
    try await eventually { fake.events.last == .closed }
    #expect(fake.events == [Self.connected, .disconnected, .closed])
  }

  @Test("Is given up where nobody listens, where nobody answers, and before it has begun") func nobody() async throws {
    MosquittoClient(fake.configuration).abandon()
    let hole = try BlackHole()
    for port in [1, hole.port] {
      let client = MosquittoClient(MosquittoConfiguration(host: "127.0.0.1", port: port, clientID: "a"))
      client.connectEarly()
      client.abandon()
      try await client.run()
    }
  }

  @Test(
    "Is made again with DISCONNECT while it waits for longer than the keep-alive, and acknowledges nothing",
    arguments: MosquittoConfiguration.ProtocolVersion.both) func keepAlive(
      _ version: MosquittoConfiguration.ProtocolVersion
    ) async throws
  {
    func change(_ configuration: inout MosquittoConfiguration) {
      (configuration.protocolVersion, configuration.keepAlive) = (version, 5)
    }
    let client = client(change)
    client.connectEarly()
    try await eventually { fake.events == [Self.connected] }
    fake.publish(FakeBroker.messages(3))
    try await eventually(within: .seconds(60)) { fake.events.count >= 4 }
    #expect(fake.events.prefix(4) == [Self.connected, .disconnected, .closed, Self.connected])
    let handler = RecordingHandler()
    var configuration = fake.configuration
    change(&configuration)
    client.serve(configuration, by: handler)
    let work = RunningWork { try await client.run() }
    try await eventually { handler.look { $0.subscribed.count == 1 } }
    #expect(handler.record.disconnections.isEmpty && handler.messageCount == 0)
    client.stop()
    try await work.end(within: .seconds(60), "the client")
    #expect(fake.acknowledgements.isEmpty)
  }

  @Test("What has failed before run is reported then, and tried again when the delay since the loss is over")
  func refused() async throws {
    fake.change { $0.connectCode = 0x88 }
    let delay = Duration.seconds(10)
    let client = client { $0.reconnect = .init(initial: delay, ceiling: delay, jitter: 0) }
    client.connectEarly()
    try await eventually { fake.events.contains(.closed) }
    try await Task.sleep(for: delay)
    #expect(fake.connectionCount == 1)
    fake.change { $0.connectCode = 0 }
    let handler = RecordingHandler()
    client.serve(fake.configuration, by: handler)
    let beginning = ContinuousClock.now
    let work = RunningWork { try await client.run() }
    try await eventually { handler.look { $0.subscribed.count == 1 } }
    #expect(beginning.duration(to: .now) < delay)
    #expect(handler.record.disconnections.map(\.error.reason) == [.brokerUnavailable])
    client.stop()
    try await work.end(within: .seconds(60), "the client")
  }
}
