import ThreadDataset

/// How a home is written down: a record for each thing in it. What a record is stands in its first byte, and its form
/// in the second.
extension Home {
  private static let form: UInt8 = 2

  private enum Kind: UInt8 {
    case home = 1
    case router, former, alert, question, grant, decision, client, signer, shared, agent
  }

  /// The bytes of a record; nil for one that is not there any more.
  package func record(_ key: RecordKey) -> [UInt8]? {
    switch key {
    case .home:
      // Users of whom only what is signed counts: so nobody is believed in plaintext because the record with the keys
      // does not open.
      let signed = clients.filter { $0.value.trust == .signed }.map(\.key).sorted()
      let on = accepted.sorted()
      return Self.bytes(
        .home, preferred, isPreferredForgotten, on, discoveredSince, signed, areAlertsConfirmed, hasRecoveryCode,
        unwatched)
    case .router(let agent):
      return routers.lend(agent) { router, seen in
        var coder = Self.coder(.router)
        router.write(to: &coder)
        seen.write(to: &coder)
        return coder.bytes
      }
    case .former(let id): return former.first { $0.id == id }.map { Self.bytes(.former, $0) }
    case .alert(let key): return alerts[key].map { Self.bytes(.alert, key, $0) }
    case .question(let id): return questions.first { $0.id == id }.map { Self.bytes(.question, $0) }
    case .grant(let id): return grants.first { $0.id == id }.map { Self.bytes(.grant, $0) }
    case .decision(let id): return decisions.first { $0.id == id }.map { Self.bytes(.decision, $0) }
    case .client(let user): return clients[user].map { Self.bytes(.client, user, $0) }
    case .signer(let key, let subject):
      return signers[key]?.window(subject).map { Self.bytes(.signer, key, subject, $0) }
    case .shared(let user, let network): return shared[network]?[user].map { Self.bytes(.shared, $0) }
    case .agent(let user, let name): return agents[user]?[name].map { Self.bytes(.agent, $0) }
    }
  }

  private static func bytes<each Part: Recorded>(_ kind: Kind, _ parts: repeat each Part) -> [UInt8] {
    var coder = coder(kind)
    repeat (each parts).write(to: &coder)
    return coder.bytes
  }

  private static func coder(_ kind: Kind) -> RecordCoder {
    var coder = RecordCoder()
    coder.write(byte: kind.rawValue)
    coder.write(byte: form)
    return coder
  }

  /// Takes a record that was read. Kinds come in any order. Within a kind the order is that in which the records were
  /// written first, and of those that one commit wrote the order of `Changes.records`: so former networks come with
  /// the oldest first, as do questions, grants and decisions.
  ///
  /// - Returns: what it is.
  /// - Throws: for what this version cannot have written. Then it is left out, and `hasDamage` is to be set.
  package mutating func load(_ bytes: [UInt8]) throws(RecordError) -> RecordKey {
    var coder = RecordCoder(bytes)
    guard let kind = Kind(rawValue: try coder.readByte()), try coder.readByte() == Self.form else {
      throw RecordError()
    }
    switch kind {
    case .home:
      let (network, isForgotten, on, since, signed, isConfirmed, hasCode, gaps):
        (PreferredNetwork?, Bool, [ExtendedPANID], WireTime?, [ExactName], Bool, Bool?, [Unwatched]) = try coder.rest()
      (preferred, isPreferredForgotten, accepted, discoveredSince) = (network, isForgotten, Set(on), since)
      (areAlertsConfirmed, hasRecoveryCode, unwatched) = (isConfirmed, hasCode, gaps)
      // The record of a client, where it opens, replaces this.
      for user in signed where clients[user] == nil {
        clients[user] = EnrolledClient(line: "", fingerprint: "", trust: .signed, at: WireTime(milliseconds: 0), by: "")
      }
      return .home
    case .router:
      let (read, seen): (Router, WireTime) = try coder.rest()
      var router = read
      // Routers of one network have the same dataset mostly. It takes room once.
      if let network = read.network, let known = routers.shown(network)?.dataset, known == read.dataset {
        router.dataset = known
      }
      routers.set(router, firstSeen: seen)
      return .router(router.agent)
    case .former:
      let read: FormerNetwork = try coder.rest()
      // The newest is written last. Two may be of the same time, or the clock was set back between them.
      former.insert(read, at: 0)
      return .former(read.id)
    case .alert:
      let (key, alert): (AlertKey, Alert) = try coder.rest()
      alerts[key] = alert
      return .alert(key)
    case .question:
      let read: ConsentQuestion = try coder.rest()
      questions.append(read)
      return .question(read.id)
    case .grant:
      let read: ConsentGrant = try coder.rest()
      grants.append(read)
      return .grant(read.id)
    case .decision:
      let read: ConsentRecord = try coder.rest()
      decisions.append(read)
      return .decision(read.id)
    case .client:
      let (user, client): (ExactName, EnrolledClient) = try coder.rest()
      clients[user] = client
      return .client(user)
    case .signer:
      let (key, subject, window): (SignerKey, RouterMessage.Subject?, SequenceWindow) = try coder.rest()
      if let subject {
        signers[key, default: SignerNumbers()].load(window, of: subject)
      } else {
        signers[key, default: SignerNumbers()].mark = window.high
      }
      return .signer(key, subject)
    case .shared:
      let read: SharedCredentials = try coder.rest()
      let before = shared[read.network, default: [:]].updateValue(read, forKey: read.user)
      if before == nil { countShared(read, 1) }
      nameShared(before, read)
      return .shared(read.user, read.network)
    case .agent:
      let read: ReportingAgent = try coder.rest()
      agents[read.user, default: [:]][read.name] = read
      return .agent(read.user, read.name)
    }
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

// MARK: - Networks

extension PreferredNetwork: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      dataset: coder(value?.dataset), createdAt: coder(value?.createdAt), changedAt: coder(value?.changedAt),
      keyChange: coder.maybe(value?.keyChange))
  }
}

