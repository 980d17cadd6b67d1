import ThreadDataset

/// Which routers are given the preferred credentials. `Adoption` has the table of what moves one on.
extension Home {
  // MARK: What a router's check means for it

  /// Brings a router's adoption in line with what holds now.
  ///
  /// - Returns: the check after that: a router that need not be attached any more with what it was sent may match.
  mutating func checkAdoption(of router: inout Router, _ check: PreferredCheck, isSSIDNew: Bool) -> PreferredCheck {
    let isEnabled = rules.settings.adoptTimeout != nil
    guard rules.hasDaemon else { return check }
    let isMismatch = check.isMismatch && !isAccepted(router, check, preferred: preferred?.dataset)
    // No login has announced it, so there is none that could be sent something.
    guard router.source == .mqtt || router.adoption != nil, router.adoption != nil || isEnabled && isMismatch else {
      return check
    }
    let isAwaited = isAwaited(router)
    let counting = router.adoption?.state == .sent && !isAwaited ? nil : router.adoption?.terms
    let alert: AlertName =
      if router.hasNoNetwork { .borderRouterOffline } else if case .stale = check { .staleDataset } else {
        .preferredNetworkMismatch
      }
    let key = AlertKey(alert, .router(router.agent))
    let decision = Adoption.decide(
      router.adoption, isMismatch ? check : .none, situation(of: router, counting), isEnabled: isEnabled,
      isAwaited: isAwaited, isToStay: isToStay(router), isRaised: alerts[key]?.phase == .firing, isSSIDNew: isSSIDNew)
    switch decision {
    case .keep: return check
    case .begin: endAdoption(of: &router, next: .due)
    case .end: endAdoption(of: &router)
    case .fail(let obstacle): endAdoption(of: &router, next: obstacle)
    }
    let check = PreferredCheck(router, preferred: preferred?.dataset)
    if !check.isMismatch { endAdoption(of: &router) }
    return check
  }

  /// Whether the router's report is waited for. Not when something else is stored for it than it has reported: then
  /// that counts.
  private func isAwaited(_ router: Router) -> Bool {
    guard router.adoption?.state == .sent, let terms = router.adoption?.terms else { return false }
    return terms.reported == router.dataset
  }

  private func situation(of router: Router, _ terms: Adoption.Terms?) -> Adoption.Situation? {
    guard router.network != nil || router.hasNoNetwork, let preferred = preferredCredentials,
      let (user, key) = addressee(of: router, terms)
    else { return nil }
    return Adoption.Situation(
      preferred: preferred, reported: router.dataset, user: user, team: team(of: user), key: key)
  }

  /// The login that the credentials are sent to. Several logins of a team may publish for one router, and take turns:
  /// the one that a person was asked about stays, as long as something can be sealed for it. Else it is the last one.
  private func addressee(of router: Router, _ terms: Adoption.Terms?) -> (user: ExactName, key: AdoptionKey)? {
    guard let user = router.user else { return nil }
    if let asked = terms?.user, asked == user || team(of: asked) == team(of: user) {
      let key = adoptionKey(of: asked)
      if key != .notEnrolled { return (asked, key) }
    }
    return (user, adoptionKey(of: user))
  }

  private func adoptionKey(of user: ExactName) -> AdoptionKey {
    guard let client = clients[user], !client.isRevoked else { return .notEnrolled }
    return rules.canSeal() ? .enrolled(client.fingerprint) : .damaged
  }

  /// Its router left, or something else holds now: a question that waits is withdrawn, and what was agreed to is not
  /// given.
  mutating func endAdoption(of router: inout Router, next: AdoptionState? = nil) {
    if let adoption = router.adoption, let terms = adoption.terms {
      switch adoption.state {
      case .asked: withdraw(terms.consent)
      case .agreed: noteNotGiven(terms.consent, .changed)
      default: break
      }
      switch adoption.state {
      case .asked, .agreed, .sent: emit(.adoptionChanged(router.agent))
      default: break
      }
    }
    router.adoption = next.map { Adoption($0) }
  }

  // MARK: What the router reports

