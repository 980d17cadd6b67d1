// SPDX-License-Identifier: Apache-2.0

import SealedEnvelope

/// The keys of an enrolled login, and whom it seals to and takes messages from.
package struct AgentKeys: Sendable {
  package let own: Identity
  package let daemon: PublicIdentity

  package init(own: Identity, daemon: PublicIdentity) {
    self.own = own
    self.daemon = daemon
  }
}
