import Foundation
import TestKit
import Testing

@testable import LocalAPI

@Suite("A client", .timeLimit(.minutes(30))) struct VarlinkClientTests {
  @Test("It calls, one after the other, and throws what the service answers") func calls() async throws {
    let server = try SampleServer()
    let client = try await server.client()
    for text in ["a", "ü\u{0}\n", String(repeating: "x", count: 300_000)] {
      #expect(try await client.ping(text) == text)
    }
    await #expect(throws: VarlinkError("org.example.sample.Failed", ["message": "no"])) {
      try await client.call(SampleService.fail, .init(text: "no"), within: .unhurried)
    }
    #expect(try await client.ping("b") == "b")
  }

  @Test("Calls at the same time wait for each other") func together() async throws {
    let server = try SampleServer()
    let client = try await server.client()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<20 { group.addTask { try await client.ping("\(number)") == "\(number)" } }
      for try await isOwn in group { #expect(isOwn) }
    }
  }

  @Test("It reads a stream to its end, and calls again") func stream() async throws {
    let server = try SampleServer()
    let client = try await server.client()
    for limit in [1, 5, 200] {
      var numbers: [Int] = []
      let replies = try client.replies(to: SampleService.count, .init(number: limit), firstWithin: .unhurried)
      for try await reply in replies { numbers.append(reply.number) }
      #expect(numbers == Array(1...limit))
    }
    #expect(try await client.ping("b") == "b")
  }

  @Test("A stream that nobody reads on ends at the service, too") func leftStream() async throws {
    let server = try SampleServer()
    let client = try await server.client()
    do {
      let replies = try client.replies(to: SampleService.flood, .init(byteCount: 100), firstWithin: .unhurried)
      var count = 0
      for try await _ in replies {
        count += 1
        if count == 1 { await #expect(throws: SocketError.self) { try await client.ping("a") } }
        if count == 3 { break }
      }
    }
    try await eventually("the end of the handler") { server.sample.cancelled == 1 }
  }

  @Test("A service that does not answer is waited for as long as said, and not longer") func timeout() async throws {
    let server = try SampleServer()
    let client = try await server.client()
    let error = await #expect(throws: SocketError.self) {
      try await client.call(SampleService.hold, .init(), within: .milliseconds(200))
    }
    #expect(error?.reason == .timedOut)
    try await eventually("the end of the handler") { server.sample.cancelled == 1 }
    await #expect(throws: SocketError.self) { try await client.ping("late") }
  }

  @Test("A stream has its own limit until the first reply, and another one from there on") func firstReply()
    async throws
  {
    let server = try SampleServer()
    let silent = try await server.client()
    let error = await #expect(throws: SocketError.self) {
      for try await _ in try silent.replies(to: SampleService.wait, .init(number: 0), firstWithin: .milliseconds(200)) {
      }
    }
    #expect(error?.reason == .timedOut)
    let client = try await server.client()
    var numbers: [Int] = []
    let later = await #expect(throws: SocketError.self) {
      for try await reply in try client.replies(
        to: SampleService.wait, .init(number: 1), firstWithin: .unhurried, within: .milliseconds(200))
      { numbers.append(reply.number) }
    }
    #expect(later?.reason == .timedOut && numbers == [1])
  }

  @Test("A call whose task is cancelled is cancelled at the service") func cancelled() async throws {
    let server = try SampleServer()
    let client = try await server.client()
    let task = Task { try await client.call(SampleService.hold, .init(), within: .unhurried) }
    try await eventually("the call") { server.sample.held == 1 }
    task.cancel()
    let error = await #expect(throws: SocketError.self) { try await task.value }
    #expect(error?.reason == .abandoned)
    try await eventually("the end of the handler") { server.sample.cancelled == 1 }
  }

  @Test("It sends nothing where others may write, and finds nobody where nobody listens") func trust() async throws {
    let server = try SampleServer()
    chmod(SocketDirectory.parent(of: server.path), 0o777)
    let error = await #expect(throws: SocketError.self) { try await server.client() }
    #expect(error?.reason == .untrusted)
    let directory = try TemporaryDirectory()
    #expect(try await VarlinkClient.connect(to: directory.file("none")) == nil)
    // What a killed process has left.
    let address = try SocketAddress(directory.file("left"))
    let left = try SocketAddress.makeSocket(directory.file("left"))
    #expect(address.withAddress { bind(left, $0, $1) } == 0)
    close(left)
    #expect(try await VarlinkClient.connect(to: directory.file("left")) == nil)
  }
}

extension VarlinkClient {
  fileprivate func ping(_ text: String) async throws -> String {
    try await call(SampleService.ping, .init(text: text), within: .unhurried).text
  }
}
