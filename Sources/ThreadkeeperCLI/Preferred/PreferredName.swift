// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset

/// What a person means by the argument of `preferred set`.
enum PreferredName: Hashable {
  case network(ExtendedPANID)
  /// An id of the history.
  case former(String)
  case name(String)
  /// Hex digits, a file, or standard input.
  case dataset

  /// The most bytes of a network's name.
  private static let longestName = 16

  init(_ text: String) {
    if let network = ExtendedPANID(hex: text) {
      self = .network(network)
    } else if FormerNetwork.isID(text) {
      self = .former(text)
    } else if text == "-" || text.hasPrefix("@") || text.utf8.count > Self.longestName {
      self = .dataset
    } else {
      self = .name(text)
    }
  }
}