  /// Judges what a router reports that was sent the preferred credentials.
  ///
  /// - Parameter failure: why it does not use them, where it says so.
  /// - Returns: nil where the report does not count.
  mutating func reportOfAdoption(
    _ incoming: DatasetSummary?, _ failure: AdoptionState?, _ router: inout Router, _ stored: StoredRouter?
  ) -> Adoption.Confirmation? {
    // Without a dataset, what counts is that a router says why it does not use what it was sent, where what is stored
    // for it is not what it has.
    guard incoming != nil || failure != nil && (stored?.hasNoNetwork == true || stored?.dataset == nil),
      var adoption = router.adoption, let terms = adoption.terms
    else { return nil }
    let report = adoption.report(
      incoming, isAttached: incoming.map { router.isAttached(to: $0.network) } ?? false, isAwaited: isAwaited(router))
    guard let report else { return nil }
    // The order is sent again, and the change may end in time: only in the last minute that reason is final.
    let isEarly =
      failure == .pendingChange && report != .disagreement && terms.deadline.milliseconds - now.milliseconds > 60_000
    let final = isEarly ? nil : failure
    switch report {
    case .confirmed:
      router.adoption = nil
      return report
    case .disagreement: adoption.state = final ?? .disagreement
    case .configured, .notYet: if adoption.state == .sent, let final { adoption.state = final }
    }
    router.adoption = adoption
    return report
  }

  /// The same network may have another timestamp by now, and no person is asked about what the router reports instead.
  mutating func noteAdoptionReport(_ report: Adoption.Confirmation?, _ router: inout Router) {
    guard let report, report != .confirmed, let dataset = router.dataset else { return }
    router.adoption?.terms?.reported = dataset
  }

  // MARK: By the clock people are asked, messages are sent, and the wait ends

  mutating func continueAdoptions(_ link: Link) {
    // Users of whom no more questions may wait.
    var tooMany: Set<ExactName> = []
    for router in routers.waiting where router.value.isPresent { continueAdoption(of: router.value, link, &tooMany) }
  }

  private mutating func continueAdoption(of stored: Router, _ link: Link, _ tooMany: inout Set<ExactName>) {
    guard let adoption = stored.adoption else { return }
    guard let timeout = rules.settings.adoptTimeout else { return replaceAdoption(of: stored, by: nil) }
    // Another network or key is another question.
    if let terms = adoption.terms, isOutdated(terms, stored) { return finish(stored, stored) }
    switch adoption.state {
    case .due: if stored.isReached { ask(about: stored, &tooMany) }
    case .notEnrolled, .damagedKeys:
      let obstacle = addressee(of: stored, nil)?.key.obstacle
      if let obstacle {
        if obstacle != adoption.state { replaceAdoption(of: stored, by: obstacle) }
      } else if stored.isReached {
        ask(about: stored, &tooMany)
      } else {
        replaceAdoption(of: stored, by: .due)
      }
    case .asked:
      // A question that is gone, and was not settled, was lost.
      if adoption.terms.flatMap({ waiting($0.consent) }) == nil { failAdoption(of: stored, as: .expired) }
    case .agreed: send(stored, link, timeout: timeout)
    case .sent: wait(for: stored, link, timeout: timeout)
    default: break
    }
  }

  /// Whether the clock has something to do for it. What has failed rests until something else holds, and one that
  /// cannot be asked about until that has an end.
  func isAdoptionDue(of router: Router) -> Bool {
    guard let adoption = router.adoption, router.isPresent else { return false }
    if let terms = adoption.terms, isOutdated(terms, router) { return true }
    switch adoption.state {
    case .due: return router.isReached
    case .notEnrolled, .damagedKeys: return addressee(of: router, nil)?.key.obstacle != adoption.state
    case .asked, .agreed, .sent: return true
    default: return rules.settings.adoptTimeout == nil
    }
  }

  /// Whether a person was asked about something else than holds now.
  private func isOutdated(_ terms: Adoption.Terms, _ router: Router) -> Bool {
    situation(of: router, terms)?.isSameToSend(as: terms) != true
  }

  /// What is to be given to a router now; nil where it needs none, or is to stay where it is.
  private func target(of router: Router) -> (preferred: DatasetSummary, reported: DatasetSummary?)? {
    guard let preferred = preferredCredentials, !isToStay(router) else { return nil }
    return switch verdict(of: router) {
    case .mismatch, .stale: (preferred, router.dataset)
    case .none, .match, .conflict: nil
    }
  }

