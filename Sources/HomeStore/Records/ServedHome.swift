// SPDX-License-Identifier: Apache-2.0

import Home

/// A home as the settings have it.
package struct ServedHome: Sendable {
  package let name: String
  /// The base topic.
  package let base: String
  package let rules: HomeRules

  package init(name: String, base: String, rules: HomeRules) {
    self.name = name
    self.base = base
    self.rules = rules
  }
}
