// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase

/// What is on its way to Home Assistant on one connection, and what came of it until that is written. A value: the
/// outbox has it under its lock.
///
/// Once the broker refuses a device, no more are sent on this connection: they stay due, and are sent on the next one,
/// or when everything is published again.
struct HomeAssistantQueue {
  struct Item {
    var publication: Publication
    fileprivate let row: Int64
    fileprivate let due: Int64?
    /// Nil: the topic is emptied.
    fileprivate let form: HomeAssistantForm?
    /// Whether it goes out however short ago the same topic was published. So do the daemon's own topics: their devices
    /// change with a start only, and those of requests never.
    fileprivate let isUnpaced: Bool
    /// The home, where it is about a request for consent.
    let askingHome: Int64?
    /// Whether the broker may hold something there.
    fileprivate let wasAnnounced: Bool
  }

  private static let step = 32
  /// Steps in which nothing is found that can be sent, before the events have their turn: what is due may be refused,
  /// or held back, and be long. It goes on from there with the next call.
  private static let mostEmptySteps = 8

  private let devices: HomeAssistantDevices
  private var pace: HomeAssistantPace
  /// Up to where what is due was looked at for devices to be announced, and for topics to be emptied.
  private var cursor = HomeAssistantLedger.start
  private var removalCursor = HomeAssistantLedger.start
  private var underWay: [UInt64: Item] = [:]
  private(set) var results = Results()
  /// Whether the broker refuses devices, or to have topics emptied, on this connection.
  private var refusesDevices = false
  private var refusesRemovals = false
  /// Rows that were sent since a walk was asked for, which need not send them again.
  private var fresh: Set<Int64> = []
  private var isWalkAhead = false

  init(_ devices: HomeAssistantDevices, pace: HomeAssistantPace = .none) {
    self.devices = devices
    self.pace = pace
  }

  var announces: Bool { devices.isOn }

  /// Another connection: what is still due is sent on it.
  mutating func restart() {
    underWay.removeAll()
    retry()
  }

  /// A walk begins: all is sent, and what was refused is tried again. The broker may have forgotten what it has
  /// acknowledged a moment ago: what is not written of that stays due, and goes out at once. A transaction that is about
  /// to write it would take it from what is due when the walk has passed.
  mutating func republish() {
    retry()
    pace.forget()
    results.rows.removeAll()
    isWalkAhead = announces
  }

  private mutating func retry() {
    rewind()
    refusesDevices = false
    refusesRemovals = false
    fresh.removeAll()
  }

  private mutating func rewind() {
    cursor = HomeAssistantLedger.start
    removalCursor = HomeAssistantLedger.start
  }

  /// Devices that are due. Empty when there is nothing more for now.
  mutating func next(_ renderer: PublicationRenderer, _ tx: ReadTransaction) throws -> [Item] {
    if pace.isOver() { rewind() }
    guard !refusesDevices else { return [] }
    return try next(\.cursor, upTo: .max, renderer, tx) { $0.form != nil }
  }

  /// Topics that are to be emptied. They follow the events by which they became due: Home Assistant has an entity for
  /// the events of a device, which goes with it.
  ///
  /// - Parameter event: up to which all are sent.
  mutating func nextRemovals(
    after event: Int64, _ renderer: PublicationRenderer, _ tx: ReadTransaction
  ) throws -> [Item] {
    guard !refusesRemovals else { return [] }
    return try next(\.removalCursor, upTo: event, renderer, tx) { $0.form == nil }
  }

  private mutating func next(
    _ place: WritableKeyPath<Self, HomeAssistantLedger.Cursor>, upTo event: Int64,
    _ renderer: PublicationRenderer, _ tx: ReadTransaction, where isMeant: (Item) -> Bool
  ) throws -> [Item] {
    for _ in 0..<Self.mostEmptySteps {
      let rows = try HomeAssistantLedger.due(after: self[keyPath: place], limit: Self.step, tx)
        .prefix { ($0.due ?? 0) <= event }
      guard let last = rows.last else { return [] }
      self[keyPath: place] = (last.due ?? 0, last.id)
      let items = try rows.filter { !isSettled($0) && !isUnderWay($0) }
        .compactMap { try item($0, renderer, tx) }
        .filter { isMeant($0) && ($0.isUnpaced || !pace.holds($0.publication.topic)) }
      if !items.isEmpty { return items }
    }
    return []
  }

  /// What the broker has already, for a walk; empty when nothing is left.
  ///
  /// - Parameter walked: the row up to which the walk has come.
  mutating func next(
    after walked: inout Int64, _ renderer: PublicationRenderer, _ tx: ReadTransaction
  ) throws -> [Item] {
    guard announces else { return [] }
    while !refusesDevices {
      let rows = try HomeAssistantLedger.announced(after: walked, limit: Self.step, tx)
      guard let last = rows.last else {
        isWalkAhead = false
        fresh.removeAll()
        return []
      }
      walked = last.id
      let items = try rows.filter { !fresh.contains($0.id) }.compactMap {
        try item($0, renderer, tx)
      }
      if !items.isEmpty { return items }
    }
    results.needsAll = true
    return []
  }

  /// Acknowledged, and not written yet.
  private func isSettled(_ row: HomeAssistantRecord) -> Bool {
    switch results.rows[row.id] {
    case .announced(_, let due), .emptied(let due): due == row.due
    case .refused, nil: false
    }
  }

  /// Sent as it is, and not acknowledged yet.
  private func isUnderWay(_ row: HomeAssistantRecord) -> Bool {
    underWay.values.contains { $0.row == row.id && $0.due == row.due }
  }

  private func item(
    _ row: HomeAssistantRecord, _ renderer: PublicationRenderer, _ tx: ReadTransaction
  ) throws -> Item? {
    let home = renderer.homes[row.home]?.name
    let found = try devices.device(on: row, home: home, tx)
    guard found == nil ? !refusesRemovals : !refusesDevices else { return nil }
    return Item(
      publication: Publication(topic: row.topic, payload: found?.payload ?? [], retain: true),
      row: row.id, due: row.due, form: found?.form, isUnpaced: row.router == nil,
      askingHome: devices.isQuestion(row, home: home) ? row.home : nil,
      wasAnnounced: row.form != nil)
  }

  /// An item is sent under a token.
  mutating func send(_ item: Item, as token: UInt64) {
    underWay[token] = item
    if !item.isUnpaced { pace.note(item.publication.topic) }
    if isWalkAhead { fresh.insert(item.row) }
  }

  /// - Returns: nil for other publications.
  mutating func acknowledge(_ token: UInt64, _ outcome: PublicationOutcome) -> HomeAssistantAnswer?
  {
    guard let item = underWay.removeValue(forKey: token) else { return nil }
    switch (outcome, item.form) {
    case (.delivered, let form?): results.rows[item.row] = .announced(form, due: item.due)
    case (.delivered, nil): results.rows[item.row] = .emptied(due: item.due)
    case (.refused, .some):
      refusesDevices = true
      results.rows[item.row] = .refused
    case (.refused, nil):
      refusesRemovals = true
      // Nothing was ever acknowledged there: then there is nothing to be emptied.
      results.rows[item.row] = item.wasAnnounced ? .refused : .emptied(due: item.due)
    }
    let topic = item.publication.topic
    return item.form == nil ? .removal(topic: topic) : .device(topic: topic)
  }

  /// These are on disk.
  mutating func forget(_ written: Results) {
    for (row, result) in written.rows where results.rows[row] == result {
      results.rows[row] = nil
    }
    if written.needsAll { results.needsAll = false }
  }
}
