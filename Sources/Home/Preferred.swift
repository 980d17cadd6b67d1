import ThreadDataset

/// A router's dataset against the preferred network of its home. What a dataset lacks that is not complete is not
/// compared.
package enum PreferredCheck: Hashable, Sendable {
  /// There is no preferred network, or it is not known on which one the router is.
  case none
  /// All essential parameters are equal; the timestamps need not be.
  case match
  /// Another Extended PAN ID, or content that a later timestamp makes newer than the preferred.
  case mismatch(DatasetDifferences)
  /// The preferred network with an older dataset: the router has not followed.
  case stale(DatasetDifferences)
  /// The preferred network with other content of the same age. One without an age is a mismatch.
  case conflict(DatasetDifferences)

  /// - Parameter current: the network that the router reports to be on; nil where that is not known. A router that is
  ///   configured for one network and runs on another does not match, whichever is preferred.
  init(_ dataset: DatasetSummary?, preferred: DatasetSummary?, current: ExtendedPANID? = nil) {
    guard let dataset, let preferred else {
      self = .none
      return
    }
    // Of a network that is preferred by its Extended PAN ID alone nothing else is known.
    let differences: DatasetDifferences =
      preferred.hasCredentials
      ? dataset.knownDifferences(from: preferred) : dataset.network == preferred.network ? [] : .extendedPANID
    if let current, current != dataset.network {
      self = .mismatch(differences.isEmpty ? .extendedPANID : differences)
      return
    }
    if differences.isEmpty {
      self = .match
      return
    }
    self =
      switch dataset.relation(to: preferred) {
      case .older: .stale(differences)
      case .conflict where dataset.activeTimestamp != nil: .conflict(differences)
      case .match, .newer, .mismatch, .conflict: .mismatch(differences)
      }
  }

  /// A router, and where it reports to be. One that was sent the preferred credentials matches only when it is attached
  /// with them, where it reports that.
  init(_ router: borrowing Router, preferred: DatasetSummary?) {
    // What is stored for it is not what it has.
    if router.hasNoNetwork, preferred != nil {
      self = .mismatch([])
      return
    }
    if router.dataset == nil, let network = router.network {
      self.init(network, activeSeconds: router.activeSeconds, preferred: preferred)
    } else {
      self.init(router.dataset, preferred: preferred, current: router.currentNetwork)
    }
    // It reports an older dataset than the preferred one that is stored for it.
    if self == .match, preferred?.hasCredentials == true, router.credential == .stale, !router.reportDiffers.isEmpty {
      self = .stale(router.reportDiffers)
    }
    if self == .match, router.mustAttach { self = .mismatch([]) }
    if isOnPreferred, router.refuses(preferred) { self = .mismatch(.pskc) }
  }

  /// A router that only says on which network it is. It has no keys that could be compared.
  private init(_ network: ExtendedPANID, activeSeconds: UInt64?, preferred: DatasetSummary?) {
    guard let preferred else {
      self = .none
      return
    }
    guard network == preferred.network else {
      self = .mismatch(.extendedPANID)
      return
    }
    if let activeSeconds, let current = preferred.activeSeconds, activeSeconds < current {
      self = .stale([])
    } else {
      self = .match
    }
  }

  /// For who asks about a dataset. Without the key of the preferred network nobody can vouch for one of it.
  static func answer(about dataset: DatasetSummary, preferred: DatasetSummary?) -> PreferredCheck {
    let check = PreferredCheck(dataset, preferred: preferred)
    return check == .match && preferred?.hasCredentials == false ? .none : check
  }

  /// Whether it is on the preferred network, as far as it can be seen.
  var isOnPreferred: Bool { self == .match || self == .stale([]) }

  package var isMismatch: Bool {
    switch self {
    case .none, .match: false
    case .mismatch, .stale, .conflict: true
    }
  }

  package var differences: DatasetDifferences {
    switch self {
    case .none, .match: []
    case .mismatch(let found), .stale(let found), .conflict(let found): found
    }
  }
}

/// The network that a home prefers.
package struct PreferredNetwork: Hashable, Sendable {
  package var dataset: DatasetSummary
  /// When the home first had one, and when it changed last.
  package var createdAt: WireTime
  package var changedAt: WireTime
  /// How its keys became others, as long as no person has confirmed that.
  package var keyChange: KeyChange?
}

/// A change of the preferred network's keys that no person has decided: each question about them names it.
package struct KeyChange: Hashable, Sendable {
  /// A router that reports them, or a program on this machine.
  package struct Reporter: Hashable, Sendable {
    /// Nil where a program has chosen them for no router.
    package let agent: BorderAgentID?
    /// Of the router; else who asked.
    package let name: String?
    /// The login that reported them; nil: a program on this machine.
    package let user: ExactName?

    package init(_ agent: BorderAgentID?, name: String?, user: ExactName?) {
      (self.agent, self.name, self.user) = (agent, name, user)
    }

    init(_ agent: BorderAgentID, _ router: Router?) { self.init(agent, name: router?.name, user: router?.user) }
  }

  package let at: WireTime
  package let reporters: [Reporter]

  package init(at now: WireTime, reporters: [Reporter]) { (at, self.reporters) = (now, reporters) }
}

