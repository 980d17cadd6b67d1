// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Synchronization

/// Stored messages in memory, and nothing else of a store.
final class MessageStore: RecordStore {
  struct Failure: Error {}

  private struct State {
    var messages: [StoredMessage] = []
    var isFailing = false
    var reads = 0
  }

  private let state = Mutex(State())

  var reads: Int { state.withLock { $0.reads } }
  func setFailing(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

  func load(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord] { [] }

  func commit(_ changes: RecordChanges) throws {
    let (added, published) = (changes.messages, changes.published)
    state.withLock { state in
      state.messages.removeAll { $0.id <= published }
      state.messages += added
    }
  }

  func withSecret<R>(
    of id: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? { nil }

  func unreadable() throws -> [DamagedRecord] { [] }

  func messages(after id: Int64, limit: Int) throws -> [StoredMessage] {
    try state.withLock { state in
      if state.isFailing { throw Failure() }
      state.reads += 1
      return Array(state.messages.filter { $0.id > id }.prefix(limit))
    }
  }

  func add(_ rows: [[UInt8]], from id: Int64) {
    state.withLock { state in
      for (index, bytes) in rows.enumerated() {
        state.messages.append(StoredMessage(id: id + Int64(index), bytes: bytes))
      }
    }
  }
}
