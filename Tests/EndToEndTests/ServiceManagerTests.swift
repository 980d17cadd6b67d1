// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The daemon under a service manager", .inTurns, .timeLimit(.minutes(30)))
struct ServiceManagerTests {
  @Test("It says that it is ready, that it lives, how it is connected, and that it stops")
  func notices() async throws {
    let directory = try TemporaryDirectory()
    let receiver = try NoticeReceiver(directory.file("notify"))
    let broker = try TestBroker()
    let installation = try Installation(
      broker, variables: ["NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "3000000"])
    let daemon = try installation.launch()
    var lines: [String] = []
    func received(_ line: String) async throws {
      try await eventually("a notice \(line), after \(lines)") {
        while let notice = receiver.next() { lines += notice }
        return lines.contains(line)
      }
    }
    try await received("READY=1")
    #expect(lines.first == "READY=1")
    try await received("STATUS=Connected to 127.0.0.1:\(broker.port)")
    // The first came with READY.
    try await eventually("three signs of life") {
      while let notice = receiver.next() { lines += notice }
      return lines.count { $0 == "WATCHDOG=1" } >= 3
    }
    #expect(!lines.contains("STOPPING=1"))
    #expect(try await daemon.stop() == .exit(0))
    try await received("STOPPING=1")
    #expect(lines.last == "STATUS=Stopping")
  }

  @Test("Without a broker it is ready all the same, and says why it is not connected")
  func withoutBroker() async throws {
    let directory = try TemporaryDirectory()
    let receiver = try NoticeReceiver(directory.file("notify"))
    let port = try UnusedPort.next()
    let installation = try Installation(port: port, variables: ["NOTIFY_SOCKET": receiver.address])
    let daemon = try installation.launch()
    var lines: [String] = []
    try await eventually("ready, and a reason") {
      while let notice = receiver.next() { lines += notice }
      return lines.contains { $0.hasPrefix("STATUS=Not connected to 127.0.0.1:\(port): ") }
    }
    #expect(lines.first == "READY=1")
    #expect(!lines.contains("WATCHDOG=1"))
    #expect(try await daemon.stop() == .exit(0))
  }
}
