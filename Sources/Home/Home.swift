import ThreadDataset

/// Everything that is true of one home, as a plain value: its border routers, the network that it prefers, alerts,
/// questions and grants, adoptions, owners, the keys of its clients.
///
/// `handle` is the specification: what comes in, what is then true, what follows. It reads no clock, no disk and no
/// network, and it cannot fail: what is wrong with an input is in the output. Secrets are not in here; see
/// `DatasetSummary`.
package struct Home: Sendable {
  // What is written down.
  package internal(set) var routers = RouterTable()
  package internal(set) var preferred: PreferredNetwork?
  /// A person has decided that no network is preferred.
  package internal(set) var isPreferredForgotten = false
  /// Networks that were preferred, the newest first.
  package internal(set) var former: [FormerNetwork] = []
  /// Networks of which a person has said that routers are on them on purpose.
  package internal(set) var accepted: Set<ExtendedPANID> = []
  /// A person has said that alerts arrive.
  package internal(set) var areAlertsConfirmed = false
  /// Whether a recovery code opens the store, as was last known; nil where it has none by design, as in a fleet.
  package internal(set) var hasRecoveryCode: Bool?
  /// The oldest first.
  var unwatched: [Unwatched] = []
  /// When the first list of the local network was complete; nil before, and while nothing is looked for there.
  var discoveredSince: WireTime?
  package internal(set) var alerts: [AlertKey: Alert] = [:]
  /// Oldest first, as are the next two.
  package internal(set) var questions: [ConsentQuestion] = []
  package internal(set) var grants: [ConsentGrant] = []
  package internal(set) var decisions: [ConsentRecord] = []
  package internal(set) var clients: [ExactName: EnrolledClient] = [:]
  var signers: [SignerKey: SignerNumbers] = [:]
  /// By network and user.
  package internal(set) var shared: [ExtendedPANID: [ExactName: SharedCredentials]] = [:]
  /// By user and name.
  var agents: [ExactName: [ExactName: ReportingAgent]] = [:]

  // What follows from that, or is of this process.
  /// Records could not be read. One of them may be that of the preferred network, or say that there is none.
  package var hasDamage = false
  /// Some of them have a secret: each of these may be that of a member of the preferred network.
  package var hasLostCredentials = false
  /// No first network becomes the preferred one by itself: a person has decided so, or there may have been one.
  var needsChoice: Bool { isPreferredForgotten || hasDamage }
  /// Whether a record that cannot be read may be of the preferred network.
  var mayHavePreferred: Bool { preferred == nil && !isPreferredForgotten && hasDamage }
  /// The network that the home has moved to, away from the preferred one; nil while it has not.
  package internal(set) var movedTo: ExtendedPANID?
  /// That explains why the routers there differ from the preferred network: their own alerts are spared.
  var isMoveExplaining = false
  /// No router is, or was, on the preferred network, and others are seen elsewhere.
  var isPreferredEmpty = false
  /// Routers that have an alert: most have none, and are spared the look.
  var routersWithAlerts: Set<BorderAgentID> = []
  var discovery = DiscoveryMemory()
  /// The alert that no network is preferred may name others now: looked at with the next tick.
  var needsNetworkNames = false
  /// When a former member counts no more against keys that are claimed.
  var disputeDue: WireTime?
  /// When something in a store is left over for long enough, or what was agreed about it ends.
  var leftoverDue: WireTime?
  /// When a change of a store was sent last.
  var orderedAt: [ConsentID: WireTime] = [:]
  /// What rules about the whole home have to look at.
  var needs = Needs()
  /// Networks of which a user shares credentials, and how many there are in all.
  var sharedBy: [ExactName: Set<ExtendedPANID>] = [:]
  package internal(set) var sharedCount = 0
  /// What their networks are called.
  var sharedNames = SortedList<SeenName>()
  /// Until when no person is asked again about what a user shares: it may change its keys again and again.
  var askedUntil: [ExactName: WireTime] = [:]

  /// What has changed since it was taken.
  package internal(set) var changes = Changes()
  var step: Step

  package struct Changes: Equatable, Sendable {
    /// To be written in this order; what is not there any more is deleted.
    package internal(set) var records = RecordKeys()
    /// What is published of these has changed.
    package var routers: Set<BorderAgentID> = []
    package var networks: Set<ExtendedPANID> = []

    package var isEmpty: Bool { records.isEmpty && routers.isEmpty && networks.isEmpty }
  }

  /// What rules about the whole home have to look at: with the input that it follows from, or, in a home of many, with
  /// the next tick. Not stored: a start looks at all.
  struct Needs: Equatable, Sendable {
    /// The preferred network before, where it has changed: every router is checked again.
    var preferredBefore: DatasetSummary??
    /// The keys of the preferred network may be disputed now, or no more.
    var keyCheck = false
    /// A router changed that an alert of the home may be about.
    var changeCheck = false
    /// A router changed since it was looked for those that went away together.
    var outageCheck = false
    /// Alerts of routers may have to end or to come back.
    var routerChecks = false
    /// What is shared may mean something else now.
    var sharedCheck = false
    /// Alerts may have to tell networks apart now, or no more.
    var nameCheck = false
    /// Who has made it wait for the tick is charged for that.
    var isCharged = false
  }

  /// What belongs to one input.
  struct Step: Sendable {
    var now = WireTime(milliseconds: 0)
    var rules: HomeRules
    var output = HomeOutput()
    /// Routers and shared credentials that were looked at, beside those that the input names.
    var work = 0
    var hasChangedRouters = false
    /// A router came or went, or the preferred network changed.
    var needsHomeCheck = false
    /// No router makes room for another one that is only seen.
    var isListFull = false
    var raisedMismatches: [BorderAgentID] = []
    /// Others that look named as one that came, went or has another name.
    var namesakes: Set<BorderAgentID> = []
    /// The record of the envelope's number. It is written with what else has changed.
    var signer: RecordKey?

    /// Without a copy: it is asked for with each message.
    mutating func takeOutput() -> HomeOutput { exchange(&output, with: HomeOutput()) }
  }

  package init(rules: HomeRules) { step = Step(rules: rules) }

  /// Takes an input, and decides all that follows from it.
  package mutating func handle(_ input: HomeInput, at now: WireTime, rules: HomeRules) -> HomeOutput {
    step = Step(now: now, rules: rules)
    if case .message(let message, let user) = input, takeSignOfLife(message, from: user) { return step.takeOutput() }
    switch input {
    case .started: start()
    case .message(let message, let user): receive(message, from: user)
    case .request(let request, let context): step.output.answer = answer(request, context)
    case .decision(let decision): step.output.answer = decide(decision)
    case .sightings(let sightings): see(sightings)
    case .reading(let result): step.output.answer = take(result)
    case .discoveryEnded: endDiscovery()
    case .unwatched(let since): noteUnwatched(since: since)
    case .tick(let link): tick(link)
    case .clockJumped(let jump): followClock(by: jump)
    case .delivered(let message): noteDelivery(of: message)
    case .deliveriesAreDue: renewDeliveries()
    case .notGiven(let subject, let requester, let id, let obstacle):
      noteNotGiven(subject, to: requester, by: id, obstacle)
    case .notSent(let message): noteNotSent(message)
    case .remove(let agent): step.output.answer = remove(agent)
    case .acceptRouter(let agent): step.output.answer = accept(agent)
    case .renameRouter(let agent, let name): step.output.answer = rename(agent, name)
    case .codeAsked(let agent, let minutes): step.output.answer = expectCredentialSharing(of: agent, minutes: minutes)
    case .testAlert(let facts): step.output.answer = testAlert(facts)
    case .confirmAlerts(let isConfirmed): step.output.answer = confirmAlerts(isConfirmed)
    case .recoveryCode(let isThere): noteRecoveryCode(isThere)
    case .acceptNetwork(let network, let isAccepted): step.output.answer = accept(network, isAccepted)
    case .enroll(let client, let user, let approver): step.output.answer = enroll(client, as: user, by: approver)
    case .revoke(let user, let forgets, let approver): step.output.answer = revoke(user, forgets: forgets, by: approver)
    case .acceptCredentials(let network, let approver): step.output.answer = acceptCredentials(network, by: approver)
    case .secretLost(let key): loseSecret(of: key)
    case .condition(let name, let facts): setAlert(AlertKey(name), facts)
    }
    followUp(isOfLogin: input.isOfLogin)
    // A number is saved with what its message has changed: one that changed nothing may come again after a crash.
    if let signer = step.signer, step.hasChangedRouters || !step.output.events.isEmpty || !step.output.audit.isEmpty {
      noteRecord(signer)
    }
    return step.takeOutput()
  }

  mutating func emit(_ event: HomeEvent) { step.output.events.append(event) }

  mutating func audit(_ note: AuditNote) { step.output.audit.append(note) }

  mutating func moveSecret(to key: RecordKey, from source: SecretMove.Source) {
    step.output.secrets.append(SecretMove(to: key, from: source))
  }

  /// A record is to be written, or deleted.
  mutating func noteRecord(_ key: RecordKey) { changes.records.insert(key) }

  /// What has changed since the last call.
  package mutating func takeChanges() -> Changes {
    defer { changes = Changes() }
    return changes
  }

  /// What the last input made the home look at beside what it names: who has sent it is charged for that.
  package var work: Int { step.work }

  var now: WireTime { step.now }
  var rules: HomeRules { step.rules }

  package func team(of user: ExactName) -> ExactName { rules.team(user) }
}

