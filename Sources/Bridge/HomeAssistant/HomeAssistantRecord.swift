// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// A topic that may hold an announced device. The row is written before the topic is, and goes when the broker has
/// acknowledged that the topic is empty: so no device outlives what it stands for.
struct HomeAssistantRecord: Hashable, Sendable {
  let id: Int64
  let topic: String
  let home: Int64
  /// Nil: the daemon's own device, or the buttons of a request in it.
  let router: BorderAgentID?
  /// What the broker acknowledged last; nil: nothing yet.
  let form: HomeAssistantForm?
  /// The event from which on it is to be published, or emptied; nil: the broker has it.
  let due: Int64?
}

extension HomeAssistantRecord {
  init(row: SQLiteRow) {
    self.init(
      id: row.integer(0), topic: row.text(1), home: row.integer(2),
      router: row.blobIfPresent(3).flatMap(BorderAgentID.init(bytes:)),
      form: row.blobIfPresent(4).flatMap(HomeAssistantForm.init(bytes:)),
      due: row.integerIfPresent(5))
  }
}