/// A network that was the preferred one. A home keeps eight.
package struct FormerNetwork: Hashable, Sendable {
  static let limit = 8

  /// Names it in commands: `p-` and 8 hex digits.
  package let id: UInt32
  package let dataset: DatasetSummary
  /// When it was replaced.
  package let until: WireTime
}

/// Why the preferred network of a home is another one, or has other parameters.
package enum PreferredCause: Hashable, Sendable {
  /// The first network of the home.
  case first
  /// A member reports other parameters with the same keys and a later timestamp.
  case sameKeys
  /// The only member reports new keys.
  case onlyMember
  /// A second member reports the same new keys.
  case confirmed(by: BorderAgentID)
  /// A program on this machine stored it for a router of its team, or chose it.
  case owner
  /// A person chose it, or decided that no network is preferred.
  case person
  /// A login that the settings trust shares credentials of the network that was preferred by its Extended PAN ID alone.
  case shared

  /// Whether one reporter is enough for it.
  var isUnconfirmed: Bool { self == .onlyMember || self == .owner }

  /// Whether it is reported, and nobody chose it.
  var isReported: Bool { self != .owner && self != .person }
}

/// Whether a router follows the preferred network.
///
/// A router that merely names the preferred network's Extended PAN ID is no member: it must have the keys, or have had
/// them. Whatever else its dataset says: one that was left behind, or comes back, still counts against other keys. A
/// network that is preferred by its Extended PAN ID alone has no keys, and no members. Nor is a router a member whose
/// dataset is not complete. Who was read by the PSKc has that one.
enum Membership {
  static func follows(wasMember: Bool, _ dataset: DatasetSummary, preferred: DatasetSummary?) -> Bool {
    guard let preferred, preferred.hasCredentials, dataset.isComplete, dataset.network == preferred.network else {
      return false
    }
    return wasMember || dataset.hasKeys(of: preferred)
  }

  /// Whether a router that was read is a member.
  static func isProved(by dataset: DatasetSummary, preferred: DatasetSummary?) -> Bool {
    guard let preferred, let pskc = preferred.parameters?.pskc else { return false }
    return dataset.network == preferred.network && dataset.parameters?.pskc == pskc
  }

  /// Whether what is reported of a member may move the preferred network.
  ///
  /// A member whose stored dataset has the preferred keys, is newer than the preferred one and differs from it was left
  /// behind by what a person has chosen since: what it continues to report must not undo that. Other keys are a claim
  /// that no person has decided upon, because a person's choice ends the membership of claimants.
  static func leads(stored: DatasetSummary?, incoming: DatasetSummary, preferred: DatasetSummary?) -> Bool {
    guard let stored, let preferred, stored.hasKeys(of: preferred),
      case .mismatch = PreferredCheck(stored, preferred: preferred)
    else { return true }
    return incoming.isSame(as: preferred)
  }

  /// Whether a member is still one after a report. One that may not move the preferred network is none with other keys:
  /// as a claim they could move it later.
  static func stays(leads: Bool, _ dataset: DatasetSummary, preferred: DatasetSummary?) -> Bool {
    guard !leads, let preferred else { return true }
    return dataset.hasKeys(of: preferred)
  }

  /// Seconds that the timestamp of a change may be ahead of the clock: no later change would be followed before that
  /// time has come.
  static let mostAhead: UInt64 = 365 * 86_400

  /// Whether a router reports the preferred network, with its keys, at a time that is too far ahead. It may have any
  /// other age: timestamps that count 1, 2, 3 are in use, too.
  static func isTooFarAhead(_ incoming: DatasetSummary, preferred: DatasetSummary?, at now: WireTime) -> Bool {
    guard let preferred, incoming.hasKeys(of: preferred), incoming.relation(to: preferred) == .newer,
      let seconds = incoming.activeSeconds
    else { return false }
    return seconds > now.seconds + mostAhead
  }
}

/// Whether what is reported of a router changes the preferred network of its home.
///
/// | the dataset that comes | what follows |
/// |---|---|
/// | not complete | nothing |
/// | read of a router that nobody owns, and not a member's newer one with the same keys | nothing |
/// | no network is preferred, and no person has forgotten one | `first` |
/// | of the network that is preferred by its Extended PAN ID alone, and a router of another team reports the same | `confirmed` |
/// | of a router that is no member | nothing |
/// | a program of the owning team stores it on this machine | `owner` |
/// | another Extended PAN ID, or no later timestamp | nothing |
/// | the same keys | `sameKeys` |
/// | other keys, of the only member but for those that were read and have the same, nothing of the home is damaged, and no former member counts | `onlyMember` |
/// | other keys, which a second member reports too: of another team, where one has members or former ones | `confirmed` |
/// | other keys otherwise | nothing: disputed, until another member confirms the new keys or a person decides |
enum PreferredDecision {
  /// A router that says something about the preferred network.
  struct Member: Hashable {
    let agent: BorderAgentID
    /// Nil: nobody's, it was read. It counts against other keys, and for none.
    let team: ExactName?
    let dataset: DatasetSummary
  }

