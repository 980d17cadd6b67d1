// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// What one transaction has come to so far: what later steps of it build upon, and what follows once it is on disk.
final class TransactionProgress {
  typealias RaisedMismatch = (home: Int64, agent: BorderAgentID)

  private let tx: WriteTransaction
  var outcome = TransactionOutcome()
  var networks = NetworkChanges()
  private var lastEvent: Int64
  private var raisedMismatches: [RaisedMismatch] = []

  init(_ tx: WriteTransaction) throws {
    self.tx = tx
    lastEvent = try EventLedger.lastID(tx)
  }

  /// Writes a row of the outbox.
  ///
  /// - Returns: the id that the event got, which is the generation of the states it changes.
  @discardableResult
  func append(_ event: EventRecord) throws -> Int64 {
    lastEvent += 1
    var event = event
    event.id = lastEvent
    try EventLedger.insert(event, tx)
    outcome.counts.events += 1
    outcome.news.add(event)
    return lastEvent
  }

  /// A router has been on another network for as long as its alert is held.
  func noteRaised(_ alert: AlertRecord) {
    guard alert.name == .preferredNetworkMismatch, let agent = BorderAgentID(hex: alert.subject)
    else { return }
    raisedMismatches.append((alert.home, agent))
  }

  func takeRaisedMismatches() -> [RaisedMismatch] {
    defer { raisedMismatches.removeAll() }
    return raisedMismatches
  }

  func takeNetworks() -> NetworkChanges {
    defer { networks = NetworkChanges() }
    return networks
  }

  /// - Returns: what brings back how it is now.
  func savepoint() -> () -> Void {
    let noted = (outcome, networks, lastEvent, raisedMismatches)
    return { [self] in (outcome, networks, lastEvent, raisedMismatches) = noted }
  }
}
