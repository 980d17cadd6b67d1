import ThreadDataset

/// How a home is written down: a record for each thing in it. What a record is stands in its first byte, and its form
/// in the second.
extension Home {
  private static let form: UInt8 = 1

  private enum Kind: UInt8, Recorded {
    case home = 1
    case router, former, alert, question, grant, decision, client, signer, shared, agent
  }

  /// The bytes of a record; nil for one that is not there any more.
  package func record(_ key: RecordKey) -> [UInt8]? {
    switch key {
    case .home: Self.bytes(.home, HomeRecord(self))
    case .router(let agent): routers[agent].map { Self.bytes(.router, SeenRouter($0, self)) }
    case .former(let id): former.first { $0.id == id }.map { Self.bytes(.former, $0) }
    case .alert(let key): alerts[key].map { Self.bytes(.alert, KeyedAlert(key: key, alert: $0)) }
    case .question(let id): questions.first { $0.id == id }.map { Self.bytes(.question, $0) }
    case .grant(let id): grants.first { $0.id == id }.map { Self.bytes(.grant, $0) }
    case .decision(let id): decisions.first { $0.id == id }.map { Self.bytes(.decision, $0) }
    case .client(let user): clients[user].map { Self.bytes(.client, Enrolment(user, $0)) }
    case .signer(let key, let subject):
      signers[key]?.window(subject).map { Self.bytes(.signer, Signer(key: key, subject: subject, window: $0)) }
    case .shared(let user, let network): shared[network]?[user].map { Self.bytes(.shared, $0) }
    case .agent(let user, let name): agents[user]?[name].map { Self.bytes(.agent, $0) }
    }
  }

  private static func bytes(_ kind: Kind, _ value: some Recorded) -> [UInt8] {
    var coder = RecordCoder()
    // Writing does not fail.
    _ = try? coder.byte(kind.rawValue)
    _ = try? coder.byte(form)
    _ = try? coder(value)
    return coder.bytes
  }

  /// Takes a record that was read. Kinds come in any order. Within a kind the order is that in which the records were
  /// written first, and of those that one commit wrote the order of `Changes.records`: so former networks come with
  /// the oldest first, as do questions, grants and decisions.
  ///
  /// - Returns: what it is.
  /// - Throws: for what this version cannot have written. Then it is left out, and `hasDamage` is to be set.
  package mutating func load(_ bytes: [UInt8]) throws(RecordError) -> RecordKey {
    var coder = RecordCoder(bytes)
    let kind: Kind = try coder(nil)
    guard try coder.byte(nil) == Self.form else { throw RecordError() }
    let key: RecordKey
    switch kind {
    case .home:
      let read: HomeRecord = try coder(nil)
      read.restore(&self)
      key = .home
    case .router:
      let read: SeenRouter = try coder(nil)
      routers.set(read.router, firstSeen: read.seen)
      key = .router(read.router.agent)
    case .former:
      let read: FormerNetwork = try coder(nil)
      // The newest is written last. Two may be of the same time, or the clock was set back between them.
      former.insert(read, at: 0)
      key = .former(read.id)
    case .alert:
      let read: KeyedAlert = try coder(nil)
      alerts[read.key] = read.alert
      key = .alert(read.key)
    case .question:
      let read: ConsentQuestion = try coder(nil)
      questions.append(read)
      key = .question(read.id)
    case .grant:
      let read: ConsentGrant = try coder(nil)
      grants.append(read)
      key = .grant(read.id)
    case .decision:
      let read: ConsentRecord = try coder(nil)
      decisions.append(read)
      key = .decision(read.id)
    case .client:
      let read: Enrolment = try coder(nil)
      clients[read.user] = read.client
      key = .client(read.user)
    case .signer:
      let read: Signer = try coder(nil)
      if let subject = read.subject {
        signers[read.key, default: SignerNumbers()].load(read.window, of: subject)
      } else {
        signers[read.key, default: SignerNumbers()].mark = read.window.high
      }
      key = .signer(read.key, read.subject)
    case .shared:
      let read: SharedCredentials = try coder(nil)
      let before = shared[read.network, default: [:]].updateValue(read, forKey: read.user)
      if before == nil { countShared(read, 1) }
      nameShared(before, read)
      key = .shared(read.user, read.network)
    case .agent:
      let read: ReportingAgent = try coder(nil)
      agents[read.user, default: [:]][read.name] = read
      key = .agent(read.user, read.name)
    }
    guard coder.isAtEnd else { throw RecordError() }
    return key
  }

