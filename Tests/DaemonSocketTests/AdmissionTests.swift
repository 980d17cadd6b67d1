// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

@Suite("A socket for other users", .timeLimit(.minutes(30)))
struct AdmissionTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("run/client.sock") }

  init() throws { directory = try TemporaryDirectory() }

  private func listen(
    _ reach: DaemonListener.Admission.Reach = .everybody, perUser: Int = 8,
    patience: Int = 600, noPlace: String = "",
    admits: @escaping @Sendable (UInt32) -> Bool = { _ in true }
  ) throws -> DaemonListener {
    var admission = DaemonListener.Admission(reach, placesPerUser: perUser) {
      admits($0) ? .admitted : .refused(answer: Array("no".utf8))
    }
    admission.noPlace = Array(noPlace.utf8)
    return try DaemonListener(path: path, admission: admission, patience: patience) {
      request, _ in request.reversed()
    }
  }

  private func mode(_ path: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test("It is open to whom it is for, whatever the mask, in a directory that is not")
  func modes() async throws {
    let everybody = try listen()
    #expect(try mode(path) == 0o666)
    #expect(try mode(directory.file("run")) == 0o755)
    #expect(try await DaemonCaller.ask([1, 2], at: path, within: 240) == [2, 1])
    everybody.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
    let group = try listen(.group(getegid()))
    #expect(try mode(path) == 0o660)
    group.stop()
  }

  @Test("Who is not admitted is told so, whatever it sends, and is not heard")
  func refusal() async throws {
    let seen = Mutex<[UInt32]>([])
    let listener = try listen(admits: { user in
      seen.withLock { $0.append(user) }
      return false
    })
    defer { listener.stop() }
    for request in [[1], [UInt8](repeating: 7, count: DaemonConnection.limit)] {
      #expect(try await DaemonCaller.ask(request, at: path, within: 240) == Array("no".utf8))
    }
    #expect(seen.withLock { $0 } == [geteuid(), geteuid()])
  }

  /// Answers when it is told to.
  private final class Gate: Sendable {
    private let isOpen = Mutex(false)
    private let requests = Mutex(0)

    var asked: Int { requests.withLock { $0 } }
    func open() { isOpen.withLock { $0 = true } }

    func pass() async {
      requests.withLock { $0 += 1 }
      while !isOpen.withLock({ $0 }), !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  private func connection() throws -> DaemonConnection {
    let address = try SocketAddress(path)
    let descriptor = try SocketAddress.makeSocket(path)
    #expect(address.withAddress { connect(descriptor, $0, $1) } == 0)
    return try DaemonConnection(descriptor)
  }

  @Test("At its own number of places a user loses the oldest connection that has sent no request")
  func places() async throws {
    let listener = try listen(perUser: 2, noPlace: "full")
    defer { listener.stop() }
    let silent = try (0..<2).map { _ in try connection() }
    #expect(try await DaemonCaller.ask([1, 2], at: path, within: 240) == [2, 1])
    #expect(try silent[0].receive(by: .now + .seconds(240)) == Array("full".utf8))
    #expect(!silent[1].isGone)
  }

  @Test("Half a request is none, and whoever sent it loses the place all the same")
  func halfARequest() async throws {
    let listener = try listen(perUser: 1, noPlace: "full")
    defer { listener.stop() }
    let half = try SocketAddress.makeSocket(path)
    defer { close(half) }
    let address = try SocketAddress(path)
    #expect(address.withAddress { connect(half, $0, $1) } == 0)
    #expect(Glibc.send(half, [0, 0, 0, 9, 1] as [UInt8], 5, 0) == 5)
    #expect(try await DaemonCaller.ask([1], at: path, within: 240) == [1])
    let answer = try DaemonConnection(dup(half)).receive(by: .now + .seconds(240))
    #expect(answer == Array("full".utf8))
  }

  @Test("Connections whose requests are being answered keep their places: the next one is refused")
  func answering() async throws {
    let gate = Gate()
    var admission = DaemonListener.Admission(.everybody, placesPerUser: 2) { _ in .admitted }
    admission.noPlace = Array("full".utf8)
    let listener = try DaemonListener(path: path, admission: admission) { request, _ in
      await gate.pass()
      return request
    }
    defer { listener.stop() }
    let waiting = try (0..<2).map { _ in try connection() }
    for one in waiting { try one.send([7], by: .now + .seconds(240)) }
    try await eventually("both requests") { gate.asked == 2 }
    for request in [[1], [UInt8](repeating: 7, count: DaemonConnection.limit)] {
      #expect(try await DaemonCaller.ask(request, at: path, within: 240) == Array("full".utf8))
    }
    gate.open()
    for one in waiting { #expect(try one.receive(by: .now + .seconds(240)) == [7]) }
    try await eventually("a place") {
      (try? await DaemonCaller.ask([1], at: path, within: 240)) == [1]
    }
  }

  @Test("A listener that ends waits for a connection that has lost its place")
  func endsWithEvicted() async throws {
    let listener = try listen(perUser: 1)
    let silent = try connection()
    #expect(try await DaemonCaller.ask([1], at: path, within: 240) == [1])
    await listener.finish(within: .seconds(600))
    // The kernel closes it when the thread that has given it up has ended.
    try await eventually("the end of its connection") { silent.isGone }
  }

  @Test("What a killed process has left is replaced; what is somebody's is not")
  func taken() async throws {
    try FileManager.default.createDirectory(
      atPath: directory.file("run"), withIntermediateDirectories: true)
    let address = try SocketAddress(path)
    let left = try SocketAddress.makeSocket(path)
    #expect(address.withAddress { bind(left, $0, $1) } == 0)
    close(left)
    let listener = try listen()
    let second = #expect(throws: DaemonSocketError.self) { try listen() }
    #expect(second?.reason == .taken)
    #expect(try await DaemonCaller.ask([1], at: path, within: 240) == [1])
    listener.stop()
    try Data("dear".utf8).write(to: URL(fileURLWithPath: path))
    let file = #expect(throws: DaemonSocketError.self) { try listen() }
    #expect(file?.reason == .taken)
    #expect(FileManager.default.contents(atPath: path) == Data("dear".utf8))
  }
}
