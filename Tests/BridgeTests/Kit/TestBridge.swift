// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import Foundation
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

/// The bridge without its connections: a real store, messages as the broker delivers them, and a clock
/// that is turned by hand.
final class TestBridge {
  let temporary: TemporaryStore
  let clock = ManualClock()
  var configuration: BridgeConfiguration
  var parts = RequestParts()
  /// What the last batch came to.
  private(set) var counts = BatchCounts()
  /// What it is to be answered.
  private(set) var answers: [Answer] = []
  private var cursors: TickCursors
  private var eventsTaken: Int64 = 0
  /// The daemon's own keys, and who is enrolled.
  let identity: Identity
  private(set) var enrolments: ClientEnrolmentStore
  var sealed: SealedIntake { SealedIntake(enrolments: enrolments, identity: identity) }

  /// - Parameter disk: that the store is on.
  init(
    homes: [BaseTopics.Home] = [.init(name: "home", base: "threadkeeper")],
    teams: [String: String] = [:], disk: FaultyDisk? = nil,
    change: (inout BridgeConfiguration) -> Void = { _ in }
  ) throws {
    var options = KeychainOptions()
    options.vfs = disk?.name
    options.auditor = "daemon"
    options.now = { [clock] in clock.now().milliseconds * 1_000 }
    temporary = try TemporaryStore(options: options)
    identity = try Identity()
    enrolments = ClientEnrolmentStore(temporary.keychain)
    answerQueue = AnswerQueue(monitor: monitor)
    configuration = BridgeConfiguration(version: "test", topics: BaseTopics(homes))
    // Who is called like a team is in it.
    let members = Dictionary(grouping: teams.keys.sorted()) { teams[$0] ?? $0 }
    configuration.teams = BrokerTeams(
      Dictionary(uniqueKeysWithValues: members.map { ($0, [$0] + $1) }))
    change(&configuration)
    cursors = TickCursors(since: clock.moment())
    try start()
  }

  var database: SQLiteDatabase { temporary.keychain.database }
  var store: ThreadCredentialStore { ThreadCredentialStore(temporary.keychain) }

  @discardableResult
  func start() throws -> [BridgeStart.RetiredBase] {
    cursors = TickCursors(since: clock.moment())
    answerQueue = AnswerQueue(monitor: monitor)
    return try BridgeStart.prepare(configuration, store: store, now: clock.now())
  }

  /// The broker has acknowledged that the old base topics are empty.
  func settleBases() throws {
    try database.write { try BridgeStart.settleBases(configuration, $0) }
  }

  func restart() throws {
    try temporary.reopen()
    enrolments = ClientEnrolmentStore(temporary.keychain)
    try start()
  }

  // MARK: What comes in

  /// One batch, one transaction.
  @discardableResult
  func receive(_ messages: [IncomingMessage]) throws -> BatchCounts {
    var reader = MessageReader(topics: configuration.topics)
    let inbound = messages.map { reader.read($0) }
    let (_, outcome) = try transaction { transaction in
      for message in inbound { try transaction.messages.apply(message, sealed) }
    }
    (counts, answers) = (outcome.counts, outcome.answers)
    return counts
  }

  @discardableResult
  func say(
    _ kind: InboundEventKind, _ agent: String, user: String = "anna", base: String = "threadkeeper",
    _ fields: [String: Any] = [:]
  ) throws -> BatchCounts {
    try receive([try message(kind, agent, user: user, base: base, fields)])
  }

  /// An announcement with a dataset.
  @discardableResult
  func announce(
    _ agent: String, _ network: SampleNetwork, at seconds: UInt64, user: String = "anna",
    base: String = "threadkeeper", _ fields: [String: Any] = [:]
  ) throws -> BatchCounts {
    let dataset = try network.dataset(at: seconds)
    return try say(
      .announce, agent, user: user, base: base, fields.merging(["dataset": dataset.hex]) { $1 })
  }

  func message(
    _ kind: InboundEventKind, _ agent: String, user: String = "anna", base: String = "threadkeeper",
    _ fields: [String: Any] = [:]
  ) throws -> IncomingMessage {
    var fields = fields
    if fields["access_point"] == nil || kind != .ssid { fields["border_agent_id"] = agent }
    return IncomingMessage(
      topic: "\(base)/in/\(user)/\(kind.rawValue)",
      payload: Array(try JSONSerialization.data(withJSONObject: fields)))
  }

