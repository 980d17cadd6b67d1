import Foundation
import Synchronization
import TestKit
import Testing

@testable import LocalAPI

@Suite("Calls over a socket", .timeLimit(.minutes(30))) struct VarlinkServerTests {
  @Test("Many calls of one connection are answered in their order, however they are portioned") func order()
    async throws
  {
    let server = try SampleServer()
    let caller = try server.caller()
    let calls: [UInt8] = (0..<50).flatMap { (number: Int) -> [UInt8] in Array(SampleServer.ping("\(number)").utf8) + [0]
    }
    caller.send(Array(calls.prefix(100)))
    caller.send(Array(calls.dropFirst(100)))
    #expect(try await caller.replies(50) == (0..<50).map { SampleServer.pong("\($0)") })
  }

  @Test("A call without a reply has none, also where it fails, and is done though its caller goes") func oneway()
    async throws
  {
    let server = try SampleServer()
    let caller = try server.caller()
    caller.call("Other", "{}", "oneway")
    caller.call("Ping", "{\"text\":\"a\"}", "oneway")
    caller.ping("b")
    #expect(try await caller.reply() == SampleServer.pong("b"))
    do {
      let leaving = try server.caller()
      leaving.call("Ping", "{\"text\":\"c\"}", "oneway")
    }
    try await eventually("the last call") { server.sample.pinged == ["a", "b", "c"] }
  }

  @Test("A stream has its replies in their order, and the connection goes on after it") func stream() async throws {
    let server = try SampleServer()
    let caller = try server.caller()
    caller.call("Count", "{\"number\":3}", "more")
    caller.ping("a")
    #expect(
      try await caller.replies(4) == [
        "{\"continues\":true,\"parameters\":{\"number\":1}}", "{\"continues\":true,\"parameters\":{\"number\":2}}",
        "{\"parameters\":{\"number\":3}}", SampleServer.pong("a"),
      ])
  }

  @Test("What a handler waits for ends when its caller goes", arguments: ["Hold", "Flood"]) func cancelled(
    method: String
  ) async throws {
    let server = try SampleServer()
    do {
      let caller = try server.caller()
      caller.call(method, "{\"byte_count\":1}", "more")
      try await eventually("the call") { server.sample.held + server.sample.sent > 0 }
      #expect(server.sample.cancelled == 0)
    }
    try await eventually("the end of the handler") { server.sample.cancelled == 1 }
  }

  @Test("A handler that waits goes on when it is woken; its caller is there until it has hung up") func woken()
    async throws
  {
    let server = try SampleServer()
    let caller = try server.caller()
    caller.call("Hold")
    try await eventually("the call") { server.sample.held == 1 }
    server.sample.holding?.wake()
    #expect(try await caller.reply() == "{\"parameters\":{}}")
    caller.call("Hold")
    try await eventually("the call") { server.sample.held == 2 }
    let holding = try #require(server.sample.holding)
    // Who has ended the own half only waits.
    caller.endSending()
    #expect(holding.isThere && server.sample.cancelled == 1)
    shutdown(caller.socket, Int32(SHUT_RDWR))
    #expect(!holding.isThere)
  }

  @Test("Who ends the own half after the calls still gets all replies") func halfClosed() async throws {
    let server = try SampleServer()
    let caller = try server.caller()
    caller.call("Fill", "{\"byte_count\":400000}")
    caller.ping("a")
    caller.endSending()
    let replies = try await caller.replies(3)
    #expect(replies.map(\.utf8.count) == [400_000 + 26, 25 + 2])
    try await eventually("the end") { caller.isClosed }
  }

  @Test("A reply that is too large is an error, and the connection goes on") func largeReply() async throws {
    let server = try SampleServer()
    let caller = try server.caller()
    caller.call("Fill", "{\"byte_count\":600000}")
    caller.ping("a")
    let replies = try await caller.replies(2)
    #expect(replies.first?.contains("Failed") == true)
    #expect(replies.last == SampleServer.pong("a"))
  }

  @Test("Who is not admitted is answered so, whatever it sends, and nothing of it is read") func refused() async throws
  {
    let server = try SampleServer(judge: { _ in .refused(.permissionDenied) })
    let caller = try server.caller()
    #expect(try await caller.replies(2) == ["{\"error\":\"org.varlink.service.PermissionDenied\",\"parameters\":{}}"])
    #expect(server.sample.pinged.isEmpty)
  }

  @Test("The caller is judged by what the kernel says of it") func peer() async throws {
    let seen = Mutex<[SocketPeer]>([])
    let server = try SampleServer(judge: { peer in
      seen.withLock { $0.append(peer) }
      return .admitted(.admitted)
    })
    #expect(try await server.answers())
    #expect(seen.withLock { $0.map(\.user) } == [geteuid()])
    #expect(seen.withLock { $0.map(\.processID) } == [getpid()])
    let caller = try server.caller()
    caller.call("Owner")
    #expect(try await caller.reply()?.contains("PermissionDenied") == true)
  }

  @Test("A socket for the owner is for nobody else, and its name goes when it stops") func ownerSocket() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("varlink.sock")
    let server = try VarlinkServer(path: path, limits: .unhurried, service: SampleService().service)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let client = try #require(await VarlinkClient.connect(to: path))
    #expect(try await client.call(SampleService.ownerOnly, .init(), within: .unhurried) == .init())
    server.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try await VarlinkClient.connect(to: path) == nil)
    // What was connected goes on.
    #expect(try await client.call(SampleService.ownerOnly, .init(), within: .unhurried) == .init())
  }

  @Test("A server that ends has no handler wait, closes its connections, and waits for them") func finish() async throws
  {
    let server = try SampleServer()
    let silent = try server.caller()
    let waiting = try server.caller()
    waiting.call("Hold")
    let streaming = try server.caller()
    streaming.call("Flood", "{\"byte_count\":1000}", "more")
    try await eventually("the calls") { server.sample.held == 1 && server.sample.sent > 0 }
    await server.server.finish(within: .unhurried)
    #expect(server.sample.cancelled == 2)
    #expect(try await waiting.replies(2).count == 1)
    #expect(silent.isClosed && waiting.isClosed && streaming.isClosed)
  }

  @Test("A server that nobody holds any more ends by itself") func released() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("varlink.sock")
    _ = try VarlinkServer(path: path, limits: .unhurried, service: SampleService().service)
    #expect(try await VarlinkClient.connect(to: path) == nil)
  }
}
