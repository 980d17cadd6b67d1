// SPDX-License-Identifier: Apache-2.0

/// What the daemon holds for a border router.
package enum CredentialState: String, CaseIterable, Codable, Sendable {
  /// The dataset that the router reported last.
  case stored
  /// None: the router announced itself without a dataset.
  case missing
  /// A dataset that is newer than the one that the router reported last.
  case stale
  /// A dataset of the same age that differs from the one that the router reported last.
  case conflict
}