extension Home: Equatable {
  /// Whether both have the same in all that is written down.
  package static func == (a: Home, b: Home) -> Bool {
    a.routers == b.routers && a.preferred == b.preferred && a.isPreferredForgotten == b.isPreferredForgotten
      && a.former == b.former && a.accepted == b.accepted && a.discoveredSince == b.discoveredSince
      && a.areAlertsConfirmed == b.areAlertsConfirmed && a.hasRecoveryCode == b.hasRecoveryCode
      && a.unwatched == b.unwatched && a.alerts == b.alerts && a.questions == b.questions && a.grants == b.grants
      && a.decisions == b.decisions && a.clients == b.clients && a.signers == b.signers && a.shared == b.shared
      && a.agents == b.agents
  }
}

// MARK: - What follows from all of an input together

extension Home {
  /// Rules about the whole home are checked with each input only in a home that has no more routers, and no more shared
  /// credentials, than this. In others a login could have all of them looked at again and again.
  static let few = 64

  /// Whether what a login sends makes the home look at all that it has.
  var isSmall: Bool { routers.count <= Self.few && sharedCount <= Self.few || !rules.hasDaemon }

  private mutating func followUp(isOfLogin: Bool) {
    nameAgain()
    let checksHome = !isOfLogin || isSmall
    if checksHome {
      checkHome()
    } else if !needs.isCharged, needsAll {
      // Once, whatever else comes until the tick.
      needs.isCharged = true
      step.work += routers.count + sharedCount
    }
    if rules.settings.adoptTimeout != nil {
      for agent in step.raisedMismatches {
        guard var router = routers[agent], router.isAnnounced, router.adoption == nil else { continue }
        router.adoption = Adoption(.due)
        put(router)
      }
    }
    if step.needsHomeCheck { checkPreferredExists() }
    if checksHome { needs = Needs() }
  }

