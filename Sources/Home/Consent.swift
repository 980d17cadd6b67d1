import ThreadDataset

/// Names a question, a grant or a decision: 64 random bits, so none can be guessed.
package struct ConsentID: Hashable, Sendable {
  package let value: UInt64

  package init(_ value: UInt64) { self.value = value }
}

/// Who asks for credentials.
package struct Requester: Hashable, Sendable {
  /// What is checked, not claimed: the broker's access list vouches for a login, the kernel for a user.
  package enum Identity: Hashable, Sendable {
    case login(ExactName)
    /// A user of this machine, by number.
    case systemUser(UInt32)
  }

  package let identity: Identity
  /// Nil for a user of this machine.
  var login: ExactName? { if case .login(let user) = identity { user } else { nil } }
  /// Its team when it asked.
  package let team: ExactName
  /// The name that the system had for a user of this machine.
  package var userName: String?
  /// What a program of this machine, or who shares credentials, calls itself. Anybody can choose it: for people to
  /// read only.
  package var program: String?
  /// Of the key that answers are sealed to. Nil on this machine, where nothing is sealed.
  package var fingerprint: String?

  /// Whether the two are one party, whatever the program calls itself, and whichever key it has.
  func isSameParty(as other: Requester) -> Bool { identity == other.identity && team == other.team }

  /// Whether what was agreed to for the one holds for the other. Not for who has got another key: a person has agreed
  /// to whom the answer is sealed to.
  func isSame(as other: Requester) -> Bool { isSameParty(as: other) && fingerprint == other.fingerprint }
}

extension Requester {
  package init(_ identity: Identity, team: ExactName) { self.init(identity: identity, team: team) }
}

/// Credentials that are asked for, as they are shown to a person: a decision holds for just these. Anybody can store a
/// network under an Extended PAN ID that is on the air, so the id alone names nothing.
package struct ConsentNetwork: Hashable, Sendable {
  package let id: ExtendedPANID
  package let name: ExactName
  /// Who has stored them; nil: they are those of the home's preferred network.
  package let team: ExactName?
  /// Stands for the Network Key that would be given.
  package let key: Hash128?

  /// The same network, whatever its Network Key.
  var withoutKey: ConsentNetwork { ConsentNetwork(id: id, name: name, team: team, key: nil) }
}

extension ConsentNetwork {
  init(_ dataset: DatasetSummary, of team: ExactName?) {
    self.init(id: dataset.network, name: ExactName(dataset.name), team: team, key: dataset.parameters?.networkKey)
  }
}

