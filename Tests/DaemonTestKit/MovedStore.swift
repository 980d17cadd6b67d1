// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import ConsentLedger
import KeychainCore
import SQLiteDatabase
import Settings
import TestKit
import ThreadDataset

/// A store with those who may have what is in it.
package struct MovedStore {
  package let store: TemporaryStore
  package let enrolments: ClientEnrolmentStore
  package var keychain: Keychain { store.keychain }
  private var ledger: ConsentLedger { ConsentLedger(keychain) }

  package init() throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    options.auditor = "a test"
    store = try TemporaryStore(options: options)
    enrolments = ClientEnrolmentStore(store.keychain)
  }

  package static func settings(_ store: TemporaryStore) -> Settings {
    var settings = Settings(stateDirectory: store.path)
    settings.store = .init(path: store.location.directory)
    return settings
  }

  private struct Unexpected: Error {}

  /// Two clients, a consent, and one that waits.
  package func fill() throws {
    try keychain.database.write { tx in
      _ = try enrolments.makeIdentity(tx)
      for user in ["hub", "router"] {
        let client = EnrolledClient(
          home: "home", user: user, keys: try Identity().keys, trust: .broker,
          enrolledAt: 1_800_000_000, enrolledBy: "a test")
        try enrolments.enroll(client, tx)
      }
      let id = try ask("phone", tx).id.description
      _ = try ledger.approve(id, .always, by: .commandLine(user: 0), now: Self.now, tx)
      _ = try ask("tablet", tx)
    }
  }

  private static let now: Int64 = 1_795_235_760_000

  private func ask(_ user: String, _ tx: WriteTransaction) throws -> PendingConsent {
    guard let id = ExtendedPANID(hex: "1111111122222222") else { throw Unexpected() }
    let subject = ConsentSubject(
      home: "home", command: "preferred/get",
      networks: [ConsentNetwork(id: id, name: "home-thread")])
    let requester = ConsentRequester(.mqttUser(user), team: user)
    let outcome = try ledger.ask(
      ConsentRequest(subject, by: requester, reply: .socket), now: Self.now, tx)
    guard case .pending(let pending, _) = outcome else { throw Unexpected() }
    return pending
  }
}
