// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger

/// What the commands about consent show, and what the keeper tells them.
struct ConsentReport: Codable, Sendable {
  /// A request that waits.
  struct Pending: Codable, Sendable {
    var id: String
    var requester: String
    /// Of the key that the answer is sealed to; nil on this machine, where nothing is sealed.
    var fingerprint: String?
    var team: String
    var home: String
    var command: String
    var networks: [ConsentNetwork]
    /// One sentence: why it matters.
    var reason: String
    /// RFC 3339.
    var createdAt: String
    var expiresAt: String

    enum CodingKeys: String, CodingKey {
      case id, requester, fingerprint, team, home, command, networks, reason
      case createdAt = "created_at"
      case expiresAt = "expires_at"
    }
  }

  struct Grant: Codable, Sendable {
    var id: String
    var requester: String
    var fingerprint: String?
    var team: String
    var home: String
    var command: String
    var networks: [ConsentNetwork]
    var createdAt: String
    var grantedBy: String

    enum CodingKeys: String, CodingKey {
      case id, requester, fingerprint, team, home, command, networks
      case createdAt = "created_at"
      case grantedBy = "granted_by"
    }
  }

  /// What became of a request, or of a grant.
  struct Decision: Codable, Sendable {
    var id: String
    /// `approved`, `denied`, `expired`, `revoked`.
    var outcome: String
    var requester: String
    var fingerprint: String?
    var team: String
    var home: String
    var command: String
    var networks: [ConsentNetwork]
    var createdAt: String
    var decidedAt: String
    var decidedBy: String?
    var scope: String?
    var grant: String?
    /// False: who asked had hung up, so nothing was given.
    var given: Bool?

    enum CodingKeys: String, CodingKey {
      case id, outcome, requester, fingerprint, team, home, command, networks
      case createdAt = "created_at"
      case decidedAt = "decided_at"
      case decidedBy = "decided_by"
      case scope, grant, given
    }
  }

  var pending: [Pending]?
  var grants: [Grant]?
  var history: [Decision]?
  /// What the command itself has decided.
  var decision: Decision?
}

extension ConsentReport.Pending {
  init(_ pending: PendingConsent) {
    self.init(
      id: pending.id.description, requester: pending.requester.description,
      fingerprint: pending.requester.fingerprint, team: pending.requester.team,
      home: pending.subject.home, command: pending.subject.command,
      networks: pending.subject.networks, reason: pending.reason,
      createdAt: WireTime(milliseconds: pending.created).description,
      expiresAt: WireTime(milliseconds: pending.expires).description)
  }

  var networkNames: String { networks.names }
}

extension ConsentReport.Grant {
  init(_ grant: ConsentGrant) {
    self.init(
      id: grant.id.description, requester: grant.requester.description,
      fingerprint: grant.requester.fingerprint, team: grant.requester.team,
      home: grant.subject.home, command: grant.subject.command,
      networks: grant.subject.networks,
      createdAt: WireTime(milliseconds: grant.created).description, grantedBy: grant.grantedBy)
  }

  var networkNames: String { networks.names }
}

extension ConsentReport.Decision {
  init(_ record: ConsentRecord) {
    self.init(
      id: record.id.description, outcome: record.outcome.rawValue,
      requester: record.requester.description, fingerprint: record.requester.fingerprint,
      team: record.requester.team,
      home: record.subject.home, command: record.subject.command,
      networks: record.subject.networks,
      createdAt: WireTime(milliseconds: record.created).description,
      decidedAt: WireTime(milliseconds: record.decided).description,
      decidedBy: record.decidedBy, scope: record.scope?.rawValue,
      grant: record.grant?.description, given: record.given)
  }

  var networkNames: String { networks.names }
}

extension [ConsentNetwork] {
  fileprivate var names: String { map(\.description).joined(separator: ", ") }
}