extension KeyChange: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(at: coder(value?.at), reporters: coder(value?.reporters))
  }
}

extension KeyChange.Reporter: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(coder.maybe(value?.agent), name: coder.maybe(value?.name), user: coder.maybe(value?.user))
  }
}

extension FormerKey: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in try Self(key: coder(value?.key), until: coder(value?.until)) }
}

extension FormerNetwork: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(id: coder(value?.id), dataset: coder(value?.dataset), until: coder(value?.until))
  }
}

extension DatasetSummary: RecordedByFields {
  static var blank: Self { Self(network: ExtendedPANID(number: 0), name: "") }

  mutating func fields(_ coder: inout RecordCoder) throws(RecordError) {
    try coder(&network)
    try coder(&name)
    try coder(&$parameters)
  }
}

extension DatasetSummary.Parameters: RecordedByFields {
  static var blank: Self { Self(whole: Hash128(), networkKey: Hash128(), channel: 0, panID: 0, isKeyWellKnown: false) }

  mutating func fields(_ coder: inout RecordCoder) throws(RecordError) {
    try coder(&whole)
    try coder(&networkKey)
    try coder(&pskc)
    try coder(&activeTimestamp)
    try coder(&channel)
    try coder(&panID)
    try coder(&meshLocalPrefix)
    try coder(&securityPolicy)
    try coder(&domainName)
    try coder(&hasChannelMask)
    try coder(&isKeyWellKnown)
  }
}

// MARK: - Routers

extension Router: RecordedByFields {
  static var blank: Self { Self(BorderAgentID(high: 0, low: 0), at: WireTime(milliseconds: 0)) }

  mutating func fields(_ coder: inout RecordCoder) throws(RecordError) {
    try coder(&agent)
    try coder(&firstSeenAt)
    try coder(&user)
    try coder(&owner)
    try coder(&team)
    try coder(&ownName)
    try coder(&vendor)
    try coder(&model)
    try coder(&extendedAddress)
    try coder(&dataset)
    try coder(&credential)
    try coder(&reportDiffers)
    try coder(&credentialCreatedAt)
    try coder(&credentialChangedAt)
    try coder(&datasetChangedAt)
    try coder(&followsPreferred)
    try coder(&memberOf)
    try coder(&currentNetwork)
    try coder(&threadState)
    try coder(&threadStateSince)
    try coder(&threadStateReportedAt)
    try coder(&isPresent)
    try coder(&isOnline)
    try coder(&beats)
    try coder(&offlineReason)
    try coder(&source)
    try coder(&isAdvertised)
    try coder(&isUnadvertised)
    try coder(&reportedPartition)
    try coder(&isRecordGone)
    try coder(&$awaySince)
    try coder(&isKnown)
    try coder(&isOpenForCode)
    try coder(&past)
    try coder(&$adoption)
    try coder(&order)
    try coder(&$storedExtras)
  }
}

extension Router.Extras: RecordedByFields {
  static var blank: Self { Self() }

