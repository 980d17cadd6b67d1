// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import SQLiteDatabase

/// What is on its way to Home Assistant on one connection, and what came of it until that is written. A value: the
/// outbox has it under its lock.
///
/// Once the broker refuses a device, no more are sent on this connection: they stay due, and are sent on the next one,
/// or when everything is published again.
struct HomeAssistantQueue {
  /// What came of a row, for the next transaction.
  enum Result: Hashable, Sendable {
    case announced(HomeAssistantForm, due: Int64?)
    case emptied(due: Int64?)
    case refused
  }

  /// What the next transaction writes.
  struct Results: Sendable {
    var rows: [Int64: Result] = [:]
    /// A walk was to announce all of them again, and could not.
    var needsAll = false

    var isEmpty: Bool { rows.isEmpty && !needsAll }
  }

  struct Item {
    var publication: Publication
    fileprivate let row: Int64
    fileprivate let due: Int64?
    /// Nil: the topic is emptied.
    fileprivate let form: HomeAssistantForm?
    /// Whether the broker may hold something there.
    fileprivate let wasAnnounced: Bool
  }

  private static let step = 32

  private let devices: HomeAssistantDevices
  /// False: the store has no rows of this, and gets none.
  private let isUsable: Bool
  private let json = WireJSON()
  private var cursor = HomeAssistantLedger.start
  private var underWay: [UInt64: Item] = [:]
  private(set) var results = Results()
  /// Whether the broker refuses devices, or to have topics emptied, on this connection.
  private var refusesDevices = false
  private var refusesRemovals = false
  /// Rows that were sent since a walk was asked for, which need not send them again.
  private var fresh: Set<Int64> = []
  private var isWalkAhead = false

  init(_ devices: HomeAssistantDevices, isUsable: Bool) {
    self.devices = devices
    self.isUsable = isUsable
  }

  var announces: Bool { devices.isOn && isUsable }

  /// Another connection: what is still due is sent on it.
  mutating func restart() {
    underWay.removeAll()
    retry()
  }

  /// A walk begins: all is sent, and what was refused is tried again. The broker may have forgotten what it has
  /// acknowledged a moment ago: what is not written of that stays due.
  mutating func republish() {
    retry()
    results.rows.removeAll()
    isWalkAhead = announces
  }

  private mutating func retry() {
    cursor = HomeAssistantLedger.start
    refusesDevices = false
    refusesRemovals = false
    fresh.removeAll()
  }

  /// What is due; empty when nothing is left.
  mutating func next(_ renderer: PublicationRenderer, _ tx: ReadTransaction) throws -> [Item] {
    guard isUsable else { return [] }
    while true {
      let rows = try HomeAssistantLedger.due(after: cursor, limit: Self.step, tx)
      guard let last = rows.last else { return [] }
      cursor = (last.due ?? 0, last.id)
      let items = try rows.filter { !isSettled($0) }.compactMap { try item($0, renderer, tx) }
      if !items.isEmpty { return items }
    }
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

  private func item(
    _ row: HomeAssistantRecord, _ renderer: PublicationRenderer, _ tx: ReadTransaction
  ) throws -> Item? {
    let found = try devices.device(on: row, home: renderer.homes[row.home]?.name, tx)
    guard found == nil ? !refusesRemovals : !refusesDevices else { return nil }
    let payload = found.map { json.encode($0.0) } ?? []
    return Item(
      publication: Publication(topic: row.topic, payload: payload, retain: true), row: row.id,
      due: row.due, form: found?.1, wasAnnounced: row.form != nil)
  }

  /// An item is sent under a token.
  mutating func send(_ item: Item, as token: UInt64) {
    underWay[token] = item
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

extension HomeAssistantQueue.Results {
  func write(_ tx: WriteTransaction) throws {
    for (row, result) in rows {
      switch result {
      case .announced(let form, let due):
        try HomeAssistantLedger.setAnnounced(row: row, form, due: due, tx)
      case .emptied(let due): try HomeAssistantLedger.delete(row: row, due: due, tx)
      case .refused: try HomeAssistantLedger.setDue(row: row, from: 1, tx)
      }
    }
    if needsAll { try HomeAssistantLedger.setAllDue(from: 1, tx) }
  }
}
