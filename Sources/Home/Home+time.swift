import ThreadDataset

/// What time brings.
extension Home {
  /// What depends on the settings is decided again.
  mutating func start() {
    needs.routerChecks = true
    step.needsHomeCheck = true
    needs.keyCheck = true
    needs.changeCheck = true
    needs.outageCheck = true
    needs.sharedCheck = true
    needs.nameCheck = true
    // What a login has sent unsealed matters as long as it publishes for a router.
    for key in alerts.keys.sorted() { if case .user(let user) = key.subject { endPlaintext(of: user) } }
  }

  mutating func tick(_ link: Link) {
    // Before alerts are raised: a split that is over is none.
    if discovery.needsSplitCheck { checkSplits() }
    ageAlerts()
    noticeSilence(link)
    checkAgents(link)
    forgetLeftRouters()
    endReadings()
    expireQuestions()
    continueAdoptions(link)
    if needsNetworkNames { nameNetworks() }
    if let disputeDue, disputeDue <= now { needs.keyCheck = true }
    for (user, time) in askedUntil where time <= now {
      askedUntil[user] = nil
      needs.sharedCheck = true
    }
  }

  /// Alerts whose conditions have lasted long enough; notices that have been published for as long as their
  /// definitions say; and those that were resolved a day ago.
  private mutating func ageAlerts() {
    // Most ticks find none.
    let due = alerts.filter { dueTime(of: $0.value, $0.key).map { $0 <= now } == true }
    for key in due.keys.sorted() {
      guard var alert = alerts[key] else { continue }
      switch alert.phase {
      case .held:
        let news = alert.raise(at: now)
        keep(alert, key, news, severityBefore: nil)
      case .firing: setAlert(key, nil)
      case .resolved:
        alerts[key] = nil
        noteRecord(.alert(key))
      }
    }
  }

  private func dueTime(of alert: Alert, _ key: AlertKey) -> WireTime? {
    switch alert.phase {
    case .held: alert.heldSince.adding(seconds: hold(of: key, alert.heldFacts ?? alert.facts))
    case .firing: key.name.traits.noticeDuration.map { alert.updatedAt.adding(seconds: $0) }
    case .resolved: alert.updatedAt.adding(seconds: Alert.resolvedRetention)
    }
  }

  /// A daemon that was away, or a broker that was, has received nothing: that is no silence of the routers.
  private mutating func noticeSilence(_ link: Link) {
    let limit = rules.settings.offlineAfter
    guard limit > 0, let since = link.listeningSince, since.adding(seconds: limit) <= now else { return }
    for router in routers.silent(since: now.adding(seconds: -limit)) { takeSilence(of: router) }
  }

  /// When something is due by the clock; nil: nothing before the next input.
  ///
  /// - Parameter link: as for the next tick.
  package func nextDue(_ link: Link, rules: HomeRules) -> WireTime? {
    var due: WireTime?
    func note(_ time: WireTime?) { if let time { due = min(due ?? time, time) } }
    var home = self
    home.step.rules = rules
    for (key, alert) in alerts { note(home.dueTime(of: alert, key)) }
    for question in questions { note(question.expiresAt) }
    for time in askedUntil.values { note(time) }
    for agent in allAgents {
      note(agent.forgottenAt)
      if !agent.isSilent { note(link.listeningSince.map(agent.silentAt(listeningSince:))) }
    }
    note(disputeDue)
    note(leftoverDue)
    if needs != Needs() { note(WireTime(milliseconds: 0)) }
    if discovery.needsSplitCheck || needsNetworkNames { note(WireTime(milliseconds: 0)) }
    let limit = rules.settings.offlineAfter
    if limit > 0, let since = link.listeningSince, let seen = routers.longestSilent {
      note(max(seen.adding(seconds: limit + 1), since.adding(seconds: limit)))
    }
    for stored in routers.waiting {
      let router = stored.value
      if home.isAdoptionDue(of: router) { note(WireTime(milliseconds: 0)) }
      if router.hasLeft { note(router.leftAt.adding(seconds: Self.retention)) }
      note(router.reading?.endsAt)
    }
    return due
  }

