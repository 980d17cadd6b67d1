// SPDX-License-Identifier: Apache-2.0

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

  let clients: [ClientReport]
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
    clients = enrolled.clients.filter { !$0.isRevoked }.map(ClientReport.init)
    damaged = enrolled.damaged
    self.grants = grants.map { ConsentReport.Grant($0) }
    keySlots = try keychain.slots().map { Slot(id: $0.number, kind: $0.kind.name, label: $0.label) }
    brokerLogins = logins.map { Login(broker: $0.address.url, username: $0.username) }
  }
}

/// What `store restore` says of who has access again.
extension RestoredAccess {
  /// Of each kind, for a person.
  private static let listed = 20

  /// - Parameter made: when the backup was.
  func text(made: String) -> String {
    var text = ""
    if !clients.isEmpty || !damaged.isEmpty || !grants.isEmpty {
      text +=
        "As of \(made), when the backup was made, these have access. Revoke again who was revoked since"
        + " (`threadkeeper clients revoke`, `threadkeeper consent revoke`):\n"
      text += Self.list(
        clients.count == 1 ? "1 enrolled client" : "\(clients.count) enrolled clients",
        clients.map { "\($0.user), home \($0.home)" })
      text += Self.list("with a damaged enrolment", damaged)
      text += Self.list(
        grants.count == 1 ? "1 consent \"always\"" : "\(grants.count) consents \"always\"",
        grants.map { "\($0.id): \($0.command) of \($0.wanted) to \($0.requester)" })
    }
    if !brokerLogins.isEmpty {
      text +=
        "The broker's password is as it was then. If it was changed since: `threadkeeper login`.\n"
      text += Self.list("for", brokerLogins.map { "\($0.username) at \($0.broker)" })
    }
    text +=
      "The store's key slots are as they were then. Remove again what was removed since"
      + " (`threadkeeper keys remove`):\n"
    text += Self.list(
      keySlots.count == 1 ? "1 key slot" : "\(keySlots.count) key slots",
      keySlots.map { "\($0.id): \($0.kind)\($0.label.isEmpty ? "" : " " + $0.label)" })
    return text
  }

  private static func list(_ heading: String, _ names: [String]) -> String {
    guard !names.isEmpty else { return "" }
    var text = "  \(heading)\n"
    for name in names.prefix(listed) { text += "    \(name.printable)\n" }
    let rest = names.count - listed
    return text + (rest > 0 ? "    and \(rest) more; --json lists all\n" : "")
  }
}
