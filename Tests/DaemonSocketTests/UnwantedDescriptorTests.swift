// SPDX-License-Identifier: Apache-2.0

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
      var lingers = linger(l_onoff: 1, l_linger: 600)
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

  @Test(
    "One whose close takes long keeps nobody else waiting",
    arguments: ["taken", "not taken", "not admitted"])
  func lingering(how: String) async throws {
    // More than there are threads of Swift's, fewer than one user has places.
    let count = 6
    let admitsNone = Mutex(how == "not admitted")
    let passed = Mutex(0)
    let answered = Mutex(0)
    let listener = try listen(takesDescriptors: how == "taken") { _ in
      // Until then it is not the daemon who closes them.
      while passed.withLock({ $0 }) < count { usleep(1_000) }
      return admitsNone.withLock { $0 } ? .refused(answer: Array("no".utf8)) : .admitted
    }
    defer { listener.stop() }
    let lingering = try (0..<count).map { _ in try Lingering() }
    defer { for one in lingering { one.end() } }
    for one in lingering {
      OwnThread.start { [path, descriptor = one.socket] in
        guard let call = try? SocketAddress.makeSocket(path),
          let address = try? SocketAddress(path),
          address.withAddress({ connect(call, $0, $1) }) == 0,
          let connection = try? DaemonConnection(call)
        else { return }
        try? connection.send([1], passing: [descriptor], by: .now + .seconds(240))
        close(descriptor)
        passed.withLock { $0 += 1 }
        _ = try? connection.receive(by: .now + .seconds(240))
        answered.withLock { $0 += 1 }
      }
    }
    // What is not taken, the kernel closes before the daemon has the message, so that is not answered.
    try await eventually(within: .seconds(120), "the daemon to have them") {
      how == "not taken"
        ? passed.withLock { $0 } == count : answered.withLock { $0 } == count
    }
    admitsNone.withLock { $0 = false }
    #expect(try await ask([0x61], passing: []) == "a")
  }
}