  /// A hold lasts as long as it should, whether the clock was set forward or back. What is said to have happened
  /// later than now happened now: otherwise it would not be over before the clock is there again.
  mutating func followClock(by jump: Int64) {
    for (key, alert) in alerts {
      var moved = alert
      // Where the clock was set back, only those that are later than now: the others may have begun since.
      if moved.phase == .held, jump > 0 || moved.heldSince > now {
        moved.heldSince = min(WireTime(milliseconds: moved.heldSince.milliseconds + jump), now)
      }
      moved.updatedAt = min(moved.updatedAt, now)
      if key.name == .homeOffline, let since = moved.outageSince {
        moved.facts.since = min(since, now)
        moved.heldFacts?.since = min(since, now)
      }
      guard moved != alert else { continue }
      alerts[key] = moved
      noteRecord(.alert(key))
    }
    routers.seeNotLater(than: now)
    if jump > 0 { noteUnwatched(since: WireTime(milliseconds: now.milliseconds - jump)) } else { endUnwatchedLater() }
    for user in askedUntil.keys { askedUntil[user] = now }
    for var agent in allAgents where agent.reportedAt > now {
      agent.reportedAt = now
      agent.firstReportedAt = min(agent.firstReportedAt, now)
      agents[agent.user]?[agent.name] = agent
    }
    discovery.needsSplitCheck = true
    needs.keyCheck = true
    needs.sharedCheck = true
    for stored in routers {
      var router = stored
      router.threadStateSince = router.threadStateSince.map { min($0, now) }
      router.threadStateReportedAt = router.threadStateReportedAt.map { min($0, now) }
      router.extras.credentialsGoneAt = router.credentialsGoneAt.map { min($0, now) }
      router.awaySince = router.awaySince.map { min($0, now) }
      router.extras.reading?.followClock(by: jump, now)
      if let former = router.formerKey { router.extras.formerKey?.until = min(former.until, now) }
      if !router.isPresent { router.firstSeenAt = min(router.firstSeenAt, now) }
      router.past.followClock(now)
      if router != stored { put(router) }
    }
    if let since = discoveredSince, since > now {
      discoveredSince = now
      noteRecord(.home)
    }
  }
}

// MARK: - Power cuts

/// Routers that went away together are one alert of the home, not one for each: in a power cut, or where the local
/// network fails, there is nothing to do about any one of them.
///
/// They are at least two, each of which went within ten minutes of the one before, and at least three times as many as
/// are still there. Who goes later belongs to them, who was away before does not. The others end it by coming back.
extension Home {
  /// Seconds between two that go together. Heartbeats are missed after five minutes, and records on the local network
  /// go after two.
  private static let outageGap = 600
  /// Routers are noticed to be away one after another: a router's own alert waits for the others.
  private static let holdsOfRouter = 4

  /// Seconds for which the condition of an alert has to last.
  func hold(of key: AlertKey, _ facts: AlertFacts) -> Int {
    guard key.name.isHeld(facts.message) else { return 0 }
    let hold = rules.settings.alertsHold
    if key.name == .borderRouterOffline, facts.message.isAway, routers.counts.away + routers.counts.there > 1 {
      return Self.holdsOfRouter * hold
    }
    let alert = alerts[key]
    let since = alert?.phase == .held ? alert?.heldSince ?? now : now
    guard let end = explanationEnds(key.name, facts.differs, since: since) else { return hold }
    return max(hold, Int((end.milliseconds - since.milliseconds + 999) / 1_000))
  }

  /// Whether so few are there, by the counts alone.
  var mayBeOutage: Bool {
    let counts = routers.counts
    return counts.away > 1 && counts.there * 3 <= counts.away || isActive(AlertKey(.homeOffline))
  }

  mutating func checkOutage() {
    needs.outageCheck = false
    guard mayBeOutage else { return }
    let gone = goneTogether
    step.work += routers.count
    guard let first = gone.first else { return setAlert(AlertKey(.homeOffline), nil) }
    var facts = AlertFacts(.awayTogether(routers: gone.count, of: gone.count + routers.counts.there))
    facts.names = .init(gone.map(shownName))
    facts.since = outageSince ?? first.awaySince
    setAlert(AlertKey(.homeOffline), facts)
  }

  /// In the order in which they went; none where that is no outage.
  var goneTogether: [Router] {
    let away = routers.filter { $0.isPresent && $0.isAway }.sorted { $0.awayOrder < $1.awayOrder }
    var gone: ArraySlice<Router>
    if let since = outageSince {
      gone = away.drop { $0.awayOrder < since }
    } else {
      let gaps = zip(away.dropFirst(), away).map { $0.awayOrder > $1.awayOrder.adding(seconds: Self.outageGap) }
      gone = away.dropFirst(gaps.lastIndex(of: true).map { $0 + 1 } ?? 0)
    }
    return gone.count > 1 && routers.counts.there * 3 <= gone.count ? Array(gone) : []
  }