  mutating func fields(_ coder: inout RecordCoder) throws(RecordError) {
    try coder(&$formerKey)
    try coder(&credentialsGoneAt)
    try coder(&givenName)
    try coder(&endpoint)
    try coder(&accessPoint)
    try coder(&ssid)
    try coder(&lacks)
    try coder(&$reading)
    try coder(&acceptedOn)
    try coder(&httpStatus)
    try coder(&reporter)
    try coder(&$advertised)
    try coder(&partition)
    try coder(&threadVersion)
    try coder(&offMeshPrefix)
    try coder(&sharesByCode)
    try coder(&askedCodeEndsAt)
    try coder(&$resetFrom)
  }
}

extension Router.Advertised: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      network: coder(value?.network), networkName: coder.maybe(value?.networkName),
      activeSeconds: coder.maybe(value?.activeSeconds))
  }
}

extension ReadingNote: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      readAt: coder.maybe(value?.readAt), change: coder.maybe(value?.change), problem: coder.maybe(value?.problem),
      refusals: coder.maybe(value?.refusals), contradiction: coder.maybe(value?.contradiction))
  }
}

extension ReadingNote.PendingChange: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      of: coder(value?.network), at: coder(value?.at), differs: coder(value?.differs),
      channel: coder.maybe(value?.channel), networkName: coder.maybe(value?.networkName),
      hasLanded: coder(value?.hasLanded))
  }
}

extension ReadingNote.Contradiction: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(differs: coder(value?.differs), first: coder(value?.first), last: coder(value?.last))
  }
}

extension ReadingNote.Refusals: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(pskc: coder(value?.pskc), first: coder(value?.first), last: coder(value?.last), count: coder(value?.count))
  }
}

extension Router.FormerRouter: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(agent: coder(value?.agent), name: coder.maybe(value?.name), memberOf: coder(value?.memberOf))
  }
}

extension Adoption: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in try Self(coder(value?.state), coder.maybe(value?.terms)) }
}

extension Adoption.Terms: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      user: coder(value?.user), team: coder(value?.team), fingerprint: coder(value?.fingerprint),
      preferred: coder(value?.preferred), reported: coder.maybe(value?.reported), consent: coder(value?.consent),
      message: coder(value?.message), deadline: coder(value?.deadline))
  }
}

// MARK: - Logins

extension SharedCredentials: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      user: coder(value?.user), dataset: coder(value?.dataset), lacks: coder(value?.lacks),
      agent: coder.maybe(value?.agent), name: coder.maybe(value?.name),
      isPreferredThere: coder(value?.isPreferredThere), createdAt: coder(value?.createdAt),
      changedAt: coder(value?.changedAt), reportedAt: coder(value?.reportedAt), isSigned: coder(value?.isSigned),
      follows: coder(value?.follows), denied: coder(value?.denied), isThere: coder(value?.isThere),
      writes: coder(value?.writes), offAirSince: coder.maybe(value?.offAirSince),
      agentGoneSince: coder.maybe(value?.agentGoneSince), refused: coder(value?.refused),
      agreed: coder.maybe(value?.agreed), order: coder(value?.order))
  }
}

extension AgreedChange: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      consent: coder(value?.consent), subject: coder(value?.subject), fingerprint: coder(value?.fingerprint),
      until: coder(value?.until))
  }
}

extension ReportingAgent: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      user: coder(value?.user), name: coder(value?.name), trouble: coder.maybe(value?.trouble),
      serverDiffers: coder(value?.serverDiffers), workedAt: coder.maybe(value?.workedAt),
      firstReportedAt: coder(value?.firstReportedAt), reportedAt: coder(value?.reportedAt),
      isSilent: coder(value?.isSilent), order: coder(value?.order))
  }
}

extension EnrolledClient: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      line: coder(value?.line), fingerprint: coder(value?.fingerprint), trust: coder(value?.trust),
      label: coder(value?.label), enrolledAt: coder(value?.enrolledAt), enrolledBy: coder(value?.enrolledBy),
      isRevoked: coder(value?.isRevoked))
  }
}

extension SignerKey: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in try Self(user: coder(value?.user), issuer: coder(value?.issuer))
  }
}

extension RouterMessage.Subject: RecordedByForm {
  static let form = choice(
    .init(1, Self.router) { if case .router(let agent) = $0 { agent } else { nil } },
    .init(2, Self.accessPoint) { if case .accessPoint(let name) = $0 { name } else { nil } },
    .init(3, Self.network) { if case .network(let network) = $0 { network } else { nil } },
    .init(4, Self.agent) { if case .agent(let name) = $0 { name } else { nil } })
}

