// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

@Suite("The socket between commands and the daemon", .timeLimit(.minutes(30)))
struct DaemonSocketTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("daemon.sock") }

  init() throws { directory = try TemporaryDirectory() }

  private func listen(_ path: String? = nil) throws -> DaemonListener {
    try DaemonListener(path: path ?? self.path, patience: 600) { request, _ in request.reversed() }
  }

  @Test("A request is answered, one that is empty or as large as can be as well")
  func answers() async throws {
    let listener = try listen()
    defer { listener.stop() }
    for request in [[], [1, 2, 3], [UInt8](repeating: 7, count: DaemonConnection.limit)] {
      let answer = try await DaemonCaller.ask(request, at: path, within: 240)
      #expect(answer == request.reversed())
    }
  }

  @Test("What is too large is not sent")
  func tooLarge() async throws {
    let listener = try listen()
    defer { listener.stop() }
    let request = [UInt8](repeating: 7, count: DaemonConnection.limit + 1)
    let error = await #expect(throws: DaemonSocketError.self) {
      try await DaemonCaller.ask(request, at: path, within: 240)
    }
    #expect(error?.reason == .tooLarge)
  }

  @Test("Without a daemon nobody answers: no name, and a name that a killed one has left")
  func nobody() async throws {
    #expect(try await DaemonCaller.ask([1], at: path, within: 240) == nil)
    let address = try SocketAddress(path)
    let left = try SocketAddress.makeSocket(path)
    #expect(address.withAddress { bind(left, $0, $1) } == 0)
    close(left)
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try await DaemonCaller.ask([1], at: path, within: 240) == nil)
    let listener = try listen()
    #expect(try await DaemonCaller.ask([1], at: path, within: 240) == [1])
    listener.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("Only this user may open it, whatever the mask")
  func mode() throws {
    let listener = try listen()
    defer { listener.stop() }
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o600)
  }

  @Test("A path that is longer than an address works")
  func longPath() async throws {
    let deep = directory.file(String(repeating: "d", count: 200))
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    let listener = try listen("\(deep)/daemon.sock")
    defer { listener.stop() }
    #expect(try await DaemonCaller.ask([1, 2], at: "\(deep)/daemon.sock", within: 240) == [2, 1])
    #expect(FileManager.default.fileExists(atPath: "\(deep)/daemon.sock"))
  }

  @Test("A daemon that does not answer in time is not waited for, and sees that nobody waits")
  func slow() async throws {
    let sawTheEnd = Mutex(false)
    let listener = try DaemonListener(path: path, patience: 600) { request, connection in
      try? await eventually(within: .seconds(240)) { connection.isGone }
      sawTheEnd.withLock { $0 = connection.isGone }
      return request
    }
    defer { listener.stop() }
    let error = await #expect(throws: DaemonSocketError.self) {
      try await DaemonCaller.ask([1], at: path, within: 1)
    }
    #expect(error?.reason == .timedOut)
    try await eventually { sawTheEnd.withLock { $0 } }
  }

  @Test("A daemon that takes no calls at all is not waited for either")
  func noRoom() async throws {
    let address = try SocketAddress(path)
    let listener = try SocketAddress.makeSocket(path)
    defer { close(listener) }
    #expect(address.withAddress { bind(listener, $0, $1) } == 0 && Glibc.listen(listener, 0) == 0)
    let first = try call()
    defer { close(first) }
    let error = await #expect(throws: DaemonSocketError.self) {
      try await DaemonCaller.ask([1], at: path, within: 1)
    }
    #expect(error?.reason == .timedOut)
    // Nor by who has given up meanwhile.
    let call = Task { try await DaemonCaller.ask([1], at: path, within: 100_000) }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test("Who calls and says nothing keeps nobody else waiting")
  func silent() async throws {
    let listener = try DaemonListener(path: path, patience: 600) { request, _ in
      request.reversed()
    }
    defer { listener.stop() }
    var silent: [Int32] = []
    defer { for descriptor in silent { close(descriptor) } }
    for _ in 0..<8 {
      let address = try SocketAddress(path)
      let descriptor = try SocketAddress.makeSocket(path)
      #expect(address.withAddress { connect(descriptor, $0, $1) } == 0)
      silent.append(descriptor)
    }
    #expect(try await DaemonCaller.ask([1, 2], at: path, within: 240) == [2, 1])
  }

  @Test("The kernel says who calls")
  func peer() async throws {
    let seen = Mutex<SocketPeer?>(nil)
    let listener = try DaemonListener(path: path, patience: 600) { request, connection in
      seen.withLock { $0 = connection.peer }
      return request
    }
    defer { listener.stop() }
    _ = try await DaemonCaller.ask([1], at: path, within: 240)
    #expect(seen.withLock { $0?.processID } == getpid())
    #expect(seen.withLock { $0?.user } == geteuid())
  }

  private func call() throws -> Int32 {
    let address = try SocketAddress(path)
    let descriptor = try SocketAddress.makeSocket(path)
    #expect(address.withAddress { Glibc.connect(descriptor, $0, $1) } == 0)
    return descriptor
  }

  /// Whether the daemon has closed it, without an answer.
  private func isClosed(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno != EAGAIN)
  }

  @Test("A seventeenth connection gets the place of the oldest one that has sent no request")
  func places() async throws {
    let listener = try DaemonListener(path: path, patience: 600) { request, _ in request }
    defer { listener.stop() }
    var silent: [Int32] = []
    defer { for descriptor in silent { close(descriptor) } }
    for _ in 0..<16 { silent.append(try call()) }
    #expect(try await DaemonCaller.ask([1], at: path, within: 240) == [1])
    try await eventually("the end of the oldest") { isClosed(silent[0]) }
    #expect(silent.dropFirst().allSatisfy { !isClosed($0) })
  }

  @Test("A length above the limit is not read, and a sender that stops is not waited for")
  func badSenders() async throws {
    let isAsked = Mutex(false)
    let listener = try DaemonListener(path: path, patience: 1) { request, _ in
      isAsked.withLock { $0 = true }
      return request
    }
    defer { listener.stop() }
    for bytes: [UInt8] in [[0, 8, 0, 1], [0, 0, 0, 9, 1, 2], [0]] {
      let descriptor = try call()
      defer { close(descriptor) }
      #expect(write(descriptor, bytes, bytes.count) == bytes.count)
      try await eventually("the end of the connection") { isClosed(descriptor) }
    }
    #expect(!isAsked.withLock { $0 })
  }

  @Test("Who has called is answered before it finishes, and no longer waited for than the limit")
  func finish() async throws {
    let hasCome = Mutex(false)
    let listener = try DaemonListener(path: path, patience: 600) { _, _ in
      hasCome.withLock { $0 = true }
      // Ends when it is cancelled.
      try? await Task.sleep(for: .seconds(600))
      return [7]
    }
    async let answer = DaemonCaller.ask([1], at: path, within: 240)
    try await eventually("the call") { hasCome.withLock { $0 } }
    await listener.finish(within: .seconds(240))
    // It is free when the answer is on its way.
    #expect(try await answer == [7])
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("Who calls and says nothing, or not all, does not delay its end; what is said is answered")
  func finishWithIdle() async throws {
    let hasCome = Mutex(false)
    let listener = try DaemonListener(path: path, patience: 100_000) { request, _ in
      hasCome.withLock { $0 = true }
      // Ends when it is cancelled, too.
      try? await Task.sleep(for: .seconds(100_000))
      return request
    }
    let (silent, half) = (try call(), try call())
    defer { for descriptor in [silent, half] { close(descriptor) } }
    #expect(write(half, [0, 0, 0, 9, 1], 5) == 5)
    // Who calls now is taken after those two.
    async let answer = DaemonCaller.ask([1], at: path, within: 240)
    try await eventually("the call") { hasCome.withLock { $0 } }
    await listener.finish(within: .seconds(100_000))
    #expect(try await answer == [1])
    try await eventually("the end of both") { isClosed(silent) && isClosed(half) }
  }

  @Test("What has come before the end of reading is still read")
  func endOfReading() throws {
    var pair: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let (caller, keeper) = (try DaemonConnection(pair[0]), try DaemonConnection(pair[1]))
    let deadline = ContinuousClock.now + .seconds(240)
    try caller.send([1, 2], by: deadline)
    keeper.endReading()
    #expect(try keeper.receiveOnly(by: deadline) == [1, 2])
    #expect(!keeper.isGone && !caller.isGone)
    try keeper.send([3], by: deadline)
    #expect(try caller.receive(by: deadline) == [3])
    let error = #expect(throws: DaemonSocketError.self) { try keeper.receive(by: deadline) }
    #expect(error?.reason == .closed)
  }

  @Test("A caller that gives up learns whether the request had gone out")
  func abandoned() async throws {
    let hasCome = Mutex(false)
    let listener = try DaemonListener(path: path, patience: 600) { request, connection in
      hasCome.withLock { $0 = true }
      try? await eventually(within: .seconds(240)) { connection.isGone }
      return request
    }
    defer { listener.stop() }
    let call = Task { try await DaemonCaller.ask([1], at: path, within: 240) }
    try await eventually("the call") { hasCome.withLock { $0 } }
    call.cancel()
    let error = await #expect(throws: DaemonSocketError.self) { try await call.value }
    #expect(error?.reason == .abandoned)
  }
}
