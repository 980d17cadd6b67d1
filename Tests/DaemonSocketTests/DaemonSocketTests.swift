// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

@Suite("The socket between commands and the daemon", .timeLimit(.minutes(5)))
struct DaemonSocketTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("daemon.sock") }

  init() throws { directory = try TemporaryDirectory() }

  private func listen(_ path: String? = nil) throws -> DaemonListener {
    try DaemonListener(path: path ?? self.path) { request, _ in request.reversed() }
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
    let listener = try DaemonListener(path: path) { request, connection in
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
    let listener = try DaemonListener(path: path) { request, connection in
      seen.withLock { $0 = connection.peer }
      return request
    }
    defer { listener.stop() }
    _ = try await DaemonCaller.ask([1], at: path, within: 240)
    #expect(seen.withLock { $0?.processID } == getpid())
    #expect(seen.withLock { $0?.user } == geteuid())
  }
}
