// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("The socket of the service manager")
struct NotifySocketTests {
  private func socket(_ address: String) throws -> NotifySocket {
    try #require(NotifySocket(environment: ["NOTIFY_SOCKET": address]))
  }

  @Test("The lines of a notice arrive as one datagram")
  func path() throws {
    let directory = try TemporaryDirectory()
    let receiver = try NoticeReceiver(directory.file("notify"))
    let socket = try socket(receiver.address)
    #expect(socket.send(["READY=1", "STATUS=Connected to broker.local:1883"]))
    #expect(receiver.next() == ["READY=1", "STATUS=Connected to broker.local:1883"])
    #expect(receiver.next() == nil)
  }

  @Test("A name that begins with @ is that of an abstract socket")
  func abstract() throws {
    let receiver = try NoticeReceiver("@threadkeeper-test-\(UInt64.random(in: 0 ... .max))")
    #expect(try socket(receiver.address).send(["WATCHDOG=1"]))
    #expect(receiver.next() == ["WATCHDOG=1"])
  }

  @Test(
    "Without an address, or with one of another kind, there is no socket",
    arguments: [
      nil, "", "/", "@", "relative", "vsock:2:1234", "/" + String(repeating: "a", count: 107),
    ])
  func none(address: String?) {
    #expect(NotifySocket(environment: address.map { ["NOTIFY_SOCKET": $0] } ?? [:]) == nil)
  }

  @Test("The longest path is reached")
  func longest() throws {
    let directory = try TemporaryDirectory()
    let name = String(repeating: "a", count: 107 - directory.path.utf8.count - 1)
    let receiver = try NoticeReceiver(directory.file(name))
    #expect(receiver.address.utf8.count == 107)
    #expect(try socket(receiver.address).send(["READY=1"]))
    #expect(receiver.next() == ["READY=1"])
  }

  @Test("Where nobody listens, a notice is lost and nothing else happens")
  func gone() throws {
    let directory = try TemporaryDirectory()
    #expect(try !socket(directory.file("notify")).send(["READY=1"]))
  }

  @Test("Where nobody reads, sending does not wait")
  func full() throws {
    let directory = try TemporaryDirectory()
    let receiver = try NoticeReceiver(directory.file("notify"))
    let socket = try socket(receiver.address)
    var sent = 0
    while sent < 100_000, socket.send(["WATCHDOG=1"]) { sent += 1 }
    #expect(sent < 100_000)
    #expect(receiver.next() == ["WATCHDOG=1"])
    #expect(socket.send(["WATCHDOG=1"]))
  }
}