  /// Whether a person is offered to forget a router: not while it may be back with the power.
  package func isGone(_ router: Router) -> Bool {
    guard !router.isOnline, !isAwayTogether(router) else { return false }
    if let own = alerts[AlertKey(.borderRouterOffline, .router(router.agent))] { return own.phase != .held }
    // No alert of its own says that it is away for long.
    return router.awaySince.map { $0.adding(seconds: Self.outageGap) <= now } == true
  }

  private var outageSince: WireTime? {
    let alert = alerts[AlertKey(.homeOffline)]
    return alert?.phase == .resolved ? nil : alert?.outageSince
  }

  /// Whether the alert of the home takes the place of a router's own. While it is held, an alert that fires goes on.
  func isAwayTogether(_ router: Router) -> Bool {
    guard let away = router.awaySince, let since = outageSince, away >= since else { return false }
    return alerts[AlertKey(.homeOffline)]?.phase == .firing
      || alerts[AlertKey(.borderRouterOffline, .router(router.agent))]?.phase != .firing
  }
}

extension Alert {
  /// Of `HomeOffline`: when the first router went.
  fileprivate var outageSince: WireTime? { (heldFacts ?? facts).since }
}

extension Router { fileprivate var awayOrder: WireTime { awaySince ?? WireTime(milliseconds: 0) } }

// MARK: - Numbers of envelopes

/// A signer: a login with one of its keys.
package struct SignerKey: Hashable, Sendable {
  package let user: ExactName
  /// Of the public key.
  package let issuer: Hash128
}

/// The numbers of the envelopes that were opened. They stay, also when an enrolment is revoked or a router has left:
/// the same key may be enrolled again, and what was sealed with it before would then count again.
///
/// A signer has a limited number of subjects. Beyond it the one with the lowest number goes, and is remembered as the
/// signer's mark: about what is not known, only higher numbers count.
struct SignerNumbers: Equatable, Sendable {
  private struct Numbered: Comparable, Sendable {
    let number: UInt64
    let subject: RouterMessage.Subject

    static func < (a: Self, b: Self) -> Bool { (a.number, a.subject) < (b.number, b.subject) }
  }

  private(set) var windows: [RouterMessage.Subject: SequenceWindow] = [:]
  private var lowest = SortedList<Numbered>()
  /// The highest number of those that are gone.
  var mark: UInt64?

  /// As it is written down; without a subject the mark, as the highest number.
  func window(_ subject: RouterMessage.Subject?) -> SequenceWindow? {
    if let subject { return windows[subject] }
    return mark.map {
      var window = SequenceWindow()
      window.high = $0
      return window
    }
  }

  /// - Parameter most: subjects that a signer may have, at least 1.
  /// - Returns: what the number is, and the subject that has gone for it.
  mutating func take(_ number: UInt64, _ subject: RouterMessage.Subject, most: Int) -> (
    SequenceWindow.Verdict, gone: RouterMessage.Subject?
  ) {
    if windows[subject] != nil { return (note(number, subject), nil) }
    if let mark, number <= mark { return (.outOfOrder, nil) }
    guard windows.count >= most else { return (note(number, subject), nil) }
    guard let first = lowest.first(where: { _ in true }), number > first.number else { return (.outOfOrder, nil) }
    windows[first.subject] = nil
    lowest.remove(first)
    mark = first.number
    return (note(number, subject), first.subject)
  }

  private mutating func note(_ number: UInt64, _ subject: RouterMessage.Subject) -> SequenceWindow.Verdict {
    var window = windows[subject] ?? SequenceWindow()
    let verdict = window.take(.number(number))
    load(window, of: subject)
    return verdict
  }

  /// Replaces what is known of a subject.
  mutating func load(_ window: SequenceWindow, of subject: RouterMessage.Subject) {
    let before = windows.updateValue(window, forKey: subject)
    lowest.replace(
      before.map { Numbered(number: $0.high ?? 0, subject: subject) },
      Numbered(number: window.high ?? 0, subject: subject))
  }
}

extension Home {
  /// The number of an envelope counts for its signer, whichever login publishes for the router meanwhile: else an old
  /// one could be sent again after that.
  mutating func takeNumber(of signature: RouterMessage.Signature, _ user: ExactName, _ subject: RouterMessage.Subject)
    -> SequenceWindow.Verdict
  {
    let key = SignerKey(user: user, issuer: signature.issuer)
    // Routers, and access points and networks beside them.
    let most = max(1, 2 * rules.settings.routersPerTeam)
    step.signer = .signer(key, subject)
    let (verdict, gone) = signers[key, default: SignerNumbers()].take(signature.number, subject, most: most)
    if let gone {
      noteRecord(.signer(key, gone))
      noteRecord(.signer(key, nil))
    }
    return verdict
  }
}
