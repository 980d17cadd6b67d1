// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What is counted of the routers of a home: an input about one of them must not look at all of them. It follows from
/// them; `RouterTable` keeps it.
struct RouterCounts: Equatable, Sendable {
  struct Tally: Equatable {
    var routers = 0
    var online = 0
  }

  private(set) var totals = RouterTotals()
  /// Border agent ids that count for each team.
  private(set) var ids: [ExactName: Int] = [:]
  /// Of these, the ones that have left.
  private(set) var left: [ExactName: Int] = [:]

  // The others are of routers on the list.
  private(set) var ofUser: [ExactName: Int] = [:]
  /// Those that only their records have brought there.
  private(set) var seen = 0
  private(set) var networks: [ExtendedPANID: Tally] = [:]
  /// By the preferred network that they were on last, and the one that they are on.
  private(set) var places: [ExtendedPANID: [ExtendedPANID: Tally]] = [:]
  /// By which router a network is shown.
  private(set) var shown: [ExtendedPANID: Example] = [:]
  /// Networks that lost that router: another one is to be found.
  private(set) var unshown: Set<ExtendedPANID> = []

  /// How well a router shows its network: by the newest dataset, or else a name.
  struct Example: Equatable, Comparable {
    let agent: BorderAgentID
    private let timestamp: Timestamp?
    private let hasDataset: Bool
    private let hasName: Bool

    init(_ router: borrowing Router) {
      agent = router.agent
      timestamp = router.dataset?.activeTimestamp
      hasDataset = router.dataset != nil
      hasName = router.networkName?.isEmpty == false
    }

    static func < (a: Self, b: Self) -> Bool {
      if a.hasDataset != b.hasDataset { return b.hasDataset }
      if let mine = a.timestamp, let others = b.timestamp, mine != others { return mine < others }
      if a.hasName != b.hasName { return b.hasName }
      return a.agent.numbers > b.agent.numbers
    }
  }

  /// What is counted of a router.
  struct Counted: Equatable {
    let team: ExactName?
    let user: ExactName?
    let hasLeft: Bool
    let hasDataset: Bool
    let isPresent: Bool
    let isOnline: Bool
    let isDetached: Bool
    let isElsewhere: Bool
    let isSeenOnly: Bool
    let network: ExtendedPANID?
    let memberOf: ExtendedPANID?
    let example: Example

    init(_ router: borrowing Router) {
      team = router.team
      user = router.user
      hasLeft = router.hasLeft
      hasDataset = router.dataset != nil
      isPresent = router.isPresent
      isOnline = router.isOnline
      isDetached = router.threadState == .detached
      isElsewhere = router.isElsewhere
      isSeenOnly = router.source == .mdns
      network = router.network
      memberOf = router.memberOf
      example = Example(router)
    }

    fileprivate var teamLeft: ExactName? { hasLeft ? team : nil }
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
    let (teamLeft, teamLeaves) = (before?.teamLeft, after?.teamLeft)
    if teamLeft != teamLeaves {
      Self.add(-1, &left, teamLeft)
      Self.add(1, &left, teamLeaves)
    }
    let old = before?.isPresent == true ? before : nil
    let new = after?.isPresent == true ? after : nil
    if old == nil, new == nil { return }
    if old?.user != new?.user {
      Self.add(-1, &ofUser, old?.user)
      Self.add(1, &ofUser, new?.user)
    }
    seen += (new?.isSeenOnly == true ? 1 : 0) - (old?.isSeenOnly == true ? 1 : 0)
    let isSamePlace = old?.network == new?.network && old?.isOnline == new?.isOnline
    if !isSamePlace || old?.example != new?.example {
      if let old, let network = old.network { leave(network, old, staysAs: new) }
      if let new, let network = new.network { join(network, new) }
    }
    if isSamePlace, old?.memberOf == new?.memberOf { return }
    if let old, let network = old.network, let home = old.memberOf {
      Self.add(-1, &places[home, default: [:]], network, old)
      if places[home]?.isEmpty == true { places[home] = nil }
    }
    if let new, let network = new.network, let home = new.memberOf {
      Self.add(1, &places[home, default: [:]], network, new)
    }
  }

  private mutating func leave(_ network: ExtendedPANID, _ old: Counted, staysAs new: Counted?) {
    Self.add(-1, &networks, network, old)
    guard networks[network] != nil else {
      shown[network] = nil
      unshown.remove(network)
      return
    }
    guard let best = shown[network], best.agent == old.example.agent else { return }
    if let new, new.network == network, new.example >= best { return }
    shown[network] = nil
    unshown.insert(network)
  }

  private mutating func join(_ network: ExtendedPANID, _ new: Counted) {
    Self.add(1, &networks, network, new)
    if networks[network]?.routers == 1 { unshown.remove(network) }
    if !unshown.contains(network) { offer(new.example, of: network) }
  }

  /// Finds the routers by which networks are shown that have lost theirs.
  mutating func findShown(among routers: some Sequence<Router>) {
    if unshown.isEmpty { return }
    for router in routers where router.isPresent {
      if let network = router.network, unshown.contains(network) {
        offer(Example(router), of: network)
      }
    }
    unshown = []
  }

  private mutating func offer(_ new: Example, of network: ExtendedPANID) {
    if shown[network].map({ $0 < new }) != false { shown[network] = new }
  }

  private static func add<Key>(_ change: Int, _ counts: inout [Key: Int], _ key: Key?) {
    guard let key else { return }
    let count = counts[key, default: 0] + change
    counts[key] = count > 0 ? count : nil
  }

  private static func add(
    _ change: Int, _ tallies: inout [ExtendedPANID: Tally], _ network: ExtendedPANID,
    _ router: Counted
  ) {
    var tally = tallies[network, default: Tally()]
    tally.routers += change
    if router.isOnline { tally.online += change }
    tallies[network] = tally.routers > 0 ? tally : nil
  }
}

extension Router {
  /// Whether nothing but its owner and its numbers is left of it.
  var hasLeft: Bool { !isPresent && dataset == nil }
}

/// How many routers a home has, for people.
package struct RouterTotals: Hashable, Sendable {
  /// On the list.
  package private(set) var listed = 0
  /// Of these.
  package private(set) var online = 0
  /// Of those that are online.
  package private(set) var detached = 0
  /// On the list, and on another network than the one they are configured for.
  package private(set) var elsewhere = 0
  /// Of which something is kept although they are not on the list.
  package private(set) var departed = 0
  /// Whose credentials are stored, on the list or not.
  package private(set) var credentials = 0

  package var offline: Int { listed - online }

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
