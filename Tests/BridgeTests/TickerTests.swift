// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Logging
import MosquittoClient
import SQLiteDatabase
import TestKit
import Testing

@testable import Bridge

@Suite("The clock's part")
struct TickerTests {
  let keeper: Keeper
  let monitor = BridgeMonitor()
  let outbox: Outbox
  let status: StatusConnection
  let ticker: Ticker

  init() throws {
    keeper = try Keeper()
    let topics = keeper.configuration.topics
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let pace = PublicationPace(fullBatch: 500, portion: 10)
    outbox = try keeper.outbox(monitor)
    status = StatusConnection(
      outbox: outbox, pace: pace, monitor: monitor,
      reports: BridgeReports(
        database: keeper.database, configuration: keeper.configuration, instanceID: "instance",
        identity: { nil }, overview: AlertsOverviewSource(topics: topics, monitor: monitor),
        consents: keeper.consentOverviews, monitor: monitor,
        startedAt: keeper.clock.now()), topics: topics, clock: keeper.clock, logger: logger)
    ticker = Ticker(
      keeper.runner(monitor, logger: logger), outbox: outbox, pace: pace, status: status,
      logger: logger)
  }

  private func ticking(_ body: () async throws -> Void) async throws {
    ticker.start(every: .milliseconds(2))
    defer { ticker.stop() }
    try await body()
  }

  @Test("Alerts are raised when the clock says so")
  func alerts() async throws {
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.say(.offline, Agent.living)
    try await ticking {
      keeper.clock.advance(seconds: 30)
      try await eventually("the alert") {
        try keeper.firing().contains("BorderRouterOffline \(Agent.living)")
      }
    }
  }

  @Test("What the broker acknowledged is noted, at the latest when the daemon stops")
  func mark() async throws {
    try keeper.announce(Agent.living, .home, at: 1)
    try await ticking {
      _ = try outbox.drain()
      try await eventually("the mark") {
        try keeper.database.read { try EventLedger.published($0) } == outbox.published
      }
    }
    try keeper.announce(Agent.attic, .home, at: 1)
    _ = try outbox.drain()
    ticker.stop()
    #expect(try keeper.database.read { try EventLedger.published($0) } == outbox.published)
  }

  @Test("Messages that the broker drops are an alert while it goes on, and for ten minutes after")
  func droppedMessages() throws {
    func count(_ number: Int) throws {
      try status.received([
        IncomingMessage(
          topic: StatusConnection.droppedMessages, payload: Array("\(number)".utf8), qos: 0)
      ])
    }
    try count(0)
    ticker.stop()
    #expect(try keeper.firing().isEmpty)
    try count(3)
    ticker.stop()
    #expect(try keeper.firing() == ["MessagesDropped"])
    keeper.clock.advance(seconds: 599)
    try count(4)
    ticker.stop()
    keeper.clock.advance(seconds: 599)
    ticker.stop()
    #expect(try keeper.firing() == ["MessagesDropped"])
    keeper.clock.advance(seconds: 1)
    ticker.stop()
    #expect(try keeper.firing().isEmpty)
  }

  @Test("What was dropped while the daemon was away is noticed when it is back")
  func droppedMeanwhile() throws {
    try keeper.database.write { try EventLedger.setDroppedMessages(3, $0) }
    try status.received([
      IncomingMessage(topic: StatusConnection.droppedMessages, payload: Array("9".utf8), qos: 0)
    ])
    ticker.stop()
    #expect(try keeper.firing() == ["MessagesDropped"])
  }

  @Test("A daemon that starts knows of no dropped message: an old alert ends")
  func droppedMessagesOfAnEarlierKeeper() throws {
    _ = try keeper.transaction { batch in
      let home = try #require(batch.servedHomes.first)
      try batch.setAlert(.messagesDropped, .messagesDropped, in: home)
    }
    #expect(try keeper.firing() == ["MessagesDropped"])
    ticker.stop()
    #expect(try keeper.firing().isEmpty)
  }

  @Test(
    "A refused login is an alert until both connections are let in; nothing known changes nothing")
  func refusedLogin() throws {
    let alert = "BrokerAuthenticationFailed"
    ticker.stop()
    #expect(try keeper.firing().isEmpty)
    monitor.update {
      $0.intakeLogin = .accepted
      $0.statusLogin = .refused("the broker refused the user name or password of `keeper`")
    }
    ticker.stop()
    #expect(try keeper.firing() == [alert])
    let stored = try keeper.database.read { tx in
      try AlertLedger.find(
        AlertFingerprint(home: "home", name: .brokerAuthenticationFailed, subject: ""), tx)
    }
    #expect(stored?.facts.summary.contains("`keeper`") == true)
    #expect(stored?.facts.remedy == keeper.configuration.loginRemedy)
    // Another password, or another process that has heard nothing yet.
    monitor.loginChanged()
    ticker.stop()
    #expect(try keeper.firing() == [alert])
    monitor.update { $0.intakeLogin = .accepted }
    ticker.stop()
    #expect(try keeper.firing() == [alert])
    monitor.update { $0.statusLogin = .accepted }
    ticker.stop()
    #expect(try keeper.firing().isEmpty)
  }

  @Test("A store that failed is told, and tried again until it takes a write")
  func storeProblem() throws {
    monitor.storeFailed("the disk is full", at: keeper.clock.now(), inBatch: false)
    ticker.stop()
    #expect(monitor.snapshot.storeProblem == nil)
    keeper.temporary.keychain.close()
    ticker.stop()
    #expect(monitor.snapshot.storeProblem != nil)
  }
}
