// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase

extension HomeAssistantQueue {
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
