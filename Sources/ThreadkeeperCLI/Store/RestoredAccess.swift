// SPDX-License-Identifier: Apache-2.0

import BrokerLoginStore
import ClientEnrolment
import ConsentLedger
import KeychainCore
import ThreadkeeperDaemon

/// Who may have what is in a store that was put back. It is as it was when the backup was made: what was revoked
/// since holds again.
struct RestoredAccess: Encodable {
  struct Login: Encodable {
    let broker: String
    let username: String
  }

  struct Slot: Encodable {
    let id: Int64
    let kind: String
    let label: String
  }

  let clients: [EnrolmentReport.Client]
  /// Users whose enrolment is damaged.
  let damaged: [String]
  /// Who is given credentials without a question.
  let grants: [ConsentReport.Grant]
  let brokerLogins: [Login]
  /// The ways into the store.
  let keySlots: [Slot]

  /// - Parameter keychain: the store, as it is now.
  init(_ keychain: Keychain) throws {
    let (enrolled, grants, logins) = try keychain.database.read { tx in
      (
        try ClientEnrolmentStore(keychain).all(tx), try ConsentLedger(keychain).grants(tx),
        try BrokerLoginStore.all(in: keychain, tx)
      )
    }
    clients = enrolled.clients.filter { !$0.isRevoked }.map(EnrolmentReport.Client.init)
    damaged = enrolled.damaged
    self.grants = grants.map { ConsentReport.Grant($0) }
    keySlots = try keychain.slots().map { Slot(id: $0.number, kind: $0.kind.name, label: $0.label) }
    brokerLogins = logins.map { Login(broker: $0.address.url, username: $0.username) }
  }
}
