import Foundation
import TestKit
import Testing
import ThreadkeeperSupport

@testable import LocalAPI

@Suite("Callers that keep to no rule", .timeLimit(.minutes(30))) struct HostileCallerTests {
  private static let full = "{\"error\":\"org.example.sample.Full\",\"parameters\":{}}"

  @Test(
    "A malformed message ends its connection without a reply, and no other",
    arguments: ["x", "[]", "{}", "", "{\"method\":7}", "{\"method\":\"a.B\",\"more\":true,\"oneway\":true}"])
  func malformed(text: String) async throws {
    let server = try SampleServer()
    let caller = try server.caller()
    caller.ping("a")
    caller.send(text)
    caller.ping("b")
    #expect(try await caller.replies(2) == [SampleServer.pong("a")])
    #expect(try await server.answers())
    #expect(server.sample.pinged == ["a", "a"])
  }

  @Test("A message that is too large ends its connection before it is whole") func tooLarge() async throws {
    let server = try SampleServer(limits: { $0.message = 1_000 })
    let caller = try server.caller()
    caller.send([UInt8](repeating: UInt8(ascii: " "), count: 1_001))
    #expect(try await caller.reply() == nil)
    #expect(try await server.answers())
  }

  @Test("Streams leave places for calls, and a user has so many") func streams() async throws {
    let server = try SampleServer(limits: { ($0.placesPerUser, $0.streamsPerUser) = (4, 2) })
    let open = try [server.caller(), server.caller()]
    for caller in open {
      caller.call("Wait", "{\"number\":1}", "more")
      #expect(try await caller.reply()?.contains("\"continues\":true") == true)
    }
    let third = try server.caller()
    third.call("Wait", "{\"number\":1}", "more")
    #expect(try await third.reply() == Self.full)
    // The connection goes on, and a call is answered.
    third.ping("a")
    #expect(try await third.reply() == SampleServer.pong("a"))
    // One that has ended leaves its place.
    third.call("Count", "{\"number\":1}")
    #expect(try await third.reply()?.contains("ExpectedMore") == true)
    shutdown(open[0].socket, Int32(SHUT_RDWR))
    try await eventually("the place of the first stream") {
      third.call("Count", "{\"number\":1}", "more")
      return try await third.reply() == "{\"parameters\":{\"number\":1}}"
    }
  }

  /// A connection that was in time for its first call, which is sent after it was made.
  private func inTime(_ server: SampleServer, _ call: (RawCaller) async throws -> Bool) async throws -> RawCaller {
    var caller: RawCaller?
    try await eventually("a call before the connection was closed") {
      let new = try server.caller()
      caller = new
      return try await call(new)
    }
    return try #require(caller)
  }

  @Test("Who is silent is closed, also after a call, and so is who sends a byte now and then") func silent()
    async throws
  {
    let server = try SampleServer(limits: { $0.silence = .milliseconds(300) })
    let silent = try server.caller()
    let quiet = try await inTime(server) {
      $0.ping("a")
      return try await $0.reply() != nil
    }
    let slow = try server.caller()
    try await eventually("the end of the slow one") { !slow.send([UInt8(ascii: " ")]) }
    try await eventually("the end of the others") { silent.isClosed && quiet.isClosed }
  }

  @Test("Who waits for an answer is not silent") func waiting() async throws {
    let server = try SampleServer(limits: { $0.silence = .milliseconds(200) })
    let waiting = try await inTime(server) { caller in
      caller.call("Hold")
      try await eventually("the call, or the end") { server.sample.held == 1 || caller.isClosed }
      return server.sample.held == 1
    }
    // It has been silent for a shorter time.
    let silent = try server.caller()
    try await eventually("the end of the silent one") { silent.isClosed }
    #expect(!waiting.isClosed && server.sample.cancelled == 0)
  }

  @Test("Who never reads is closed, a stream waits for its reader, and others are answered meanwhile") func neverReads()
    async throws
  {
    // More than there are threads of Swift's on most machines.
    let count = 14
    let server = try SampleServer(limits: {
      $0.sending = .seconds(1)
      ($0.placesPerUser, $0.streamsPerUser) = (16, count)
    })
    let callers = try (0..<count).map { _ in try server.caller() }
    for caller in callers { caller.call("Flood", "{\"byte_count\":100000}", "more") }
    try await eventually("all streams") { server.sample.sent >= count }
    #expect(try await server.answers())
    try await eventually("the ends") { server.sample.cancelled == count }
    // What the system keeps of a connection, and one reply: a stream does not run ahead of that.
    #expect(server.sample.sent < count * 40)
    for caller in callers { #expect(caller.isClosed) }
  }

  @Test("Who reads a byte at a time gets no more time than anybody else") func readsSlowly() async throws {
    let server = try SampleServer(limits: { $0.sending = .seconds(1) })
    let caller = try server.caller()
    caller.call("Fill", "{\"byte_count\":500000}")
    var byte: UInt8 = 0
    try await eventually("the end") {
      _ = recv(caller.socket, &byte, 1, Int32(MSG_DONTWAIT))
      return caller.isClosed
    }
  }

  @Test("However fast one user connects and leaves, another connection of theirs is served at last") func storm()
    async throws
  {
    let server = try SampleServer(limits: { $0.placesPerUser = 4 })
    for _ in 0..<300 { _ = try server.caller() }
    try await eventually("an answer") { try await server.answers() }
    await server.server.finish(within: .unhurried)
  }

  @Test("Connections of one user take no place from another one", .enabled(if: geteuid() == 0)) func otherUser()
    async throws
  {
    let server = try SampleServer(limits: { ($0.placesPerUser, $0.places) = (8, 8) })
    let callers = try (0..<8).map { _ in try server.caller() }
    for (number, caller) in callers.enumerated() {
      caller.call("Hold")
      try await eventually("the call") { server.sample.held == number + 1 }
    }
    let refused = try server.caller()
    #expect(try await refused.replies(2) == [Self.full])
    // The user with the most gives one up, though it is being answered.
    let script = """
      import os, socket, sys
      os.setuid(54321)
      s = socket.socket(socket.AF_UNIX)
      s.connect(sys.argv[1])
      s.sendall(sys.argv[2].encode() + b"\\0")
      print(s.recv(1000))
      """
    try chmodAll(server.path)
    let output = try await SystemThread.result { [path = server.path] in
      try Program.check("python3", ["-c", script, path, SampleServer.ping("b")])
    }
    #expect(output.contains("\"text\":\"b\""))
    try await eventually("the oldest one's end") { callers[0].isClosed }
    for caller in callers.dropFirst() { #expect(!caller.isClosed) }
  }

  /// Lets other users reach the socket in the temporary directory.
  private func chmodAll(_ path: String) throws {
    var directory = SocketDirectory.parent(of: path)
    while directory.count > NSTemporaryDirectory().count {
      chmod(directory, 0o755)
      directory = SocketDirectory.parent(of: directory)
    }
  }

  @Test("An open file that is passed gets nowhere, and the connection goes on", arguments: [true, false])
  func descriptor(isRefusedByKernel: Bool) async throws {
    let server = try SampleServer(limits: { $0.refusesDescriptors = isRefusedByKernel })
    let caller = try server.caller()
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let code = caller.pass(ends[1])
    // Where the kernel refuses it, the sender is told.
    #expect(code == 0 || code == EPERM && isRefusedByKernel)
    close(ends[1])
    caller.ping("a")
    #expect(try await caller.reply() == SampleServer.pong("a"))
    // The other end of a pipe that is closed everywhere says so.
    try await eventually("the end of the pipe") {
      var entry = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
      return poll(&entry, 1, 0) == 1 && Int32(entry.revents) & POLLHUP != 0
    }
  }
}