  /// Whether a rule looks at all that the home has.
  private var needsAll: Bool {
    if needs.preferredBefore != nil || needs.keyCheck || needs.routerChecks || needs.sharedCheck || needs.nameCheck {
      return true
    }
    guard needs.changeCheck else { return false }
    let change = alerts[AlertKey(.preferredNetworkChanged)]?.facts.message
    if case .preferredChanged(_, disagrees: true) = change { return true }
    return movedTo != nil || isActive(AlertKey(.preferredKeyDisputed)) || mayBeOutage
  }

  private mutating func checkHome() {
    if let leftoverDue, leftoverDue <= now { needs.sharedCheck = true }
    if needs == Needs() { return }
    checkPreferredByShared()
    if needs.preferredBefore != nil {
      withdrawOutdated()
      checkRouters()
    }
    if needs.keyCheck || needs.changeCheck && isActive(AlertKey(.preferredKeyDisputed)) {
      let before = preferred
      checkDispute()
      if preferred?.dataset != before?.dataset {
        withdrawOutdated()
        checkRouters()
      }
    }
    checkPreferredChange()
    checkNetworkChanges()
    checkMove()
    checkPreferredEmpty()
    checkWithoutNetwork()
    if needs.outageCheck { checkOutage() }
    checkShared()
    // An alert whose hold is over fires by this.
    if needs.nameCheck { for key in alerts.keys.sorted() { nameAgain(key) } }
    if needs.routerChecks { checkRouters() }
  }

