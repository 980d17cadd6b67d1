// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import LocalAPI

@Suite("The name of a socket", .timeLimit(.minutes(30)))
struct ListeningSocketTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("run/client.sock") }

  init() throws { directory = try TemporaryDirectory() }

  private func mode(_ path: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test("It is open to whom it is for, whatever the mask, in a directory that is not")
  func modes() throws {
    close(try ListeningSocket.make(path, .everybody))
    #expect(try mode(path) == 0o666)
    #expect(try mode(directory.file("run")) == 0o755)
    close(try ListeningSocket.make(path, .group(getegid())))
    #expect(try mode(path) == 0o660)
    close(try ListeningSocket.make(path, .owner))
    #expect(try mode(path) == 0o600)
  }

  @Test("What a killed process has left is replaced; what is another's is not")
  func taken() throws {
    close(try ListeningSocket.make(path, .everybody))
    let listener = try ListeningSocket.make(path, .everybody)
    let second = #expect(throws: SocketError.self) { try ListeningSocket.make(path, .everybody) }
    #expect(second?.reason == .taken)
    close(listener)
    unlink(path)
    try Data("dear".utf8).write(to: URL(fileURLWithPath: path))
    let file = #expect(throws: SocketError.self) { try ListeningSocket.make(path, .everybody) }
    #expect(file?.reason == .taken)
    #expect(FileManager.default.contents(atPath: path) == Data("dear".utf8))
  }

  @Test("A path that is longer than an address works")
  func longPath() throws {
    let deep = directory.file(String(repeating: "d", count: 200))
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    let listener = try ListeningSocket.make("\(deep)/varlink.sock", .owner)
    defer { close(listener) }
    let found = try TrustedConnection.open("\(deep)/varlink.sock", by: .now + .seconds(240))
    close(try #require(found))
  }

  @Test("A daemon that takes no connections at all is not waited for")
  func noRoom() async throws {
    let path = directory.file("varlink.sock")
    let address = try SocketAddress(path)
    let listener = try SocketAddress.makeSocket(path)
    defer { close(listener) }
    #expect(address.withAddress { bind(listener, $0, $1) } == 0 && Glibc.listen(listener, 0) == 0)
    let first = try RawCaller(path)
    let error = await #expect(throws: SocketError.self) {
      try await VarlinkClient.connect(to: path, within: .seconds(1))
    }
    #expect(error?.reason == .timedOut)
    // Nor by who has given up meanwhile.
    let call = Task { try await VarlinkClient.connect(to: path, within: .seconds(100_000)) }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    withExtendedLifetime(first) {}
  }
}
