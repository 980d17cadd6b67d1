import ThreadDataset

/// What is counted of the routers of a home: an input about one of them must not look at all of them. It follows from
/// them; `RouterTable` keeps it.
struct RouterCounts: Equatable, Sendable {
  /// Routers on one network.
  struct Members: Equatable {
    fileprivate(set) var routers = 0
    fileprivate(set) var online = 0
    /// How many are each team's.
    fileprivate(set) var teams: [ExactName?: Int] = [:]
  }

  private(set) var totals = RouterTotals()
  /// Border agent ids that count for each team.
  private(set) var ids: [ExactName: Int] = [:]
  /// Of these, the ones that have left.
  private(set) var left = SortedList<Left>()
  /// Those that were never on the preferred network, the newest first.
  private(set) var newest = SortedList<Newest>()
  /// By the message with which a router was sent the preferred credentials.
  private(set) var orders: [UInt64: BorderAgentID] = [:]

  // The others are of routers on the list.
  private(set) var ofUser: [ExactName: Int] = [:]
  /// Those that only their records have brought there.
  private(set) var seen = 0
  /// Those that are away, and the others; visitors are neither.
  private(set) var away = 0
  private(set) var there = 0
  private(set) var networks: [ExtendedPANID: Members] = [:]
  /// By the preferred network that they were on last, and the one that they are on.
  private(set) var members: [ExtendedPANID: [ExtendedPANID: Members]] = [:]
  /// The routers by which a network can be shown; the last one is the best.
  private(set) var shown = SortedList<Shown>()
  private(set) var behind = SortedList<Behind>()
  /// Of their networks, as read of them.
  private(set) var changes = SortedList<Change>()
  private(set) var names = SortedList<SeenName>()
  /// As their routers call them.
  private(set) var networkNames = SortedList<SeenName>()

  /// A router that has left, by its team and since when.
  struct Left: Comparable, Sendable {
    let team: ExactName
    let since: WireTime
    let agent: BorderAgentID

    static func < (a: Self, b: Self) -> Bool { (a.team, a.since, a.agent) < (b.team, b.since, b.agent) }
  }

  struct Newest: Comparable, Sendable {
    let since: WireTime
    let agent: BorderAgentID

    static func < (a: Self, b: Self) -> Bool { (a.since, a.agent) > (b.since, b.agent) }
  }

  struct Shown: Comparable, Sendable {
    let network: ExtendedPANID
    let example: Example

    static func < (a: Self, b: Self) -> Bool { (a.network, a.example) < (b.network, b.example) }
  }

  /// A router that a login has announced, by its access point and team.
  struct Behind: Comparable, Sendable {
    let accessPoint: ExactName
    let team: ExactName
    let agent: BorderAgentID

    static func < (a: Self, b: Self) -> Bool { (a.accessPoint, a.team, a.agent) < (b.accessPoint, b.team, b.agent) }
  }

  /// What a network changes to, by when; what has landed comes last.
  struct Change: Comparable, Sendable {
    let network: ExtendedPANID
    let hasLanded: Bool
    let at: WireTime
    let agent: BorderAgentID

    fileprivate init(_ change: ReadingNote.PendingChange, of agent: BorderAgentID) {
      (network, hasLanded, at, self.agent) = (change.network, change.hasLanded, change.at, agent)
    }

    static func < (a: Self, b: Self) -> Bool {
      (a.network, a.hasLanded ? 1 : 0, a.at, a.agent) < (b.network, b.hasLanded ? 1 : 0, b.at, b.agent)
    }
  }

  /// How well a router shows its network: by the newest dataset that is complete, another one, or else a name.
  struct Example: Comparable, Sendable {
    let agent: BorderAgentID
    private let timestamp: Timestamp?
    private let hasDataset: Bool
    private let hasName: Bool

    init(_ router: borrowing Router) {
      agent = router.agent
      timestamp = router.dataset?.isComplete == true ? router.dataset?.activeTimestamp : nil
      hasDataset = router.dataset != nil
      hasName = router.networkName?.isEmpty == false
    }

    static func < (a: Self, b: Self) -> Bool {
      if a.hasDataset != b.hasDataset { return b.hasDataset }
      if a.timestamp != b.timestamp {
        guard let mine = a.timestamp, let others = b.timestamp else { return a.timestamp == nil }
        return mine < others
      }
      if a.hasName != b.hasName { return b.hasName }
      return a.agent > b.agent
    }
  }

  /// What is counted of a router.
  struct Counted: Equatable {
    let team: ExactName?
    let user: ExactName?
    let left: Left?
    let newest: Newest?
    let behind: Behind?
    let change: Change?
    let message: UInt64?
    let hasDataset: Bool
    let isPresent: Bool
    let isOnline: Bool
    let isDetached: Bool
    let isElsewhere: Bool
    let isSeenOnly: Bool
    /// Nil where that does not matter.
    let isAway: Bool?
    let network: ExtendedPANID?
    let actualNetwork: ExtendedPANID?
    let memberOf: ExtendedPANID?
    let example: Example
    let name: String?
    let networkName: String?

