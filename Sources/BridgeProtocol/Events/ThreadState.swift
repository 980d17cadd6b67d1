// SPDX-License-Identifier: Apache-2.0

/// The state of a border router's Thread interface, as `/node/state` of an OpenThread Border Router names it.
package enum ThreadState: String, Hashable, Sendable, CaseIterable {
  /// Thread was stopped.
  case disabled
  /// It looks for its network.
  case detached
  case child
  case router
  case leader

  /// Whether the router takes part in a network.
  package var isAttached: Bool { self != .disabled && self != .detached }
}
