// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto

extension MovedStore {
  /// Two clients, a consent, one that waits, and what was said to them.
  package func fill() throws {
    try enroll("hub", "router")
    try grant("phone")
    try ask("tablet")
  }

  package static func item(
    _ service: String, account: String = "router",
    _ secret: [UInt8] = [UInt8](repeating: 7, count: 64),
    generic: [UInt8]? = nil, accessible: Accessibility = .afterFirstUnlock
  ) -> NewItem {
    var item = NewItem(
      .genericPassword,
      attributes: [
        .service: .string(service), .account: .string(account),
        .accessGroup: .string("threadkeeper.internal"),
      ], secret: SecretBytes(copying: secret), accessible: accessible)
    if let generic { item.attributes[.generic] = .data(generic) }
    return item
  }
}
