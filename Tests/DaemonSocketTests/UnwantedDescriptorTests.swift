// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

@Suite("Open files that the daemon has not asked for", .timeLimit(.minutes(5)))
struct UnwantedDescriptorTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("run/client.sock") }

  init() throws { directory = try TemporaryDirectory() }

  private func listen(
    takesDescriptors: Bool = false,
    judge: @escaping @Sendable (UInt32) -> DaemonListener.Admission.Verdict = { _ in .admitted }
  ) throws -> DaemonListener {
    var admission = DaemonListener.Admission(.everybody, judge: judge)
    admission.takesDescriptors = takesDescriptors
    admission.complaint = { Array($0.message.utf8) }
    return try DaemonListener(path: path, admission: admission) { request, _ in request }
  }

  private func ask(_ octets: [UInt8], passing descriptors: [Int32]) async throws -> String {
    let answer = try await DaemonCaller.ask(octets, passing: descriptors, at: path, within: 240)
    return String(decoding: answer ?? [], as: UTF8.self)
  }

  @Test("A socket that takes none closes them at once, and says so; the request is not heard")
  func refused() async throws {
    let listener = try listen()
    defer { listener.stop() }
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { close(ends[0]) }
    #expect(try await ask([1], passing: [ends[1]]) == "no open files are taken here")
    close(ends[1])
    // The other end of a pipe that is closed everywhere says so.
    try await eventually("the end of the pipe") {
      var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
      return poll(&waiting, 1, 0) == 1 && waiting.revents & Int16(POLLHUP) != 0
    }
    #expect(try await ask([0x61], passing: []) == "a")
  }

  @Test("No number in this process is ever theirs, however the message comes")
  func noNumber() throws {
    var pair: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let (caller, keeper) = (try DaemonConnection(pair[0]), try DaemonConnection(pair[1]))
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let deadline = ContinuousClock.now + .seconds(240)
    try caller.send([1, 2, 3], passing: ends, by: deadline)
    close(ends[1])
    let error = #expect(throws: DaemonSocketError.self) { try keeper.receive(by: deadline) }
    #expect(error?.reason == .malformed)
    #expect(keeper.passed.isEmpty)
    keeper.close()
    var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    #expect(poll(&waiting, 1, 240_000) == 1)
    #expect(waiting.revents & Int16(POLLHUP) != 0)
  }

  @Test("More than a message carries are refused, and all of them closed")
  func tooMany() throws {
    var pair: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let caller = try DaemonConnection(pair[0])
    let keeper = try DaemonConnection(pair[1], takesDescriptors: true)
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let deadline = ContinuousClock.now + .seconds(240)
    try caller.send([1], passing: [ends[1], ends[1]], by: deadline)
    #expect(try keeper.receive(by: deadline) == [1])
    #expect(keeper.passed.count == 2)
    try caller.send([1], passing: [ends[1]], by: deadline)
    let error = #expect(throws: DaemonSocketError.self) { try keeper.receive(by: deadline) }
    #expect(error?.reason == .malformed)
    close(ends[1])
    keeper.close()
    var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    #expect(poll(&waiting, 1, 240_000) == 1)
    #expect(waiting.revents & Int16(POLLHUP) != 0)
  }

  /// A connection over TCP whose close waits, because it lingers and the other side takes nothing.
  private struct Lingering {
    let socket: Int32
    private let other: Int32

    init() throws {
      let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(listener) }
      // As little as can be: there are many.
      var room: Int32 = 4_096
      let word = socklen_t(MemoryLayout<Int32>.size)
      setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, word)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, length) == 0 && Glibc.listen(listener, 1) == 0
            && getsockname(listener, $0, &length) == 0
        }
      }
      try #require(isListening)
      let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, word)
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(socket, $0, length) == 0
        }
      }
      try #require(isConnected)
      let other = accept(listener, nil, nil)
      try #require(other >= 0)
      let rubbish = [UInt8](repeating: 0, count: 1 << 16)
      while send(socket, rubbish, rubbish.count, Int32(MSG_DONTWAIT)) > 0 {}
      var lingers = linger(l_onoff: 1, l_linger: 20)
      let size = socklen_t(MemoryLayout<linger>.size)
      try #require(setsockopt(socket, SOL_SOCKET, SO_LINGER, &lingers, size) == 0)
      (self.socket, self.other) = (socket, other)
    }

    /// Lets the close go on: the connection is no more.
    func end() {
      var lingers = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        other, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
      close(other)
    }
  }

  /// Lets the daemon go on with the first callers one by one: when each has passed its file and closed its
  /// own copy. Before that it would not be the daemon who closes it last.
  private final class Gate: Sendable {
    private let counts = Mutex((come: 0, passed: 0))
    private let callers: Int

    init(_ callers: Int) { self.callers = callers }

    func pass() {
      let number = counts.withLock {
        $0.come += 1
        return min($0.come, callers)
      }
      while counts.withLock({ $0.passed }) < number { usleep(1_000) }
    }

    func open() { counts.withLock { $0.passed += 1 } }
  }

  /// Calls, passes a file, and closes its own copy, so that who closes it next is the last.
  private func call(passing descriptor: Int32) throws -> DaemonConnection {
    let address = try SocketAddress(path)
    let call = try SocketAddress.makeSocket(path)
    #expect(address.withAddress { connect(call, $0, $1) } == 0)
    let connection = try DaemonConnection(call)
    try connection.send([1], passing: [descriptor], by: .now + .seconds(240))
    close(descriptor)
    return connection
  }

  /// What the caller is told.
  private static func answer(to connection: DaemonConnection) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      OwnThread.start {
        continuation.resume(
          with: Result {
            String(decoding: try connection.receive(by: .now + .seconds(240)), as: UTF8.self)
          })
      }
    }
  }

  @Test(
    "One whose close takes long keeps nobody else waiting, however many there are",
    arguments: [("taken", 6), ("not taken", 6), ("not admitted", 40)])
  func lingering(how: String, count: Int) async throws {
    // Fewer than one user has places; of those that are sent away, more than there were threads for.
    let admitsNone = Mutex(how == "not admitted")
    let gate = Gate(count)
    let listener = try listen(takesDescriptors: how == "taken") { _ in
      gate.pass()
      return admitsNone.withLock { $0 } ? .refused(answer: Array("no".utf8)) : .admitted
    }
    defer { listener.stop() }
    let lingering = try (0..<count).map { _ in try Lingering() }
    defer { for one in lingering { one.end() } }
    let words = ["taken": "\u{1}", "not taken": "no open files are taken here"][how] ?? "no"
    var connections: [DaemonConnection] = []
    for one in lingering {
      connections.append(try call(passing: one.socket))
      gate.open()
    }
    for connection in connections { #expect(try await Self.answer(to: connection) == words) }
    admitsNone.withLock { $0 = false }
    #expect(try await ask([0x61], passing: []) == "a")
  }

  /// Whether a thread may have a table of open files for itself here.
  private static var hasOwnTables: Bool {
    let isAllowed = Mutex(false)
    let done = DispatchSemaphore(value: 0)
    let hasThread = OwnThread.startNew {
      isAllowed.withLock { $0 = PromptClose.takeTable() }
      done.signal()
    }
    guard hasThread else { return false }
    done.wait()
    return isAllowed.withLock { $0 }
  }

  @Test(
    "A close that would take long takes no place either", .enabled(if: Self.hasOwnTables),
    .disabled("a socket of the test itself lingers now and then when the machine is busy"),
    arguments: [false, true])
  func lingeringPlaces(takesDescriptors: Bool) async throws {
    // More than one user has places.
    let count = 20
    let gate = Gate(count)
    let listener = try listen(takesDescriptors: takesDescriptors) { _ in
      gate.pass()
      return .admitted
    }
    defer { listener.stop() }
    let words = takesDescriptors ? "\u{1}" : "no open files are taken here"
    for _ in 0..<count {
      let one = try Lingering()
      defer { one.end() }
      let connection = try call(passing: one.socket)
      gate.open()
      #expect(try await Self.answer(to: connection) == words)
      try await eventually("the end") { connection.isGone }
    }
  }
}
