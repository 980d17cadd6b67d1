// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// A keychain as one client sees it: the rules of Keychain Services over its access groups. Every
/// call takes the transaction that it works in; `KeychainService` gives each call its own.
package struct KeychainClient: Sendable {
  package let keychain: Keychain
  package let groups: AccessGroups

  package init(_ keychain: Keychain, groups: AccessGroups) {
    self.keychain = keychain
    self.groups = groups
  }
}
