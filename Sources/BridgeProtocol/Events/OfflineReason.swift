// SPDX-License-Identifier: Apache-2.0

/// Why a border router is offline. The raw values are stored and published.
package enum OfflineReason: String, Hashable, Sendable, CaseIterable {
  /// Thread was stopped on it.
  case stopped
  /// Nothing accepts connections where its agent should be.
  case unreachable
  /// Its agent accepts connections and does not answer.
  case frozen
  /// On its own machine, a program of another user than its agent's listens in its place.
  case untrusted
  /// Its heartbeats stopped. Found by the daemon, not reported.
  case silent

  /// What an `offline` event may give as its reason.
  package static let reported: [OfflineReason] = [.stopped, .unreachable, .frozen, .untrusted]
}