  /// Every router is checked again, because what it is checked against has changed.
  private mutating func checkRouters() {
    step.work += routers.count
    for router in routers where router.isPresent { check(router) }
  }

  /// Whether a network that a router has lost has others depends on them all.
  private mutating func checkWithoutNetwork() {
    guard needs.changeCheck else { return }
    let lost = routersWithAlerts.compactMap { routers[$0] }.filter(\.hasNoNetwork)
    for router in lost.sorted(by: { $0.agent < $1.agent }) { check(router) }
  }

  private mutating func check(_ before: Router) {
    var router = before
    if let dataset = router.dataset {
      router.followsPreferred = Membership.follows(
        wasMember: router.followsPreferred, dataset, preferred: preferred?.dataset)
    }
    router.noteShared(preferred: preferred?.dataset)
    let check = checkAdoption(of: &router, PreferredCheck(router, preferred: preferred?.dataset), isSSIDNew: false)
    if check.isOnPreferred, router.memberOf != preferred?.dataset.network {
      router.noteMember(of: preferred?.dataset.network, before: StoredRouter(before))
    }
    router.awaySince = router.isAway ? router.awaySince ?? now : nil
    notePast(of: &router)
    if router != before { put(router) }
    if let old = needs.preferredBefore,
      verdict(of: before, preferred: old) != verdict(of: router, preferred: preferred?.dataset)
    {
      changes.routers.insert(router.agent)
    }
    setAlerts(of: StoredRouter(router), check, trigger: .preferredChanged)
  }

  /// What is published of a router's check: a router on an accepted network is no mismatch for anybody.
  package func verdict(of router: Router) -> PreferredCheck { verdict(of: router, preferred: preferred?.dataset) }

  private func verdict(of router: Router, preferred: DatasetSummary?) -> PreferredCheck {
    let check = PreferredCheck(router, preferred: preferred)
    return isAccepted(router, check, preferred: preferred) ? .none : check
  }

  /// Whether nothing is wrong about where it is: a person has accepted its network. One that was on the preferred
  /// network before is accepted itself: that it moved there later would be news.
  func isAccepted(_ router: Router, _ check: PreferredCheck, preferred: DatasetSummary?) -> Bool {
    guard check.isMismatch, let network = router.network, accepted.contains(network), network != preferred?.network,
      !router.isElsewhere, !router.hasNoNetwork
    else { return false }
    return router.memberOf != preferred?.network || router.acceptedOn == network
  }
}

// MARK: - Routers

