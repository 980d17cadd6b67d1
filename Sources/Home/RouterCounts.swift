import ThreadDataset

/// What is counted of the routers of a home: an input about one of them must not look at all of them. It follows from
/// them; `RouterTable` keeps it.
struct RouterCounts: Equatable, Sendable {
  /// Routers on one network.
  struct Members: Equatable {
    fileprivate(set) var routers = 0
    fileprivate(set) var online = 0
    /// How many are each team's; of none, under no name.
    fileprivate(set) var teams: [ExactName: Int] = [:]

    fileprivate mutating func add(_ change: Int, _ router: Counted) {
      routers += change
      if router.isOnline { online += change }
      RouterCounts.add(change, &teams, router.team ?? "")
    }
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
    static let nothing = Counted()

    fileprivate var agent = BorderAgentID(high: 0, low: 0)
    fileprivate var isThere = false
    fileprivate var team: ExactName?
    fileprivate var left: Left?
    fileprivate var newest: Newest?
    fileprivate var behind: Behind?
    fileprivate var change: Change?
    fileprivate var message: UInt64?
    fileprivate var hasDataset = false

    // Of one that is not on the list they are as they are here.
    fileprivate var isPresent = false
    fileprivate var user: ExactName?
    fileprivate var shown: Shown?
    fileprivate var isOnline = false
    fileprivate var isDetached = false
    fileprivate var isElsewhere = false
    fileprivate var isSeenOnly = false
    /// Nil where that does not matter.
    fileprivate var isAway: Bool?
    fileprivate var network: ExtendedPANID?
    fileprivate var actualNetwork: ExtendedPANID?
    fileprivate var memberOf: ExtendedPANID?
    fileprivate var name: String?
    fileprivate var networkName: String?

    private init() {}

    init(_ router: borrowing Router) {
      let agent = router.agent
      (self.agent, isThere) = (agent, true)
      team = router.team
      let since = router.leftAt
      left = router.hasLeft ? router.team.map { Left(team: $0, since: since, agent: agent) } : nil
      // One that is listed because the local network has it counts against no limit.
      let isSeenOnly = router.isPresent && router.source == .mdns
      newest =
        router.followsPreferred || router.memberOf != nil || isSeenOnly
        ? nil : Newest(since: router.firstSeenAt, agent: agent)
      if router.isAnnounced, let team = router.team, let accessPoint = router.accessPoint {
        behind = Behind(accessPoint: ExactName(accessPoint), team: team, agent: agent)
      }
      message = router.adoption?.terms.flatMap { $0.message == 0 ? nil : $0.message }
      hasDataset = router.dataset != nil
      guard router.isPresent else { return }
      isPresent = true
      change = router.reading?.change.map { Change($0, of: agent) }
      user = router.user
      isOnline = router.isOnline
      isDetached = router.threadState == .detached
      isElsewhere = router.isElsewhere
      self.isSeenOnly = isSeenOnly
      isAway = router.isVisitor ? nil : router.isAway
      network = router.network
      actualNetwork = router.actualNetwork
      memberOf = router.memberOf
      name = router.name
      networkName = router.networkName
      if let network { shown = Shown(network: network, example: Example(router)) }
    }

    fileprivate var seenName: SeenName? { SeenName(name, agent) }

    fileprivate var seenNetworkName: SeenName? { network.flatMap { SeenName(networkName, $0) } }
  }

  /// A router came, changed or went.
  ///
  /// - Returns: what has another name by that.
  mutating func note(_ old: Counted, _ new: Counted) -> NameNews {
    var news = NameNews()
    // Most changes are none of what is counted: nothing is touched then, which a snapshot may share.
    if old == new { return news }
    totals.add(-1, old)
    totals.add(1, new)
    if old.team != new.team {
      Self.add(-1, &ids, old.team)
      Self.add(1, &ids, new.team)
    }
    away += (new.isAway == true ? 1 : 0) - (old.isAway == true ? 1 : 0)
    there += (new.isAway == false ? 1 : 0) - (old.isAway == false ? 1 : 0)
    left.replace(old.left, new.left)
    newest.replace(old.newest, new.newest)
    behind.replace(old.behind, new.behind)
    changes.replace(old.change, new.change)
    shown.replace(old.shown, new.shown)
    if old.message != new.message {
      if let message = old.message { orders[message] = nil }
      if let message = new.message { orders[message] = new.agent }
    }
    if old.user != new.user {
      Self.add(-1, &ofUser, old.user)
      Self.add(1, &ofUser, new.user)
    }
    if old.name != new.name {
      news.router = (old.seenName, new.seenName)
      names.replace(news.router.old, news.router.new)
    }
    if old.network != new.network || old.networkName != new.networkName {
      let seen = (old: old.seenNetworkName, new: new.seenNetworkName)
      if networkNames.rename(seen.old, seen.new) { news.network = seen }
    }
    seen += (new.isSeenOnly ? 1 : 0) - (old.isSeenOnly ? 1 : 0)
    let isSame = old.network == new.network && old.isOnline == new.isOnline && old.team == new.team
    if !isSame {
      if let network = old.network { Self.add(-1, &networks, network, old) }
      if let network = new.network { Self.add(1, &networks, network, new) }
    }
    if isSame, old.actualNetwork == new.actualNetwork, old.memberOf == new.memberOf { return news }
    if let network = old.actualNetwork, let preferred = old.memberOf {
      Self.add(-1, &members[preferred, default: [:]], network, old)
      if members[preferred]?.isEmpty == true { members[preferred] = nil }
    }
    if let network = new.actualNetwork, let preferred = new.memberOf {
      Self.add(1, &members[preferred, default: [:]], network, new)
    }
    return news
  }

  private static func add<Key>(_ change: Int, _ counts: inout [Key: Int], _ key: Key?) {
    guard let key else { return }
    counts[key, default: 0] += change
    if change < 0, counts[key] == 0 { counts[key] = nil }
  }

  private static func add(
    _ change: Int, _ members: inout [ExtendedPANID: Members], _ network: ExtendedPANID, _ router: Counted
  ) {
    members[network, default: Members()].add(change, router)
    if change < 0, members[network]?.routers == 0 { members[network] = nil }
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
    guard router.isThere else { return }
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