  /// Who counts against new keys.
  struct Members {
    var present: [Member] = []
    /// Former members that had the network's key less than 30 days ago, whether they left, moved to another network, or
    /// lost their credentials.
    var departed: [Member] = []
    /// When the first of these counts no more.
    var departedUntil: WireTime?
    /// Records of the home that could not be read: they may be those of a member that uses the current keys.
    var hasDamage = false

    /// All but one.
    func besides(_ agent: BorderAgentID) -> Members {
      Members(
        present: present.filter { $0.agent != agent }, departed: departed.filter { $0.agent != agent },
        departedUntil: departedUntil, hasDamage: hasDamage)
    }
  }

  /// - Parameters:
  ///   - isForgotten: a person has decided that no network is preferred.
  ///   - change: what becomes of the dataset in the router's own credentials.
  ///   - isOwner: a program on this machine stores it, of the team that owns the router. Apple documents that a change
  ///     under a Border Agent ID of the preferred network changes the preferred network.
  ///   - others: all other members, or, of a network that is preferred by its Extended PAN ID alone, all others that
  ///     have credentials of it; nil: they are looked at later.
  static func cause(
    preferred: DatasetSummary?, isForgotten: Bool, reporter: Member, isMember: Bool, change: DatasetDecision,
    isOwner: Bool = false, others: () -> Members?
  ) -> PreferredCause? {
    guard change.isStored || change == .keep, reporter.dataset.isComplete else { return nil }
    guard let preferred else { return isForgotten || reporter.team == nil ? nil : .first }
    let incoming = reporter.dataset
    guard preferred.hasCredentials else {
      guard incoming.network == preferred.network, reporter.team != nil else { return nil }
      let second = others()?.present.first {
        $0.dataset.isSame(as: incoming) && $0.team != nil && $0.team != reporter.team
      }
      return second.map { .confirmed(by: $0.agent) }
    }
    guard isMember else { return nil }
    if isOwner { return change.isStored ? .owner : nil }
    guard incoming.relation(to: preferred) == .newer else { return nil }
    if incoming.hasKeys(of: preferred) { return change.isStored ? .sameKeys : nil }
    guard reporter.team != nil, let others = others() else { return nil }
    let isAlone = others.present.allSatisfy { $0.team == nil && $0.dataset.isSame(as: incoming) }
    if isAlone, others.departed.isEmpty, !others.hasDamage { return .onlyMember }
    let isOneTeam =
      !others.hasDamage && (others.present + others.departed).allSatisfy { $0.team == nil || $0.team == reporter.team }
    let second = others.present.first {
      $0.dataset.relation(to: preferred) == .newer && $0.dataset.isSame(as: incoming) && $0.team != nil
        && (isOneTeam || $0.team != reporter.team)
    }
    return second.map { .confirmed(by: $0.agent) }
  }

  // MARK: Claims that wait

  /// Members that claim other keys, the newest first.
  static func claimants(of preferred: DatasetSummary, among members: Members) -> [Member] {
    members.present.filter { $0.dataset.relation(to: preferred) == .newer && !$0.dataset.hasKeys(of: preferred) }.sorted
    {
      let (a, b) = ($0.dataset.activeTimestamp, $1.dataset.activeTimestamp)
      if let a, let b, a != b { return a > b }
      return $0.agent < $1.agent
    }
  }

  /// The first claim that counts now. However many there are, each is looked at once: only of those with a second
  /// report, or of the only member, the rule is asked.
  ///
  /// - Parameter free: the claimants whose claims may count.
  static func countingClaim(_ free: [Member], _ claimants: [Member], _ members: Members, preferred: DatasetSummary) -> (
    Member, PreferredCause
  )? {
    let isOneTeam = !members.hasDamage && Set((members.present + members.departed).compactMap(\.team)).count == 1
    let owned = members.present.count { $0.team != nil }
    var reports: [DatasetSummary: (routers: Int, teams: Set<ExactName?>)] = [:]
    for one in claimants where one.team != nil {
      reports[one.dataset.essential, default: (0, [])].routers += 1
      reports[one.dataset.essential, default: (0, [])].teams.insert(one.team)
    }
    for claimant in free {
      let same = reports[claimant.dataset.essential]
      guard owned == 1 || same.map({ isOneTeam ? $0.routers > 1 : $0.teams.count > 1 }) == true else { continue }
      let cause = cause(
        preferred: preferred, isForgotten: false, reporter: claimant, isMember: true, change: .keep,
        others: { members.besides(claimant.agent) })
      if let cause { return (claimant, cause) }
    }
    return nil
  }
}
