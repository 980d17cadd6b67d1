// SPDX-License-Identifier: Apache-2.0

/// Text that no description, dump or interpolation shows: only `revealed` does.
package struct SecretText: Sendable, Hashable {
  package let revealed: String

  package init(_ revealed: String) {
    self.revealed = revealed
  }
}

extension SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<secret>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