// MARK: - Consent

extension Requester: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      identity: coder(value?.identity), team: coder(value?.team), userName: coder.maybe(value?.userName),
      program: coder.maybe(value?.program), fingerprint: coder.maybe(value?.fingerprint))
  }
}

extension Requester.Identity: RecordedByForm {
  static let form = choice(
    .init(1, Self.login) { if case .login(let user) = $0 { user } else { nil } },
    .init(2, Self.systemUser) { if case .systemUser(let number) = $0 { number } else { nil } })
}

extension ConsentNetwork: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      id: coder(value?.id), name: coder(value?.name), team: coder.maybe(value?.team), key: coder.maybe(value?.key))
  }
}

extension ConsentSubject: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    var subject = try Self(coder(value?.command), coder(value?.networks), router: coder.maybe(value?.router))
    subject.since = try coder.maybe(value?.since)
    return subject
  }
}

extension ConsentSubject.Router: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      agent: coder(value?.agent), name: coder.maybe(value?.name), needsID: coder(value?.needsID),
      network: coder.maybe(value?.network), differs: coder(value?.differs))
  }
}

extension ReplyAddress: RecordedByForm {
  static let form = choice(
    plain: [1: .caller],
    .init(2, Self.topic) {
      if case .topic(let topic, let correlation, let transaction) = $0 {
        (topic, correlation, transaction)
      } else {
        nil
      }
    })
}

extension ConsentQuestion: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      id: coder(value?.id), requester: coder(value?.requester), subject: coder(value?.subject),
      createdAt: coder(value?.createdAt), expiresAt: coder(value?.expiresAt), replies: coder(value?.replies),
      isDenied: coder(value?.isDenied), keyHasChanged: coder(value?.keyHasChanged),
      keyChange: coder.maybe(value?.keyChange))
  }
}

extension ConsentApprover: RecordedByForm {
  static let form = choice(
    plain: [3: .statusPage],
    .init(1, Self.login) { if case .login(let user, let team) = $0 { (user, team) } else { nil } },
    .init(2, Self.commandLine) { if case .commandLine(let user) = $0 { user } else { nil } },
    .init(4, Self.program) { if case .program(let user) = $0 { user } else { nil } })
}

extension ConsentGrant: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      id: coder(value?.id), requester: coder(value?.requester), subject: coder(value?.subject),
      createdAt: coder(value?.createdAt), by: coder(value?.by))
  }
}

extension ConsentRecord: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      id: coder(value?.id), outcome: coder(value?.outcome), requester: coder(value?.requester),
      subject: coder(value?.subject), createdAt: coder(value?.createdAt), decidedAt: coder(value?.decidedAt),
      by: coder.maybe(value?.by), scope: coder.maybe(value?.scope), grant: coder.maybe(value?.grant),
      obstacle: coder.maybe(value?.obstacle))
  }
}

// MARK: - Alerts

extension AlertKey: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in try Self(coder(value?.name), coder(value?.subject)) }
}

extension AlertSubject: RecordedByForm {
  static let form = choice(
    plain: [0: .home], .init(1, Self.router) { if case .router(let agent) = $0 { agent } else { nil } },
    .init(2, Self.user) { if case .user(let user) = $0 { user } else { nil } },
    .init(3, Self.network) { if case .network(let network) = $0 { network } else { nil } })
}

extension Alert: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      phase: coder(value?.phase), facts: coder(value?.facts), heldFacts: coder.maybe(value?.heldFacts),
      heldSince: coder(value?.heldSince), startsAt: coder.maybe(value?.startsAt), updatedAt: coder(value?.updatedAt),
      endsAt: coder.maybe(value?.endsAt), sequence: coder(value?.sequence))
  }
}

extension AlertFacts: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      message: coder(value?.message), router: coder.maybe(value?.router), routerName: coder.maybe(value?.routerName),
      routerNeedsID: coder(value?.routerNeedsID), network: coder.maybe(value?.network),
      configured: coder.maybe(value?.configured), hasNoNetwork: coder(value?.hasNoNetwork),
      preferred: coder.maybe(value?.preferred), user: coder.maybe(value?.user), differs: coder.maybe(value?.differs),
      since: coder.maybe(value?.since), httpStatus: coder.maybe(value?.httpStatus),
      adoption: coder.maybe(value?.adoption), names: coder(value?.names), otherNames: coder(value?.otherNames),
      trigger: coder.maybe(value?.trigger))
  }
}