extension Home {
  /// A router has changed: all that is true of it now is decided again, whatever has changed it.
  ///
  /// - Parameters:
  ///   - before: as it is in the table; nil where it is not.
  ///   - event: what is published about it; without a type, only its state.
  mutating func write(
    _ router: consuming Router, before: StoredRouter?, _ event: consuming RouterEvent, trigger: AlertFacts.Trigger
  ) {
    // A split depends on how long a router has led, also where nothing else has changed.
    if router.mayBeInSplit || before?.mayBeInSplit == true { discovery.needsSplitCheck = true }
    router.noteShared(preferred: preferred?.dataset)
    let check = checkAdoption(
      of: &router, PreferredCheck(router, preferred: preferred?.dataset), isSSIDNew: event.types.contains(.ssidChanged))
    if check.isOnPreferred { router.noteMember(of: preferred?.dataset.network, before: before) }
    router.awaySince = router.isAway ? before?.awaySince ?? now : nil
    if let before, event.types.isEmpty, (copy router).looksTheSame(as: before.value) {
      // Numbers and signs of life are saved with the next change.
      routers.set(router, firstSeen: now)
      return
    }
    let isBack = router.isOnline && before.map { $0.isPresent && !$0.isOnline } ?? false
    if isBack || !event.types.isEmpty { name(router, in: &event) }
    if isBack, let before {
      event.types.insert(.online)
      if before.hasNoNetworkYet, let network = router.actualNetwork {
        event.isFirstNetwork = true
        let name = network == router.network ? router.networkName : nil
        event.network = event.network ?? .init(network, name ?? networkName(of: network))
      }
    }
    if !event.types.isEmpty { emit(.router(event)) }
    let stored = put(router, before)
    noteKeys(stored.dataset)
    if stored.network != before?.network || stored.networkName != before?.networkName
      || stored.isOnline != before?.isOnline
    {
      step.needsHomeCheck = true
    }
    findMove()
    findEmpty()
    if isSmall { checkOutage() }
    setAlerts(of: stored, check, trigger: trigger)
    if let former = before?.user, former != stored.user { endPlaintext(of: former) }
  }

  /// The same for who has a copy of what is in the table.
  mutating func write(
    _ router: consuming Router, before: Router, _ event: consuming RouterEvent, trigger: AlertFacts.Trigger
  ) { write(router, before: StoredRouter(before), event, trigger: trigger) }

  /// Puts a router into the table, and notes what of it is to be written and published.
  mutating func put(_ router: consuming Router) {
    let before = routers.stored(router.agent)
    _ = put(router, before)
  }

  private mutating func put(_ router: consuming Router, _ before: StoredRouter?) -> StoredRouter {
    notePast(of: &router)
    let stored = StoredRouter(router)
    noteNetworks(stored.value, before)
    noteNewName(of: stored.value)
    let news = routers.set(stored, firstSeen: now)
    noteChange(of: stored.agent)
    noteNames(news)
    return stored
  }

  /// Nothing is left of a border agent id.
  mutating func drop(_ router: Router) {
    let news = routers.remove(router.agent)
    noteChange(of: router.agent)
    noteNames(news)
  }

  private mutating func noteChange(of agent: BorderAgentID) {
    noteRecord(.router(agent))
    changes.routers.insert(agent)
    step.hasChangedRouters = true
    needs.changeCheck = true
    needs.outageCheck = true
  }

  /// - Parameters:
  ///   - router: as it is now, or was before it went.
  ///   - before: as it was; nil where it came, or went.
  mutating func noteNetworks(_ router: Router, _ before: StoredRouter?) {
    if !shared.isEmpty, isAirNews(before?.value, router) { needs.sharedCheck = true }
    let old = before?.isPresent == true ? before?.network : nil
    let new = router.isPresent ? router.network : nil
    let pending = before?.isPresent == true ? before?.reading?.pending : nil
    let next = router.isPresent ? router.reading?.pending : nil
    if pending != next { for one in [pending, next].compactMap(\.self) { changes.networks.insert(one.network) } }
    guard
      old != new || before?.isOnline != router.isOnline || before?.dataset != router.dataset
        || before?.networkName != router.networkName
    else { return }
    if let old { changes.networks.insert(old) }
    if let new { changes.networks.insert(new) }
  }

