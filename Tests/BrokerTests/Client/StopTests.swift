import Broker
import Foundation
import TestKit
import Testing

@Suite("Ends", .timeLimit(.minutes(30))) struct StopTests {
  @Test("The last will is sent when the connection dies, and not after a goodbye") func lastWill() async throws {
    let broker = try TestBroker()
    let subscriber = try await TestSubscriber.start(broker, "bridge/#")
    var configuration = broker.configuration(clientID: "status", "in/#")
    configuration.lastWill = Publication(topic: "bridge/state", payload: Array("offline".utf8), retain: true)
    let clean = TestClient(configuration)
    try await clean.ready()
    try await clean.stop(finalPublications: [
      Publication(topic: "bridge/state", payload: Array("stopped".utf8), retain: true)
    ])
    let dying = TestClient(configuration) { _ in throw AcknowledgementOrderTests.NotStored() }
    try await dying.ready()
    try await TestPublisher.start(broker).publish("in/a", "x")
    try await subscriber.wait { $0.count >= 2 }
    let texts = subscriber.messages.prefix(2).map { String(decoding: $0.payload, as: UTF8.self) }
    #expect(texts == ["stopped", "offline"])
  }

  @Test("Final publications are acknowledged before the goodbye, however many they are") func finalPublications()
    async throws
  {
    let (fake, client) = try FakeBroker.withClient(broker: { $0.receiveMaximum = 2 })
    try await client.ready()
    try await client.stop(finalPublications: (1...7).map { Publication(topic: "t/\($0)", payload: [1], token: $0) })
    #expect(client.record.acknowledged.map(\.token) == Array(1...7))
    try await eventually { fake.events.last == .closed }
    #expect(fake.events.suffix(2) == [.disconnected, .closed])
    #expect(client.record.disconnections.isEmpty, "it was asked for")
  }

  @Test("A stop while the disconnect of a reconnect waits still publishes the last messages")
  func stopWhileReconnecting() async throws {
    let (fake, client) = try FakeBroker.withClient(
      broker: { $0.acknowledges = false }, client: { $0.stopLimit = .seconds(600) })
    try await client.ready()
    client.publish([Publication(topic: "before", payload: [1], token: 1)])
    try await eventually { fake.published.count == 1 }
    // The disconnect waits for the acknowledgement, which does not come. Wishes are looked at before
    // the socket is read, so who has this message has seen the wish as well.
    client.client.reconfigure(fake.configuration)
    fake.publish(FakeBroker.messages(1))
    try await eventually { client.handler.messageCount == 1 }
    fake.change { $0.acknowledges = true }
    client.client.stop(finalPublications: [Publication(topic: "last", payload: [1], token: 2)])
    try await eventually { client.record.acknowledged.map(\.token) == [2] }
    // The disconnect waits no longer.
    fake.send([0x40, 2, 0, UInt8(fake.published[0])])
    try await client.end()
    #expect(client.record.acknowledged.map(\.token) == [2, 1])
    try await eventually { fake.events.last == .closed }
    #expect(fake.events.suffix(2) == [.disconnected, .closed])
    #expect(fake.connectionCount == 1)
  }

  @Test("A broker that does not acknowledge can't hold up a stop for longer than its limit") func stopLimit()
    async throws
  {
    let (fake, client) = try FakeBroker.withClient(
      broker: { $0.acknowledges = false }, client: { $0.stopLimit = .milliseconds(200) })
    try await client.ready()
    // Without the limit it would wait for the broker, which never answers.
    try await client.stop(finalPublications: [Publication(topic: "t", payload: [1])])
    #expect(client.record.acknowledged.isEmpty)
    try await eventually { fake.events.contains(.disconnected) }
  }

  @Test("A batch that is being handled when the stop comes is finished and acknowledged") func stopInBatch()
    async throws
  {
    let fake = try FakeBroker()
    let gate = DispatchSemaphore(value: 0)
    let client = TestClient(fake.configuration) { _ in
      fake.mark("begin")
      gate.wait()
    }
    try await client.ready()
    fake.publish(FakeBroker.messages(20))
    try await eventually { fake.events.contains(.mark("begin")) }
    client.client.stop()
    for _ in 0..<20 { gate.signal() }
    try await client.stop()
    try await eventually { fake.events.last == .closed }
    let handled = client.handler.messageCount
    #expect(handled > 0)
    #expect(fake.acknowledgements.count == handled)
  }

  @Test("A stop ends a waiting time at once, and run can't be called twice") func stopWhileWaiting() async throws {
    let client = TestClient(
      MosquittoConfiguration(
        host: "127.0.0.1", port: 1, clientID: "a", reconnect: .init(initial: .seconds(600), ceiling: .seconds(600))))
    _ = try await client.disconnection()
    try await client.stop()
    await #expect(throws: MosquittoError.self) { try await client.client.run() }
  }

  @Test("A stop before the start, and cancellation, end run cleanly") func earlyStop() async throws {
    let fake = try FakeBroker()
    let early = MosquittoClient(fake.configuration, handler: RecordingHandler())
    early.stop()
    try await early.run()
    #expect(fake.connectionCount == 0)

    let handler = RecordingHandler()
    let client = MosquittoClient(fake.configuration, handler: handler)
    let task = Task { try await client.run() }
    try await eventually { handler.record.subscribed.count == 1 }
    task.cancel()
    try await task.value
  }

  @Test("A stop does not wait for an address that swallows connections") func blackHole() async throws {
    let hole = try BlackHole()
    let client = TestClient(MosquittoConfiguration(host: "127.0.0.1", port: hole.port, clientID: "a"))
    try await eventually("a connection under way") { hole.isBeingCalled }
    // The system gives such a connection up after two minutes.
    try await client.stop()
    #expect(client.record.disconnections.isEmpty)
  }

  @Test(
    "What can never work ends run at once and names the setting",
    arguments: [
      ("mqtt.host", { @Sendable in $0.host = "" }), ("mqtt.client_id", { $0.clientID = "a\0b" }),
      ("mqtt.client_id", { $0.clientID = "a+" }), ("mqtt.port", { $0.port = 0 }), ("mqtt", { $0.keepAlive = 3 }),
      ("mqtt.username", { $0.password = "p" }),
      ("mqtt.tls.cert_file", { $0.tls = .init(caFile: "ca", certificateFile: "cert") }),
      ("mqtt.base_topic", { $0.subscriptions = [.init("a/#/b")] }),
      ("mqtt.base_topic", { $0.lastWill = Publication(topic: "a/+", payload: []) }),
    ] as [(String, @Sendable (inout MosquittoConfiguration) -> Void)]) func invalid(
      setting: String, change: @Sendable (inout MosquittoConfiguration) -> Void
    ) async throws
  {
    var configuration = MosquittoConfiguration(host: "127.0.0.1", clientID: "a")
    change(&configuration)
    let client = TestClient(configuration)
    let error = try await #require(throws: MosquittoError.self) { try await client.end() }
    #expect(error.reason == .configuration)
    #expect(error.message.contains("`\(setting)`"))
    #expect(client.record.disconnections.map(\.isFatal) == [true])
  }

  @Test("Neither a description nor a dump of the configuration shows the password") func noPassword() {
    let configuration = MosquittoConfiguration(host: "h", clientID: "c", username: "user", password: "s3cret-Password")
    var dumped = ""
    dump(configuration, to: &dumped)
    for text in ["\(configuration)", String(reflecting: configuration), String(describing: configuration), dumped] {
      #expect(!text.contains("s3cret"))
    }
    #expect("\(configuration)" == "mqtt://user@h:1883 as c")
  }
}
