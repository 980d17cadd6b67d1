// SPDX-License-Identifier: Apache-2.0

/// What a verification found.
package struct VerificationReport: Equatable, Sendable {
  /// The items that there should be.
  package var items: Int
  /// Whether the rows are those that the manifest counted.
  package var matchesManifest = true
  /// Whether the indexes agree with the rows.
  package var isWhole = true
  /// Rows whose metadata or secret does not open.
  package var unreadable: [Int64] = []
  /// Items whose secret could not be tried, because their class is locked.
  package var locked = 0

  package init(items: Int = 0) { self.items = items }
}

extension Keychain {
  package enum VerificationDepth: Sendable {
    /// The rows against the manifest, the indexes against the rows; nothing is opened. Some 3 µs an
    /// item.
    case manifest
    /// Everything is opened as well.
    case everything
  }
}
