// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import ConsentLedger
import KeychainCore
import ThreadCredentialStore

/// What can be said, and taken back, with the store alone: in the daemon, or in the command itself.
package struct ConsentService: Sendable {
  let keychain: Keychain
  private var ledger: ConsentLedger { ConsentLedger(keychain) }
  private var now: Int64 { SystemClock().now().milliseconds }

  package init(_ keychain: Keychain) {
    self.keychain = keychain
  }

  /// - Parameter namingHome: where the daemon has several.
  package func list(namingHome: Bool) throws -> ConsentReport.List {
    let now = now
    let (waiting, revision) = try keychain.database.read {
      (try ledger.pending(now: now, $0), try ledger.revision($0))
    }
    return ConsentReport.List(
      pending: waiting.map { .init($0, namingHome: namingHome) }, revision: revision)
  }

  package func grants() throws -> ConsentReport.Grants {
    let store = ThreadCredentialStore(keychain)
    return ConsentReport.Grants(
      grants: try keychain.database.read { tx in
        try ledger.grants(tx).map { grant in
          // A preferred network that cannot be read says nothing about the grant.
          .init(grant, preferred: try? store.preferredNetwork(of: grant.subject.home, tx))
        }
      })
  }

  package func history(_ limit: Int?) throws -> ConsentReport.History {
    let past = try keychain.database.read { try ledger.history(limit: limit ?? .max, $0) }
    return ConsentReport.History(history: past.map(ConsentReport.Decision.init))
  }

  /// Where no daemon runs that should be told.
  package func revoke(_ id: String, by user: UInt32) throws -> ConsentReport.Revoked {
    let grant = try keychain.database.write {
      try ledger.revoke(id, by: .commandLine(user: user), now: now, $0)
    }
    return ConsentReport.Revoked(grant: .init(grant))
  }
}
