import ThreadDataset

/// What came of reading a border router itself, as one that has the PSKc of its network, or a code that it shows.
package struct ReadingResult: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// Its active dataset, which travels beside the input, and what is pending there.
    case datasets(DatasetSummary, pending: Pending?)
    /// It does not have the PSKc.
    case refused
    case failed(ReadingProblem)
  }

  package struct Pending: Hashable, Sendable {
    package let dataset: DatasetSummary
    /// Milliseconds until the network uses it.
    package let delay: UInt32

    package init(_ dataset: DatasetSummary, delay: UInt32) { (self.dataset, self.delay) = (dataset, delay) }
  }

  /// Its record, by which it was found.
  package let advertisement: Advertisement
  /// Of which network the PSKc is.
  package let network: ExtendedPANID
  package let pskc: Hash128
  package let outcome: Outcome
  /// A person has given the code that the router shows: network and PSKc are those of its answer.
  package private(set) var isByCode = false

  package init(_ advertisement: Advertisement, of network: ExtendedPANID, pskc: Hash128, _ outcome: Outcome) {
    (self.advertisement, self.network, self.pskc, self.outcome) = (advertisement, network, pskc, outcome)
  }

  /// By a code.
  ///
  /// - Returns: nil for a dataset that is not complete.
  package init?(_ advertisement: Advertisement, byCode active: DatasetSummary, pending: Pending?) {
    guard active.isComplete, let pskc = active.parameters?.pskc else { return nil }
    self.init(advertisement, of: active.network, pskc: pskc, .datasets(active, pending: pending))
    isByCode = true
  }
}

/// What a network that came by a code is for the home.
package enum JoinedNetwork: Hashable, Sendable {
  /// The preferred one, with the keys that it has.
  case preferred
  /// The preferred one, by its Extended PAN ID alone.
  case preferredByID
  /// The preferred one, with other keys.
  case disputed(DatasetDifferences)
  /// One of those that a person can prefer: none is.
  case choice
  /// Another one is preferred.
  case other
  /// Nothing was stored: what this team reports of the router counts; nil: its record names another network, or the
  /// dataset is dated too far ahead.
  case notStored(owner: ExactName?)
}

/// Why a router was not read last time.
package enum ReadingProblem: UInt8, Hashable, Sendable, CaseIterable {
  /// It can't be reached, or is silent, as one that allows no session.
  case noAnswer = 1
  /// It does not have the PSKc of its network.
  case refused
  /// Its answer is not valid, or no complete dataset with that PSKc.
  case invalid
}

