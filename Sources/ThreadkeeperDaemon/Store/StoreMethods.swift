// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

/// `io.threadkeeper.Store`: what is accessible "when unlocked".
package enum StoreMethods {
  private static let interface = VarlinkInterface.store.name

  package static let lock = VarlinkMethod<VarlinkNothing, StoreReport>(
    interface, "Lock", for: .owner)
  package static let unlock = VarlinkMethod<Opening, StoreReport>(
    interface, "Unlock", for: .owner)

  package struct Opening: Codable, Sendable {
    package var secret: StoreSecret

    package init(_ secret: StoreSecret) { self.secret = secret }
  }
}
