import ThreadDataset

/// What a home receives. It was decoded, and nothing else was checked. A dataset travels beside its summary: what
/// becomes of it is in the output.
package enum HomeInput: Sendable {
  /// The daemon has started: its settings may be others.
  case started
  /// What a login published about a router, an access point or a network.
  case message(RouterMessage, from: ExactName)
  indirect case request(HomeRequest, RequestContext)
  indirect case decision(ConsentDecision)
  /// What border routers advertise on the local network.
  case sightings(Sightings)
  /// A border router was read.
  indirect case reading(ReadingResult)
  /// Nothing is looked for on the local network any more: what that has brought goes.
  case discoveryEnded
  /// The daemon did not run since then.
  case unwatched(since: WireTime)
  /// Time has passed.
  case tick(Link)
  /// The clock was set by so many milliseconds, or the machine slept.
  case clockJumped(by: Int64)
  /// The broker has taken the message of an adoption.
  case delivered(message: UInt64)
  /// The broker takes again what it has refused: messages that have not arrived are due again.
  case deliveriesAreDue
  /// An answer that was to give credentials could not be made.
  case notGiven(ConsentSubject, to: Requester, by: ConsentID, ConsentRecord.Obstacle)
  /// The message of an adoption could not be made: the preferred network's dataset does not open.
  case notSent(message: UInt64)
  /// A person removes all that is kept of a border agent id.
  case remove(BorderAgentID)
  /// A person says that a router is there on purpose.
  case acceptRouter(BorderAgentID)
  /// A person names a router; nil: it is shown as it calls itself.
  case renameRouter(BorderAgentID, String?)
  /// A person has asked a router for a code with which others get its credentials for some minutes.
  case codeAsked(BorderAgentID, minutes: Int)
  /// A person says that routers are on a network on purpose, or takes that back.
  case acceptNetwork(ExtendedPANID, isAccepted: Bool)
  /// A person wants an alert that says it is a test.
  indirect case testAlert(AlertFacts)
  /// A person says that alerts arrive, or that they do not.
  case confirmAlerts(Bool)
  /// Whether a recovery code opens the store; nil where none can.
  case recoveryCode(Bool?)
  /// - by: who ends the grants of the key before.
  indirect case enroll(EnrolledClient, ExactName, by: ConsentApprover)
  /// - forgets: nothing is left of it, so that what comes under the user's name in plaintext counts again. Else it
  ///   counts no more than before.
  case revoke(ExactName, forgets: Bool, by: ConsentApprover)
  /// A person makes what a login shares of the preferred network its credentials, also where the question about it was
  /// denied or has expired. With another network nothing is done.
  case acceptCredentials(ExtendedPANID?, by: ConsentApprover)
  /// The secret of a record does not open, and a person has given it up.
  case secretLost(RecordKey)
  /// A condition of the daemon or its broker begins, or, without facts, ends.
  indirect case condition(AlertName, AlertFacts?)
}

extension HomeInput {
  /// Whether a login sends it, as often as it likes.
  var isOfLogin: Bool {
    switch self {
    case .message, .request, .decision, .delivered: true
    default: false
    }
  }
}

/// The connection to the broker, when time has passed.
package struct Link: Hashable, Sendable {
  /// The number of the connection that publishes; nil while there is none.
  package var connection: Int64?
  /// Since when everything that routers publish has been received; nil while it is not.
  package var listeningSince: WireTime?

  package init(connection: Int64? = nil, listeningSince: WireTime? = nil) {
    self.connection = connection
    self.listeningSince = listeningSince
  }

  /// Whether all that routers have published is received by now: the broker delivers at once what waited for a daemon
  /// that was away.
  func isCaughtUp(at now: WireTime) -> Bool {
    guard let listeningSince else { return false }
    return abs(now.milliseconds - listeningSince.milliseconds) >= 10_000
  }
}

