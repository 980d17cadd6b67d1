// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import ConsentLedger
import KeychainCore
import LocalAPI
import ThreadCredentialStore
import ThreadDataset

/// What operations about consent answer, and the commands print with `--json`.
package enum ConsentReport {
  /// Who asks, or has asked, for what.
  package struct Request: Codable, Sendable {
    package var id: String
    package var requester: String
    /// Of the key that the answer is sealed to; nil on this machine, where nothing is sealed.
    package var fingerprint: String?
    package var team: String
    package var home: String
    package var command: String
    package var networks: [ConsentNetwork]
    /// That would be given credentials; nil where the requester asks for itself.
    package var router: ConsentRouter?
    /// RFC 3339.
    package var createdAt: String

    enum CodingKeys: String, CodingKey {
      case id, requester, fingerprint, team, home, command, networks, router
      case createdAt = "created_at"
    }
  }

  package struct Waiting: Codable, Sendable {
    /// One sentence: why it matters.
    package var reason: String
    package var expiresAt: String

    enum CodingKeys: String, CodingKey {
      case reason
      case expiresAt = "expires_at"
    }
  }

  package struct Granted: Codable, Sendable {
    package var grantedBy: String
    /// True: it covers nothing any more. It is for another network key than the current one, or of a version that did
    /// not note the key. Nil otherwise.
    package var asksAgain: Bool?

    enum CodingKeys: String, CodingKey {
      case grantedBy = "granted_by"
      case asksAgain = "asks_again"
    }
  }

  package struct Decided: Codable, Sendable {
    /// `approved`, `denied`, `expired`, `revoked`.
    package var outcome: String
    package var decidedAt: String
    package var decidedBy: String?
    package var scope: String?
    package var grant: String?
    /// False: it is approved, and nothing was given.
    package var given: Bool?
    /// Why not.
    package var notGiven: ConsentObstacle?

    enum CodingKeys: String, CodingKey {
      case outcome
      case decidedAt = "decided_at"
      case decidedBy = "decided_by"
      case scope, grant, given
      case notGiven = "not_given"
    }
  }

  /// A request that waits.
  package typealias Pending = ConsentEntry<Waiting>
  package typealias Grant = ConsentEntry<Granted>
  /// What became of a request, or of a grant.
  package typealias Decision = ConsentEntry<Decided>

  package struct List: Codable, Sendable, VarlinkFieldNames {
    package var pending: [Pending]
    /// Of the history: as long as it is the same nothing was decided.
    package var revision: String?
  }
}

extension ConsentReport.List {
  /// - Parameter namingHome: where the daemon has several.
  init(_ keychain: Keychain, namingHome: Bool) throws {
    let (ledger, now) = (ConsentLedger(keychain), SystemClock().now().milliseconds)
    (pending, revision) = try keychain.database.read {
      (
        try ledger.pending(now: now, $0).map { .init($0, namingHome: namingHome) },
        try ledger.revision($0)
      )
    }
  }
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
}

extension ConsentReport.Pending {
  /// - Parameter namingHome: where the daemon has several.
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
  package init(_ grant: ConsentGrant, preferred: OperationalDataset? = nil) {
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

/// A request for consent and what is to be said of it, read as one and written as one JSON object.
@dynamicMemberLookup
package struct ConsentEntry<More: Codable & Sendable>: Codable, Sendable, VarlinkFieldNames {
  package var request: ConsentReport.Request
  package var more: More

  package init(request: ConsentReport.Request, more: More) {
    self.request = request
    self.more = more
  }

  package init(from decoder: any Decoder) throws {
    request = try ConsentReport.Request(from: decoder)
    more = try More(from: decoder)
  }

  package func encode(to encoder: any Encoder) throws {
    try request.encode(to: encoder)
    try more.encode(to: encoder)
  }

  package subscript<Value>(dynamicMember path: KeyPath<ConsentReport.Request, Value>) -> Value {
    request[keyPath: path]
  }

  package subscript<Value>(dynamicMember path: KeyPath<More, Value>) -> Value {
    more[keyPath: path]
  }
}
