// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Deletes a router's credentials by a person's hand: store, registry and alerts in one transaction.
package enum CredentialRemoval {
  /// - Returns: whether there was something to delete.
  package static func remove(
    _ agent: BorderAgentID, home name: String, configuration: BridgeConfiguration,
    keychain: Keychain, clock: any Clock = SystemClock()
  ) throws -> Bool {
    let store = ThreadCredentialStore(keychain)
    _ = try BridgeStart.prepare(configuration, store: store, now: clock.now())
    return try keychain.database.write { tx in
      let batch = try BatchApplier(
        configuration: configuration, store: store, now: clock.now(), tx)
      let home = try batch.home(named: name)
      guard try store.delete(of: agent, in: name, tx) else { return false }
      if let stored = try RouterLedger.find(agent, home: home.record.id, tx), stored.isPresent {
        var router = stored
        router.credential = .missing
        router.forgetDataset()
        var record = EventRecord(time: batch.now, home: home.record.id)
        record.router = agent
        try batch.finish(
          router, stored: stored, dataset: nil, record: record, trigger: "deleted", home: home)
      }
      try batch.finish()
      return true
    }
  }
}