/// An event as a border router, a Wi-Fi watcher, a store of credentials, or a program about itself published it.
package struct RouterMessage: Hashable, Sendable {
  package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    /// The router is on the Thread network.
    case announce = 1
    /// Its active operational dataset changed.
    case dataset
    /// It left the home: its credentials go.
    case leave
    /// It can be reached.
    case heartbeat
    /// It cannot be reached. Being switched off is not leaving.
    case offline
    /// The Wi-Fi network of its access point has another name.
    case ssid
    /// The sender, which is no border router, has credentials of a network.
    case credentials
    /// A program sees these border routers on its local network.
    case sightings
  }

  /// In any order, as long as it is always the same.
  package enum Subject: Hashable, Comparable, Sendable {
    case router(BorderAgentID)
    /// `ssid` may name the access point instead of the border router.
    case accessPoint(ExactName)
    /// `credentials` are of the network of their dataset. A `leave` may name one.
    case network(ExtendedPANID)
    /// A `heartbeat`, `offline` or `leave` of a program may name that, and `sightings` do.
    case agent(ExactName)
  }

  /// Whose signature an envelope has, and its number.
  package struct Signature: Hashable, Sendable {
    /// Of the signer's public key.
    package let issuer: Hash128
    package let number: UInt64

    package init(issuer: Hash128, number: UInt64) {
      self.issuer = issuer
      self.number = number
    }
  }

  package let kind: Kind
  package var subject: Subject
  package var order = SequenceWindow.Order.none
  /// It came in an envelope; nil: in plaintext.
  package var signature: Signature?
  package var name: String?
  package var vendor: String?
  package var model: String?
  package var extendedAddress: UInt64?
  package var accessPoint: String?
  package var ssid: String?
  package var previousSSID: String?
  /// One that is not complete is here where a Matter device can attach with it. Of other `credentials`, only the network
  /// and its name are known.
  package var dataset: DatasetSummary?
  /// What the dataset lacks to be complete.
  package var lacks: [TLVType] = []
  package var thread = ThreadReport()
  /// Of `offline`.
  package var offlineReason: OfflineReason?
  /// Of `offline`, with the reason `failing`: what its REST interface answers.
  package var httpStatus: UInt16?
  /// Of `announce` and `dataset`: why the router does not use what it was sent.
  package var adoptionFailure: AdoptionState?
  /// Of `credentials`: the border agent that the sender names for them.
  package var borderAgent: BorderAgentID?
  /// Of `credentials`: whether the sender prefers this network.
  package var isPreferred = false
  /// Of `credentials`: whether the sender changes its store where a person has agreed.
  package var writes = false
  /// Of the `offline` of a program: why it can't do its work. Of its `heartbeat`: what the Matter server lacks that it
  /// works for.
  package var trouble: String?
  /// Of `sightings`: all that are there.
  package var sightings: [Advertisement] = []

  package init(_ kind: Kind, _ subject: Subject) {
    self.kind = kind
    self.subject = subject
  }

  /// Whether it brings keys of a network along, perhaps not all.
  var hasKeys: Bool { lacks.isEmpty ? dataset != nil : !(lacks.contains(.networkKey) && lacks.contains(.pskc)) }
}

/// A user of the broker whose keys the daemon knows.
package struct EnrolledClient: Hashable, Sendable {
  /// What is taken from this user.
  package enum Trust: UInt8, Hashable, Sendable {
    /// The broker's check of the login is enough: plaintext is taken too.
    case broker = 1
    /// Only what this user has signed counts. For brokers where several share a login.
    case signed
  }

  /// Public keys, as a line of text.
  package var line: String
  package var fingerprint: String
  package var trust: Trust
  /// For people; may be empty.
  package var label: String
  package var enrolledAt: WireTime
  package var enrolledBy: String
  /// Its keys count no more. It is kept of users whose trust was `signed`: what comes under their names in plaintext
  /// counts as little as before.
  package var isRevoked = false
}

extension EnrolledClient {
  package init(line: String, fingerprint: String, trust: Trust, label: String = "", at now: WireTime, by actor: String)
  { self.init(line: line, fingerprint: fingerprint, trust: trust, label: label, enrolledAt: now, enrolledBy: actor) }
}

/// What is asked for.
package enum HomeRequest: Hashable, Sendable {
  case storeCredentials(BorderAgentID, DatasetSummary)
  case deleteCredentials(BorderAgentID)
  case getCredentials(BorderAgentID)
  case listCredentials(onlyActive: Bool)
  case isPreferredAvailable
  case checkPreferred(DatasetSummary)
  case setPreferred(PreferredChoice)
  case forgetPreferred
  case forgetNetwork(ForgottenNetwork)
  /// What the preferred network, one network, or all networks that are there have: a person must agree.
  case getPreferred
  case getNetwork(ExtendedPANID)
  case nearbyNetworks
  /// What the requester itself waits for.
  case pendingQuestions

  /// Whether it brings the secrets of a network along.
  var hasDataset: Bool {
    switch self {
    case .storeCredentials, .checkPreferred, .setPreferred(.dataset): true
    default: false
    }
  }

  /// Which network is to be the preferred one.
  package enum PreferredChoice: Hashable, Sendable {
    case dataset(DatasetSummary)
    /// - router: whose credentials of it.
    case network(ExtendedPANID, router: BorderAgentID?)
    case name(ExactName)
    case former(id: UInt32)
    /// The one that is preferred, as it is: a person confirms its keys, and decides a dispute about them.
    case current
  }

  package enum ForgottenNetwork: Hashable, Sendable {
    case former(id: UInt32)
    case network(ExtendedPANID)
  }
}

