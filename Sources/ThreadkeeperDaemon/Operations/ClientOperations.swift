// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import ConsentLedger
import KeychainCore
import LocalAPI
import SQLiteDatabase

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Takes note of the keys of a user of the broker.
package struct EnrollClient: Operation {
  package var home: String
  package var user: String
  /// As `client keygen` prints it.
  package var line: String
  package var trust: EnrolledClient.Trust?
  /// What `clients list` says of it.
  package var label: String?

  package init(
    home: String, user: String, line: String, trust: EnrolledClient.Trust? = nil,
    label: String? = nil
  ) {
    self.home = home
    self.user = user
    self.line = line
    self.trust = trust
    self.label = label
  }

  package struct Reply: Codable, Sendable {
    package var client: ClientReport
    /// `enrolled` or `updated`.
    package var change: String
    /// The daemon's own keys.
    package var daemon: PublicKeysReport
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let (home, user) = (try context.settings.home(named: home), try Username.ofClient(user))
    let (keychain, enrolments) = (context.keychain, context.bridge.enrolments)
    let client = EnrolledClient(
      home: home, user: user, keys: try .argument(line, whose: "the line"),
      trust: trust ?? .broker, label: label ?? "",
      enrolledAt: Int64(Date().timeIntervalSince1970), enrolledBy: context.actor)
    // All of it or nothing: who is refused leaves no keys.
    let (change, daemon) = try keychain.database.write { tx in
      keychain.act(as: context.actor, in: tx)
      let daemon = try enrolments.makeIdentity(tx).keys
      guard client.keys != daemon else {
        throw CommandFailure(.usage, "this is the daemon's own line; enrol that of the client")
      }
      let before = try? enrolments.client(user, in: home, tx)
      if before?.keys != client.keys || before?.isRevoked == true {
        try context.endConsent(of: user, in: home, tx)
      }
      return (try enrolments.enroll(client, tx), daemon)
    }
    let report = ClientReport(client)
    context.logger.notice(
      "a client is enrolled",
      metadata: ["home": "\(home)", "user": "\(user)", "fingerprint": "\(report.fingerprint)"])
    return Reply(client: report, change: change.rawValue, daemon: PublicKeysReport(daemon))
  }
}

/// The enrolled users, and the daemon's own keys.
package struct ListClients: Operation {
  /// Nil for all.
  package var home: String?
  package var access: VarlinkAccess { .reader }

  package init(home: String? = nil) { self.home = home }

  package struct Reply: Codable, Sendable {
    package var clients: [ClientReport]
    /// Users whose enrolment is damaged.
    package var damaged: [String]?
    /// Users whose keys were revoked, and whose word in plaintext is not believed either.
    package var revoked: [String]?
    /// Nil before the first enrolment.
    package var daemon: PublicKeysReport?
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let enrolments = context.bridge.enrolments
    let (enrolled, daemon) = try context.keychain.database.read {
      // Damaged keys of the daemon are no reason to list nobody.
      (try enrolments.all(in: home, $0), try? enrolments.loadIdentity($0)?.keys)
    }
    let (clients, damaged) = enrolled
    let revoked = clients.filter(\.isRevoked).map(\.user)
    return Reply(
      clients: clients.filter { !$0.isRevoked }.map(ClientReport.init),
      damaged: damaged.isEmpty ? nil : damaged, revoked: revoked.isEmpty ? nil : revoked,
      daemon: daemon.map { PublicKeysReport($0) })
  }
}

/// Forgets the keys of a user of the broker.
package struct RevokeClient: Operation {
  /// A second revocation finds nobody.
  package static let isRepeatable = false

  package var home: String
  package var user: String
  /// Nothing is kept of it: what it says in plaintext is believed again.
  package var forgets: Bool

  package init(home: String, user: String, forgets: Bool) {
    self.home = home
    self.user = user
    self.forgets = forgets
  }

  package struct Reply: Codable, Sendable {
    package var revoked: String
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let (user, keychain) = (try Username.ofClient(user), context.keychain)
    let wasThere = try keychain.database.write { tx in
      keychain.act(as: context.actor, in: tx)
      guard try context.bridge.enrolments.revoke(user, in: home, forgets: forgets, tx) else {
        return false
      }
      try context.endConsent(of: user, in: home, tx)
      return true
    }
    guard wasThere else {
      throw CommandFailure(
        .noInput, "nobody is enrolled for the user \(user) of the home \(home)",
        remedy: "`threadkeeper clients list` names them")
    }
    context.logger.notice(
      "a client's enrolment is revoked", metadata: ["home": "\(home)", "user": "\(user)"])
    return Reply(revoked: user)
  }
}

extension OperationContext {
  /// A person has agreed to who had the key at that time.
  fileprivate func endConsent(
    of user: String, in home: String, _ tx: WriteTransaction
  ) throws {
    try ConsentLedger(keychain).end(
      of: .mqttUser(user), in: home, by: actor, now: Int64(Date().timeIntervalSince1970 * 1000), tx)
  }
}

extension Username {
  /// A name that a topic can hold as one level.
  package static func ofClient(_ user: String) throws(CommandFailure) -> String {
    let name = try checked(user)
    guard name.utf8.count <= 256 else {
      throw CommandFailure(
        .usage, "a user name of more than 256 bytes is no level of a topic")
    }
    return name
  }
}

/// An enrolled user as commands print it.
package struct ClientReport: Codable, Sendable {
  package var home: String
  package var user: String
  package var trust: String
  package var label: String
  package var fingerprint: String
  package var line: String
  /// RFC 3339.
  package var enrolledAt: String
  var enrolledBy: String

  package init(_ client: EnrolledClient) {
    home = client.home
    user = client.user
    trust = client.trust.rawValue
    label = client.label
    fingerprint = client.keys.fingerprint
    line = client.keys.line
    enrolledAt = WireTime(milliseconds: client.enrolledAt * 1000).description
    enrolledBy = client.enrolledBy
  }
}

/// What is public of a client's or the daemon's keys.
package struct PublicKeysReport: Codable, Sendable {
  package var line: String
  package var fingerprint: String
  package var keyFile: String?

  package init(_ keys: PublicIdentity, keyFile: String? = nil) {
    line = keys.line
    fingerprint = keys.fingerprint
    self.keyFile = keyFile
  }
}

extension PublicIdentity {
  /// An enrolment line of the command line.
  ///
  /// - Parameter whose: for the words.
  package static func argument(_ line: String, whose: String) throws(CommandFailure)
    -> PublicIdentity
  {
    do throws(EnrolmentLineError) {
      return try PublicIdentity(line: line)
    } catch {
      throw CommandFailure(
        .usage, "\(whose): \(error.message)",
        remedy: "the first line that `threadkeeper client keygen` prints is one, "
          + "`threadkeeper clients list` has the daemon's")
    }
  }
}