/// What is asked for.
package struct ConsentSubject: Hashable, Sendable {
  /// What would be done once a person agrees.
  package enum Command: UInt8, Hashable, Sendable, CaseIterable {
    case preferred = 1
    case network
    case nearby
    /// An enrolled router would be given the preferred network's credentials, sealed to it.
    case adopt
    /// What a login shares would become the credentials of the preferred network.
    case accept
    /// As `preferred`, for who writes it to Home Assistant or to a Matter server.
    case write
    /// A network that has no border router would be deleted from the store of a login.
    case deleteThere
    /// The store of a login would name this border agent for a network.
    case agentThere

    /// Whether the home asks by itself, and owes nobody an answer.
    var isAskedByHome: Bool { self == .adopt || isAboutStore }

    /// Whether it is about what a login shares. Nobody waits for a long answer, and each is another question.
    package var isAboutStore: Bool { self == .accept || changesStore }

    /// Whether something in the store of a login would be changed, and no credentials are given.
    package var changesStore: Bool { self == .deleteThere || self == .agentThere }

    /// Whether Home Assistant decides about it where it decides about adoptions: the preferred credentials go to a
    /// login that is enrolled, or come from one, or the store of one is changed.
    package var isForHomeAssistant: Bool { isAskedByHome || self == .write }

    /// Seconds for which a question waits. Nobody waits at a terminal for the answer to a long one.
    var timeout: Int {
      switch self {
      case .accept, .deleteThere, .agentThere: 7 * 86_400
      case .write: 86_400
      case .preferred, .network, .nearby, .adopt: ConsentQuestion.timeout
      }
    }
  }

  package let command: Command
  /// The networks whose credentials would be given, each once: first the preferred one, then as they came.
  package let networks: [ConsentNetwork]
  /// The router that would be given them; nil: the requester asks for itself. A grant names none: it is for all routers
  /// of its requester.
  package let router: Router?
  /// Of a change of a store: since when what it is about is not there.
  package internal(set) var since: WireTime?

  package struct Router: Hashable, Sendable {
    package let agent: BorderAgentID
    /// What people call it; any login may choose it.
    package let name: String?
    /// Others look so named.
    package var needsID = false
    /// The network that it is on; nil: it is on none.
    package let network: AlertFacts.Named?
    /// In what it differs from the preferred network, where that is the one that it is on.
    package var differs: DatasetDifferences = []
  }

  init(_ command: Command, _ networks: [ConsentNetwork], router: Router? = nil) {
    self.command = command
    self.router = router
    var named: Set<ConsentNetwork> = []
    let each = networks.filter { named.insert($0).inserted }
    self.networks = each.filter { $0.team == nil } + each.filter { $0.team != nil }
  }

  /// The same question, in all that is decided by it.
  func isSame(as other: ConsentSubject) -> Bool {
    command == other.command && Set(networks) == Set(other.networks) && router?.agent == other.router?.agent
  }

  /// Whether both are about the key of some network.
  func hasKey(of other: ConsentSubject) -> Bool {
    networks.contains { network in network.key != nil && other.networks.contains { $0.key == network.key } }
  }

  var withoutKeys: ConsentSubject { ConsentSubject(command, networks.map(\.withoutKey), router: router) }

  var ofAnyRouter: ConsentSubject { ConsentSubject(command, networks) }
}

/// Where an answer goes, and what it repeats.
package enum ReplyAddress: Hashable, Sendable {
  /// A topic of the broker: checked when the request came.
  case topic(String, correlation: [UInt8]?, transaction: String?)
  /// The callers that wait on connections for this consent. When there is none any more, the answer is dropped.
  case caller
}

/// A request that waits for a person.
///
/// | state | event | next state | what follows |
/// |---|---|---|---|
/// | waits | asked by another reply | waits | it owes one more answer, at most 8: `rateLimited` |
/// | waits about `write` | asked by another reply | waits | it owes that answer alone |
/// | waits about `write` | other keys, or another network, are preferred | waits | its time is over |
/// | denied | the requester asks for the same key, by whatever command | denied | refused: `denied` |
/// | waits | approved | gone | history; "always" is kept |
/// | waits | approved by who may not | waits | refused: `notAuthorized` |
/// | waits | denied | denied | history; owes no answers; the time restarts |
/// | waits | withdrawn | waits | its time is over |
/// | denied | wanted again | gone | |
/// | waits about `accept` | denied | gone | history; not asked again before other keys are shared |
/// | waits about a change of a store | denied | gone | history; not asked again before that has changed |
/// | waits, denied | its requester ended | the same | its time is over |
/// | waits, its time is over | clock | gone | history: expired |
/// | denied, its time is over | clock | gone | |
/// | its time is over, or denied | approved, denied | the same | refused: `staleID` |
package struct ConsentQuestion: Hashable, Sendable {
  /// Seconds for which it waits, but for `accept` and `write`.
  package static let timeout = 120
  /// Answers that one question may owe: the same requester may ask the same several times.
  static let mostReplies = 8

  package let id: ConsentID
  package let requester: Requester
  package let subject: ConsentSubject
  package let createdAt: WireTime
  package internal(set) var expiresAt: WireTime
  package internal(set) var replies: [ReplyAddress]
  /// It was refused. It is kept for as long as a question waits: what the requester asks for with the same key is
  /// refused at once then, and no person is asked the same again and again.
  package internal(set) var isDenied = false
  /// "Always" was approved for the same with another network key, which no longer counts. Of `accept`: the home has
  /// credentials with other keys, which these would replace.
  package let keyHasChanged: Bool
  /// How the keys that would be given became what they are, where no person has confirmed that.
  @Boxed package var keyChange: KeyChange? = nil

  /// A clock that was set back must not make a request wait for hours: one from further in the future than it may
  /// wait is over too.
  package func isOver(at now: WireTime) -> Bool {
    now >= expiresAt || now < createdAt.adding(seconds: -subject.command.timeout)
  }
}