/// All that is to be known of a request beside what it asks for.
package struct RequestContext: Hashable, Sendable {
  package var requester: Requester
  package var reply: ReplyAddress
  /// The daemon's own user, by a command: may delete and prefer whatever any team has stored.
  package var isAdministrator = false
  /// A person who decides about consent over MQTT: may choose the preferred network, too.
  package var isApprover = false
  /// Whether it came sealed, and signed with the keys that are enrolled for the requester.
  package var isSigned = false
  /// Whether the requester has a way to be sent a secret at all.
  package var canReceiveSecrets = true
  /// Whether it makes the preferred network that it asks for that of Home Assistant.
  package var writesPreferred = false
  /// The most credentials that an answer can hold; nil: any number.
  package var mostCredentials: Int?
  /// Who is named where a person has chosen something.
  package var actor: String

  package init(_ requester: Requester, reply: ReplyAddress, actor: String) {
    self.requester = requester
    self.reply = reply
    self.actor = actor
  }

  /// Whether a person asks, who may choose whatever any team has stored.
  var choosesPreferred: Bool { isAdministrator || isApprover }

  /// Whether a program on this machine asks. It stores for its own routers, of which the kernel says whose they are.
  var isOnMachine: Bool { if case .systemUser = requester.identity { true } else { false } }
}

/// What a person decides.
package struct ConsentDecision: Hashable, Sendable {
  package enum What: Hashable, Sendable {
    case approve(ConsentID, ConsentScope)
    case deny(ConsentID)
    /// Takes back what was agreed to for good.
    case revoke(grant: ConsentID)
    /// Has a person asked again whether a router gets the preferred credentials.
    case askAgain(BorderAgentID)
  }

  /// How far Home Assistant decides without a signature.
  package enum Extent: String, Hashable, Sendable {
    /// Whether an enrolled router is given the preferred credentials.
    case adoptions
    /// Whatever waits for a person.
    case all
  }

  /// A decision by a button of Home Assistant.
  package struct Button: Hashable, Sendable {
    /// Whether it repeats the token of its request.
    package let hasToken: Bool
    /// Another client has altered a device with buttons a moment ago: what a person has pressed may say something else.
    package let isAltered: Bool

    package init(hasToken: Bool, isAltered: Bool) {
      self.hasToken = hasToken
      self.isAltered = isAltered
    }
  }

  package let what: What
  package let by: ConsentApprover
  /// Nil: it decides about everything, for good too.
  package var extent: Extent?
  /// Nil: no button.
  package var button: Button?

  package init(_ what: What, by approver: ConsentApprover) {
    self.what = what
    by = approver
  }
}

/// What a border router says of itself on the local network, as DNS-SD service `_meshcop._udp`. Anybody there can
/// publish such a record, so nothing in it is trusted further than a list needs. It holds no credentials.
package struct Advertisement: Hashable, Sendable {
  /// Ids that the router may be listed under, the preferred one first; never empty. Vendors differ.
  package let agents: [BorderAgentID]
  package var name: String?
  /// The address of its host, and the port of its border agent.
  package var endpoint: String?
  package var vendor: String?
  package var model: String?
  package var networkName: String?
  /// Nil while the router is on no network.
  package var network: ExtendedPANID?
  package var extendedAddress: UInt64?
  /// Seconds of the active timestamp; nil while the router is not attached.
  package var activeSeconds: UInt64?
  package var partition: UInt32?
  package var threadVersion: String?
  /// The first half of the addresses under which the devices of its network are reached from outside: the off-mesh
  /// routable prefix.
  package var offMeshPrefix: UInt64?
  package var isThreadActive = true
  /// Whether its border agent takes a session of who has the network's PSKc.
  package var takesPSKc = false
  /// Whether it can let others have its credentials by a code; nil where it does not say.
  package var sharesByCode: Bool?
  /// Where its host takes a code now, by which others get its credentials; nil: it shows none.
  package var codePort: UInt16?
  /// Nil where it does not say, and while it is not attached.
  package var role: ThreadState?
  /// The login that sees it, where the daemon does not: it may be anywhere, and changes no credentials.
  package var reporter: ExactName?

  /// - Returns: nil without an id.
  package init?(_ agents: [BorderAgentID]) {
    guard !agents.isEmpty else { return nil }
    self.agents = agents
  }

  /// It may be listed under its id, the first 8 bytes of that, and its extended address, in this order.
  package init?(id: BorderAgentID?, extendedAddress: UInt64?) {
    let address = extendedAddress.map { BorderAgentID(high: $0, low: 0) }
    let half = id.map { BorderAgentID(high: $0.numbers.high, low: 0) }
    var agents: [BorderAgentID] = []
    for case let agent? in [id, half, address] where !agent.isZero && !agents.contains(agent) { agents.append(agent) }
    self.init(agents)
    self.extendedAddress = extendedAddress
  }

  /// Text without control characters; nil for anything else, and for too many bytes.
  package static func text(_ bytes: [UInt8]?, most: Int) -> String? {
    guard let bytes, !bytes.isEmpty, bytes.count <= most, let text = String(validating: bytes, as: UTF8.self),
      !text.unicodeScalars.contains(where: { $0.properties.generalCategory.isHidden })
    else { return nil }
    return text
  }
}

