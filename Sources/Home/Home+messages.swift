import ThreadDataset

/// What logins publish about border routers and access points: who may report it, whether it is news, and what becomes
/// of the router.
extension Home {
  /// A Wi-Fi router with Thread in it is one border router, and a mesh of them announces each.
  static let mostBehindAccessPoint = 16

  mutating func receive(_ message: RouterMessage, from user: ExactName) {
    do throws(HomeRejection) {
      guard try admit(message, from: user) else {
        step.output.isDuplicate = true
        return
      }
      switch message.subject {
      case .accessPoint(let name): for router in try routersBehind(name, of: user) { takeSSID(message, router) }
      case .router(let agent): try receive(message, about: agent, from: user)
      case .network(let network) where message.kind == .leave: try takeDeletion(message, of: network, from: user)
      case .network: try takeCredentials(message, from: user)
      case .agent(let name): try takeReport(message, of: name, from: user)
      }
      // Only signed events of this user count: then there is nothing left that could come as plaintext.
      if message.hasKeys, clients[user]?.trust == .signed {
        setAlert(AlertKey(.plaintextCredentials, .user(user)), nil)
      }
    } catch { step.output.rejection = error }
  }

  private mutating func receive(_ message: RouterMessage, about agent: BorderAgentID, from user: ExactName)
    throws(HomeRejection)
  {
    let stored = routers.stored(agent)
    switch message.kind {
    case .ssid:
      // A Wi-Fi watcher is often not the router and has a login of its own. The settings name it, where it is of
      // another team: a new name of the Wi-Fi has people asked about a router that differs.
      guard let router = stored?.value, router.isAnnounced else { throw .unknownRouter }
      guard rules.settings.ssidReporters.contains(user) || router.owner ?? router.team == team(of: user) else {
        throw .mayNotReportSSID
      }
      takeSSID(message, router)
    case .announce, .dataset:
      guard let router = try order(message, stored, agent, user) else { return }
      try announce(message, from: user, consume router, stored)
    case .leave:
      guard let router = try order(message, stored, agent, user) else { return }
      leave(stored?.value, ordered: router)
    case .credentials, .sightings: return
    case .heartbeat, .offline:
      guard let stored, stored.isAnnounced else { throw .unknownRouter }
      guard let router = try order(message, stored, agent, user) else { return }
      takePresence(message, consume router, stored)
    }
  }

  /// Takes a message that says what is known already, so that nothing follows but that the router was seen. Most do;
  /// what this does not find out, the long way does. Its number is saved with the next change.
  ///
  /// - Returns: whether it is one.
  mutating func takeSignOfLife(_ message: RouterMessage, from user: ExactName) -> Bool {
    guard case .router(let agent) = message.subject,
      message.kind == .heartbeat || message.kind == .announce || message.kind == .dataset, message.signature == nil,
      message.adoptionFailure == nil, message.thread.state != .leader, clients[user]?.trust != .signed,
      let stored = routers.stored(agent), isSignOfLife(message, from: user, of: stored.value)
    else { return false }
    routers.see(agent, at: now, message.order)
    return true
  }

  /// - Parameter router: lent: most messages are signs of life.
  private func isSignOfLife(_ message: RouterMessage, from user: ExactName, of router: borrowing Router) -> Bool {
    guard router.isAnnounced, router.isOnline, !router.isRecordGone, router.adoption == nil, router.user == user,
      router.threadState != .disabled, router.order.rises(with: message.order)
    else { return false }
    let team = team(of: user)
    guard router.owner == nil || router.owner == team else { return false }
    if message.kind == .heartbeat { return router.beats && message.thread.isNoNews(of: router) }
    // Without a preferred network, or its keys, a repeated report may make one.
    guard preferred?.dataset.hasCredentials == true else { return false }
    if message.hasKeys, !isActive(AlertKey(.plaintextCredentials, .user(user))) { return false }
    var described = copy router
    described.take(message, team: team, at: now)
    return (consume described).looksTheSame(as: router) && router.credential == CredentialState(router.dataset)
      && (message.dataset == nil
        || !router.isRead && Self.saysTheSame(message.dataset, as: router.dataset, preferred: preferred?.dataset))
  }

  /// Whether a dataset is the one that is stored, and nobody disputes about it.
  private static func saysTheSame(_ incoming: DatasetSummary?, as stored: DatasetSummary?, preferred: DatasetSummary?)
    -> Bool
  {
    guard let incoming, let stored, let preferred, incoming.hasSameBytes(as: stored) else { return false }
    return incoming.network != preferred.network || incoming.hasKeys(of: preferred)
  }

  // MARK: Who may report it, and whether it is news

