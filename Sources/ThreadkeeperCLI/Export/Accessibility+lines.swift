// SPDX-License-Identifier: Apache-2.0

import KeychainCore

extension Accessibility {
  /// For people: a line for each class.
  static func lines(_ counts: [String: Int]) -> String {
    counts.sorted { $0.key < $1.key }
      .map { "  \($0.value) \($0.key.split(separator: "_").joined(separator: " "))\n" }.joined()
  }
}
