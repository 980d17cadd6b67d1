import Foundation
import LocalAPI
import TestKit
import Testing

@Suite("The local API of a running daemon", .inTurns, .timeLimit(.minutes(30))) struct LocalAPITests {
  private struct Reply: Decodable, Sendable { var status: JSON }

  private static let watch = VarlinkStream<VarlinkNothing, Reply>("io.threadkeeper.Status", "Watch", for: .owner)

  @Test("It says what `status` says, and again when that has changed; it ends with the daemon") func status()
    async throws
  {
    let running = try await RunningHome()
    let installation = running.installation
    // What it says may change in between.
    try await eventually("the same status") { try await installation.status() == installation.json("status") }
    let silent = try #require(await VarlinkClient.connect(to: installation.socketPath))
    let client = try #require(await VarlinkClient.connect(to: installation.socketPath))
    var iterator = try client.replies(to: Self.watch, .init(), firstWithin: .seconds(240), within: .seconds(240))
      .makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(first.status["routers"] == 0 && first.status["page"]?["state"] == "off")
    #expect(first.status["pid"]?.number == Int64(running.daemon.identifier))
    try await running.publish(BorderRouter(number: 1).announces(try ThreadNetwork("home").hex()))
    var last = first
    while last.status["routers"] == 0 {
      let next = try #require(await iterator.next())
      #expect(next.status != last.status)
      last = next
    }
    #expect(last.status["routers"] == 1)

    // It does not wait for its clients, and leaves no socket.
    try await running.stop()
    await #expect(throws: (any Error).self) { while try await iterator.next() != nil {} }
    #expect(!FileManager.default.fileExists(atPath: installation.socketPath))
    withExtendedLifetime(silent) {}
  }
}
