// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A connection, as the handlers of its calls see it. What is kept in it is dropped with the connection.
package final class VarlinkSession: Sendable {
  private struct State {
    var values: [ObjectIdentifier: any Sendable] = [:]
    var isOver = false
  }

  private let state = Mutex(State())

  package init() {}

  /// Whether the caller has gone, or has lost its place.
  package var isOver: Bool { state.withLock { $0.isOver } }

  /// What is kept of a type; nil: nothing.
  package func value<Value: Sendable>(_ type: Value.Type) -> Value? {
    state.withLock { $0.values[ObjectIdentifier(type)] as? Value }
  }

  /// Keeps one value of a type, in the place of an earlier one. Does nothing when the connection is over.
  package func keep<Value: Sendable>(_ value: Value) {
    state.withLock { if !$0.isOver { $0.values[ObjectIdentifier(Value.self)] = value } }
  }

  package func end() {
    let values = state.withLock { state in
      state.isOver = true
      defer { state.values = [:] }
      return state.values
    }
    // Released here, outside the lock.
    _ = values
  }
}