  /// Listens since the beginning, unless a test says otherwise.
  var listeningSince: WireTime? = WireTime(milliseconds: 0)

  /// The connection that speaks, and what was handed to it.
  var connection: Int64? = 1
  private(set) var delivered: [Publication] = []
  /// What waits for the connection, which takes all of it after each tick, unless it is about to be lost.
  private(set) var answerQueue: AnswerQueue
  var isTaking = true
  /// Whether the broker answers to what it is sent.
  var isAcknowledging = true
  private let monitor = BridgeMonitor()
  var dropped: Int64 { monitor.snapshot.answersDropped }

  /// Turns the clock by so many seconds and lets the bridge notice.
  func pass(_ seconds: Int = 0) throws {
    clock.advance(seconds: seconds)
    let now = clock.now()
    // As `Ticker` and `BridgeMonitor` do it.
    if cursors.clock.notice(clock.moment()) != nil {
      listeningSince = listeningSince.map { _ in now }
    }
    try runner(monitor, answers: answerQueue).run(at: now) { transaction in
      try TickApplier(
        transaction: transaction, listeningSince: listeningSince, connection: connection,
        deliveries: answerQueue.deliveries
      ).apply(&cursors)
    }
    guard let connection, isTaking else { return }
    let taken = answerQueue.next(.max, connection: connection, now: now)
    if isAcknowledging { for one in taken { answerQueue.deliveries.acknowledge(one.token) } }
    delivered += taken.filter { $0.topic.hasSuffix("/dataset/set") }
  }

  // MARK: What is there

  func home(_ name: String = "home") throws -> HomeRecord {
    try #require(try database.read { try HomeLedger.all($0) }.first { $0.name == name })
  }

  func router(_ agent: String, home name: String = "home") throws -> RouterRecord? {
    let home = try home(name)
    return try database.read {
      try RouterLedger.find(try #require(BorderAgentID(hex: agent)), home: home.id, $0)
    }
  }

  func network(_ network: SampleNetwork, home name: String = "home") throws -> NetworkRecord? {
    let home = try home(name)
    let identity = try #require(ExtendedPANID(hex: network.extendedPANID))
    return try database.read { try NetworkLedger.find(identity, home: home.id, $0) }
  }

  func credential(_ agent: String, home: String = "home") throws -> ThreadCredential? {
    try database.read {
      try store.credential(of: try #require(BorderAgentID(hex: agent)), in: home, $0)
    }
  }

  func preferred(_ home: String = "home") throws -> OperationalDataset? {
    try database.read { try store.preferredNetwork(of: home, $0) }
  }

  func alert(_ name: AlertName, _ subject: String = "", home: String = "home") throws
    -> AlertRecord?
  {
    let fingerprint = AlertFingerprint(home: home, name: name, subject: subject)
    return try database.read { try AlertLedger.find(fingerprint, $0) }
  }

  /// Names of the alerts that fire, with their subjects; sorted.
  func firing(home name: String = "home") throws -> [String] {
    let home = try home(name)
    return try database.read { try AlertLedger.firing(home: home.id, limit: 1_000, $0) }
      .map { $0.subject.isEmpty ? $0.name.rawValue : "\($0.name.rawValue) \($0.subject)" }.sorted()
  }

  /// The event rows since the last call.
  func takeEvents() throws -> [EventRecord] {
    let events = try database.read { try EventLedger.page(after: eventsTaken, limit: 100_000, $0) }
    eventsTaken = events.last?.id ?? eventsTaken
    return try events.map { stored in
      var event = stored
      if event.alert == nil, let json = event.json {
        event.detail = try JSONDecoder().decode(EventDetail.self, from: Data(json))
      }
      return event
    }
  }

  /// Names of what happened since the last call, in order; state changes have none.
  func takeNames() throws -> [String] { Self.names(try takeEvents()) }

  static func names(_ events: [EventRecord]) -> [String] {
    events.flatMap { event in
      OutboundEventTypes.names.filter { event.types.contains($0.type) }.map(\.name)
    }
  }
}

/// Border agent ids that tests use.
enum Agent {
  static let living = "a1b2c3d4e5f60718"
  static let attic = "deadbeefcafe0042"
  static let garage = "b0b0b0b0c1c1c1c1d2d2d2d2e3e3e3e3"
}

func agent(_ hex: String) throws -> BorderAgentID {
  try #require(BorderAgentID(hex: hex))
}
