// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Synchronization
import TestKit
import Testing

/// The recorder that every test here has must be able to find something.
@Suite("The recorder", .inTurns, .timeLimit(.minutes(30)))
struct RecorderTests {
  private static let key = NeedlesTests.key

  @Test(
    "What is published on any broker of a test is found; what routers say only where all are enrolled",
    arguments: [false, true])
  func broker(hasLogins: Bool) async throws {
    // A recorder beside the test's own one, which must not hear of it.
    let recorder = Recorder()
    defer { recorder.end() }
    try await recorder.observe {
      let broker = try TestBroker(
        logins: hasLogins ? [.init("keeper", role: .daemon), .init("anna")] : [])
      let home = try ThreadNetwork("home")
      try await recorder.ready()
      let publisher = try await TestPublisher.start(broker, user: hasLogins ? "keeper" : nil)
      let said = BorderRouter(number: 1).announces(try home.hex())
      try await publisher.publish([
        Publication(topic: "threadkeeper/bridge/state", payload: Array("{}".utf8)), said,
      ])
      try await eventually("what routers say") { recorder.messages.count == 2 }
      #expect(recorder.finds().isEmpty)
      recorder.allPublishersAreEnrolled()
      #expect(recorder.finds().map(\.topic) == [said.topic])

      let planted = Publication(
        topic: "threadkeeper/out/anna/mine", payload: [],
        correlationData: Array(Data(home.networkKey).base64EncodedString().utf8))
      try await publisher.publish([
        Publication(topic: "threadkeeper/bridge/event", payload: Array(try home.hex().utf8)),
        planted,
      ])
      try await eventually("what was planted") { recorder.messages.count == 4 }
      #expect(
        Set(recorder.finds().map(\.topic))
          == [said.topic, "threadkeeper/bridge/event", planted.topic])
    }
  }

  @Test("The kit notes the networks, the store's key and the daemon's password of a test")
  func noted() async throws {
    let recorder = Recorder()
    defer { recorder.end() }
    try await recorder.observe {
      let broker = try TestBroker(logins: [.init("keeper", role: .daemon)])
      let password = try #require(broker.broker.password(of: "keeper"))
      let installation = try Installation(
        broker, mqtt: ["username: keeper", "password: \(password)"])
      let daemon = try await installation.start()
      let key = try String(
        contentsOfFile: installation.directory.file("store.key"), encoding: .utf8)
      let publisher = try await TestPublisher.start(broker, user: "keeper")
      try await publisher.publish(
        [password, key.uppercased()].enumerated().map {
          Publication(topic: "threadkeeper/planted/\($0)", payload: Array($1.utf8))
        })
      try await eventually("what was planted") {
        recorder.messages.count { $0.topic.contains("planted") } == 2
      }
      #expect(
        Set(recorder.finds().map(\.topic)) == ["threadkeeper/planted/0", "threadkeeper/planted/1"])
      #expect(recorder.messages.contains { $0.topic == "threadkeeper/bridge/state" })
      #expect(try await daemon.stop() == .exit(0))
    }
  }

  /// Something large before the key, so that all of it takes a while.
  private func publish(_ key: [UInt8], last: String, on broker: TestBroker) async throws {
    let publisher = try await TestPublisher.start(broker)
    let noise = (0..<30).map {
      Publication(topic: "threadkeeper/noise/\($0)", payload: [UInt8](repeating: 7, count: 65_536))
    }
    // It is more than the system keeps on its way.
    try await publisher.publish(noise + [Publication(topic: last, payload: key)])
  }

  @Test(
    "What is published as the very last thing of a test is found, on a broker that the test lets go"
  )
  func lastThing() async throws {
    let isOver = Mutex(false)
    let recorder = Recorder(beforeHearing: { while !isOver.withLock({ $0 }) { usleep(20_000) } })
    defer { recorder.end() }
    recorder.note("key", Self.key)
    try await recorder.observe {
      let broker = try TestBroker()
      try await recorder.ready()
      try await publish(Self.key, last: "threadkeeper/last", on: broker)
    }
    #expect(recorder.messages.isEmpty)
    isOver.withLock { $0 = true }
    #expect(await recorder.hearOut() == [])
    #expect(recorder.finds().map(\.topic) == ["threadkeeper/last"])
    #expect(!recorder.messages.contains { $0.topic.contains("recorder") })
  }

  @Test("A recorder that has never been let in says so, and so does one that waits in vain")
  func deaf() async throws {
    let recorder = Recorder()
    defer { recorder.end() }
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.file("broker"), withIntermediateDirectories: true)
    let port = try UnusedPort.next()
    for (file, text) in [("logins", "threadkeeper\tsesame-open\n"), ("port", "\(port)\n")] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file("broker/\(file)")))
    }
    recorder.listen(toBrokerIn: directory.path)
    #expect(await recorder.hearOut() == ["the broker on port \(port) was never listened to"])

    let other = Recorder()
    defer { other.end() }
    try await other.observe {
      let broker = try PasswordBroker("keeper", "sesame-open")
      try await other.ready()
      try broker.pause()
      let trouble = await other.hearOut(within: .milliseconds(100))
      try broker.resume()
      #expect(trouble.count == 1)
      #expect(await other.hearOut() == [])
    }
  }
}