/// What is known of a router by reading it.
package struct ReadingNote: Hashable, Sendable {
  /// When it has itself shown last that it has the dataset that is stored for it.
  package var readAt: WireTime?
  /// Also one that has landed, as long as others may not have followed.
  package var change: PendingChange?
  package var problem: ReadingProblem?
  var refusals: Refusals?
  var contradiction: Contradiction?

  package var pending: PendingChange? { change.flatMap { $0.hasLanded ? nil : $0 } }

  /// What its network changes to, without a secret.
  package struct PendingChange: Hashable, Sendable {
    let network: ExtendedPANID
    package var at: WireTime
    package let differs: DatasetDifferences
    /// Where they change.
    package let channel: UInt16?
    package let networkName: String?
    /// Nothing is pending any more where it was read.
    fileprivate(set) var hasLanded: Bool

    /// Seconds before and after it is due in which its network's routers may differ. Each is read again then.
    private static let grace = 60
    /// Seconds by which two routers may differ in when it is due.
    private static let tolerance = 10

    package init(
      of network: ExtendedPANID, at: WireTime, differs: DatasetDifferences, channel: UInt16? = nil,
      networkName: String? = nil, hasLanded: Bool = false
    ) {
      (self.network, self.at, self.differs) = (network, at, differs)
      (self.channel, self.networkName, self.hasLanded) = (channel, networkName, hasLanded)
    }

    fileprivate init(_ pending: ReadingResult.Pending, from active: DatasetSummary, at now: WireTime) {
      let differs = pending.dataset.knownDifferences(from: active)
      self.init(
        of: active.network, at: WireTime(milliseconds: now.milliseconds + Int64(pending.delay)), differs: differs,
        channel: differs.contains(.channel) ? pending.dataset.parameters?.channelNumber : nil,
        networkName: differs.contains(.networkName) ? pending.dataset.name : nil)
    }

    var beginsAt: WireTime { at.adding(seconds: -Self.grace) }
    var endsAt: WireTime { at.adding(seconds: Self.grace) }

    /// Whether another router says the same.
    fileprivate func isSame(as other: PendingChange) -> Bool {
      var copy = self
      (copy.at, copy.hasLanded) = (other.at, other.hasLanded)
      return copy == other && at >= other.at.adding(seconds: -Self.tolerance)
        && at <= other.at.adding(seconds: Self.tolerance)
    }
  }

  /// It has another dataset than its login reports.
  struct Contradiction: Hashable, Sendable {
    var differs: DatasetDifferences
    /// When it was read so first and last.
    let first: WireTime
    var last: WireTime

    /// Seconds between these: an agent may be slow.
    private static let shortest = 600
    /// Seconds without a reading after which it counts no more.
    private static let retention = 86_400

    var isConfirmed: Bool { last >= first.adding(seconds: Self.shortest) }
    fileprivate var endsAt: WireTime { last.adding(seconds: Self.retention) }
  }

  /// When something of it is over.
  var endsAt: WireTime? { [change?.endsAt, contradiction?.endsAt].compactMap(\.self).min() }

  fileprivate mutating func end(at now: WireTime) {
    if let change, change.endsAt <= now { self.change = nil }
    if let contradiction, contradiction.endsAt <= now { self.contradiction = nil }
  }

  fileprivate mutating func take(_ pending: PendingChange?, at now: WireTime) {
    if let pending, !pending.differs.isEmpty {
      change = pending
    } else if let before = change, before.beginsAt <= now {
      change?.hasLanded = true
    } else {
      change = nil
    }
  }

  mutating func followClock(by jump: Int64, _ now: WireTime) {
    readAt = readAt.map { min($0, now) }
    if let at = change?.at { change?.at = WireTime(milliseconds: at.milliseconds + jump) }
    contradiction = contradiction.map { .init(differs: $0.differs, first: min($0.first, now), last: min($0.last, now)) }
  }

  /// What is stored for the router is another dataset, or none.
  mutating func forgetDataset() { (readAt, contradiction) = (nil, nil) }

  /// Tries in a row that a router has refused. One alone may be a forged datagram, or a router that starts.
  struct Refusals: Hashable, Sendable {
    /// Of the PSKc that was tried.
    let pskc: Hash128
    let first: WireTime
    var last: WireTime
    var count: UInt8 = 1

    static let fewest: UInt8 = 3
    /// Seconds from the first one to the last one.
    static let shortest = 7_200
    /// Seconds after which an earlier one counts no more.
    static let longestPause = 86_400

    mutating func add(at now: WireTime) {
      last = now
      count = min(count, .max - 1) + 1
    }

    var areEnough: Bool { count >= Self.fewest && last >= first.adding(seconds: Self.shortest) }
  }
}

// MARK: - What follows from a reading

