import Bridge
import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// What operations about consent answer, and the commands print with `--json`.
enum ConsentReport {
  /// Whose credentials are asked for.
  struct Network: Codable, Hashable {
    let id: String
    let name: String
    /// Who has stored them; nil: they are those of the home's preferred network.
    let team: String?

    enum CodingKeys: String, CodingKey {
      case id = "extPanId"
      case name = "networkName"
      case team
    }
  }

  struct Router: Codable, Hashable {
    let agent: String
    /// What people call it; any login may choose it.
    let name: String?
    /// The network that it is on; nil: it is on none.
    let networkName: String?

    enum CodingKeys: String, CodingKey {
      case agent = "borderAgentId"
      case name = "routerName"
      case networkName
    }
  }

  /// Why what a person has agreed to was not given.
  struct Obstacle: Codable, Hashable {
    /// For programs: `hung_up`, `changed`, `not_enrolled`, `damaged_credentials`, `too_large`, `store`.
    let code: String
    /// For people: a sentence without a full stop.
    let message: String
  }

  /// Who asks, or has asked, for what.
  struct Request: Codable {
    var id: String
    var requester: String
    /// Of the key that the answer is sealed to; nil on this machine, where nothing is sealed.
    var fingerprint: String?
    var team: String
    var home: String
    var command: String
    var networks: [Network]
    /// That would be given credentials; nil where the requester asks for itself.
    var router: Router?
    /// RFC 3339.
    var createdAt: String
  }

  struct Waiting: Codable {
    /// One sentence: why it matters.
    var reason: String
    var expiresAt: String
  }

  struct Granted: Codable {
    var grantedBy: String
    /// True: it covers nothing any more, as it is for another network key than the current one. Nil otherwise.
    var asksAgain: Bool?
  }

  struct Decided: Codable {
    /// `approved`, `denied`, `expired`, `revoked`.
    var outcome: String
    var decidedAt: String
    var decidedBy: String?
    var scope: String?
    var grant: String?
    /// False: it is approved, and nothing was given.
    var given: Bool?
    /// Why not.
    var notGiven: Obstacle?
  }

  /// A request that waits.
  typealias Pending = ConsentEntry<Waiting>
  typealias Grant = ConsentEntry<Granted>
  /// What became of a request, or of a grant.
  typealias Decision = ConsentEntry<Decided>

  struct List: Codable {
    var pending: [Pending]
    /// Of the history: as long as it is the same nothing was decided.
    var revision: String?
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
  var description: String { ConsentNetwork.shown(id: id, name: name, team: team) }
}

extension ConsentReport.Router: CustomStringConvertible {
  init(_ router: ConsentSubject.Router) {
    self.init(
      agent: router.agent.description, name: router.name,
      networkName: router.network.map { $0.name.isEmpty ? $0.id.description : $0.name })
  }

  /// `a1b2c3d4e5f60718 "Living room"`; the id alone where the name shows nothing.
  var description: String { ConsentSubject.Router.shown(agent: agent, name: name) }
}

extension ConsentReport.Request {
  /// Whether the requester has credentials, which the home would use, and gets none.
  var offersCredentials: Bool { command == ConsentSubject.Command.accept.wireName }
  /// Whether something in its store would be changed, and it gets nothing.
  var changesStore: Bool { ConsentSubject.Command.allCases.contains { $0.changesStore && command == $0.wireName } }
  /// Whether the requester gets nothing, so that there is no "always".
  var isOnce: Bool { offersCredentials || changesStore }

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
  init(_ one: OfHome<ConsentGrant>, preferred: DatasetSummary? = nil) {
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
@dynamicMemberLookup struct ConsentEntry<More: Codable & Sendable> {
  var request: ConsentReport.Request
  var more: More

  subscript<Value>(dynamicMember path: KeyPath<ConsentReport.Request, Value>) -> Value { request[keyPath: path] }

  subscript<Value>(dynamicMember path: KeyPath<More, Value>) -> Value { more[keyPath: path] }
}

extension ConsentEntry: Codable {
  init(from decoder: any Decoder) throws {
    request = try ConsentReport.Request(from: decoder)
    more = try More(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    try request.encode(to: encoder)
    try more.encode(to: encoder)
  }
}
