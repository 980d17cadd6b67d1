// SPDX-License-Identifier: Apache-2.0

import Settings
import TestKit
import Testing

@testable import Bridge
@testable import ThreadkeeperDaemon

@Suite("A service manager that reads late")
struct ServiceManagerTests {
  private let directory: TemporaryDirectory
  private let receiver: NoticeReceiver
  private let environment: [String: String]

  init() throws {
    directory = try TemporaryDirectory()
    receiver = try NoticeReceiver(directory.file("notify"))
    environment = ["NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "120000000"]
  }

  private func manager() throws -> ServiceManager {
    let settings = Settings(stateDirectory: directory.path)
    return try #require(ServiceManager(settings, environment: environment))
  }

  /// Until the receiver takes nothing more, of nobody: what one socket may have on the way is limited, too.
  private func fill() throws {
    var sent = 0
    repeat {
      let socket = try #require(NotifySocket(environment: environment))
      sent = 0
      while socket.send(["STATUS=full"]) { sent += 1 }
    } while sent > 0
  }

  @Test("A notice that could not be sent is sent at the next turn")
  func late() throws {
    let manager = try manager()
    try fill()
    manager.turn(BridgeMonitor.Snapshot())
    while let notice = receiver.next() { #expect(notice == ["STATUS=full"]) }
    manager.turn(BridgeMonitor.Snapshot())
    let notice = try #require(receiver.next())
    #expect(notice.first == "READY=1")
    #expect(notice.last == "WATCHDOG=1")
    #expect(receiver.next() == nil)
    manager.turn(BridgeMonitor.Snapshot())
    #expect(receiver.next() == nil)
  }
}
