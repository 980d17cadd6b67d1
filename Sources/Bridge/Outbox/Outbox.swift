// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import Synchronization

/// What waits for the broker, in the order in which it happened.
///
/// Event rows are read as the broker takes them, rendered, and counted as published once every
/// publication of theirs is acknowledged. The mark rides in the next transaction of the intake, so a
/// crash repeats some publications and loses none.
final class Outbox: Sendable {
  private static let rowsRead = 32

  private struct State {
    /// The last row that was rendered.
    var read: Int64
    /// Everything up to here is acknowledged.
    var published: Int64
    var ready: [Publication] = []
    /// Publications of a row that the broker has not acknowledged yet, in the order of the rows.
    var outstanding: [(event: Int64, at: WireTime, count: Int)] = []
    var events: [UInt64: Int64] = [:]
    var nextToken: UInt64 = 1
    var walks: [StateWalk] = []
    /// Walks as they began, until the broker has acknowledged all of them.
    var unfinished: [StateWalk] = []
    /// Publications of a walk that the broker has not acknowledged yet.
    var walkTokens: Set<UInt64> = []
    var homesWithNewAlerts: Set<Int64> = []
    var homesWithNewConsents: Set<Int64> = []
    var devices: HomeAssistantQueue
  }

  private let database: SQLiteDatabase
  private let topics: BaseTopics
  private let overview: AlertsOverviewSource
  private let consents: ConsentOverviewSource
  private let acknowledged: @Sendable (_ happened: WireTime) -> Void
  private let state: Mutex<State>

  init(
    database: SQLiteDatabase, topics: BaseTopics, overview: AlertsOverviewSource,
    consents: ConsentOverviewSource, devices: HomeAssistantDevices,
    devicePace: HomeAssistantPace = .none,
    acknowledged: @escaping @Sendable (_ happened: WireTime) -> Void = { _ in }
  ) throws {
    self.acknowledged = acknowledged
    self.database = database
    self.topics = topics
    self.overview = overview
    self.consents = consents
    let published = try database.read { try EventLedger.published($0) }
    state = Mutex(
      State(
        read: published, published: published,
        devices: HomeAssistantQueue(devices, pace: devicePace)))
  }

  /// Everything up to this event id is acknowledged by the broker.
  var published: Int64 { state.withLock { $0.published } }

  /// Whether a walk is under way that publishes every state again, or any walk at all.
  var isRepublishing: Bool { state.withLock { $0.unfinished.contains { !$0.isClearing } } }
  var isWalking: Bool { state.withLock { !$0.unfinished.isEmpty } }

  /// A connection was lost: what was not acknowledged is offered again, an unfinished walk from its
  /// beginning.
  func restart() {
    state.withLock { state in
      state.read = state.published
      state.ready.removeAll()
      state.outstanding.removeAll()
      state.events.removeAll()
      state.walkTokens.removeAll()
      state.walks = state.unfinished
      state.devices.restart()
      if state.walks.contains(where: { !$0.isClearing }) { state.devices.republish() }
    }
  }

  /// The rows were created again: none up to `id` is there any more.
  func restart(after id: Int64) {
    state.withLock { $0.published = max($0.published, id) }
    restart()
  }

  /// Publishes every state again, in small steps between the events. A walk that waits is not doubled.
  ///
  /// - Parameter withPresence: whether to say as well that the daemon is there, which each connection begins with.
  func republishAll(withPresence: Bool = false) {
    state.withLock {
      $0.devices.republish()
      let walk = StateWalk(
        publishing: topics, announcesDevices: $0.devices.announces,
        saysPresence: withPresence)
      $0.walks = $0.walks.filter(\.isClearing) + [walk]
      $0.unfinished = $0.unfinished.filter(\.isClearing) + [walk]
    }
  }

  /// Empties the topics below a base topic that a home no longer uses.
  func clear(base: String, of home: String) {
    let isTaken = topics.homes.contains { $0.base == base }
    let walk = StateWalk(clearing: base, of: home, includesBridge: !isTaken)
    state.withLock {
      $0.walks.append(walk)
      $0.unfinished.append(walk)
    }
  }

  /// The next publications, at most `limit`.
  func next(_ limit: Int) throws -> [Publication] {
    try state.withLock { state in
      if state.ready.count < limit { try fill(&state, limit: limit) }
      let taken = Array(state.ready.prefix(limit))
      state.ready.removeFirst(taken.count)
      return taken
    }
  }

  /// What came of devices of Home Assistant, until `forget`.
  var deviceResults: HomeAssistantQueue.Results { state.withLock { $0.devices.results } }

