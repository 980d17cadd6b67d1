// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

@Suite("Open files that the daemon has not asked for", .timeLimit(.minutes(30)))
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
    return try DaemonListener(path: path, admission: admission, patience: 600) { request, _ in
      request
    }
  }

  private func ask(_ bytes: [UInt8], passing descriptors: [Int32]) async throws -> String {
    let answer = try await DaemonCaller.ask(bytes, passing: descriptors, at: path, within: 240)
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
}