    init(_ router: borrowing Router) {
      name = router.name
      networkName = router.networkName
      team = router.team
      user = router.user
      let agent = router.agent
      let since = router.leftAt
      left = router.hasLeft ? router.team.map { Left(team: $0, since: since, agent: agent) } : nil
      newest =
        router.followsPreferred || router.memberOf != nil || Self.isSeenOnly(router)
        ? nil : Newest(since: router.firstSeenAt, agent: agent)
      behind =
        if router.isAnnounced, let team = router.team, let accessPoint = router.accessPoint {
          Behind(accessPoint: ExactName(accessPoint), team: team, agent: agent)
        } else { nil }
      change = router.isPresent ? router.reading?.change.map { Change($0, of: agent) } : nil
      message = router.adoption?.terms.flatMap { $0.message == 0 ? nil : $0.message }
      hasDataset = router.dataset != nil
      isPresent = router.isPresent
      isOnline = router.isOnline
      isDetached = router.threadState == .detached
      isElsewhere = router.isElsewhere
      isSeenOnly = router.source == .mdns
      isAway = router.isPresent && !router.isVisitor ? router.isAway : nil
      network = router.network
      actualNetwork = router.actualNetwork
      memberOf = router.memberOf
      example = Example(router)
    }

    /// Whether it is listed because the local network has it, and counts against no limit.
    private static func isSeenOnly(_ router: borrowing Router) -> Bool { router.isPresent && router.source == .mdns }

    fileprivate var seenName: SeenName? { SeenName(name, example.agent) }

    fileprivate var seenNetworkName: SeenName? { network.flatMap { SeenName(networkName, $0) } }

    fileprivate var shown: Shown? { isPresent ? network.map { Shown(network: $0, example: example) } : nil }
  }

  /// A router came, changed or went.
  mutating func note(_ before: Counted?, _ after: Counted?) {
    // Most changes are none of what is counted: nothing is touched then, which a snapshot may share.
    if before == after { return }
    if let before { totals.add(-1, before) }
    if let after { totals.add(1, after) }
    if before?.team != after?.team {
      Self.add(-1, &ids, before?.team)
      Self.add(1, &ids, after?.team)
    }
    away += (after?.isAway == true ? 1 : 0) - (before?.isAway == true ? 1 : 0)
    there += (after?.isAway == false ? 1 : 0) - (before?.isAway == false ? 1 : 0)
    left.replace(before?.left, after?.left)
    newest.replace(before?.newest, after?.newest)
    behind.replace(before?.behind, after?.behind)
    changes.replace(before?.change, after?.change)
    shown.replace(before?.shown, after?.shown)
    if before?.message != after?.message {
      if let message = before?.message { orders[message] = nil }
      if let message = after?.message { orders[message] = after?.example.agent }
    }
    let old = before?.isPresent == true ? before : nil
    let new = after?.isPresent == true ? after : nil
    if old == nil, new == nil { return }
    if old?.user != new?.user {
      Self.add(-1, &ofUser, old?.user)
      Self.add(1, &ofUser, new?.user)
    }
    if old?.name != new?.name { names.replace(old?.seenName, new?.seenName) }
    if old?.network != new?.network || old?.networkName != new?.networkName {
      networkNames.rename(old?.seenNetworkName, new?.seenNetworkName)
    }
    seen += (new?.isSeenOnly == true ? 1 : 0) - (old?.isSeenOnly == true ? 1 : 0)
    let isSame = old?.network == new?.network && old?.isOnline == new?.isOnline && old?.team == new?.team
    if !isSame {
      if let old, let network = old.network { Self.add(-1, &networks, network, old) }
      if let new, let network = new.network { Self.add(1, &networks, network, new) }
    }
    if isSame, old?.actualNetwork == new?.actualNetwork, old?.memberOf == new?.memberOf { return }
    if let old, let network = old.actualNetwork, let preferred = old.memberOf {
      Self.add(-1, &members[preferred, default: [:]], network, old)
      if members[preferred]?.isEmpty == true { members[preferred] = nil }
    }
    if let new, let network = new.actualNetwork, let preferred = new.memberOf {
      Self.add(1, &members[preferred, default: [:]], network, new)
    }
  }

  private static func add<Key>(_ change: Int, _ counts: inout [Key: Int], _ key: Key?) {
    guard let key else { return }
    let count = counts[key, default: 0] + change
    counts[key] = count > 0 ? count : nil
  }

  private static func add(
    _ change: Int, _ members: inout [ExtendedPANID: Members], _ network: ExtendedPANID, _ router: Counted
  ) {
    var there = members[network, default: Members()]
    there.routers += change
    if router.isOnline { there.online += change }
    add(change, &there.teams, router.team)
    members[network] = there.routers > 0 ? there : nil
  }
}

extension Router {
  /// Whether nothing but its owner and its numbers is left of it.
  var hasLeft: Bool { !isPresent && dataset == nil }

  var leftAt: WireTime { max(credentialsGoneAt ?? firstSeenAt, firstSeenAt) }
}

/// How many routers a home has, for people.
package struct RouterTotals: Hashable, Sendable {
  /// On the list.
  package var listed = 0
  /// Of these.
  package var online = 0
  /// Of those that are online.
  package var detached = 0
  /// On the list, and on another network than the one they are configured for.
  package var elsewhere = 0
  /// Of which something is kept although they are not on the list.
  package var departed = 0
  /// Whose credentials are stored, on the list or not.
  package var credentials = 0

  package var offline: Int {
    get { listed - online }
    set { online = listed - newValue }
  }

  package init() {}

  fileprivate mutating func add(_ change: Int, _ router: RouterCounts.Counted) {
    if router.hasDataset { credentials += change }
    guard router.isPresent else {
      departed += change
      return
    }
    listed += change
    if router.isElsewhere { elsewhere += change }
    guard router.isOnline else { return }
    online += change
    if router.isDetached { detached += change }
  }

  package static func += (all: inout RouterTotals, one: RouterTotals) {
    all.listed += one.listed
    all.online += one.online
    all.detached += one.detached
    all.elsewhere += one.elsewhere
    all.departed += one.departed
    all.credentials += one.credentials
  }
}
