// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging
import SQLiteDatabase
import TestKit
import Testing

@testable import Bridge

/// The connection's handler, told what a client would tell it.
@Suite("The connection that speaks")
struct StatusConnectionTests {
  let bridge: TestBridge
  let monitor = BridgeMonitor()
  let outbox: Outbox
  let status: StatusConnection

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    (outbox, status) = try Self.connection(of: bridge, monitor)
    _ = try outbox.drain()
  }

  private static func connection(
    of bridge: TestBridge, _ monitor: BridgeMonitor,
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  ) throws -> (Outbox, StatusConnection) {
    let overview = AlertsOverviewSource(topics: bridge.configuration.topics, monitor: monitor)
    let outbox = try bridge.outbox(monitor)
    let status = StatusConnection(
      outbox: outbox, pace: PublicationPace(fullBatch: 500, portion: 10), monitor: monitor,
      reports: BridgeReports(
        database: bridge.database, configuration: bridge.configuration, instanceID: "instance",
        identity: { nil }, overview: overview, consents: bridge.consentOverviews, monitor: monitor,
        startedAt: bridge.clock.now()),
      topics: bridge.configuration.topics, clock: bridge.clock,
      logger: logger)
    return (outbox, status)
  }

  private func connect(sessionPresent: Bool = true) -> [Publication] {
    status.connected(
      MosquittoSession(
        sessionPresent: sessionPresent, protocolVersion: .v5, publishWindow: 20))
    return take()
  }

  private func disconnect() {
    status.disconnected(
      MosquittoDisconnection(
        error: MosquittoError(.connectionLost, "lost"), wasConnected: true, failures: 1,
        retryDelay: .seconds(1)))
  }

  /// Everything that is due, acknowledged.
  private func take() -> [Publication] {
    var all: [Publication] = []
    while true {
      let publications = status.publications(upTo: 20)
      if publications.isEmpty { return all }
      all += publications
      for publication in publications { status.acknowledged(publication.token, .delivered) }
    }
  }

  private func pass(_ seconds: Int) -> [Publication] {
    bridge.clock.advance(seconds: seconds)
    status.periodic(now: bridge.clock.now())
    return take()
  }

  /// As `Ticker` says it.
  private func jump(_ seconds: Int) {
    bridge.clock.jump(seconds: seconds)
    status.clockJumped(to: bridge.clock.now())
  }

  private func say(_ topic: String, _ text: String, isRetained: Bool = false) throws {
    try status.received([
      IncomingMessage(topic: topic, payload: Array(text.utf8), qos: 0, isRetained: isRetained)
    ])
  }

  private var storeAlertTopic: String {
    "threadkeeper/alert/\(AlertFingerprint(home: "home", name: .storeReadOnly, subject: ""))"
  }

  // MARK: Connections

  @Test("The first word is that the daemon is there; then how it is")
  func connected() throws {
    let all = connect()
    #expect(all.first?.topic == "threadkeeper/bridge/state")
    #expect(all.first?.object["state"] as? String == "online")
    #expect(
      Set(all.map(\.topic)) == [
        "threadkeeper/bridge/state", "threadkeeper/bridge/info", "threadkeeper/bridge/health",
        "threadkeeper/bridge/alerts", "threadkeeper/bridge/consent", storeAlertTopic,
      ])
    #expect(all.allSatisfy { $0.retain })
    #expect(monitor.snapshot.isStatusConnected)
  }

  @Test("A broker that has forgotten the session gets everything, one that has not does not")
  func session() {
    let router = "threadkeeper/router/\(Agent.living)"
    #expect(!connect(sessionPresent: true).contains { $0.topic == router })
    disconnect()
    #expect(connect(sessionPresent: false).contains { $0.topic == router })
    disconnect()
    #expect(!monitor.snapshot.isStatusConnected)
    #expect(monitor.snapshot.lastConnectionProblem == "lost")
    // At once again: a broker that restarts twice has forgotten twice.
    #expect(connect(sessionPresent: false).contains { $0.topic == router })
  }

  @Test("Without a connection nothing piles up")
  func disconnected() throws {
    for _ in 0..<100 { #expect(pass(60).isEmpty) }
    _ = connect()
    disconnect()
    for _ in 0..<100 { #expect(pass(60).isEmpty) }
  }

  @Test("No more is handed out than was asked for, the urgent first")
  func limits() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    status.connected(
      MosquittoSession(sessionPresent: true, protocolVersion: .v5, publishWindow: 20))
    #expect(status.publications(upTo: 1).map(\.topic) == ["threadkeeper/bridge/state"])
    #expect(status.publications(upTo: 0).isEmpty)
    #expect(status.publications(upTo: 4).count == 4)
    let mixed = status.publications(upTo: 3)
    #expect(mixed.count == 3)
    #expect(mixed.last?.topic == "threadkeeper/router/\(Agent.attic)/availability")
  }

  // MARK: Info and health

  @Test("Info shows the settings and the registry, and is published when it changes")
  func info() throws {
    let first = try #require(connect().first { $0.topic == "threadkeeper/bridge/info" }).object
    #expect(first["version"] as? String == "test")
    #expect(first["instance_id"] as? String == "instance")
    #expect(first["routers"] as? Int == 1)
    #expect(first["networks"] as? Int == 1)
    #expect(first["alerts_hold"] as? Int == 30)
    #expect((first["preferred_network"] as? [String: String])?["network_name"] == "home")
    #expect(!pass(1).contains { $0.topic == "threadkeeper/bridge/info" })
    try bridge.announce(Agent.attic, .guest, at: 1)
    let next = try #require(pass(1).first { $0.topic == "threadkeeper/bridge/info" }).object
    #expect(next["routers"] as? Int == 2)
    #expect(next["networks"] as? Int == 2)
  }

  @Test("Health comes each minute and expires after three, and at once when the intake changes")
  func health() throws {
    let topic = "threadkeeper/bridge/health"
    let first = try #require(connect().first { $0.topic == topic })
    #expect(first.messageExpiry == 180)
    #expect(first.object["intake"] as? String == "connecting")
    #expect(!pass(59).contains { $0.topic == topic })
    let next = try #require(pass(1).first { $0.topic == topic })
    #expect(next.object["uptime_seconds"] as? Int == 60)
    monitor.update { $0.isIntakeConnected = true }
    let running = try #require(pass(1).first { $0.topic == topic })
    #expect(running.object["intake"] as? String == "running")
    monitor.count(bridge.counts)
    let counted = try #require(pass(60).first { $0.topic == topic })
    #expect(counted.object["messages_received"] as? Int == 1)
    // The clock is set back: it does not wait until the old time is there again.
    jump(-3_600)
    #expect(pass(0).contains { $0.topic == topic })
    #expect(!pass(59).contains { $0.topic == topic })
    #expect(pass(1).contains { $0.topic == topic })
  }

  @Test("Refused publications are counted, and do not hold the mark back")
  func refused() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    status.connected(
      MosquittoSession(sessionPresent: true, protocolVersion: .v5, publishWindow: 20))
    var count: Int64 = 0
    while case let publications = status.publications(upTo: 20), !publications.isEmpty {
      for publication in publications {
        status.acknowledged(publication.token, .refused(MosquittoError(.notAuthorized, "no")))
        count += 1
      }
    }
    #expect(monitor.snapshot.publicationsRefused == count)
    #expect(monitor.snapshot.refusals?.isByAccess == true)
    disconnect()
    #expect(monitor.snapshot.refusals == nil)
    #expect(try outbox.published == bridge.database.read { try EventLedger.lastID($0) })
  }

  @Test("When the access list lets the daemon publish again, everything is published again, once")
  func regained() throws {
    let (state, router) = ("threadkeeper/bridge/state", "threadkeeper/router/\(Agent.living)")
    status.connected(
      MosquittoSession(sessionPresent: true, protocolVersion: .v5, publishWindow: 20))
    for publication in status.publications(upTo: 20) {
      status.acknowledged(publication.token, .refused(MosquittoError(.notAuthorized, "no")))
    }
    #expect(monitor.snapshot.refusals != nil)
    let told = pass(Int(BridgeHealth.intervalSeconds)) + pass(1)
    #expect(told.contains { $0.topic == state && $0.object["state"] as? String == "online" })
    #expect(told.filter { $0.topic == router }.count == 1)
    #expect(monitor.snapshot.refusals == nil)
    #expect(!(pass(70) + pass(70)).contains { [state, router].contains($0.topic) })
  }

  // MARK: Home Assistant

  @Test(
    "When Home Assistant is born everything is published again, within ten seconds, once a minute")
  func birth() throws {
    let router = "threadkeeper/router/\(Agent.living)"
    _ = connect()
    try say("homeassistant/status", "online")
    #expect(!pass(0).contains { $0.topic == router })
    #expect(pass(10).contains { $0.topic == router })
    for _ in 0..<5 { try say("homeassistant/status", "online") }
    var waited = 0
    while waited < 70, !pass(1).contains(where: { $0.topic == router }) { waited += 1 }
    #expect((45..<70).contains(waited))
    for _ in 0..<70 { #expect(!pass(1).contains { $0.topic == router }) }
  }

  @Test("A birth is answered, and the next one, though the clock was set back by a year")
  func birthByAnotherClock() throws {
    let router = "threadkeeper/router/\(Agent.living)"
    _ = connect()
    try say("homeassistant/status", "online")
    jump(-31_536_000)
    #expect(pass(0).contains { $0.topic == router })
    jump(-31_536_000)
    try say("homeassistant/status", "online")
    #expect(pass(10).contains { $0.topic == router })
  }

  @Test("A retained birth, its last will, and other topics are nothing to answer")
  func noBirth() throws {
    _ = connect()
    try say("homeassistant/status", "online", isRetained: true)
    try say("homeassistant/status", "offline")
    try say("homeassistant/status", "")
    try status.received([IncomingMessage(topic: "homeassistant/status", payload: [0xFF])])
    for _ in 0..<12 { #expect(!pass(1).contains { $0.topic.contains("/router/") }) }
  }

  @Test("Births while everything is being published are answered by that, and by nothing more")
  func birthMeanwhile() throws {
    let router = "threadkeeper/router/\(Agent.living)"
    status.connected(
      MosquittoSession(sessionPresent: false, protocolVersion: .v5, publishWindow: 20))
    for _ in 0..<5 { try say("homeassistant/status", "online") }
    #expect(take().contains { $0.topic == router })
    for _ in 0..<90 { #expect(!pass(1).contains { $0.topic == router }) }
  }

  @Test("With another prefix its birth counts, and the usual one does not")
  func otherPrefix() throws {
    let router = "threadkeeper/router/\(Agent.living)"
    bridge.configuration.homeAssistant.prefix = "ha"
    let (outbox, status) = try Self.connection(of: bridge, monitor)
    status.connected(
      MosquittoSession(sessionPresent: true, protocolVersion: .v5, publishWindow: 20))
    _ = try outbox.drain()
    for (topic, isAnswered) in [("homeassistant/status", false), ("ha/status", true)] {
      try status.received([
        IncomingMessage(topic: topic, payload: Array("online".utf8), qos: 0, isRetained: false)
      ])
      bridge.clock.advance(seconds: 10)
      status.periodic(now: bridge.clock.now())
      #expect(try outbox.drain().contains { $0.topic == router } == isAnswered, "\(topic)")
    }
  }

  @Test("Devices that are refused are one line of the log with the remedy, until they are taken")
  func refusedDevices() throws {
    bridge.configuration.homeAssistant.isOn = true
    try bridge.restart()
    let log = RecordingLog()
    let (_, status) = try Self.connection(of: bridge, monitor, logger: log.logger)
    var isRefused = true
    func connect() {
      status.connected(
        MosquittoSession(sessionPresent: true, protocolVersion: .v5, publishWindow: 20))
      while case let publications = status.publications(upTo: 20), !publications.isEmpty {
        for publication in publications {
          let outcome: PublicationOutcome =
            isRefused && publication.topic.contains("/device/")
            ? .refused(MosquittoError(.notAuthorized, "no")) : .delivered
          status.acknowledged(publication.token, outcome)
        }
      }
    }
    func lines() -> [String] { log.lines.filter { $0.contains("device of Home Assistant") } }
    for _ in 0..<3 { connect() }
    #expect(lines().count == 1)
    #expect(lines().first?.contains("home_assistant.discovery: off") == true)
    #expect(monitor.snapshot.refusedDevices?.count == 2)
    #expect(monitor.snapshot.refusals == nil)
    #expect(monitor.snapshot.publicationsRefused == 6)
    isRefused = false
    connect()
    #expect(monitor.snapshot.refusedDevices == nil)
    isRefused = true
    outboxAgain(status)
    connect()
    #expect(lines().count == 2)
  }

  @Test("A removal that is refused stays in status, also when other devices are taken")
  func refusedRemoval() throws {
    bridge.configuration.homeAssistant.isOn = true
    try bridge.restart()
    let (outbox, _) = try Self.connection(of: bridge, monitor)
    _ = try outbox.drain()
    try bridge.database.write { try outbox.deviceResults.write($0) }
    bridge.configuration.homeAssistant.prefix = "other"
    try bridge.restart()
    let (_, next) = try Self.connection(of: bridge, monitor)
    next.connected(MosquittoSession(sessionPresent: true, protocolVersion: .v5, publishWindow: 20))
    while case let publications = next.publications(upTo: 20), !publications.isEmpty {
      for publication in publications {
        let isFormer = publication.topic.hasPrefix("homeassistant/device/")
        next.acknowledged(
          publication.token,
          isFormer ? .refused(MosquittoError(.notAuthorized, "no")) : .delivered)
      }
    }
    #expect(monitor.snapshot.refusedDevices?.topic.hasPrefix("homeassistant/") == true)
    #expect(monitor.snapshot.refusedDevices?.remedy.contains("mosquitto_pub") == true)
  }

  /// Everything is published again on the next connection.
  private func outboxAgain(_ status: StatusConnection) { status.outbox.republishAll() }

  @Test("The broker's count of dropped messages is taken as it comes")
  func dropped() throws {
    let topic = "$SYS/broker/publish/messages/dropped"
    #expect(status.droppedMessages == nil)
    try say(topic, "5", isRetained: true)
    #expect(status.droppedMessages == 5)
    try say(topic, "nonsense")
    #expect(status.droppedMessages == 5)
    try say(topic, "0")
    #expect(status.droppedMessages == 0)
  }

  // MARK: A store that cannot be written

  @Test("It is published as an alert that no row holds, with the reason, and resolved")
  func storeProblem() throws {
    _ = connect()
    monitor.storeFailed("the disk is full", at: bridge.clock.now(), inBatch: true)
    let raised = pass(1)
    let alert = try #require(raised.first { $0.topic == storeAlertTopic })
    #expect(alert.retain && alert.messageExpiry == nil)
    #expect(alert.object["alertname"] as? String == "StoreReadOnly")
    #expect(alert.object["status"] as? String == "firing")
    #expect(alert.object["remedy"] as? String == "the disk is full")
    let overview = try #require(raised.first { $0.topic == "threadkeeper/bridge/alerts" })
    #expect(overview.object["critical"] as? Int == 1)
    let event = try #require(raised.first { $0.topic == "threadkeeper/bridge/event/alert" })
    #expect(event.object["event_type"] as? String == "alert_raised")
    let health = try #require(raised.first { $0.topic == "threadkeeper/bridge/health" })
    #expect(health.object["intake"] as? String == "backing_off")
    #expect(health.object["reason"] as? String == "the disk is full")
    #expect(!pass(1).contains { $0.topic == storeAlertTopic })

    monitor.storeWorks(at: bridge.clock.now(), inBatch: true)
    let resolved = pass(1)
    let end = try #require(resolved.first { $0.topic == storeAlertTopic })
    #expect(end.object["status"] as? String == "resolved")
    #expect(end.messageExpiry == 86_400)
    #expect(
      resolved.first { $0.topic == "threadkeeper/bridge/alerts" }?.object["critical"] as? Int == 0)
    #expect(
      resolved.first { $0.topic == "threadkeeper/bridge/event/alert" }?.object["event_type"]
        as? String == "alert_resolved")
  }

  @Test("It continues to fire over a new connection, and is not raised again")
  func storeProblemOverConnections() throws {
    _ = connect()
    monitor.storeFailed("the disk is full", at: bridge.clock.now(), inBatch: true)
    _ = pass(1)
    disconnect()
    let all = connect(sessionPresent: false)
    #expect(
      all.first { $0.topic == storeAlertTopic }?.object["status"] as? String == "firing")
    #expect(!all.contains { $0.topic == "threadkeeper/bridge/event/alert" })
  }

  @Test("What ended without a connection is published with the next connection")
  func storeProblemEndsUnheard() throws {
    _ = connect()
    monitor.storeFailed("the disk is full", at: bridge.clock.now(), inBatch: true)
    _ = pass(1)
    disconnect()
    monitor.storeWorks(at: bridge.clock.now(), inBatch: true)
    for _ in 0..<2 {
      let all = connect()
      #expect(
        all.first { $0.topic == storeAlertTopic }?.object["status"] as? String == "resolved")
      disconnect()
    }
  }

  @Test("What a daemon before us left firing is taken from the broker at the start")
  func storeProblemOfAnEarlierDaemon() {
    #expect(connect().first { $0.topic == storeAlertTopic }?.payload == [])
  }
}
