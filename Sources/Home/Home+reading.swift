import ThreadDataset

/// What came of reading a border router itself, as one that has the PSKc of its network.
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

  package init(_ advertisement: Advertisement, of network: ExtendedPANID, pskc: Hash128, _ outcome: Outcome) {
    (self.advertisement, self.network, self.pskc, self.outcome) = (advertisement, network, pskc, outcome)
  }
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
  package var pending: PendingChange?
  package var problem: ReadingProblem?
  var refusals: Refusals?

  /// What its network changes to, without a secret.
  package struct PendingChange: Hashable, Sendable {
    package var at: WireTime
    package var differs: DatasetDifferences
    /// Where they change.
    package var channel: UInt16?
    package var networkName: String?

    /// Seconds for which it is shown after it was due: a router that has landed is read again then.
    private static let grace = 60

    package init(at: WireTime, differs: DatasetDifferences, channel: UInt16? = nil, networkName: String? = nil) {
      (self.at, self.differs, self.channel, self.networkName) = (at, differs, channel, networkName)
    }

    fileprivate init(_ pending: ReadingResult.Pending, from active: DatasetSummary, at now: WireTime) {
      let differs = pending.dataset.knownDifferences(from: active)
      self.init(
        at: WireTime(milliseconds: now.milliseconds + Int64(pending.delay)), differs: differs,
        channel: differs.contains(.channel) ? pending.dataset.parameters?.channelNumber : nil,
        networkName: differs.contains(.networkName) ? pending.dataset.name : nil)
    }

    var endsAt: WireTime { at.adding(seconds: Self.grace) }
  }

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
/// | an active dataset, of a router that nobody owns | stored for it, whatever its age: it says what is, now |
/// | … newer than the preferred one, with its keys | the preferred network follows, as with a member's report |
/// | … with the PSKc and another network key | disputed; it never changes the keys, nor confirms others |
/// | … while no network is preferred, or by its Extended PAN ID alone | stored for it |
/// | a pending dataset | what changes, and when, until it has landed |
/// | a refusal | noted; the third in a row, two hours after the first one, is a mismatch: `pskc` |
/// | nothing | noted |
///
/// Nobody owns a router by that, so what was read of it gives way: to what a login reports or a program stores for it,
/// and when its record names another network or it is not listed any more.
extension Home {
  mutating func take(_ result: ReadingResult) {
    guard let stored = router(of: result.advertisement),
      stored.actualNetwork == result.network || stored.source == .mqtt && stored.actualNetwork == nil
    else { return }
    var router = stored
    var note = router.reading ?? ReadingNote()
    var event = RouterEvent()
    switch result.outcome {
    case .datasets(let active, let pending):
      note.refusals = nil
      note.pending = pending.map { .init($0, from: active, at: now) }.flatMap { $0.differs.isEmpty ? nil : $0 }
      guard active.isComplete, active.network == result.network, active.parameters?.pskc == result.pskc else {
        note.problem = .invalid
        break
      }
      note.problem = nil
      if router.owner == nil {
        takeDataset(active, isCurrent: true, nil, &router, &event)
        note.readAt = now
      } else if router.dataset?.isSame(as: active) == true {
        note.readAt = now
      }
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
    router.reading = note == ReadingNote() ? nil : note
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

  /// Changes that have landed, or should have.
  mutating func endPendingChanges() {
    for stored in routers where stored.reading?.pending.map({ $0.endsAt <= now }) == true {
      var router = stored
      router.reading?.pending = nil
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