  /// Takes a router off the list: its alerts resolve, its adoption ends. What is kept of its id is the caller's.
  mutating func unlist(_ router: Router, _ event: RouterEvent) {
    var event = event
    event.types.insert(.left)
    event.network = router.network.map { .init($0, router.networkName) }
    name(router, in: &event)
    var ending = router
    endAdoption(of: &ending)
    noteNetworks(router, nil)
    if let network = router.network, network == preferred?.dataset.network {
      event.isLastOfPreferred = routers.counts.networks[network]?.routers == 1
    }
    emit(.router(event))
    if router.mayBeInSplit { discovery.needsSplitCheck = true }
    for name in AlertName.ofRouters { setAlert(AlertKey(name, .router(router.agent)), nil) }
    step.needsHomeCheck = true
  }
}

// MARK: - Alerts

extension Home {
  func isActive(_ key: AlertKey) -> Bool { alerts[key].map { $0.phase != .resolved } ?? false }

  /// Brings an alert in line with whether its condition holds now.
  ///
  /// - Parameter facts: nil: it does not.
  mutating func setAlert(_ key: AlertKey, _ facts: AlertFacts?) {
    guard rules.hasDaemon else { return }
    // Not by `map`: what is passed to it has a copy of the home.
    let wanted: AlertFacts? = if let facts { withIDs(facts) } else { nil }
    let hold = if let wanted { self.hold(of: key, wanted) } else { 0 }
    guard var alert = alerts[key] else {
      guard let wanted else { return }
      let (new, news) = Alert.began(wanted, hold: hold, at: now)
      keep(new, key, news, severityBefore: nil)
      return
    }
    if alert.isAsWanted(wanted, hold: hold, at: now) { return }
    let before = key.severity(alert.facts)
    let (news, isChanged) = alert.set(wanted, hold: hold, at: now)
    guard isChanged else { return }
    keep(alert, key, news, severityBefore: news == .updated ? before : nil)
  }

  mutating func keep(_ alert: Alert, _ key: AlertKey, _ news: Alert.News?, severityBefore: AlertSeverity?) {
    noteRecord(.alert(key))
    // It ended before it was published.
    let isGone = alert.phase == .resolved && alert.endsAt == nil
    alerts[key] = isGone ? nil : alert
    if case .router(let agent) = key.subject {
      if isGone || alert.phase == .resolved {
        if !AlertName.ofRouters.contains(where: { isActive(AlertKey($0, .router(agent))) }) {
          routersWithAlerts.remove(agent)
        }
      } else {
        routersWithAlerts.insert(agent)
      }
      if news == .raised, alert.facts.message.isMismatch(key.name) { step.raisedMismatches.append(agent) }
    }
    // The alerts of its routers end, or come back.
    if key.name == .homeOffline { needs.routerChecks = true }
    guard let news else { return }
    let severity = key.severity(alert.facts)
    emit(.alert(key, alert, news, previousSeverity: severityBefore == severity ? nil : severityBefore))
  }

