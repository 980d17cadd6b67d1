// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging
import SQLiteDatabase
import TestKit
import Testing
import ThreadCredentialStore

@testable import Bridge

@Suite("A batch in parts")
struct IntakePartTests {
  let bridge: TestBridge
  let monitor = BridgeMonitor()

  init() throws {
    bridge = try TestBridge()
    // A router of this name fails the statement that writes it, whatever the store does.
    try bridge.database.write {
      try $0.execute(
        """
        CREATE TRIGGER poison BEFORE INSERT ON router WHEN NEW.name = 'poison'
        BEGIN SELECT RAISE(ABORT, 'no such router'); END
        """)
    }
  }

  /// - Parameter clock: asked for the time once a transaction, just before it begins.
  private func intake(clock: (any Clock)? = nil) throws -> Intake {
    try bridge.intake(bridge.runner(monitor, clock: clock))
  }

  private func announcement(_ number: Int, name: String = "router") throws -> IncomingMessage {
    try bridge.message(
      .announce, "a1b2c3d4" + String(10_000_000 + number),
      ["dataset": try SampleNetwork.home.dataset(at: 1).hex, "name": name])
  }

  private var routers: Int {
    get throws {
      try bridge.database.read {
        try $0.first("SELECT count(*) FROM router") { Int($0.integer(0)) } ?? 0
      }
    }
  }

  @Test("One message that cannot be applied is rejected by name, and the others are stored")
  func poison() throws {
    var batch = try (0..<40).map { try announcement($0) }
    batch[7] = try announcement(7, name: "poison")
    batch[23] = try announcement(23, name: "poison")
    try intake().received(batch)
    #expect(try routers == 38)
    #expect(monitor.snapshot.received == 40)
    #expect(monitor.snapshot.rejected == 2)
    #expect(monitor.snapshot.storeProblem == nil)
    let rejections = try bridge.takeEvents().filter { $0.types == .messageRejected }
    #expect(rejections.map(\.detail.code) == ["cannot_apply", "cannot_apply"])
    #expect(rejections.allSatisfy { $0.detail.topic == "threadkeeper/in/anna/announce" })
  }

  @Test("A store that fails rejects nothing, and nothing of the batch is taken as arrived")
  func storeFails() throws {
    try bridge.database.write { try $0.execute("PRAGMA query_only = ON") }
    defer { _ = try? bridge.database.write { try $0.execute("PRAGMA query_only = OFF") } }
    let intake = try intake()
    #expect(throws: (any Error).self) { try intake.received([try announcement(1)]) }
    #expect(monitor.snapshot.rejected == 0)
    #expect(monitor.snapshot.storeProblem != nil)
  }

  @Test("Nothing is decided by a store that was found altered while a batch was applied")
  func storeAltered() throws {
    struct AlteringClock: Clock {
      let clock: ManualClock
      let store: ThreadCredentialStore

      func now() -> WireTime {
        store.keychain.noteFileDamaged()
        return clock.now()
      }

      func moment() -> ClockMoment { clock.moment() }
    }
    let intake = try intake(clock: AlteringClock(clock: bridge.clock, store: bridge.store))
    #expect(throws: (any Error).self) { try intake.received([try announcement(1)]) }
    #expect(try routers == 0)
    #expect(monitor.snapshot.rejected == 0)
    #expect(monitor.snapshot.storeProblem != nil)
  }

  @Test("A message that ended three processes is rejected when it comes alone again")
  func crashes() throws {
    let message = try announcement(1)
    for _ in 0..<3 {
      var process = MessageTrial()
      _ = try process.begin(message, in: bridge.database)
    }
    try intake().received([message])
    #expect(try routers == 0)
    #expect(monitor.snapshot.rejected == 1)
    // Published again, it is a new message.
    try intake().received([message])
    #expect(try routers == 1)
  }

  @Test("Once the daemon stops, the batch ends after the message at hand, and comes again")
  func stops() throws {
    let intake = try intake()
    intake.stop()
    let batch = try (0..<5).map { try announcement($0) }
    #expect(throws: IntakeInterrupted.self) { try intake.received(batch) }
    #expect(try routers == 1)
    #expect(monitor.snapshot.storeProblem == nil)
  }
}