  /// All records are loaded: what follows from them is found.
  package mutating func finishLoading() {
    routersWithAlerts = []
    for (key, alert) in alerts where alert.phase != .resolved {
      if case .router(let agent) = key.subject { routersWithAlerts.insert(agent) }
    }
    (movedTo, isMoveExplaining) = (destination, isMoveWhole)
    isPreferredEmpty = isNobodyThere
  }
}

// MARK: - The home itself

private struct HomeRecord: Recorded {
  var preferred: PreferredNetwork?
  var isForgotten = false
  var accepted: [ExtendedPANID] = []
  var discoveredSince: WireTime?
  /// Users of whom only what is signed counts. So nobody is believed in plaintext because the record with the keys does
  /// not open.
  var signed: [ExactName] = []

  init(_ home: Home) {
    preferred = home.preferred
    isForgotten = home.isPreferredForgotten
    accepted = home.accepted.sorted { $0.description < $1.description }
    discoveredSince = home.discoveredSince
    signed = home.clients.filter { $0.value.trust == .signed }.map(\.key).sorted()
  }

  private init() {}

  func restore(_ home: inout Home) {
    home.preferred = preferred
    home.isPreferredForgotten = isForgotten
    home.accepted = Set(accepted)
    home.discoveredSince = discoveredSince
    // The record of a client, where it opens, replaces this.
    for user in signed where home.clients[user] == nil {
      home.clients[user] = EnrolledClient(
        line: "", fingerprint: "", trust: .signed, at: WireTime(milliseconds: 0), by: "")
    }
  }

  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    var record = HomeRecord()
    record.preferred = try coder.maybe(value?.preferred)
    record.isForgotten = try coder(value?.isForgotten)
    record.accepted = try coder(value?.accepted)
    record.discoveredSince = try coder.maybe(value?.discoveredSince)
    record.signed = try coder(value?.signed)
    return record
  }
}

extension PreferredNetwork: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    PreferredNetwork(
      dataset: try coder(value?.dataset), createdAt: try coder(value?.createdAt),
      changedAt: try coder(value?.changedAt), keyChange: try coder.maybe(value?.keyChange))
  }
}

extension KeyChange: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(at: try coder(value?.at), reporters: try coder(value?.reporters))
  }
}

extension KeyChange.Reporter: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(try coder.maybe(value?.agent), name: try coder.maybe(value?.name), user: try coder.maybe(value?.user))
  }
}

extension FormerKey: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(key: try coder(value?.key), until: try coder(value?.until))
  }
}

extension FormerNetwork: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    FormerNetwork(id: try coder(value?.id), dataset: try coder(value?.dataset), until: try coder(value?.until))
  }
}

extension DatasetSummary: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let (network, name) = (try coder(value?.network), try coder(value?.name))
    let parameters = try coder.maybe(value?.parameters)
    return value ?? DatasetSummary(network: network, name: name, parameters: parameters)
  }
}

extension DatasetSummary.Parameters: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(
      whole: try coder(value?.whole), networkKey: try coder(value?.networkKey), pskc: try coder.maybe(value?.pskc),
      activeTimestamp: try coder.maybe(value?.activeTimestamp), channel: try coder(value?.channel),
      panID: try coder(value?.panID), meshLocalPrefix: try coder.maybe(value?.meshLocalPrefix),
      securityPolicy: try coder.maybe(value?.securityPolicy), domainName: try coder.maybe(value?.domainName),
      hasChannelMask: try coder(value?.hasChannelMask), isKeyWellKnown: try coder(value?.isKeyWellKnown))
  }
}

// MARK: - Routers

/// A router, and when it was seen last as its record is written.
private struct SeenRouter: Recorded {
  let router: Router
  let seen: WireTime

  init(_ router: Router, _ home: Home) {
    self.router = router
    seen = home.routers.lastSeen(router.agent)
  }

  private init(router: Router, seen: WireTime) {
    self.router = router
    self.seen = seen
  }

  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(router: try coder(value?.router), seen: try coder(value?.seen))
  }
}

