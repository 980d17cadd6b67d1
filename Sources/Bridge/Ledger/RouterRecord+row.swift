// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

extension RouterRecord {
  /// From a row of `SELECT * FROM router`; the order of the columns is that of the schema.
  init(row: SQLiteRow) throws {
    guard let agent = row.withBlob(2, BorderAgentID.init(bytes:)) else {
      throw LedgerError(table: "router", column: "agent")
    }
    self.init(
      home: row.integer(1), agent: agent, user: row.text(3),
      now: WireTime(milliseconds: row.integer(21)))
    id = row.integer(0)
    name = row.textIfPresent(4)
    vendor = row.textIfPresent(5)
    model = row.textIfPresent(6)
    extendedAddress = row.blobIfPresent(7)
    accessPoint = row.textIfPresent(8)
    ssid = row.textIfPresent(9)
    previousSSID = row.textIfPresent(10)
    isPresent = row.integer(11) != 0
    isOnline = row.integer(12) != 0
    beats = row.integer(13) != 0
    credential = CredentialState(rawValue: row.text(14)) ?? .missing
    network = row.withBlob(15, ExtendedPANID.init(bytes:))
    networkName = row.textIfPresent(16)
    channel = row.integerIfPresent(17).map(Int.init)
    panID = row.integerIfPresent(18).map(Int.init)
    activeSeconds = row.integerIfPresent(19).map(UInt64.init(bitPattern:))
    preferred = row.text(20)
    lastSeen = WireTime(milliseconds: row.integer(22))
    datasetChangedAt = row.integerIfPresent(23).map(WireTime.init(milliseconds:))
    order.high = row.integerIfPresent(24).map(UInt64.init(bitPattern:))
    order.seen = UInt64(bitPattern: row.integerIfPresent(25) ?? 0)
    order.identifiers = SequenceWindow.identifiers(row.textIfPresent(26))
    alerts = row.integer(27)
    generation = row.integer(28)
    adoption = row.textIfPresent(29).flatMap(AdoptionState.init)
    currentNetwork = row.withBlob(30, ExtendedPANID.init(bytes:))
    threadState = row.textIfPresent(31).flatMap(ThreadState.init)
    threadStateSince = row.integerIfPresent(32).map(WireTime.init(milliseconds:))
    offlineReason = row.textIfPresent(33).flatMap(OfflineReason.init)
    memberOf = row.blobIfPresent(34).flatMap(ExtendedPANID.init(bytes:))
    team = row.textIfPresent(35)
    source = RouterSource(rawValue: row.text(36)) ?? .mqtt
    isAdvertised = row.integer(37) != 0
    partition = row.integerIfPresent(38).map(UInt32.init(truncatingIfNeeded:))
    threadVersion = row.textIfPresent(39)
    isKnown = row.integer(40) != 0
    isRecordGone = row.integer(41) != 0
    threadStateReported = row.integerIfPresent(42).map(WireTime.init(milliseconds:))
  }
}

/// A row that the bridge cannot have written.
package struct LedgerError: Error, CustomStringConvertible {
  let table: String
  let column: String

  package var description: String {
    "the table \(table) holds a value in \(column) that the bridge cannot have written; "
      + "restore the store from a backup"
  }
}