/// What border routers say of themselves. The answer to a PSKc proves that a router has that PSKc, and no more: whoever
/// has it can make up the rest. So a router that was read is a member, and never changes keys.
///
/// | what was read | what follows |
/// |---|---|
/// | of a router that is not listed any more, or is on another network by now, or by its login's report | nothing |
/// | an active dataset that is not complete, of another network, or with another PSKc | noted |
/// | the same, of a router that somebody owns | noted as read where it says the same; what differs is left to its owner |
/// | … what differs from the report of its login, again after ten minutes or more | `ReportsDiffer`: a slow agent has reported by then. Until they agree, the login reports something else, or it was not read for a day |
/// | an active dataset, of a router that nobody owns | stored for it, whatever its age: it says what is, now |
/// | … newer than the preferred one, with its keys | the preferred network follows, as with a member's report; dated too far ahead, it is a conflict and not stored |
/// | … with the PSKc and another network key | disputed; it never changes the keys, nor confirms others |
/// | … while no network is preferred, or by its Extended PAN ID alone | stored for it |
/// | a pending dataset | what changes, and when, until it has landed or is withdrawn; of the preferred network `NetworkChanges` |
/// | … alerts about what it changes, that begin within a minute of when it is due | held until a minute after that: whoever has the PSKc can hold none for longer |
/// | a dataset by a code | the same, and a person reads what the network is for the home: `JoinedNetwork` |
/// | a refusal | noted; the third in a row, two hours after the first one, is a mismatch: `pskc` |
/// | nothing | noted |
///
/// Nobody owns a router by that, so what was read of it gives way: to what a login reports or a program stores for it,
/// and when its record names another network or it is not listed any more.
extension Home {
  mutating func take(_ result: ReadingResult) -> HomeAnswer? {
    note(result)
    guard result.isByCode, case .datasets(let active, _) = result.outcome else { return nil }
    return .joined(join(active, router(of: result.advertisement)))
  }

  private mutating func join(_ active: DatasetSummary, _ router: Router?) -> JoinedNetwork {
    guard let router, router.dataset?.isSame(as: active) == true else { return .notStored(owner: router?.owner) }
    audit(.joined(active.network, by: router.agent))
    // Who has its code has asked for it.
    _ = expectCredentialSharing(of: router.agent, minutes: 10)
    guard let preferred = preferred?.dataset else { return .choice }
    guard preferred.network == active.network else { return .other }
    guard preferred.hasCredentials else { return .preferredByID }
    return active.hasKeys(of: preferred) ? .preferred : .disputed(active.differences(from: preferred))
  }

  private mutating func note(_ result: ReadingResult) {
    guard let stored = router(of: result.advertisement),
      stored.actualNetwork == result.network || stored.source == .mqtt && stored.actualNetwork == nil
    else { return }
    var router = stored
    var note = router.reading ?? ReadingNote()
    var event = RouterEvent()
    switch result.outcome {
    case .datasets(let active, let pending):
      note.refusals = nil
      guard active.isComplete, active.network == result.network, active.parameters?.pskc == result.pskc else {
        note.problem = .invalid
        break
      }
      note.take(pending.map { known(.init($0, from: active, at: now)) }, at: now)
      note.problem = nil
      if router.owner == nil {
        takeDataset(active, isCurrent: true, nil, &router, &event)
      } else if let reported = router.dataset {
        let differs = reported.network == active.network ? reported.knownDifferences(from: active) : []
        note.contradiction =
          differs.isEmpty ? nil : .init(differs: differs, first: note.contradiction?.first ?? now, last: now)
      }
      if router.dataset?.isSame(as: active) == true { note.readAt = now }
    case .refused:
      note.problem = .refused
      if let before = note.refusals, before.pskc == result.pskc, before.first <= now,
        now < before.last.adding(seconds: ReadingNote.Refusals.longestPause)
      {
        note.refusals?.add(at: now)
      } else {
        note.refusals = .init(pskc: result.pskc, first: now, last: now)
      }
    case .failed(let problem): note.problem = problem
    }
    router.extras.reading = note == ReadingNote() ? nil : note
    if router != stored { write(router, before: stored, event, trigger: .mdns) }
  }

  /// Deletes what was read of a router that nobody owns.
  mutating func dropReading(of router: inout Router) {
    guard router.isRead else { return }
    noteKeys(router.dataset)
    router.dropCredentials(preferred: preferred?.dataset.parameters?.networkKey, at: now)
    moveSecret(to: .router(router.agent), from: .nothing)
    audit(.credentialsDeleted(router.agent))
  }

