import Bridge
import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// What operations about consent answer, and the commands print with `--json`.
package enum ConsentReport {
  /// Whose credentials are asked for.
  package struct Network: Codable, Hashable, Sendable {
    package let id: String
    let name: String
    /// Who has stored them; nil: they are those of the home's preferred network.
    package let team: String?

    enum CodingKeys: String, CodingKey {
      case id = "extPanId"
      case name = "networkName"
      case team
    }
  }

  package struct Router: Codable, Hashable, Sendable {
    let agent: String
    /// What people call it; any login may choose it.
    let name: String?
    /// The network that it is on; nil: it is on none.
    package let networkName: String?

    enum CodingKeys: String, CodingKey {
      case agent = "borderAgentId"
      case name = "routerName"
      case networkName
    }
  }

  /// Why what a person has agreed to was not given.
  package struct Obstacle: Codable, Hashable, Sendable {
    /// For programs: `hung_up`, `changed`, `not_enrolled`, `damaged_credentials`, `too_large`, `store`.
    package let code: String
    /// For people: a sentence without a full stop.
    package let message: String
  }

  /// Who asks, or has asked, for what.
  package struct Request: Codable, Sendable {
    package var id: String
    package var requester: String
    /// Of the key that the answer is sealed to; nil on this machine, where nothing is sealed.
    package var fingerprint: String?
    package var team: String
    package var home: String
    package var command: String
    package var networks: [Network]
    /// That would be given credentials; nil where the requester asks for itself.
    package var router: Router?
    /// RFC 3339.
    package var createdAt: String
  }

  package struct Waiting: Codable, Sendable {
    /// One sentence: why it matters.
    package var reason: String
    package var expiresAt: String
  }

  package struct Granted: Codable, Sendable {
    package var grantedBy: String
    /// True: it covers nothing any more, as it is for another network key than the current one. Nil otherwise.
    package var asksAgain: Bool?
  }

  package struct Decided: Codable, Sendable {
    /// `approved`, `denied`, `expired`, `revoked`.
    package var outcome: String
    package var decidedAt: String
    package var decidedBy: String?
    package var scope: String?
    package var grant: String?
    /// False: it is approved, and nothing was given.
    var given: Bool?
    /// Why not.
    package var notGiven: Obstacle?
  }

  /// A request that waits.
  package typealias Pending = ConsentEntry<Waiting>
  package typealias Grant = ConsentEntry<Granted>
  /// What became of a request, or of a grant.
  package typealias Decision = ConsentEntry<Decided>

  package struct List: Codable, Sendable {
    package var pending: [Pending]
    /// Of the history: as long as it is the same nothing was decided.
    package var revision: String?
  }
}

extension ConsentReport.List {
  /// - Parameter namingHome: where the daemon has several.
  init(_ snapshot: HomeSnapshot, namingHome: Bool) {
    pending = snapshot.waitingQuestions(at: SystemClock().now()).map { .init($0, namingHome: namingHome) }
    revision = snapshot.revision
  }
}

extension ConsentReport.Network: CustomStringConvertible {
  init(_ network: ConsentNetwork) {
    self.init(id: network.id.description, name: network.name.text, team: network.team?.text)
  }

  /// `"home-thread" (1111111122222222)`, `"attic" (3333333344444444, stored by team hub)`.
  package var description: String { ConsentNetwork.shown(id: id, name: name, team: team) }
}

extension ConsentReport.Router: CustomStringConvertible {
  init(_ router: ConsentSubject.Router) {
    self.init(
      agent: router.agent.description, name: router.name,
      networkName: router.network.map { $0.name.isEmpty ? $0.id.description : $0.name })
  }

  /// `a1b2c3d4e5f60718 "Living room"`; the id alone where the name shows nothing.
  package var description: String { ConsentSubject.Router.shown(agent: agent, name: name) }
}

extension ConsentReport.Request {
  /// Whether the requester has credentials, which the home would use, and gets none.
  package var offersCredentials: Bool { command == ConsentSubject.Command.accept.wireName }

  fileprivate init(
    _ id: String, _ requester: Requester, _ subject: ConsentSubject, in home: String, at created: WireTime
  ) {
    self.init(
      id: id, requester: requester.shown, fingerprint: requester.fingerprint, team: requester.team.text, home: home,
      command: subject.command.wireName, networks: subject.networks.map(ConsentReport.Network.init),
      router: subject.router.map(ConsentReport.Router.init), createdAt: created.description)
  }
}

extension ConsentReport.Pending {
  /// - Parameter namingHome: where the daemon has several.
  init(_ one: OfHome<ConsentQuestion>, namingHome: Bool) {
    let question = one.value
    self.init(
      request: .init(
        question.id.questionText, question.requester, question.subject, in: one.home, at: question.createdAt),
      more: .init(reason: question.reason(home: namingHome ? one.home : nil), expiresAt: question.expiresAt.description)
    )
  }
}

extension ConsentReport.Grant {
  /// - Parameter preferred: the network that its home prefers.
  package init(_ one: OfHome<ConsentGrant>, preferred: DatasetSummary? = nil) {
    let grant = one.value
    self.init(
      request: .init(grant.id.grantText, grant.requester, grant.subject, in: one.home, at: grant.createdAt),
      more: .init(grantedBy: grant.by.shown, asksAgain: grant.isOutdated(preferred: preferred) ? true : nil))
  }
}

extension ConsentReport.Decision {
  init(_ one: OfHome<ConsentRecord>) {
    let record = one.value
    self.init(
      request: .init(record.idText, record.requester, record.subject, in: one.home, at: record.createdAt),
      more: .init(
        outcome: record.outcome.wireName, decidedAt: record.decidedAt.description, decidedBy: record.by?.shown,
        scope: record.scope.map { $0 == .always ? "always" : "once" }, grant: record.grant?.grantText,
        given: record.obstacle == nil ? nil : false,
        notGiven: record.obstacle.map { .init(code: $0.code, message: $0.message) }))
  }
}

/// A request for consent and what is to be said of it, read as one and written as one JSON object.
@dynamicMemberLookup package struct ConsentEntry<More: Codable & Sendable>: Codable, Sendable {
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

  package subscript<Value>(dynamicMember path: KeyPath<More, Value>) -> Value { more[keyPath: path] }
}