  /// Asks whether a router may be given the preferred credentials; not where "always" was approved.
  private mutating func ask(about stored: Router, _ tooMany: inout Set<ExactName>) {
    guard let target = target(of: stored), let (user, key) = addressee(of: stored, nil) else {
      return replaceAdoption(of: stored, by: nil)
    }
    guard case .enrolled(let fingerprint) = key else {
      let obstacle = key.obstacle ?? .notEnrolled
      if stored.adoption?.state != obstacle { replaceAdoption(of: stored, by: obstacle) }
      return
    }
    guard !tooMany.contains(user) else { return }
    var terms = Adoption.Terms(
      user: user, team: team(of: user), fingerprint: fingerprint, preferred: target.preferred,
      reported: target.reported, consent: ConsentID(0))
    let (requester, subject) = question(about: stored, terms)
    var router = stored
    do throws(ConsentRefusal) {
      // No answer is owed: the router is sent a message on a topic of its own.
      switch try ask(subject, by: requester, reply: .caller) {
      case .granted(let grant):
        terms.consent = grant
        router.adoption = Adoption(.agreed, terms)
      case .waiting(let question):
        terms.consent = question
        router.adoption = Adoption(.asked, terms)
      }
    } catch {
      if case .rateLimited = error { tooMany.insert(user) }
      guard stored.adoption?.state != .due else { return }
      router.adoption = Adoption(.due)
    }
    finish(router, stored)
  }

  private func question(about router: Router, _ terms: Adoption.Terms) -> (
    requester: Requester, subject: ConsentSubject
  ) {
    var requester = Requester(.login(terms.user), team: terms.team)
    requester.fingerprint = terms.fingerprint
    let elsewhere = router.isElsewhere ? router.currentNetwork : nil
    var network =
      elsewhere.map { AlertFacts.Named($0, networkName(of: $0)) } ?? terms.reported.map { AlertFacts.Named($0) }
      ?? router.network.map { AlertFacts.Named($0, networkName(of: $0)) }
    if router.hasNoNetwork { network = nil }
    if let shown = network { network?.needsID = hasNamesake(shown.id, shown.name) }
    let subject = ConsentSubject(
      .adopt, [ConsentNetwork(terms.preferred, of: nil)],
      router: .init(
        agent: router.agent, name: router.name, needsID: hasNamesake(router.agent, router.name), network: network,
        differs: network?.id == terms.preferred.network
          ? PreferredCheck(router, preferred: terms.preferred).differences : []))
    return (requester, subject)
  }

  /// Whether that by which it is given still counts: what was agreed to for good can be taken back.
  private func holds(_ terms: Adoption.Terms, _ router: Router) -> Bool {
    let past = decisions.last { $0.id == terms.consent }
    if let past, past.scope != .always { return true }
    let (requester, subject) = question(about: router, terms)
    return grants.contains { $0.covers(subject, of: requester) }
  }

  /// A person has agreed: the message is sent as soon as there is a connection.
  private mutating func send(_ stored: Router, _ link: Link, timeout: Int) {
    guard var terms = stored.adoption?.terms, let connection = link.connection else { return }
    guard let target = target(of: stored), holds(terms, stored) else { return replaceAdoption(of: stored, by: .due) }
    (terms.preferred, terms.reported) = target
    terms.message = max(1, rules.random())
    terms.deadline = now.adding(seconds: timeout)
    var router = stored
    router.adoption = Adoption(.sent, terms)
    deliver(&router, terms, to: connection)
    let (requester, subject) = question(about: router, terms)
    audit(.given(subject, to: requester, by: terms.consent))
    var event = RouterEvent(.datasetSent)
    event.user = terms.user
    event.network = .init(terms.preferred)
    event.consent = terms.consent
    event.isByGrant = grants.contains { $0.id == terms.consent }
    finish(router, stored, event)
  }

  private mutating func wait(for stored: Router, _ link: Link, timeout: Int) {
    guard var terms = stored.adoption?.terms, isAwaited(stored) else { return replaceAdoption(of: stored, by: .due) }
    let delivery = stored.adoption?.delivery
    let isDue =
      link.connection != nil && (delivery.map { $0.connection != link.connection || isOver($0.until) } ?? true)
    guard !isDue || holds(terms, stored) else { return replaceAdoption(of: stored, by: .due) }
    // Nothing is waited for longer than the current setting. So a clock that was set back does not make a router wait
    // for hours, and a setting that was lowered leaves it the new time.
    var deadline = min(terms.deadline, now.adding(seconds: timeout))
    if delivery?.hasArrived != true {
      // It is not known whether the broker has it, so the router has time from when it is sent the next time. Its
      // report may wait on the broker while the daemon is away.
      guard link.connection != nil, deadline > now || link.isCaughtUp(at: now) else { return }
      let isShort = deadline.milliseconds - now.milliseconds < Int64(timeout) * 500
      if isDue, isShort { deadline = now.adding(seconds: timeout) }
    }
    var router = stored
    if deadline != terms.deadline {
      terms.deadline = deadline
      router.adoption?.terms = terms
    }
    guard deadline > now else {
      if link.isCaughtUp(at: now) { failAdoption(of: router, as: .timeout) }
      return
    }
    if isDue, let connection = link.connection { deliver(&router, terms, to: connection) }
    if router != stored { put(router) } else { routers.set(router, firstSeen: now) }
  }

