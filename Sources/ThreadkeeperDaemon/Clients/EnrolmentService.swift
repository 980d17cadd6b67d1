// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import KeychainCore
import SQLiteDatabase
import SealedEnvelope
import Settings

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The work of `clients …` on a store that is open: in the daemon, or in the command itself.
package struct EnrolmentService: Sendable {
  let settings: Settings
  let enrolments: ClientEnrolmentStore
  /// For the audit and the list.
  let actor: String

  package init(settings: Settings, enrolments: ClientEnrolmentStore, actor: String) {
    self.settings = settings
    self.enrolments = enrolments
    self.actor = actor
  }

  private var keychain: Keychain { enrolments.keychain }

  /// - Parameter home: nil for all.
  package func list(_ home: String?) throws -> EnrolmentReport {
    let (enrolled, daemon) = try keychain.database.read {
      // Damaged keys of the daemon are no reason to list nobody.
      (try enrolments.all(in: home, $0), try? enrolments.loadIdentity($0)?.keys)
    }
    let (clients, damaged) = enrolled
    let revoked = clients.filter(\.isRevoked).map(\.user)
    return EnrolmentReport(
      clients: clients.filter { !$0.isRevoked }.map(EnrolmentReport.Client.init),
      damaged: damaged.isEmpty ? nil : damaged,
      revoked: revoked.isEmpty ? nil : revoked, daemon: daemon.map { PublicKeysReport($0) })
  }

  package func enroll(_ request: ClientsMethods.Enrolment) throws -> EnrolmentReport {
    let (home, user) = (try settings.home(named: request.home), try Self.checked(request.user))
    let client = EnrolledClient(
      home: home, user: user, keys: try .argument(request.line, whose: "the line"),
      trust: request.trust ?? .broker, label: request.label ?? "",
      enrolledAt: Int64(Date().timeIntervalSince1970), enrolledBy: actor)
    // All of it or nothing: who is refused leaves no keys.
    let (change, daemon) = try keychain.database.write { tx in
      keychain.act(as: actor, in: tx)
      let daemon = try enrolments.makeIdentity(tx).keys
      guard client.keys != daemon else {
        throw CommandFailure(.usage, "this is the daemon's own line; enrol that of the client")
      }
      let before = try? enrolments.client(user, in: home, tx)
      if before?.keys != client.keys || before?.isRevoked == true {
        try endConsent(of: user, in: home, tx)
      }
      return (try enrolments.enroll(client, tx), daemon)
    }
    return EnrolmentReport(
      clients: [.init(client)], change: change.rawValue, daemon: PublicKeysReport(daemon))
  }

  package func revoke(_ request: ClientsMethods.Revocation) throws {
    let (home, user) = (request.home, try Self.checked(request.user))
    let wasThere = try keychain.database.write { tx in
      keychain.act(as: actor, in: tx)
      let forgets = request.forgets ?? false
      guard try enrolments.revoke(user, in: home, forgets: forgets, tx) else { return false }
      try endConsent(of: user, in: home, tx)
      return true
    }
    guard wasThere else { throw Self.nobody(user, home) }
  }

  /// A person has agreed to who had the key at that time.
  private func endConsent(of user: String, in home: String, _ tx: WriteTransaction) throws {
    try ConsentLedger(keychain).end(
      of: .mqttUser(user), in: home, by: actor, now: Int64(Date().timeIntervalSince1970 * 1000), tx)
  }

  /// A name that a topic can hold as one level.
  package static func checked(_ user: String) throws(CommandFailure) -> String {
    let name = try Username.checked(user)
    guard name.utf8.count <= 256, !name.utf8.contains(where: { "/+#".utf8.contains($0) }) else {
      throw CommandFailure(
        .usage, "a user name with /, + or #, or of more than 256 bytes, is no level of a topic")
    }
    return name
  }

  private static func nobody(_ user: String, _ home: String) -> CommandFailure {
    CommandFailure(
      .noInput, "nobody is enrolled for the user \(user) of the home \(home)",
      remedy: "`threadkeeper clients list` names them")
  }
}