extension Router: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let (agent, first) = (try coder(value?.agent), try coder(value?.firstSeenAt))
    var router = value ?? Router(agent, at: first)
    try coder.field(&router.user)
    try coder.field(&router.owner)
    try coder.field(&router.team)
    try coder.field(&router.formerKey)
    try coder.field(&router.credentialsGoneAt)
    try coder.field(&router.name)
    try coder.field(&router.keptName)
    try coder.field(&router.endpoint)
    try coder.field(&router.vendor)
    try coder.field(&router.model)
    try coder.field(&router.extendedAddress)
    try coder.field(&router.accessPoint)
    try coder.field(&router.ssid)
    try coder.field(&router.dataset)
    try coder.field(&router.credential)
    try coder.field(&router.reportDiffers)
    try coder.field(&router.lacks)
    try coder.field(&router.credentialCreatedAt)
    try coder.field(&router.credentialChangedAt)
    try coder.field(&router.datasetChangedAt)
    try coder.field(&router.followsPreferred)
    try coder.field(&router.memberOf)
    try coder.field(&router.acceptedOn)
    try coder.field(&router.currentNetwork)
    try coder.field(&router.threadState)
    try coder.field(&router.threadStateSince)
    try coder.field(&router.threadStateReportedAt)
    try coder.field(&router.isPresent)
    try coder.field(&router.isOnline)
    try coder.field(&router.beats)
    try coder.field(&router.offlineReason)
    try coder.field(&router.httpStatus)
    try coder.field(&router.source)
    try coder.field(&router.isAdvertised)
    try coder.field(&router.isUnadvertised)
    router.advertised = try coder.maybe(router.advertised)
    try coder.field(&router.partition)
    try coder.field(&router.reportedPartition)
    try coder.field(&router.isRecordGone)
    try coder.field(&router.awaySince)
    try coder.field(&router.threadVersion)
    try coder.field(&router.isKnown)
    try coder.field(&router.isOpenForCode)
    try coder.field(&router.codeAskedAt)
    router.resetFrom = try coder.maybe(router.resetFrom)
    router.adoption = try coder.maybe(router.adoption)
    try coder.field(&router.order)
    return router
  }
}

extension Router.Advertised: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(
      network: try coder(value?.network), networkName: try coder.maybe(value?.networkName),
      activeSeconds: try coder.maybe(value?.activeSeconds))
  }
}

extension Router.FormerRouter: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(agent: try coder(value?.agent), name: try coder.maybe(value?.name), memberOf: try coder(value?.memberOf))
  }
}

extension Adoption: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Adoption(try coder(value?.state), try coder.maybe(value?.terms))
  }
}

extension Adoption.Terms: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(
      user: try coder(value?.user), team: try coder(value?.team), fingerprint: try coder(value?.fingerprint),
      preferred: try coder(value?.preferred), reported: try coder.maybe(value?.reported),
      consent: try coder(value?.consent), message: try coder(value?.message), deadline: try coder(value?.deadline))
  }
}

// MARK: - Shared credentials

extension SharedCredentials: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(
      user: try coder(value?.user), dataset: try coder(value?.dataset), lacks: try coder(value?.lacks),
      agent: try coder.maybe(value?.agent), name: try coder.maybe(value?.name),
      isPreferredThere: try coder(value?.isPreferredThere), createdAt: try coder(value?.createdAt),
      changedAt: try coder(value?.changedAt), reportedAt: try coder(value?.reportedAt),
      isSigned: try coder(value?.isSigned), follows: try coder(value?.follows), denied: try coder(value?.denied),
      order: try coder(value?.order))
  }
}

extension ReportingAgent: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(
      user: try coder(value?.user), name: try coder(value?.name), trouble: try coder.maybe(value?.trouble),
      workedAt: try coder.maybe(value?.workedAt), firstReportedAt: try coder(value?.firstReportedAt),
      reportedAt: try coder(value?.reportedAt), isSilent: try coder(value?.isSilent), order: try coder(value?.order))
  }
}

// MARK: - Alerts

private struct KeyedAlert: Recorded {
  let key: AlertKey
  let alert: Alert

  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(key: AlertKey(try coder(value?.key.name), try coder(value?.key.subject)), alert: try coder(value?.alert))
  }
}

// MARK: - Consent

extension Requester: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    var requester = Requester(try coder(value?.identity), team: try coder(value?.team))
    requester.userName = try coder.maybe(value?.userName)
    requester.program = try coder.maybe(value?.program)
    requester.fingerprint = try coder.maybe(value?.fingerprint)
    return requester
  }
}

extension Requester.Identity: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    switch value {
    case .login(let user):
      _ = try coder.byte(1)
      return .login(try coder(user))
    case .systemUser(let number):
      _ = try coder.byte(2)
      return .systemUser(try coder(number))
    case nil:
      switch try coder.byte(nil) {
      case 1: return .login(try coder(nil))
      case 2: return .systemUser(try coder(nil))
      default: throw RecordError()
      }
    }
  }
}

extension ConsentNetwork: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    ConsentNetwork(
      id: try coder(value?.id), name: try coder(value?.name), team: try coder.maybe(value?.team),
      key: try coder.maybe(value?.key))
  }
}

extension ConsentSubject: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    ConsentSubject(try coder(value?.command), try coder(value?.networks), router: try coder.maybe(value?.router))
  }
}

