// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import LocalAPI

@Suite("The daemon with few open files", .inTurns, .timeLimit(.minutes(30)))
struct OpenFileLimitTests {
  private func installation(_ limit: Int) throws -> Installation {
    try Installation(
      port: nil, mqtt: ["port: \(try UnusedPort.next())"],
      launcher: ["/bin/sh", "-c", "ulimit -n \(limit); exec \"$@\"", "sh"])
  }

  @Test(
    "Where the limit is too low, the daemon does not start, says so, and makes nothing",
    arguments: [8, 14, 16, 18, 20, 24, 32, 44])
  func tooLow(limit: Int) async throws {
    let installation = try installation(limit)
    let daemon = try installation.launch()
    #expect(try await daemon.end() == .exit(71))
    #expect(daemon.log.contains("more files, and needs"), "\(daemon.log)")
    #expect(daemon.log.contains("LimitNOFILE"))
    #expect(!FileManager.default.fileExists(atPath: installation.storePath))
  }

  @Test("Where the limit is just high enough, the daemon works, and SIGTERM ends it")
  func enough() async throws {
    let installation = try installation(64)
    let daemon = try await installation.start()
    #expect(try await installation.json("status")["intake"]?["state"] == "running")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Where connections have taken all open files, SIGTERM ends the daemon all the same")
  func takenLater() async throws {
    let installation = try installation(64)
    let daemon = try await installation.start()
    var calls: [HalfCall] = []
    // The daemon closes a silent connection after 10 s, so new ones keep coming.
    while try openFiles(of: daemon) <= 58 {
      try #require(daemon.isRunning, "\(daemon.log)")
      calls = calls.suffix(19) + [try HalfCall(installation.socketPath)]
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(try await daemon.stop() == .exit(0))
    withExtendedLifetime(calls) {}
  }

  private func openFiles(of daemon: DaemonProcess) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.identifier)/fd").count
  }

  /// A connection that has sent the beginning of a call, or found no room to wait in.
  private final class HalfCall: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
      let address = try SocketAddress(path)
      descriptor = try SocketAddress.makeSocket(path)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      guard address.withAddress({ connect(descriptor, $0, $1) }) == 0 || errno == EAGAIN else {
        throw SocketError.system("connect", path)
      }
      let beginning = Array("{\"method\":".utf8)
      _ = send(descriptor, beginning, beginning.count, Int32(MSG_NOSIGNAL))
    }

    deinit { close(descriptor) }
  }
}
