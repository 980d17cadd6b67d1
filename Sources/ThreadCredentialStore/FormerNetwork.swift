// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// A network that was the preferred one of its home.
package struct FormerNetwork: Sendable {
  /// The most that a home keeps; the oldest goes first.
  package static let limit = 8

  /// `p-` and 8 hex digits. Names it in commands.
  package let id: String
  package let network: ExtendedPANID?
  package let networkName: String
  /// Nil where it is damaged.
  package let dataset: OperationalDataset?
  /// When it was replaced; microseconds since 1970.
  package let until: Int64

  /// - Returns: whether a text has the form of an id.
  package static func isID(_ text: String) -> Bool {
    text.utf8.count == 10 && text.hasPrefix("p-")
      && text.utf8.dropFirst(2).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}