  /// Brings the alerts of a router in line with the conditions that hold now.
  private mutating func setAlerts(of stored: StoredRouter, _ check: PreferredCheck, trigger: AlertFacts.Trigger) {
    var (currentName, hasOthers) = (String?.none, false)
    // Before the calls: with a part of the home as an argument they copy all of it.
    let (agent, preferred) = (stored.agent, preferred?.dataset)
    if stored.isElsewhere || stored.dataset == nil, let network = stored.actualNetwork {
      currentName = networkName(of: network)
    }
    if let network = stored.network { hasOthers = (routers.counts.networks[network]?.online ?? 0) > 0 }
    let isExplained = check.isMismatch && isExplained(stored.value)
    let isAwayTogether = isAwayTogether(stored.value)
    let isAccepted = isAccepted(stored.value, check, preferred: preferred)
    let conditions = RouterAlerts(
      router: stored, check: check, preferred: preferred, trigger: trigger, lastSeen: routers.lastSeen(agent),
      currentName: currentName, isExplainedByHome: isExplained, isAwayTogether: isAwayTogether, isAccepted: isAccepted,
      hasOthers: hasOthers)
    let (holding, hasAlerts) = (conditions.holding(), routersWithAlerts.contains(agent))
    if holding.isEmpty, !hasAlerts { return }
    for name in AlertName.ofRouters {
      let key = AlertKey(name, .router(agent))
      if let one = holding.first(where: { $0.name == name }) {
        setAlert(key, one.facts)
      } else if hasAlerts {
        setAlert(key, nil)
      }
    }
  }
}

// MARK: - Networks

/// A network that border routers of the home are on, that it prefers, or of which a login shares credentials.
package struct NetworkView: Hashable, Sendable {
  package let id: ExtendedPANID
  /// Empty where it is not known.
  package var name = ""
  /// Of the preferred network its own; else the newest one of its routers, or of those that are shared.
  package var dataset: DatasetSummary?
  package var routers = 0
  package var online = 0
  package var isPreferred = false
  package var isAccepted = false
  /// What it changes to.
  package var pending: ReadingNote.PendingChange?
  /// Users who share its credentials.
  package var sharedBy: [ExactName] = []
}

extension NetworkView: Comparable {
  /// By name.
  package static func < (a: NetworkView, b: NetworkView) -> Bool { (a.name, a.id) < (b.name, b.id) }
}

extension Home {
  /// All networks, by name.
  package var networks: [NetworkView] {
    var all = Set(routers.counts.networks.keys)
    if let preferred { all.insert(preferred.dataset.network) }
    all.formUnion(shared.keys)
    return all.compactMap(network).sorted()
  }

  /// The first ones of those that routers are on, by name.
  func firstNetworks(_ most: Int) -> [NetworkView] {
    var first: [NetworkView] = []
    for id in routers.counts.networks.keys {
      guard let view = network(id) else { continue }
      if first.count == most {
        guard let last = first.last, view < last else { continue }
        first.removeLast()
      }
      first.insert(view, at: first.firstIndex { view < $0 } ?? first.count)
    }
    return first
  }

  /// How many there are.
  package var networkCount: Int {
    let seen = routers.counts.networks
    var others = Set(shared.keys)
    if let preferred { others.insert(preferred.dataset.network) }
    return seen.count + others.count { seen[$0] == nil }
  }

  /// Nil where no router is on it, it is not preferred, and nobody shares its credentials.
  package func network(_ id: ExtendedPANID) -> NetworkView? {
    let members = routers.counts.networks[id]
    var view = NetworkView(id: id, isAccepted: accepted.contains(id))
    view.routers = members?.routers ?? 0
    view.online = members?.online ?? 0
    view.pending = pendingChange(of: id)
    if let preferred, preferred.dataset.network == id {
      view.isPreferred = true
      view.name = preferred.dataset.name
    }
    let shared = shared(of: id)
    view.sharedBy = shared.map(\.user)
    guard members != nil || view.isPreferred || !shared.isEmpty else { return nil }
    let router = members.flatMap { _ in view.name.isEmpty ? routers.shown(id) : nil }
    // Anybody can name an Extended PAN ID that is on the air: of the preferred network only its own dataset is shown.
    view.dataset = view.isPreferred ? preferredCredentials : router?.dataset ?? newest(of: shared)?.dataset
    if let dataset = view.dataset {
      view.name = dataset.name
    } else if view.name.isEmpty {
      view.name = router?.networkName ?? ""
    }
    return view
  }

  /// As a router that is on it calls it.
  package func networkName(of id: ExtendedPANID) -> String? { network(id).flatMap { $0.name.isEmpty ? nil : $0.name } }
}
