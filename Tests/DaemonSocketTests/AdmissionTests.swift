// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

@Suite("A socket for other users", .timeLimit(.minutes(5)))
struct AdmissionTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("run/client.sock") }

  init() throws { directory = try TemporaryDirectory() }

  private func listen(
    _ reach: DaemonListener.Admission.Reach = .everybody, perUser: Int = 8,
    patience: Int = 5, noPlace: String = "",
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

  @Test("One user has its own number of places, which is not that of all")
  func places() async throws {
    let listener = try listen(perUser: 1, patience: 600)
    defer { listener.stop() }
    let address = try SocketAddress(path)
    let silent = try SocketAddress.makeSocket(path)
    #expect(address.withAddress { connect(silent, $0, $1) } == 0)
    let error = await #expect(throws: DaemonSocketError.self) {
      try await DaemonCaller.ask([1], at: path, within: 240)
    }
    #expect(error?.reason == .closed)
    close(silent)
    try await eventually("a place") {
      (try? await DaemonCaller.ask([1], at: path, within: 240)) == [1]
    }
  }

  @Test("A call that finds no place is answered so, where there is an answer for it")
  func noPlace() async throws {
    let listener = try listen(perUser: 1, patience: 600, noPlace: "full")
    defer { listener.stop() }
    let address = try SocketAddress(path)
    let silent = try SocketAddress.makeSocket(path)
    defer { close(silent) }
    #expect(address.withAddress { connect(silent, $0, $1) } == 0)
    for request in [[1], [UInt8](repeating: 7, count: DaemonConnection.limit)] {
      #expect(
        try await DaemonCaller.ask(request, at: path, within: 240) == Array("full".utf8))
    }
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
