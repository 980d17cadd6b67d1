// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAPI
import TestKit
import Testing

@Suite("The local API of a running daemon", .inTurns, .timeLimit(.minutes(30)))
struct LocalAPITests {
  private struct Reply: Decodable, Sendable { var status: JSON }

  private static let interface = "io.threadkeeper.Status"
  private static let get = VarlinkMethod<VarlinkNothing, Reply>(interface, "Get", for: .owner)
  private static let watch = VarlinkStream<VarlinkNothing, Reply>(interface, "Watch", for: .owner)

  private func client(_ installation: Installation) async throws -> VarlinkClient {
    try #require(await VarlinkClient.connect(to: installation.socketPath))
  }

  @Test("It says of the daemon what `threadkeeper status` says, and again when that has changed")
  func status() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let daemon = try await installation.start()
    let client = try await client(installation)
    // What it says may change in between.
    try await eventually("the same status") {
      try await client.call(Self.get, .init(), within: .seconds(60)).status
        == installation.json("status")
    }
    let replies = try client.replies(
      to: Self.watch, .init(), firstWithin: .seconds(240), within: .seconds(240))
    var iterator = replies.makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(first.status["routers"] == 0)
    #expect(first.status["pid"]?.number == Int64(daemon.identifier))
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([
      BorderRouter(number: 1).announces(try ThreadNetwork("home").hex())
    ])
    var last = first
    while last.status["routers"] == 0 {
      let next = try #require(await iterator.next())
      #expect(next.status != last.status)
      last = next
    }
    #expect(last.status["routers"] == 1)
  }

  @Test("It ends with the daemon, which does not wait for its clients, and leaves no socket")
  func end() async throws {
    let installation = try Installation(TestBroker())
    let daemon = try await installation.start()
    let silent = try await client(installation)
    let watching = try await client(installation)
    var iterator = try watching.replies(
      to: Self.watch, .init(), firstWithin: .seconds(240), within: .seconds(240)
    )
    .makeAsyncIterator()
    _ = try await iterator.next()
    #expect(try await daemon.stop() == .exit(0))
    await #expect(throws: (any Error).self) { while try await iterator.next() != nil {} }
    #expect(!FileManager.default.fileExists(atPath: installation.socketPath))
    withExtendedLifetime(silent) {}
  }
}