  /// Whether it counts that it came as it did: in plaintext, or signed.
  ///
  /// - Returns: false for an envelope that was opened before.
  private mutating func admit(_ message: RouterMessage, from user: ExactName) throws(HomeRejection) -> Bool {
    guard let signature = message.signature else {
      guard clients[user]?.trust != .signed else { throw .notSealed }
      return true
    }
    guard let client = clients[user], !client.isRevoked else { throw .notEnrolled }
    switch takeNumber(of: signature, user, message.subject) {
    case .news: return true
    case .duplicate: return false
    case .outOfOrder: throw .envelopeOutOfOrder
    }
  }

  /// A border agent id belongs to the team that first stored it.
  ///
  /// - Returns: the router with the event's number noted; nil for a repetition.
  private mutating func order(
    _ message: RouterMessage, _ stored: StoredRouter?, _ agent: BorderAgentID, _ user: ExactName
  ) throws(HomeRejection) -> Router? {
    if let owner = stored?.owner, owner != team(of: user) { throw .notAuthorized(agent) }
    var router = stored?.value ?? Router(agent, at: now)
    if router.user != user {
      router.user = user
      router.order = SequenceWindow()
    }
    switch router.order.take(message.order) {
    case .news: return router
    case .duplicate:
      step.output.isDuplicate = true
      return nil
    case .outOfOrder:
      // Noted, so that the same number is a mere repetition when it comes again.
      if let stored, stored.user == user { routers.set(router, firstSeen: now) }
      throw .outOfOrder
    }
  }

  /// The routers of a user's team behind an access point, or of several teams where the settings name the user. One
  /// event must not make work without bound, and a team with too many keeps no others from being reported.
  private func routersBehind(_ accessPoint: ExactName, of user: ExactName) throws(HomeRejection) -> [Router] {
    let most = Self.mostBehindAccessPoint
    let teams =
      rules.settings.ssidReporters.contains(user) ? routers.teams(behind: accessPoint, atMost: most) : [team(of: user)]
    let found = teams.map { routers.behind(accessPoint, of: $0, atMost: most + 1) }
    let allowed = found.filter { $0.count <= most }
    if allowed.isEmpty, !found.isEmpty { throw .tooManyBehindAccessPoint(most) }
    let reported = allowed.flatMap { $0 }
    guard !reported.isEmpty else { throw .unknownAccessPoint }
    return reported
  }

  // MARK: The router is here, and this is what it runs on

  private mutating func announce(
    _ message: RouterMessage, from user: ExactName, _ router: consuming Router, _ stored: StoredRouter?
  ) throws(HomeRejection) {
    let team = team(of: user)
    switch makeRoom(for: team, stored) {
    case .there: break
    case .teamIsFull: throw .tooManyRouters(rules.settings.routersPerTeam)
    case .homeIsFull: throw .homeIsFull(rules.settings.routersPerHome)
    }
    if message.hasKeys, message.signature == nil { notePlaintext(from: user) }
    router.take(message, team: team, at: now)
    var event = RouterEvent()
    event.user = user
    if stored?.isPresent != true { step.needsHomeCheck = true }
    if stored?.isAnnounced != true { event.types.insert(.announced) }
    // One that is not complete does not replace one that is.
    let hasComplete = router.dataset?.isComplete == true && !router.isRead
    let incoming = message.dataset.flatMap { $0.isComplete || !hasComplete ? $0 : nil }
    let report = reportOfAdoption(incoming, message.adoptionFailure, &router, stored)
    if let incoming {
      dropReading(of: &router)
      takeDataset(incoming, isCurrent: report == .confirmed || report == .configured, team, &router, &event)
    } else if router.dataset == nil {
      router.credential = .missing
    }
    noteAdoptionReport(report, &router)
    routers.see(router.agent, at: now)
    write(router, before: stored, event, trigger: message.kind == .announce ? .announce : .dataset)
  }

  /// What is stored for the router, and what that means for the preferred network.
  ///
  /// - Parameters:
  ///   - isCurrent: it says what the router has now, whatever its age.
  ///   - team: nil: it was read of the router, which nobody owns.
  mutating func takeDataset(
    _ incoming: DatasetSummary, isCurrent: Bool, _ team: ExactName?, _ router: inout Router, _ event: inout RouterEvent
  ) {
    let stored = router.dataset
    let preferred = preferred?.dataset
    // A router that had other parameters than the preferred network uses the preferred ones now, which may be older.
    let returns = preferred.map { stored?.isSame(as: $0) == false && incoming.isSame(as: $0) } ?? false
    var change =
      isCurrent || returns
      ? DatasetDecision(stored: stored, confirmed: incoming) : DatasetDecision(stored: stored, reported: incoming)
    if let preferred, change.isStored, Membership.isTooFarAhead(incoming, preferred: preferred, at: now) {
      change = .conflict(incoming.differences(from: preferred))
    }
    if save(incoming, change, of: &router, team: team, isOwner: false, user: router.user) {
      event.types.insert(.preferredChanged)
    }
    event.note(change, of: incoming)
    router.reportDiffers =
      switch change {
      case .conflict(let differs): differs
      case .ignoreOlder: stored.map(incoming.knownDifferences) ?? []
      case .store, .keep, .update, .move: []
      }
    router.credential =
      switch change {
      case .ignoreOlder: .stale
      case .conflict: .conflict
      case .store, .keep, .update, .move: CredentialState(router.dataset)
      }
    if change.isStored { router.datasetChangedAt = now }
  }

