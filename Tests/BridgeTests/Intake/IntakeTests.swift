// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import Logging
import SQLiteDatabase
import Synchronization
import TestKit
import Testing

@testable import Bridge

/// The intake's handler, told what a client would tell it.
@Suite("The connection that listens")
struct IntakeTests {
  let bridge: TestBridge
  let monitor = BridgeMonitor()
  let outbox: Outbox
  let intake: Intake
  private let wakes = Wakes()

  final class Wakes: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  init() throws {
    bridge = try TestBridge()
    outbox = try bridge.outbox(monitor)
    intake = try bridge.intake(
      bridge.runner(monitor) { [wakes] in wakes.add() }, outbox: outbox)
  }

  private func connect(sessionPresent: Bool) {
    intake.connected(
      MosquittoSession(
        sessionPresent: sessionPresent, protocolVersion: .v5, publishWindow: 20))
    intake.subscribed(refused: [])
  }

  private func disconnect() {
    intake.disconnected(
      MosquittoDisconnection(
        error: MosquittoError(.connectionLost, "lost"), wasConnected: true, failures: 1,
        retryDelay: .seconds(1)))
  }

  @Test("When it returns, the batch is on disk, counted, and the publisher is woken")
  func received() throws {
    let before = wakes.count
    try intake.received([
      try bridge.message(
        .announce, Agent.living, ["dataset": try SampleNetwork.home.dataset(at: 1).hex]),
      IncomingMessage(topic: "threadkeeper/in/anna/announce", payload: []),
      try bridge.message(.leave, Agent.attic),
    ])
    #expect(wakes.count > before)
    #expect(monitor.snapshot.received == 3)
    #expect(monitor.snapshot.rejected == 1)
    #expect(monitor.snapshot.duplicatesIgnored == 1)
    try bridge.restart()
    #expect(try bridge.router(Agent.living)?.isPresent == true)
  }

  @Test("A probe is acknowledged and neither rejected nor counted, unless it is retained")
  func probe() throws {
    let probe = IncomingMessage(
      topic: "threadkeeper/in/threadkeeper-probe/probe", payload: Array("{}".utf8))
    try intake.received([probe, probe])
    #expect(monitor.snapshot.rejected == 0)
    #expect(try bridge.database.read { try EventLedger.page(after: 0, limit: 9, $0) }.isEmpty)
    var kept = probe
    kept.isRetained = true
    try intake.received([kept])
    #expect(monitor.snapshot.retainedIgnored == 1)
  }

  @Test("It publishes nothing")
  func publishesNothing() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    #expect(intake.publications(upTo: 1_000).isEmpty)
  }

  @Test("What the broker has acknowledged is noted with the next batch, and its rows are dropped")
  func mark() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    _ = try outbox.drain()
    let published = outbox.published
    #expect(published > 0)
    #expect(try bridge.database.read { try EventLedger.published($0) } == 0)
    try intake.received([try bridge.message(.heartbeat, Agent.living)])
    #expect(try bridge.database.read { try EventLedger.published($0) } == published)
    #expect(try bridge.database.read { try EventLedger.page(after: 0, limit: 9, $0) }.isEmpty)
  }

  @Test("A store that fails leaves the batch unacknowledged, and says why")
  func storeFails() throws {
    connect(sessionPresent: true)
    #expect(monitor.snapshot.intake == .running)
    let message = try bridge.message(
      .announce, Agent.living, ["dataset": try SampleNetwork.home.dataset(at: 1).hex])
    bridge.temporary.keychain.close()
    #expect(throws: (any Error).self) { try intake.received([message]) }
    guard case .backingOff(let reason) = monitor.snapshot.intake else {
      Issue.record("intake is \(monitor.snapshot.intake)")
      return
    }
    #expect(!reason.isEmpty)
    #expect(monitor.snapshot.received == 0)
  }

  @Test("A session that the broker lost is an alert, until the next that it kept")
  func sessionLost() throws {
    // The very first one is always new.
    connect(sessionPresent: false)
    #expect(try bridge.firing().isEmpty)
    disconnect()
    connect(sessionPresent: true)
    #expect(try bridge.firing().isEmpty)
    disconnect()
    connect(sessionPresent: false)
    #expect(try bridge.firing() == ["SessionLost"])
    disconnect()
    connect(sessionPresent: true)
    #expect(try bridge.firing().isEmpty)
  }

  @Test("Lost connections are counted, and it runs when it is subscribed again")
  func connections() {
    #expect(monitor.snapshot.intake == .connecting)
    connect(sessionPresent: true)
    #expect(monitor.snapshot.intake == .running)
    disconnect()
    #expect(monitor.snapshot.intake == .connecting)
    #expect(monitor.snapshot.intakeReconnects == 1)
    #expect(monitor.snapshot.lastConnectionProblem == "lost")
    connect(sessionPresent: true)
    #expect(monitor.snapshot.intake == .running)
    #expect(monitor.snapshot.lastConnectionProblem == nil)
  }
}