/// Who decides.
package enum ConsentApprover: Hashable, Sendable {
  /// A login of the broker that the settings name, and its team.
  case login(ExactName, team: ExactName)
  /// The daemon's own user, or root, at the command line.
  case commandLine(user: UInt32)
  /// Whoever shows the token of the daemon's status page.
  case statusPage
  /// Whom a program without a daemon has asked.
  case program(user: UInt32)

  /// Nil for who is no login.
  var login: ExactName? { if case .login(let name, _) = self { name } else { nil } }

  /// `mqtt user anna`, `uid 0 (command line)`, `the status page`, `uid 1000 (in the program)`.
  package var shown: String {
    switch self {
    case .login(let name, _): "mqtt user \(name.text)"
    case .commandLine(let user): "uid \(user) (command line)"
    case .statusPage: "the status page"
    case .program(let user): "uid \(user) (in the program)"
    }
  }
}

/// For how long an approval holds.
package enum ConsentScope: UInt8, Hashable, Sendable { case once = 1, always }

/// An "always": for this requester with its key, this command, and these networks. One with another Extended PAN ID,
/// name, team or network key is another one, and is asked about again.
package struct ConsentGrant: Hashable, Sendable {
  package let id: ConsentID
  package let requester: Requester
  package let subject: ConsentSubject
  package let createdAt: WireTime
  package let by: ConsentApprover

  /// Whether it answers a later question. Nothing is covered by a grant that names nothing, or no key.
  func covers(_ subject: ConsentSubject, of requester: Requester) -> Bool {
    isFor(subject, of: requester) && subject.networks.allSatisfy { $0.key != nil }
      && Set(subject.networks).isSubset(of: self.subject.networks)
  }

  /// Whether the question would be covered, if the network keys were those that the grant was given for.
  func isOutdated(for subject: ConsentSubject, of requester: Requester) -> Bool {
    isFor(subject, of: requester) && !covers(subject, of: requester)
      && Set(subject.withoutKeys.networks).isSubset(of: self.subject.withoutKeys.networks)
  }

  private func isFor(_ subject: ConsentSubject, of requester: Requester) -> Bool {
    self.requester.isSame(as: requester) && self.subject.command == subject.command && !subject.networks.isEmpty
  }
}

/// What became of a request, or of a grant: a line of the history. A home keeps the last thousand.
package struct ConsentRecord: Hashable, Sendable {
  static let kept = 1_000

  package enum Outcome: UInt8, Hashable, Sendable {
    case approved = 1
    case denied, expired
    /// Of a grant.
    case revoked
  }

  /// Why what a person has agreed to was not given.
  package enum Obstacle: UInt8, Hashable, Sendable {
    /// Who asked on a connection has hung up.
    case hungUp = 1
    /// What was asked for has changed.
    case changed
    /// The key that the answer was to be sealed to is not enrolled any more.
    case notEnrolled
    /// It is stored, and does not open.
    case damaged
    case tooLarge
    /// The store fails.
    case store
  }

  package let id: ConsentID
  package let outcome: Outcome
  package let requester: Requester
  package let subject: ConsentSubject
  package let createdAt: WireTime
  package let decidedAt: WireTime
  /// Nil where it expired.
  package let by: ConsentApprover?
  package let scope: ConsentScope?
  /// What came of `always`.
  package let grant: ConsentID?
  package internal(set) var obstacle: Obstacle?
}

/// Why nothing is asked or decided.
package enum ConsentRefusal: Hashable, Sendable, Error {
  /// So many of this requester, or of all, wait already.
  case rateLimited(waiting: Int)
  /// The same request was refused a moment ago.
  case denied
  /// No request has such an id; its outcome, where one had.
  case staleID(ConsentRecord.Outcome?)
  /// Nobody approves a request of his own, or of his own team.
  case notAuthorized
  case notFound
  /// There are so many grants already.
  case tooManyGrants(Int)
}