extension Unicode.GeneralCategory {
  /// Control and format characters, among them those that turn the direction of writing.
  fileprivate var isHidden: Bool {
    switch self {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned: true
    default: false
    }
  }
}

/// All records on the local network at a time: those that the daemon has found, and those that only logins see.
package struct Sightings: Hashable, Sendable {
  package var list: [Advertisement]
  /// Whether a router that the daemon has found, and that is not in the list, is not there. Else the list has only
  /// begun.
  package var isComplete: Bool
  /// Logins whose sightings are all in the list: what only one of them has seen, and is not in it, is not there.
  package var reporters: Set<ExactName> = []
  /// Logins that are silent: what only they have seen may be there. Nil: all but the `reporters`.
  package var awaited: Set<ExactName>? = []
  /// When routers were seen last whose records have gone since the last time.
  package var lastSeen: [BorderAgentID: WireTime]

  package init(_ list: [Advertisement], isComplete: Bool = true, lastSeen: [BorderAgentID: WireTime] = [:]) {
    self.list = list
    self.isComplete = isComplete
    self.lastSeen = lastSeen
  }

  /// Whether a router that is not in the list, and that this login or, without one, the daemon saw last, is not there.
  func ends(_ reporter: ExactName?) -> Bool {
    guard let reporter else { return isComplete }
    return reporters.contains(reporter) || awaited?.contains(reporter) == false
  }
}

/// The settings that each home has, as the table of settings takes them, with their defaults.
package struct HomeSettings: Hashable, Sendable {
  /// Seconds for which a condition must last before its alert is raised.
  package var alertsHold = 30
  /// Seconds in which a router that was sent the preferred credentials has to report that it uses them; nil: a router
  /// on another network is an alert and no more.
  var adoptTimeout: Int?
  private static let standardAdoptTimeout = 300
  /// Seconds of silence after which a router that sends heartbeats counts as offline; 0: never.
  package var offlineAfter = 300
  /// Border agent ids of one team.
  package var routersPerTeam = 64
  /// Of all teams together, and as many networks that logins share.
  package var routersPerHome = 1_000
  /// Logins that may report the SSID of an access point whose routers are other teams'.
  package var ssidReporters: Set<ExactName> = []
  /// Logins whose credentials count for a network that is preferred by its Extended PAN ID alone, without a question.
  package var trusted: Set<ExactName> = []

  package init() {}

  /// What happens when a router is on another network.
  package enum OnMismatch: String, Sendable, CaseIterable {
    case alert
    /// That, and a person is asked whether it may be given the preferred credentials.
    case adopt
  }

  package var onMismatch: OnMismatch {
    get { adoptTimeout == nil ? .alert : .adopt }
    set { adoptTimeout = newValue == .adopt ? Self.standardAdoptTimeout : nil }
  }
}

/// What the settings decide for a home.
package struct HomeRules: Sendable {
  package var settings = HomeSettings()
  /// The team of a user of the broker.
  package var team: @Sendable (ExactName) -> ExactName = { $0 }
  /// The number of the user that the daemon runs as.
  package var ownUser: UInt32 = 0
  /// Whether the daemon's own keys can be read: without them nothing can be sealed.
  package var canSeal: @Sendable () -> Bool = { true }
  /// Whether border routers of other homes of this daemon are announced under an id: one that is, is not listed here by
  /// its record on the local network.
  package var isAnnouncedElsewhere: @Sendable (BorderAgentID) -> Bool = { _ in false }
  /// Whether a caller waits on a connection for what is decided about a question. Where none does, nothing is given.
  package var isAwaited: @Sendable (ConsentID) -> Bool = { _ in false }
  /// Whether a daemon has the home. Without one its adoptions and alerts stay as they are.
  package var hasDaemon = true
  /// Whether "always" counts. Not in an older copy of a store: it may have been taken back since.
  package var grantsCount = true
  /// 64 random bits, for an id that nobody can guess.
  package var random: @Sendable () -> UInt64

  package init(random: @escaping @Sendable () -> UInt64) { self.random = random }
}
