// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging
import SQLiteDatabase
import Synchronization
import TestKit
import Testing

@testable import Bridge

@Suite("The clock's part")
struct TickerTests {
  let disk = FaultyDisk()
  let bridge: TestBridge
  let monitor = BridgeMonitor()
  let outbox: Outbox
  let status: StatusConnection
  let transactions: TransactionRunner
  let ticker: Ticker
  private let log = RecordingLog()
  private let turns = Turns()

  private final class Turns: Sendable {
    private let state = Atomic(0)
    var count: Int { state.load(ordering: .relaxed) }
    func add() { state.wrappingAdd(1, ordering: .relaxed) }
  }

  init() throws {
    bridge = try TestBridge(disk: disk)
    let topics = bridge.configuration.topics
    let logger = log.logger
    let pace = PublicationPace(fullBatch: 500, portion: 10)
    outbox = try bridge.outbox(monitor)
    status = StatusConnection(
      outbox: outbox, pace: pace, monitor: monitor,
      reports: BridgeReports(
        database: bridge.database, configuration: bridge.configuration, instanceID: "instance",
        identity: { nil }, overview: AlertsOverviewSource(topics: topics, monitor: monitor),
        consents: bridge.consentOverviews, monitor: monitor,
        startedAt: bridge.clock.now()), topics: topics, clock: bridge.clock, logger: logger)
    transactions = bridge.runner(monitor, logger: logger)
    ticker = Ticker(
      transactions, outbox: outbox, pace: pace, status: status,
      onTurn: { [turns] _ in turns.add() }, logger: logger)
  }

  private func ticking(_ body: () async throws -> Void) async throws {
    ticker.start(every: .milliseconds(2))
    defer { ticker.stop() }
    try await body()
  }

  @Test("Each tick is reported, but no longer while a transaction does not end")
  func turn() async throws {
    try await ticking {
      try await eventually("two turns") { turns.count >= 2 }
      try bridge.database.write { _ in
        // One that was in the middle ends.
        let before = turns.count + 1
        for _ in 0..<1_000 { try bridge.database.read { _ in } }
        #expect(turns.count <= before)
      }
      let after = turns.count
      try await eventually("another turn") { turns.count > after }
    }
  }

