// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto

/// A user name and its password.
package struct BrokerLogin: Sendable {
  package let username: String
  package let password: SecretBytes
  /// The item that holds it; nil for one that is not stored.
  let item: Item?

  package init(username: String, password: SecretBytes) {
    self.init(username: username, password: password, item: nil)
  }

  init(username: String, password: SecretBytes, item: Item?) {
    self.username = username
    self.password = password
    self.item = item
  }
}

extension BrokerLogin: CustomStringConvertible, CustomReflectable {
  /// The name; never the password.
  package var description: String { username }
  package var customMirror: Mirror { Mirror(self, children: ["username": username]) }
}
