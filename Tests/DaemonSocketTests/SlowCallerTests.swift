// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

@Suite("Callers that are slow, or say more than they should", .timeLimit(.minutes(30)))
struct SlowCallerTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("daemon.sock") }

  init() throws { directory = try TemporaryDirectory() }

  /// A caller of the kernel's functions, which keeps to no rule.
  private final class Caller: Sendable {
    let descriptor: Int32

    init(_ path: String) throws {
      let address = try SocketAddress(path)
      descriptor = try SocketAddress.makeSocket(path)
      #expect(address.withAddress { Glibc.connect(descriptor, $0, $1) } == 0)
    }

    deinit { Glibc.close(descriptor) }

    /// - Returns: false when nobody listens any more.
    @discardableResult
    func say(_ bytes: [UInt8]) -> Bool {
      Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// A message.
    func ask(_ bytes: [UInt8], and more: [UInt8] = []) {
      say([0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes + more)
    }

    /// Whether something has come. Nobody waits: a handler needs one of Swift's few threads.
    var hasAnswer: Bool {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&entry, 1, 0) == 1
    }

    /// Takes a byte at a time, from the first one on for longer than the daemon's patience; then what is
    /// left, at once.
    ///
    /// - Returns: all that came.
    func drain(slowlyFor time: Duration) -> Int {
      var end: ContinuousClock.Instant?
      var count = 0
      var room = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let isSlow = end.map { ContinuousClock.now < $0 } ?? true
        let taken = recv(descriptor, &room, isSlow ? 1 : room.count, 0)
        guard taken > 0 else { return count }
        if end == nil { end = .now + time }
        count += taken
        if isSlow { usleep(20) }
      }
    }
  }

  private static let large = [UInt8](repeating: 7, count: DaemonConnection.limit)

  @Test("However many take no answer, others get theirs")
  func manyThatTakeNothing() async throws {
    let listener = try DaemonListener(path: path, patience: 600) { request, _ in
      request.count == 1 ? Self.large : request
    }
    defer { listener.stop() }
    // More than there are threads of Swift's on most machines.
    let slow = try (0..<15).map { _ in try Caller(path) }
    for caller in slow {
      caller.ask([1])
      // Its answer is on the way, and does not fit.
      try await eventually(within: .seconds(240), "an answer") { caller.hasAnswer }
    }
    #expect(try await DaemonCaller.ask([1, 2], at: path, within: 240) == [1, 2])
    withExtendedLifetime(slow) {}
  }

  @Test("Who takes its answer a byte at a time is not waited for longer than anybody else")
  func byteReader() async throws {
    let listener = try DaemonListener(path: path, patience: 1) { _, _ in Self.large }
    defer { listener.stop() }
    let caller = try Caller(path)
    caller.ask([1])
    let taken = Mutex<Int?>(nil)
    OwnThread.start {
      let count = caller.drain(slowlyFor: .seconds(3))
      taken.withLock { $0 = count }
    }
    try await eventually(within: .seconds(240), "the end") { taken.withLock { $0 } != nil }
    #expect(taken.withLock { $0 ?? 0 } < DaemonConnection.limit)
  }

  @Test("Nor who sends its request a byte at a time")
  func byteSender() async throws {
    let isAsked = Mutex(false)
    let listener = try DaemonListener(path: path, patience: 1) { request, _ in
      isAsked.withLock { $0 = true }
      return request
    }
    defer { listener.stop() }
    let caller = try Caller(path)
    caller.say([0, 7, 0, 0])
    try await eventually(within: .seconds(240), "the end") { !caller.say([1]) }
    #expect(!isAsked.withLock { $0 })
  }

  @Test("A request with a byte after it is refused, and so is none other")
  func surplus() async throws {
    var admission = DaemonListener.Admission.owner
    admission.complaint = { Array("\($0.reason)".utf8) }
    let asked = Mutex<[[UInt8]]>([])
    let listener = try DaemonListener(path: path, admission: admission, patience: 600) {
      request, _ in
      asked.withLock { $0.append(request) }
      return request
    }
    defer { listener.stop() }
    let caller = try Caller(path)
    caller.ask([1], and: [2])
    let answer = try DaemonConnection(dup(caller.descriptor)).receive(by: .now + .seconds(240))
    #expect(String(decoding: answer, as: UTF8.self) == "malformed")
    #expect(try await DaemonCaller.ask([3], at: path, within: 240) == [3])
    #expect(asked.withLock { $0 } == [[3]])
  }

  @Test("Who has ended its own half after its request still waits; who has ended both has gone")
  func halfClosed() async throws {
    let hasCome = Mutex(false)
    let sawTheEnd = Mutex<Bool?>(nil)
    let listener = try DaemonListener(path: path, patience: 600) { request, connection in
      hasCome.withLock { $0 = true }
      guard request == [1] else { return connection.isGone ? [] : [7] }
      try? await eventually(within: .seconds(240)) { connection.isGone }
      sawTheEnd.withLock { $0 = connection.isGone }
      return request
    }
    defer { listener.stop() }
    let waiting = try Caller(path)
    waiting.ask([2])
    shutdown(waiting.descriptor, Int32(SHUT_WR))
    try await eventually("the answer") { waiting.hasAnswer }
    let connection = try DaemonConnection(dup(waiting.descriptor))
    #expect(try connection.receive(by: .now + .seconds(240)) == [7])

    hasCome.withLock { $0 = false }
    let leaving = try Caller(path)
    leaving.ask([1])
    shutdown(leaving.descriptor, Int32(SHUT_WR))
    try await eventually("the request") { hasCome.withLock { $0 } }
    #expect(sawTheEnd.withLock { $0 } == nil)
    shutdown(leaving.descriptor, Int32(SHUT_RD))
    try await eventually("the end") { sawTheEnd.withLock { $0 } == true }
  }

  @Test("Who speaks on after its request counts as gone")
  func surplusLater() async throws {
    let hasCome = Mutex(false)
    let sawTheEnd = Mutex(false)
    let listener = try DaemonListener(path: path, patience: 600) { request, connection in
      #expect(!connection.isGone)
      hasCome.withLock { $0 = true }
      try? await eventually(within: .seconds(240)) { connection.isGone }
      sawTheEnd.withLock { $0 = connection.isGone }
      return request
    }
    defer { listener.stop() }
    let caller = try Caller(path)
    caller.ask([1])
    try await eventually("the request") { hasCome.withLock { $0 } }
    caller.say([2])
    try await eventually("the end") { sawTheEnd.withLock { $0 } }
  }
}