  @Test("Alerts are raised when the clock says so")
  func alerts() async throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.say(.offline, Agent.living)
    try await ticking {
      bridge.clock.advance(seconds: 30)
      try await eventually("the alert") {
        try bridge.firing().contains("BorderRouterOffline \(Agent.living)")
      }
    }
  }

  @Test("What the broker acknowledged is noted, at the latest when the daemon stops")
  func mark() async throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try await ticking {
      _ = try outbox.drain()
      try await eventually("the mark") {
        try bridge.database.read { try EventLedger.published($0) } == outbox.published
      }
    }
    try bridge.announce(Agent.attic, .home, at: 1)
    _ = try outbox.drain()
    ticker.stop()
    #expect(try bridge.database.read { try EventLedger.published($0) } == outbox.published)
  }

  @Test("Messages that the broker drops are an alert while it continues, and for ten minutes after")
  func droppedMessages() throws {
    func count(_ number: Int) throws {
      try status.received([
        IncomingMessage(
          topic: StatusConnection.droppedMessages, payload: Array("\(number)".utf8), qos: 0)
      ])
    }
    try count(0)
    ticker.stop()
    #expect(try bridge.firing().isEmpty)
    try count(3)
    ticker.stop()
    #expect(try bridge.firing() == ["MessagesDropped"])
    bridge.clock.advance(seconds: 599)
    try count(4)
    ticker.stop()
    bridge.clock.advance(seconds: 599)
    ticker.stop()
    #expect(try bridge.firing() == ["MessagesDropped"])
    bridge.clock.advance(seconds: 1)
    ticker.stop()
    #expect(try bridge.firing().isEmpty)
  }

  @Test(
    "Where the clock was set back, the intake listens since now, and no message was dropped later")
  func clockSetBack() throws {
    for count in ["0", "3"] {
      try status.received([
        IncomingMessage(
          topic: StatusConnection.droppedMessages, payload: Array(count.utf8), qos: 0)
      ])
      ticker.stop()
    }
    #expect(try bridge.firing() == ["MessagesDropped"])
    monitor.update { $0.listeningSince = bridge.clock.now() }
    bridge.clock.jump(seconds: -86_400)
    ticker.stop()
    #expect(monitor.snapshot.listeningSince == bridge.clock.now())
    #expect(try bridge.firing().isEmpty)
    #expect(log.lines.contains("the clock has jumped seconds=-86400"))
  }

  @Test("A clock that was set back holds back neither health nor lines about rejected messages")
  func pacesAfterJump() throws {
    func health() -> Int {
      status.periodic(now: bridge.clock.now())
      return status.publications(upTo: 100).count { $0.topic == "threadkeeper/bridge/health" }
    }
    func rejections() -> Int { log.lines.count { $0.hasPrefix("messages rejected") } }
    func reject() throws {
      try transactions.run { try $0.messages.apply(.dropped, bridge.sealed) }
    }
    status.connected(
      MosquittoSession(sessionPresent: true, protocolVersion: .v5, publishWindow: 20))
    ticker.stop()
    #expect(health() == 1)
    #expect(health() == 0)
    for _ in 1...2 { try reject() }
    #expect(rejections() == 1)
    bridge.clock.jump(seconds: -86_400)
    ticker.stop()
    #expect(health() == 1)
    #expect(rejections() == 2)
  }

  @Test("After a burst the memory of the store is given back, once")
  func rest() throws {
    func given() -> Int { log.lines.count { $0.contains("memory is given back") } }
    ticker.stop()
    for number in 0..<50 { try bridge.announce(Fleet.agent(number), .home, at: 1) }
    for _ in 0..<RestWatch.ticks {
      #expect(given() == 0)
      ticker.stop()
    }
    ticker.stop()
    for _ in 0..<5 { ticker.stop() }
    #expect(given() == 1)
  }

  @Test(
    "A clock that is set forward by a day makes no router offline that goes on, and ends no hold")
  func clockSetForward() throws {
    let limit = bridge.configuration.offlineAfter
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .guest, at: 1)
    for agent in [Agent.living, Agent.attic] { try bridge.say(.heartbeat, agent) }
    monitor.update { $0.listeningSince = bridge.clock.now().adding(seconds: -2 * limit) }
    ticker.stop()
    bridge.clock.jump(seconds: 86_400)
    ticker.stop()
    #expect(monitor.snapshot.listeningSince == bridge.clock.now())
    #expect(try bridge.router(Agent.living)?.isOnline == true)
    #expect(try bridge.firing().isEmpty)
    // One of them is heard of again.
    try bridge.say(.heartbeat, Agent.living)
    bridge.clock.advance(seconds: limit)
    // A walk over all routers ends, and the next one begins.
    for _ in 1...2 { ticker.stop() }
    #expect(try bridge.router(Agent.living)?.isOnline == true)
    #expect(try bridge.router(Agent.attic)?.isOnline == false)
  }

  @Test("A jump of the clock that meets a store that fails is still due at the next tick")
  func jumpAtAFailingStore() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .guest, at: 1)
    ticker.stop()
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .held)
    bridge.clock.jump(seconds: -86_400)
    disk.arm(.full(at: 1))
    ticker.stop()
    #expect(monitor.snapshot.storeProblem != nil)
    // The clock has jumped before the next tick, and does not jump again.
    disk.repair()
    bridge.clock.advance(seconds: 1)
    ticker.stop()
    let held = try #require(try bridge.alert(.preferredNetworkMismatch, Agent.attic))
    #expect(held.heldSince <= bridge.clock.now())
    bridge.clock.advance(seconds: bridge.configuration.alertsHold)
    ticker.stop()
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic)?.phase == .firing)
  }

  @Test("What was dropped while the daemon was away is noticed when it is back")
  func droppedMeanwhile() throws {
    try bridge.database.write { try EventLedger.setDroppedMessages(3, $0) }
    try status.received([
      IncomingMessage(topic: StatusConnection.droppedMessages, payload: Array("9".utf8), qos: 0)
    ])
    ticker.stop()
    #expect(try bridge.firing() == ["MessagesDropped"])
  }

  @Test("A daemon that starts knows of no dropped message: an old alert ends")
  func droppedMessagesOfAnEarlierDaemon() throws {
    _ = try bridge.transaction { transaction in
      let home = try #require(transaction.context.servedHomes.first).record.id
      try transaction.apply([.alert(.messagesDropped, .messagesDropped, home: home)])
    }
    #expect(try bridge.firing() == ["MessagesDropped"])
    ticker.stop()
    #expect(try bridge.firing().isEmpty)
  }

  @Test(
    "A refused login is an alert until both connections are let in; nothing known changes nothing")
  func refusedLogin() throws {
    let alert = "BrokerAuthenticationFailed"
    ticker.stop()
    #expect(try bridge.firing().isEmpty)
    monitor.update {
      $0.intakeLogin = .accepted
      $0.statusLogin = .refused("the broker refused the user name or password of `keeper`")
    }
    ticker.stop()
    #expect(try bridge.firing() == [alert])
    let stored = try bridge.database.read { tx in
      try AlertLedger.find(
        AlertFingerprint(home: "home", name: .brokerAuthenticationFailed, subject: ""), tx)
    }
    #expect(stored?.facts.summary.contains("`keeper`") == true)
    #expect(stored?.facts.remedy == bridge.configuration.loginRemedy)
    // Another password, or another process that has heard nothing yet.
    monitor.loginChanged()
    ticker.stop()
    #expect(try bridge.firing() == [alert])
    monitor.update { $0.intakeLogin = .accepted }
    ticker.stop()
    #expect(try bridge.firing() == [alert])
    monitor.update { $0.statusLogin = .accepted }
    ticker.stop()
    #expect(try bridge.firing().isEmpty)
  }

  @Test("A store that failed is published, and tried again until it takes a write")
  func storeProblem() throws {
    monitor.storeFailed("the disk is full", at: bridge.clock.now(), inBatch: false)
    ticker.stop()
    #expect(monitor.snapshot.storeProblem == nil)
    bridge.temporary.keychain.close()
    ticker.stop()
    #expect(monitor.snapshot.storeProblem != nil)
  }
}