  /// These results are on disk.
  func forget(_ results: HomeAssistantQueue.Results) {
    state.withLock { $0.devices.forget(results) }
  }

  /// - Returns: which device of Home Assistant it was; nil for all other publications.
  @discardableResult
  func acknowledge(
    _ token: UInt64, _ outcome: PublicationOutcome = .delivered
  ) -> HomeAssistantAnswer? {
    let (device, happened): (HomeAssistantAnswer?, WireTime?) = state.withLock { state in
      let device = state.devices.acknowledge(token, outcome)
      if state.walkTokens.remove(token) != nil { Self.noteWalks(&state) }
      guard let event = state.events.removeValue(forKey: token),
        let index = state.outstanding.firstIndex(where: { $0.event == event })
      else { return (device, nil) }
      state.outstanding[index].count -= 1
      let happened = state.outstanding[index].count == 0 ? state.outstanding[index].at : nil
      Self.advance(&state)
      return (device, happened)
    }
    if let happened { acknowledged(happened) }
    return device
  }

  private func fill(_ state: inout State, limit: Int) throws {
    try database.read { tx in
      let renderer = try PublicationRenderer(topics: topics, tx)
      while state.ready.count < limit {
        let items = try state.devices.next(renderer, tx)
        if items.isEmpty { break }
        for item in items { Self.addChanged(item, &state) }
      }
      var areAllRead = false
      while state.ready.count < limit, !areAllRead {
        let rows = try EventLedger.page(after: state.read, limit: Self.rowsRead, tx)
        for row in rows { try render(row, renderer, &state, tx) }
        areAllRead = rows.count < Self.rowsRead
      }
      // Events of a table that was created again have other numbers.
      let read = areAllRead ? Int64.max : state.read
      while state.ready.count < limit {
        let items = try state.devices.nextRemovals(after: read, renderer, tx)
        if items.isEmpty { break }
        for item in items { Self.addChanged(item, &state) }
      }
      for id in state.homesWithNewAlerts {
        guard let home = renderer.homes[id] else { continue }
        state.ready += try overview.publications(for: home, renderer, tx)
      }
      state.homesWithNewAlerts.removeAll()
      for id in state.homesWithNewConsents {
        guard let home = renderer.homes[id], renderer.bases[home.name] != nil,
          let publication = consents.publication(of: home.name, tx)
        else { continue }
        state.ready.append(publication)
      }
      state.homesWithNewConsents.removeAll()
      while state.ready.count < limit, !state.walks.isEmpty {
        let items = try state.walks[0].nextDevices(&state.devices, renderer, tx)
        for item in items { state.walkTokens.insert(Self.add(item, &state)) }
        guard items.isEmpty else { continue }
        let publications = try state.walks[0].next(renderer, tx)
        if publications.isEmpty { state.walks.removeFirst() }
        for var publication in publications {
          publication.token = state.nextToken
          state.walkTokens.insert(state.nextToken)
          state.nextToken += 1
          state.ready.append(publication)
        }
      }
      Self.noteWalks(&state)
    }
  }

  /// The list of requests that Home Assistant decides about changes with their buttons, also without an event: by an
  /// enrolment.
  private static func addChanged(_ item: HomeAssistantQueue.Item, _ state: inout State) {
    add(item, &state)
    if let home = item.askingHome { state.homesWithNewConsents.insert(home) }
  }

  @discardableResult
  private static func add(_ item: HomeAssistantQueue.Item, _ state: inout State) -> UInt64 {
    var publication = item.publication
    publication.token = state.nextToken
    state.devices.send(item, as: state.nextToken)
    state.nextToken += 1
    state.ready.append(publication)
    return publication.token
  }

  private func render(
    _ row: EventRecord, _ renderer: PublicationRenderer, _ state: inout State,
    _ tx: ReadTransaction
  ) throws {
    let publications = try renderer.publications(for: row, tx)
    for var publication in publications {
      publication.token = state.nextToken
      state.events[state.nextToken] = row.id
      state.nextToken += 1
      state.ready.append(publication)
    }
    if !row.types.isDisjoint(with: .consent) { state.homesWithNewConsents.insert(row.home) }
    if row.alert != nil { state.homesWithNewAlerts.insert(row.home) }
    state.outstanding.append((row.id, row.time, publications.count))
    state.read = row.id
    Self.advance(&state)
  }

  /// Walks that have ended need not restart.
  private static func noteWalks(_ state: inout State) {
    if state.walks.isEmpty, state.walkTokens.isEmpty { state.unfinished.removeAll() }
  }

  private static func advance(_ state: inout State) {
    while let first = state.outstanding.first, first.count == 0 {
      state.published = first.event
      state.outstanding.removeFirst()
    }
  }
}