  // MARK: It left

  private mutating func leave(_ stored: Router?, ordered: Router) {
    guard let stored else {
      step.output.isDuplicate = true
      return
    }
    // Only its record says that it is there, and nothing is stored for it that somebody has reported.
    if stored.isPresent, stored.isOnlySeen {
      step.output.isDuplicate = true
      return
    }
    var gone = ordered
    let hadCredentials = stored.dataset != nil
    if hadCredentials {
      gone.dropCredentials(preferred: preferred?.dataset.parameters?.networkKey, at: now)
      moveSecret(to: .router(stored.agent), from: .nothing)
      audit(.credentialsDeleted(stored.agent))
      noteKeys(stored.dataset)
    }
    guard stored.isPresent else {
      if gone.looksTheSame(as: stored) { routers.set(gone, firstSeen: now) } else { put(gone) }
      step.output.isDuplicate = !hadCredentials
      return
    }
    var event = RouterEvent()
    event.user = ordered.user
    unlist(stored, event)
    keepAbsent(gone)
    for user in [stored.user, gone.user].compactMap(\.self) { endPlaintext(of: user) }
  }

  /// What is kept of a router that is off the list: whose it is, its numbers and its given name. Nothing, where it has
  /// none: else a login could fill the limit of its team with ids that it makes up. While its record is on the local
  /// network, the login stays known, so that this does not bring it back.
  mutating func keepAbsent(_ router: Router) {
    guard
      router.owner != nil || router.dataset != nil || !router.order.isEmpty || router.givenName != nil
        || router.user != nil && router.isAdvertised
    else { return drop(router) }
    var absent = Router(router.agent, at: now)
    (absent.ownName, absent.extras.givenName) = (router.ownName, router.givenName)
    absent.user = router.user
    absent.owner = router.owner
    absent.team = router.owner ?? router.team
    absent.extras.formerKey = router.formerKey
    absent.extras.credentialsGoneAt = router.dataset == nil ? router.credentialsGoneAt ?? now : nil
    absent.dataset = router.dataset
    absent.credential = CredentialState(router.dataset)
    absent.credentialCreatedAt = router.credentialCreatedAt
    absent.credentialChangedAt = router.credentialChangedAt
    absent.datasetChangedAt = router.datasetChangedAt
    absent.followsPreferred = router.followsPreferred
    absent.order = router.order
    put(absent)
  }

  // MARK: It can be reached, or not

  private mutating func takePresence(_ message: RouterMessage, _ router: consuming Router, _ stored: StoredRouter) {
    let isHeartbeat = message.kind == .heartbeat
    if isHeartbeat {
      router.beats = true
      router.takeThreadReport(message.thread, isWhole: false, at: now)
      routers.see(router.agent, at: now)
      // One that is configured with what it was sent may report now that it is attached.
      if router.adoption != nil, router.threadState != nil || router.currentNetwork != nil {
        // What is stored for it is not what it has where it has reported an older one.
        _ = reportOfAdoption(router.credential == .stale ? nil : router.dataset, nil, &router, stored)
      }
    } else {
      router.takeOffline(message.offlineReason, httpStatus: message.httpStatus, at: now)
      if router.isReached {
        routers.see(router.agent, at: now)
        router.beats = router.beats || stored.isReached && !stored.isOnline
      }
    }
    // After a crash, too, its silence has to mean something.
    let isRecord = router.beats != stored.beats
    write(router, before: stored, RouterEvent(), trigger: isHeartbeat ? .heartbeat : .offline)
    if isRecord { noteRecord(.router(stored.agent)) }
  }

  /// It has sent nothing for too long.
  mutating func takeSilence(of stored: Router) {
    var router = stored
    router.takeOffline(.silent, at: now)
    write(router, before: stored, RouterEvent(), trigger: .silence)
  }