extension AlertFacts.Named: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(id: coder(value?.id), name: coder(value?.name), needsID: coder(value?.needsID))
  }
}

extension AlertFacts.Names: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in try Self(first: coder(value?.first), count: coder(value?.count))
  }
}

extension AlertFacts.Message: RecordedByForm {
  /// The number of one that is removed is not used again.
  static let form = choice(
    plain: [
      1: .notAttached, 2: .neverMember, 3: .otherNetwork, 4: .otherCredentials, 5: .behind, 6: .reportsOlder,
      7: .sameAge, 8: .reportsConflict, 9: .noDataset, 10: .recordGone, 11: .detached, 12: .wellKnownKey, 13: .joined,
      14: .plaintext, 15: .daemon, 16: .otherPreferred, 17: .sharedOlder, 18: .sharedConflict, 20: .openForCode,
      30: .notAdvertised, 31: .sharedPartial, 47: .silentWithoutNetwork, 48: .reportsDiffer,
    ], .init(32, Self.elsewhere) { if case .elsewhere(let isConfigured) = $0 { isConfigured } else { nil } },
    .init(33, Self.offline) { if case .offline(let reason) = $0 { .some(reason) } else { nil } },
    .init(34, Self.notSeen) { if case .notSeen(let isStopped) = $0 { isStopped } else { nil } },
    .init(35, Self.agentSilent) { if case .agentSilent(let reason) = $0 { .some(reason) } else { nil } },
    .init(36, Self.adoptionFailed) {
      if case .adoptionFailed(let state, let isConfigured) = $0 { (state, isConfigured) } else { nil }
    },
    .init(37, Self.noPreferred) {
      if case .noPreferred(let isForgotten, let networks, let more) = $0 { (isForgotten, networks, more) } else { nil }
    },
    .init(38, Self.keysDisputed) {
      if case .keysDisputed(let claimed, let current, let departed, let hasDamage) = $0 {
        (claimed, current, departed, hasDamage)
      } else {
        nil
      }
    },
    .init(39, Self.preferredChanged) {
      if case .preferredChanged(let change, let disagrees) = $0 { (change, disagrees) } else { nil }
    },
    .init(40, Self.movedTo) {
      if case .movedTo(let routers, let all, let lost) = $0 { (routers, all, lost) } else { nil }
    }, .init(41, Self.split) { if case .split(let named, let parts) = $0 { (named, parts) } else { nil } },
    .init(42, Self.wasReset) { if case .wasReset(let isOnPreferred) = $0 { isOnPreferred } else { nil } },
    .init(43, Self.lostNetwork) { if case .lostNetwork(let isLast) = $0 { isLast } else { nil } },
    .init(44, Self.preferredEmpty) {
      if case .preferredEmpty(let routers, let elsewhere) = $0 { (routers, elsewhere) } else { nil }
    },
    .init(45, Self.awayTogether) { if case .awayTogether(let routers, let all) = $0 { (routers, all) } else { nil } },
    .init(46, Self.agentNotWorking) { if case .agentNotWorking(let trouble) = $0 { .some(trouble) } else { nil } },
    .init(50, Self.matterServerDiffers) { if case .matterServerDiffers(let trouble) = $0 { trouble } else { nil } },
    .init(49, Self.networkChanges) {
      if case .networkChanges(let channel, let name) = $0 { (channel, name) } else { nil }
    }, .init(52, Self.ghostNetwork) { if case .ghostNetwork(let isAsked) = $0 { isAsked } else { nil } },
    .init(53, Self.ghostAgent) { if case .ghostAgent(let isAsked) = $0 { isAsked } else { nil } })
}

extension PreferredChange: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(
      from: coder(value?.from), to: coder(value?.to), differs: coder(value?.differs),
      bringsCredentials: coder(value?.bringsCredentials), cause: coder(value?.cause), who: coder.maybe(value?.who),
      second: coder.maybe(value?.second), formerID: coder.maybe(value?.formerID),
      fromRadio: coder.maybe(value?.fromRadio), toRadio: coder.maybe(value?.toRadio))
  }
}

extension PreferredChange.Radio: RecordedByForm {
  static let form: RecordForm<Self> = { coder, value in
    try Self(channel: coder(value?.channel), panID: coder(value?.panID))
  }
}

extension PreferredCause: RecordedByForm {
  static let form = choice(
    plain: [1: .first, 2: .sameKeys, 3: .onlyMember, 4: .owner, 5: .person, 7: .shared],
    .init(6, Self.confirmed) { if case .confirmed(let agent) = $0 { agent } else { nil } })
}