  /// One that lives longer than any is from before the clock was set back.
  private func isOver(_ until: WireTime) -> Bool {
    until <= now || until > now.adding(seconds: AdoptionOrder.longestLifetime)
  }

  private mutating func deliver(_ router: inout Router, _ terms: Adoption.Terms, to connection: Int64) {
    let left = max(1, Int(terms.deadline.milliseconds - now.milliseconds) / 1_000)
    let hasArrived = router.adoption?.delivery?.hasArrived ?? false
    router.adoption?.delivery = Adoption.Delivery(
      connection: connection, until: now.adding(seconds: min(left, AdoptionOrder.longestLifetime)),
      hasArrived: hasArrived)
    step.output.orders.append(
      AdoptionOrder(
        agent: router.agent, user: terms.user, message: terms.message, connection: connection, deadline: terms.deadline,
        dataset: preferred?.dataset ?? terms.preferred))
  }

  mutating func noteDelivery(of message: UInt64) {
    guard var router = routers.counts.orders[message].flatMap({ routers[$0] }) else { return }
    router.adoption?.delivery?.hasArrived = true
    routers.set(router, firstSeen: now)
  }

  /// A person can have it asked again, once the dataset opens.
  mutating func noteNotSent(_ message: UInt64) {
    guard let router = routers.counts.orders[message].flatMap({ routers[$0] }), router.adoption?.state == .sent,
      let terms = router.adoption?.terms
    else { return }
    let (requester, subject) = question(about: router, terms)
    noteNotGiven(subject, to: requester, by: terms.consent, .damaged)
    failAdoption(of: router, as: .damagedCredentials)
  }

  mutating func renewDeliveries() {
    for router in routers where router.adoption?.delivery?.hasArrived == false {
      var router = router
      router.adoption?.delivery = nil
      routers.set(router, firstSeen: now)
    }
  }

  // MARK: What a decision means

  /// A question about a router is settled.
  mutating func settleAdoption(_ record: ConsentRecord) {
    guard record.subject.command == .adopt, let agent = record.subject.router?.agent else { return }
    guard let stored = routers[agent], stored.isPresent, let adoption = stored.adoption, adoption.state == .asked,
      var terms = adoption.terms, terms.consent == record.id
    else {
      if record.outcome == .approved { noteNotGiven(record.id, .changed) }
      return
    }
    switch record.outcome {
    case .denied: return failAdoption(of: stored, as: .denied)
    case .expired, .revoked: return failAdoption(of: stored, as: .expired)
    case .approved: break
    }
    guard rules.settings.adoptTimeout != nil, !isOutdated(terms, stored), let target = target(of: stored) else {
      replaceAdoption(of: stored, by: rules.settings.adoptTimeout == nil ? nil : .due)
      return noteNotGiven(record.id, .changed)
    }
    (terms.preferred, terms.reported) = target
    var router = stored
    router.adoption = Adoption(.agreed, terms)
    finish(router, stored)
  }

  /// Has a person asked again whether a router gets the preferred credentials.
  mutating func askAgain(about agent: BorderAgentID) -> HomeAnswer {
    guard let stored = routers[agent], stored.isPresent else { return .refused(.unknownRouter(agent)) }
    guard let adoption = stored.adoption, adoption.state.canBeAskedAgain, rules.settings.adoptTimeout != nil,
      target(of: stored) != nil
    else { return .refused(.nothingToAskAgain(agent, stored.adoption?.state)) }
    if let terms = adoption.terms {
      let (requester, subject) = question(about: stored, terms)
      allowAgain(subject, to: requester)
    }
    replaceAdoption(of: stored, by: .due)
    return .asksAgain
  }

  // MARK: -

  private mutating func failAdoption(of stored: Router, as failure: AdoptionState) {
    var router = stored
    router.adoption?.state = failure
    finish(router, routers[stored.agent] ?? stored)
  }

  private mutating func replaceAdoption(of stored: Router, by next: AdoptionState?) {
    var router = stored
    endAdoption(of: &router, next: next)
    finish(router, stored)
  }

  /// The router is written with its adoption, and checked.
  private mutating func finish(_ router: Router, _ stored: Router, _ event: RouterEvent = RouterEvent()) {
    write(router, before: stored, event, trigger: .adoption)
  }
}

extension AdoptionOrder {
  /// Seconds that an envelope with an order may live.
  static let longestLifetime = 300
}