  /// The Wi-Fi beside the router has another name.
  private mutating func takeSSID(_ message: RouterMessage, _ stored: Router) {
    guard let ssid = message.ssid else { return }
    func isOther(_ name: String) -> Bool { ExactName(name) != ExactName(ssid) }
    guard stored.ssid.map(isOther) != false else { return }
    var router = stored
    let previous = [message.previousSSID, stored.ssid].compactMap(\.self).first(where: isOther)
    router.extras.ssid = ssid
    var event = RouterEvent()
    if let previous {
      event.types.insert(.ssidChanged)
      event.ssid = ssid
      event.previousSSID = previous
      event.check = PreferredCheck(router, preferred: preferred?.dataset)
    }
    write(router, before: stored, event, trigger: previous == nil ? .ssid : .ssidChanged)
  }

  // MARK: Datasets in plaintext

  mutating func notePlaintext(from user: ExactName) {
    let key = AlertKey(.plaintextCredentials, .user(user))
    // It says nothing more, and each message in plaintext brings it up again. One that is held, the clock raises.
    if isActive(key) { return }
    var facts = AlertFacts(.plaintext)
    facts.user = user
    setAlert(key, facts)
  }

  /// When a user has no router left and shares nothing, there is nothing that it could send unsealed.
  mutating func endPlaintext(of user: ExactName) {
    let key = AlertKey(.plaintextCredentials, .user(user))
    guard alerts[key] != nil, routers.counts.ofUser[user] == nil, sharedBy[user] == nil else { return }
    setAlert(key, nil)
  }
}

extension Router {
  /// Takes over what a message says of its router, without the dataset.
  fileprivate mutating func take(_ message: RouterMessage, team: ExactName, at now: WireTime) {
    self.team = owner ?? team
    if !isPresent { firstSeenAt = now }
    if source == .mdns {
      // What its record says is not what its login says.
      source = .mqtt
      currentNetwork = nil
    }
    isKnown = true
    ownName = message.name ?? ownName
    vendor = message.vendor ?? vendor
    model = message.model ?? model
    extendedAddress = message.extendedAddress ?? extendedAddress
    if hasExtras || message.accessPoint != nil || !message.lacks.isEmpty {
      var extras = extras
      (extras.advertised, extras.resetFrom) = (nil, nil)
      extras.accessPoint = message.accessPoint ?? accessPoint
      extras.lacks = message.lacks
      self.extras = extras
    }
    isPresent = true
    takeThreadReport(message.thread, isWhole: true, bringsDataset: message.dataset != nil, at: now)
  }
}

// MARK: - What a dataset changes

extension Home {
  /// Stores a dataset that is reported, or requested, and moves the preferred network where that follows.
  ///
  /// - Parameters:
  ///   - change: what becomes of it in the router's own credentials.
  ///   - team: nil: it was read of the router, which nobody owns.
  ///   - isOwner: see `PreferredDecision`.
  ///   - user: the login that reports or requests it; nil: a program on this machine.
  /// - Returns: whether the preferred network has changed.
  mutating func save(
    _ incoming: DatasetSummary, _ change: DatasetDecision, of router: inout Router, team: ExactName?, isOwner: Bool,
    user: ExactName?
  ) -> Bool {
    let stored = router.dataset
    let before = preferred?.dataset
    // Most routers have the preferred dataset. It takes room once.
    let incoming = before.flatMap { $0 == incoming ? $0 : nil } ?? incoming
    let wasMember =
      team == nil
      // What it has said before makes it no member again, after a person has decided.
      ? Membership.isProved(by: incoming, preferred: before) && (change != .keep || router.followsPreferred)
      : stored.map { Membership.follows(wasMember: router.followsPreferred, $0, preferred: before) } ?? false
    let leads = isOwner || Membership.leads(stored: stored, incoming: incoming, preferred: before)
    let reporter = PreferredDecision.Member(agent: router.agent, team: router.owner ?? team, dataset: incoming)
    let cause = PreferredDecision.cause(
      preferred: before, isForgotten: needsChoice, reporter: reporter, isMember: wasMember && leads, change: change,
      isOwner: isOwner,
      others: {
        if !isSmall { return nil }
        step.work += routers.count
        return before.map { members(of: $0).besides(router.agent) } ?? .init()
      })
    if let cause {
      prefer(
        incoming, from: .input, cause: cause, who: shownName(router),
        by: KeyChange.Reporter(router.agent, name: router.name, user: user))
    }
    let kept = change.isStored ? incoming : stored ?? incoming
    let now = preferred?.dataset
    let follows = Membership.follows(
      wasMember: wasMember && Membership.stays(leads: leads, kept, preferred: now), kept, preferred: now)
    if change.isStored {
      if let team {
        router.owner = router.owner ?? team
        router.team = router.owner
      }
      router.store(incoming, follows: follows, preferred: before?.parameters?.networkKey, at: self.now)
      moveSecret(to: .router(router.agent), from: .input)
      audit(.credentialsStored(router.agent, change))
    } else if change == .keep {
      router.followsPreferred = follows
    }
    return cause != nil
  }
}