  /// Changes that should have landed everywhere, and contradictions of long ago.
  mutating func endReadings() {
    for stored in routers.waiting where stored.reading?.endsAt.map({ $0 <= now }) == true {
      var router = stored.value
      router.extras.reading?.end(at: now)
      if router.reading == ReadingNote() { router.extras.reading = nil }
      write(router, before: stored, RouterEvent(), trigger: .mdns)
    }
  }

  /// The credentials of each network whose PSKc is known: the preferred network's own, of the others the newest ones.
  package var credentialsToRead: [ExtendedPANID: (record: RecordKey, pskc: Hash128)] {
    var newest: [ExtendedPANID: (record: RecordKey, dataset: DatasetSummary)] = [:]
    func note(_ dataset: DatasetSummary?, _ record: RecordKey) {
      guard let dataset, dataset.parameters?.pskc != nil else { return }
      if newest[dataset.network].map({ dataset.isPreferable(to: $0.dataset) }) == false { return }
      newest[dataset.network] = (record, dataset)
    }
    for router in routers { note(router.dataset, .router(router.agent)) }
    for one in allShared { note(one.dataset, .shared(one.user, one.network)) }
    for one in former { note(one.dataset, .former(one.id)) }
    if let preferred = preferredCredentials { newest[preferred.network] = (.home, preferred) }
    return newest.compactMapValues { known in known.dataset.parameters?.pskc.map { (known.record, $0) } }
  }
}

// MARK: - What is pending

extension Home {
  /// The most changes of one network that are looked at: its routers say the same.
  private static let mostChanges = 8

  /// The first ones of a network that are due, then those that have landed.
  private func changes(of network: ExtendedPANID) -> [ReadingNote.PendingChange] {
    routers.counts.changes.first(Self.mostChanges, after: { $0.network < network }, while: { $0.network == network })
      .compactMap { routers[$0.agent]?.reading?.change }
  }

  /// As another router of the network has said it, so that it does not change with each reading.
  private func known(_ change: ReadingNote.PendingChange) -> ReadingNote.PendingChange {
    var known = changes(of: change.network).first(where: change.isSame) ?? change
    known.hasLanded = false
    return known
  }

  /// What a network changes to next.
  func pendingChange(of network: ExtendedPANID) -> ReadingNote.PendingChange? {
    changes(of: network).first { !$0.hasLanded }
  }

  mutating func checkNetworkChanges() {
    guard needs.preferredBefore != nil || needs.changeCheck else { return }
    let key = AlertKey(.networkChanges)
    guard let preferred = preferred?.dataset, let change = pendingChange(of: preferred.network) else {
      return setAlert(key, nil)
    }
    var facts = AlertFacts(.networkChanges(channel: change.channel, name: change.networkName))
    facts.network = .init(preferred)
    facts.differs = change.differs
    facts.since = change.at
    setAlert(key, facts)
  }

  /// Until when a change of the preferred network explains an alert whose condition began at a time; nil: none does.
  func explanationEnds(_ name: AlertName, _ differs: DatasetDifferences?, since: WireTime) -> WireTime? {
    guard [.preferredNetworkMismatch, .staleDataset, .preferredNetworkChanged].contains(name),
      let network = preferred?.dataset.network,
      // The record of a router says no more than that it is behind.
      let differs = differs ?? (name == .staleDataset ? [] : nil)
    else { return nil }
    return changes(of: network).filter { differs.isSubset(of: $0.differs) && $0.beginsAt <= since && since < $0.endsAt }
      .map(\.endsAt).max()
  }
}

extension Router {
  /// Whether what is stored for it was read of it alone: nobody has reported or stored it.
  var isRead: Bool { dataset != nil && owner == nil }

  /// Whether it has often enough shown that it does not have the credentials of the preferred network that its record
  /// names.
  func refuses(_ preferred: DatasetSummary?) -> Bool {
    guard source == .mdns, owner == nil, let refusals = reading?.refusals, refusals.areEnough else { return false }
    return preferred?.parameters?.pskc == refusals.pskc
  }
}
