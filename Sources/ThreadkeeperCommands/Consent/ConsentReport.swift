// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import ThreadCredentialStore
import ThreadDataset

/// What the commands about consent show, and what the keeper tells them.
struct ConsentReport: Codable, Sendable {
  /// Who asks, or has asked, for what.
  struct Request: Codable, Sendable {
    var id: String
    var requester: String
    /// Of the key that the answer is sealed to; nil on this machine, where nothing is sealed.
    var fingerprint: String?
    var team: String
    var home: String
    var command: String
    var networks: [ConsentNetwork]
    /// That would be given credentials; nil where the requester asks for itself.
    var router: ConsentRouter?
    /// RFC 3339.
    var createdAt: String

    enum CodingKeys: String, CodingKey {
      case id, requester, fingerprint, team, home, command, networks, router
      case createdAt = "created_at"
    }
  }

  struct Waiting: Codable, Sendable {
    /// One sentence: why it matters.
    var reason: String
    var expiresAt: String

    enum CodingKeys: String, CodingKey {
      case reason
      case expiresAt = "expires_at"
    }
  }

  struct Granted: Codable, Sendable {
    var grantedBy: String
    /// True: it covers nothing any more. It is for another network key than that of now, or of a version that did
    /// not note the key. Nil otherwise.
    var asksAgain: Bool?

    enum CodingKeys: String, CodingKey {
      case grantedBy = "granted_by"
      case asksAgain = "asks_again"
    }
  }

  struct Decided: Codable, Sendable {
    /// `approved`, `denied`, `expired`, `revoked`.
    var outcome: String
    var decidedAt: String
    var decidedBy: String?
    var scope: String?
    var grant: String?
    /// False: it is approved, and nothing was given.
    var given: Bool?
    /// Why not.
    var notGiven: ConsentObstacle?

    enum CodingKeys: String, CodingKey {
      case outcome
      case decidedAt = "decided_at"
      case decidedBy = "decided_by"
      case scope, grant, given
      case notGiven = "not_given"
    }
  }

  /// A request that waits.
  typealias Pending = ConsentEntry<Waiting>
  typealias Grant = ConsentEntry<Granted>
  /// What became of a request, or of a grant.
  typealias Decision = ConsentEntry<Decided>

  var pending: [Pending]?
  var grants: [Grant]?
  var history: [Decision]?
  /// Of the history, beside what waits: as long as it is the same nothing was decided. Nil where
  /// that cannot be told.
  var revision: String?
  /// What the command itself has decided.
  var decision: Decision?
}

extension ConsentReport.Request {
  private init(
    _ id: ConsentID, _ requester: ConsentRequester, _ subject: ConsentSubject, created: Int64
  ) {
    self.init(
      id: id.description, requester: requester.description, fingerprint: requester.fingerprint,
      team: requester.team, home: subject.home, command: subject.command,
      networks: subject.networks.map(\.withoutKey), router: subject.router,
      createdAt: WireTime(milliseconds: created).description)
  }

  init(_ pending: PendingConsent) {
    self.init(pending.id, pending.requester, pending.subject, created: pending.created)
  }

  init(_ grant: ConsentGrant) {
    self.init(grant.id, grant.requester, grant.subject, created: grant.created)
  }

  init(_ record: ConsentRecord) {
    self.init(record.id, record.requester, record.subject, created: record.created)
  }

  var networkNames: String { networks.map(\.description).joined(separator: ", ") }

  /// With the router that would get it: `"home-thread" (1111111122222222) for deadbeefcafe0042 "Attic"`. One
  /// requester may speak for several.
  var wanted: String { networkNames + (router.map { " for \($0)" } ?? "") }
}

extension ConsentReport.Pending {
  /// - Parameter namingHome: where the keeper has several.
  init(_ pending: PendingConsent, namingHome: Bool) {
    self.init(
      request: .init(pending),
      more: .init(
        reason: pending.reason(namingHome: namingHome),
        expiresAt: WireTime(milliseconds: pending.expires).description))
  }
}

extension ConsentReport.Grant {
  /// - Parameter preferred: the dataset that is preferred in its home.
  init(_ grant: ConsentGrant, preferred: OperationalDataset? = nil) {
    let current = preferred.flatMap { NetworkKeyFingerprint.make(of: $0) }
    let asksAgain = grant.subject.networks.contains { network in
      guard let fingerprint = network.keyFingerprint else { return true }
      return network.team == nil && network.id == preferred?.extendedPANID && fingerprint != current
    }
    self.init(
      request: .init(grant),
      more: .init(grantedBy: grant.grantedBy, asksAgain: asksAgain ? true : nil))
  }
}

extension ConsentReport.Decision {
  init(_ record: ConsentRecord) {
    self.init(
      request: .init(record),
      more: .init(
        outcome: record.outcome.rawValue,
        decidedAt: WireTime(milliseconds: record.decided).description,
        decidedBy: record.decidedBy, scope: record.scope?.rawValue,
        grant: record.grant?.description, given: record.given,
        notGiven: record.obstacle))
  }
}