extension ConsentSubject.Router: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(
      agent: try coder(value?.agent), name: try coder.maybe(value?.name), needsID: try coder(value?.needsID),
      network: try coder.maybe(value?.network), differs: try coder(value?.differs))
  }
}

extension ReplyAddress: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    switch value {
    case .caller:
      _ = try coder.byte(1)
      return .caller
    case .topic(let topic, let correlation, let transaction):
      _ = try coder.byte(2)
      return .topic(
        try coder(topic), correlation: try coder.maybe(correlation), transaction: try coder.maybe(transaction))
    case nil:
      switch try coder.byte(nil) {
      case 1: return .caller
      case 2: return .topic(try coder(nil), correlation: try coder.maybe(nil), transaction: try coder.maybe(nil))
      default: throw RecordError()
      }
    }
  }
}

extension ConsentQuestion: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    ConsentQuestion(
      id: try coder(value?.id), requester: try coder(value?.requester), subject: try coder(value?.subject),
      createdAt: try coder(value?.createdAt), expiresAt: try coder(value?.expiresAt),
      replies: try coder(value?.replies), isDenied: try coder(value?.isDenied),
      keyHasChanged: try coder(value?.keyHasChanged), keyChange: Boxed(wrappedValue: try coder.maybe(value?.keyChange)))
  }
}

extension ConsentApprover: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    switch value {
    case .login(let user, let team):
      _ = try coder.byte(1)
      return .login(try coder(user), team: try coder(team))
    case .commandLine(let user):
      _ = try coder.byte(2)
      return .commandLine(user: try coder(user))
    case .statusPage:
      _ = try coder.byte(3)
      return .statusPage
    case .program(let user):
      _ = try coder.byte(4)
      return .program(user: try coder(user))
    case nil:
      switch try coder.byte(nil) {
      case 1: return .login(try coder(nil), team: try coder(nil))
      case 2: return .commandLine(user: try coder(nil))
      case 3: return .statusPage
      case 4: return .program(user: try coder(nil))
      default: throw RecordError()
      }
    }
  }
}

extension ConsentGrant: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    ConsentGrant(
      id: try coder(value?.id), requester: try coder(value?.requester), subject: try coder(value?.subject),
      createdAt: try coder(value?.createdAt), by: try coder(value?.by))
  }
}

extension ConsentRecord: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    ConsentRecord(
      id: try coder(value?.id), outcome: try coder(value?.outcome), requester: try coder(value?.requester),
      subject: try coder(value?.subject), createdAt: try coder(value?.createdAt),
      decidedAt: try coder(value?.decidedAt), by: try coder.maybe(value?.by), scope: try coder.maybe(value?.scope),
      grant: try coder.maybe(value?.grant), obstacle: try coder.maybe(value?.obstacle))
  }
}

// MARK: - Clients

private struct Enrolment: Recorded {
  let user: ExactName
  let client: EnrolledClient

  init(_ user: ExactName, _ client: EnrolledClient) {
    self.user = user
    self.client = client
  }

  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let user: ExactName = try coder(value?.user)
    let old = value?.client
    var client = EnrolledClient(
      line: try coder(old?.line), fingerprint: try coder(old?.fingerprint), trust: try coder(old?.trust),
      label: try coder(old?.label), at: try coder(old?.enrolledAt), by: try coder(old?.enrolledBy))
    client.isRevoked = try coder(old?.isRevoked)
    return Enrolment(user, client)
  }
}

/// The numbers that a signer has used about something; without a subject its mark, as the highest one.
private struct Signer: Recorded {
  let key: SignerKey
  let subject: RouterMessage.Subject?
  let window: SequenceWindow

  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Signer(
      key: SignerKey(user: try coder(value?.key.user), issuer: try coder(value?.key.issuer)),
      subject: try coder.maybe(value?.subject), window: try coder(value?.window))
  }
}

extension RouterMessage.Subject: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    switch value {
    case .router(let agent):
      _ = try coder.byte(1)
      return .router(try coder(agent))
    case .accessPoint(let name):
      _ = try coder.byte(2)
      return .accessPoint(try coder(name))
    case .network(let network):
      _ = try coder.byte(3)
      return .network(try coder(network))
    case .agent(let name):
      _ = try coder.byte(4)
      return .agent(try coder(name))
    case nil:
      switch try coder.byte(nil) {
      case 1: return .router(try coder(nil))
      case 2: return .accessPoint(try coder(nil))
      case 3: return .network(try coder(nil))
      case 4: return .agent(try coder(nil))
      default: throw RecordError()
      }
    }
  }
}
