import ThreadDataset
import ThreadkeeperSupport

/// The preferred network: what a change of it means, disputes about its keys, and whether the home has moved.
extension Home {
  // MARK: Another network, or other parameters

  /// Makes a dataset the preferred network; one that is not complete, by its Extended PAN ID alone.
  ///
  /// - Parameters:
  ///   - source: where its secrets come from.
  ///   - who: the router that reports it, or the person who chose it.
  ///   - reporter: the router that reports it.
  ///   - sharer: the login that shares it, where no router reports it and nobody chose it.
  mutating func prefer(
    _ dataset: DatasetSummary, from source: SecretMove.Source, cause: PreferredCause, who: String?,
    by reporter: KeyChange.Reporter? = nil, sharedBy sharer: ExactName? = nil
  ) {
    let dataset = dataset.isComplete ? dataset : dataset.withoutCredentials
    let before = preferred
    isPreferredForgotten = false
    let hasNewKeys = before?.dataset.isSameNetwork(as: dataset) != true
    preferred = PreferredNetwork(
      dataset: dataset, createdAt: before?.createdAt ?? now, changedAt: now,
      keyChange: hasNewKeys ? keyChange(cause, reporter) : before?.keyChange)
    if cause == .person { endCaution() }
    if hasNewKeys { markMembers(of: dataset) }
    let sharers = hasNewKeys || !cause.isReported ? shared(of: dataset.network) : []
    for var one in sharers {
      one.follows = one.dataset.isSame(as: dataset)
      // What was refused is asked about again.
      one.denied.removeAll { $0 == dataset.parameters?.networkKey }
      put(one)
    }
    var formerID: UInt32?
    if let former = before?.dataset, !former.isSame(as: dataset) {
      dropFormer(coveredBy: dataset)
      if !former.isCovered(by: dataset) { formerID = keepFormer(former) }
    }
    moveSecret(to: .home, from: dataset.hasCredentials ? source : .nothing)
    notePreferred(before?.dataset)
    guard let from = before?.dataset, !from.isSame(as: dataset) else { return }
    noteChange(from, dataset, cause, who, formerID, reporter?.agent, sharer)
  }

  /// Who has changed the keys of the preferred network; nil where it had none before, or a person has.
  private func keyChange(_ cause: PreferredCause, _ reporter: KeyChange.Reporter?) -> KeyChange? {
    guard preferredCredentials != nil, let reporter else { return nil }
    var reporters = [reporter]
    if case .confirmed(let agent) = cause { reporters.append(KeyChange.Reporter(agent, routers[agent])) }
    return KeyChange(at: now, reporters: reporters)
  }

  /// Since when the preferred network's keys are those that are disputed; nil: no dispute about them fires.
  package var disputedKeys: WireTime? {
    alerts[AlertKey(.preferredKeyDisputed)]?.phase == .firing ? preferred?.changedAt : nil
  }

  /// A person confirms that the keys of the preferred network are right, changed or disputed as they are.
  mutating func confirmKeys() {
    let isChanged = preferred?.keyChange != nil
    guard isChanged || isActive(AlertKey(.preferredKeyDisputed)) else { return }
    audit(.preferredConfirmed)
    guard isChanged else { return }
    endCaution()
    noteRecord(.home)
    setAlert(AlertKey(.preferredNetworkChanged), nil)
  }

  /// The keys are a person's choice: questions that wait need not say who has changed them.
  private mutating func endCaution() {
    preferred?.keyChange = nil
    for index in questions.indices where questions[index].keyChange != nil {
      questions[index].keyChange = nil
      noteRecord(.question(questions[index].id))
    }
  }

  /// Leaves the home without a preferred network, until a person chooses one.
  ///
  /// - Returns: the network that is kept from now on.
  mutating func forgetPreferred() -> FormerNetwork? {
    guard let before = preferred?.dataset else { return nil }
    preferred = nil
    isPreferredForgotten = true
    setAlert(AlertKey(.preferredNetworkChanged), nil)
    let id = keepFormer(before)
    moveSecret(to: .home, from: .nothing)
    notePreferred(before)
    return former.first { $0.id == id }
  }

  /// The network stays preferred by its Extended PAN ID alone.
  mutating func losePreferredCredentials() {
    guard let before = preferred, before.dataset.hasCredentials else { return }
    preferred = PreferredNetwork(
      dataset: before.dataset.withoutCredentials, createdAt: before.createdAt, changedAt: now)
    moveSecret(to: .home, from: .nothing)
    notePreferred(before.dataset)
  }

  private mutating func notePreferred(_ before: DatasetSummary?) {
    if needs.preferredBefore == nil { needs.preferredBefore = .some(before) }
    noteRecord(.home)
    if let before { changes.networks.insert(before.network) }
    needs.nameCheck = true
    if let preferred = preferred?.dataset {
      changes.networks.insert(preferred.network)
      noteNewName(ofPreferred: preferred, before: before)
    }
    step.needsHomeCheck = true
    needs.keyCheck = true
    discovery.needsSplitCheck = true
    audit(.preferredChanged(from: before?.network, to: preferred?.dataset.network))
  }

  private mutating func noteChange(
    _ from: DatasetSummary, _ to: DatasetSummary, _ cause: PreferredCause, _ who: String?, _ formerID: UInt32?,
    _ reporter: BorderAgentID?, _ sharer: ExactName?
  ) {
    var second: String?
    if case .confirmed(let agent) = cause { second = shownName(agent) }
    // In a home of many the next tick looks who disagrees.
    let isSmall = isSmall
    let disagreeing = cause.isReported && isSmall ? self.disagreeing(with: to, former: from, besides: reporter) : []
    let disagrees = !disagreeing.isEmpty || cause.isReported && !isSmall
    let bringsCredentials = !from.hasCredentials && to.network == from.network
    let change = PreferredChange(
      from: .init(from), to: .init(to), differs: to.differences(from: from), bringsCredentials: bringsCredentials,
      cause: cause, who: who, second: second, formerID: formerID, fromRadio: from.radio, toRadio: to.radio)
    var facts = AlertFacts(.preferredChanged(change, disagrees: disagrees))
    facts.names = .init(disagreeing)
    facts.network = .init(to)
    facts.preferred = .init(to)
    facts.user = sharer
    facts.differs = bringsCredentials ? nil : change.differs
    facts.trigger = .preferredChanged
    setAlert(AlertKey(.preferredNetworkChanged), facts)
  }

  /// Routers with keys of the preferred network or of the former one that have other parameters than it has.
  private func disagreeing(with preferred: DatasetSummary, former: DatasetSummary?, besides agent: BorderAgentID? = nil)
    -> [String]
  {
    routers.filter { router in
      guard router.agent != agent, successor(of: router) == nil, let dataset = router.dataset,
        dataset.network == preferred.network
      else { return false }
      return !dataset.knownDifferences(from: preferred).isEmpty
        && (dataset.hasKeys(of: preferred) || former.map(dataset.hasKeys(of:)) == true)
    }.map(shownName)
  }

  /// The alert about a change is a warning until all routers of the network have followed.
  mutating func checkPreferredChange() {
    let key = AlertKey(.preferredNetworkChanged)
    guard needs.changeCheck, isActive(key), let alert = alerts[key], let preferred else { return }
    var facts = alert.heldFacts ?? alert.facts
    guard case .preferredChanged(let change, disagrees: true) = facts.message else { return }
    step.work += routers.count
    let disagreeing = disagreeing(with: preferred.dataset, former: former.first?.dataset)
    if disagreeing.isEmpty {
      facts.message = .preferredChanged(change, disagrees: false)
      facts.names = .init()
    } else if facts.names.count == 0 {
      // In a home of many nobody was asked when it changed.
      facts.names = .init(disagreeing)
    }
    setAlert(key, facts)
  }

  // MARK: Networks that were preferred

  /// Keeps a network that was preferred, under a new id, and lets the oldest go.
  ///
  /// - Parameter source: where its secret is.
  mutating func keepFormer(_ dataset: DatasetSummary, from source: SecretMove.Source = .record(.home)) -> UInt32 {
    dropFormer(coveredBy: dataset)
    let id = UInt32(truncatingIfNeeded: rules.random())
    former.insert(FormerNetwork(id: id, dataset: dataset, until: now), at: 0)
    noteRecord(.former(id))
    moveSecret(to: .former(id), from: dataset.hasCredentials ? source : .nothing)
    while former.count > FormerNetwork.limit { removeFormer(at: surplus) }
    return id
  }

  /// Whether a network can be kept without another one having to go.
  func hasRoomForFormer(_ dataset: DatasetSummary) -> Bool {
    former.count < FormerNetwork.limit || former.contains { $0.dataset.isCovered(by: dataset) }
  }

  /// The history has each once, whatever its timestamp.
  private mutating func dropFormer(coveredBy dataset: DatasetSummary) {
    for index in former.indices.reversed() where former[index].dataset.isCovered(by: dataset) {
      removeFormer(at: index)
    }
  }

  mutating func removeFormer(at index: Int) {
    noteRecord(.former(former[index].id))
    former.remove(at: index)
    needs.nameCheck = true
  }

  /// The oldest goes first; before it one with the same keys as another: whoever changes other parameters again and
  /// again must push out neither the keys of earlier networks nor what they began with. So of those with the same
  /// keys the oldest stays, and where there are more than two the newest, too.
  private var surplus: Int {
    func isRepeated(_ index: Int, in others: Range<Int>) -> Bool {
      former[others].contains { $0.dataset.isSameNetwork(as: former[index].dataset) }
    }
    func hasOlder(_ index: Int) -> Bool { isRepeated(index, in: index + 1..<former.count) }
    // The first was kept just now, and an alert names it.
    let earlier = 1..<former.count
    return earlier.last { isRepeated($0, in: 0..<$0) && hasOlder($0) } ?? earlier.last { hasOlder($0) } ?? former.count
      - 1
  }

  // MARK: Members

  /// Who belongs to a preferred network; of one that is preferred by its Extended PAN ID alone, who has credentials
  /// of it. And who belonged to it, however that has ended.
  func members(of preferred: DatasetSummary) -> PreferredDecision.Members {
    var members = PreferredDecision.Members(hasDamage: hasLostCredentials)
    for router in routers {
      if let dataset = router.dataset, dataset.network == preferred.network, dataset.isComplete,
        router.followsPreferred || !preferred.hasCredentials
      {
        members.present.append(.init(agent: router.agent, team: router.owner, dataset: dataset))
      } else if let former = router.formerKey, former.counts(for: preferred.parameters?.networkKey, at: now) {
        members.departed.append(.init(agent: router.agent, team: router.owner, dataset: preferred))
        members.departedUntil = min(members.departedUntil ?? former.end, former.end)
      }
    }
    return members
  }

  /// Other keys are another network: a router belongs to it that has them.
  mutating func markMembers(of preferred: DatasetSummary) {
    for router in routers {
      guard let dataset = router.dataset, dataset.network == preferred.network else { continue }
      let follows = Membership.follows(wasMember: false, dataset, preferred: preferred)
      guard follows != router.followsPreferred else { continue }
      var marked = router
      marked.followsPreferred = follows
      put(marked)
    }
  }

  // MARK: Disputes about the keys

  /// Notes credentials that name the preferred network and have other keys.
  mutating func noteKeys(_ dataset: DatasetSummary?) {
    guard let dataset, let preferred = preferred?.dataset, dataset.network == preferred.network,
      !dataset.hasKeys(of: preferred)
    else { return }
    needs.keyCheck = true
  }

  /// Whether an alert of the home explains why a router differs from the preferred network.
  func isExplained(_ router: Router) -> Bool {
    guard let preferred = preferred?.dataset else { return false }
    if isMoveExplaining, let movedTo, router.actualNetwork == movedTo, router.memberOf == preferred.network {
      return true
    }
    if isPreferredEmpty, router.isOnlySeen { return true }
    return isClaim(router, preferred)
  }

  /// Whether a router is not to be given the preferred credentials although it differs: an alert of the home explains
  /// that, or the home has moved. A member that is pulled back then would be alone, and so would one that is with it.
  func isToStay(_ router: Router) -> Bool {
    movedTo != nil && (router.memberOf == preferred?.dataset.network || router.actualNetwork == movedTo)
      || isExplained(router)
  }

  /// Whether a router is a member that claims new keys for the preferred network.
  private func isClaim(_ router: Router, _ preferred: DatasetSummary) -> Bool {
    guard let dataset = router.dataset else { return false }
    return router.followsPreferred && dataset.relation(to: preferred) == .newer && !dataset.hasKeys(of: preferred)
  }

  /// Brings the alert in line with what the members report. Where the other side has gone, the claim counts, and
  /// becomes the preferred network.
  mutating func checkDispute() {
    let key = AlertKey(.preferredKeyDisputed)
    disputeDue = nil
    guard let preferred = preferredCredentials else {
      setAlert(key, nil)
      return checkPreferredID()
    }
    step.work += routers.count
    let members = members(of: preferred)
    let claimants = PreferredDecision.claimants(of: preferred, among: members)
    guard !claimants.isEmpty else { return setAlert(key, nil) }
    disputeDue = members.departedUntil
    // While a router is being given the preferred credentials, what it reports meanwhile does not count.
    let free = claimants.filter {
      switch routers[$0.agent]?.adoption?.state {
      case .asked, .agreed, .sent: false
      default: true
      }
    }
    let claim = PreferredDecision.countingClaim(free, claimants, members, preferred: preferred)
    if let (claimant, cause) = claim {
      prefer(
        claimant.dataset, from: .record(.router(claimant.agent)), cause: cause, who: shownName(claimant.agent),
        by: KeyChange.Reporter(claimant.agent, routers[claimant.agent]))
      var event = RouterEvent(.preferredChanged)
      event.network = .init(claimant.dataset)
      if let router = routers[claimant.agent] { name(router, in: &event) }
      event.differs = claimant.dataset.differences(from: preferred)
      emit(.router(event))
      return checkDispute()
    }
    func names(_ members: some Sequence<PreferredDecision.Member>, successors: Bool = false) -> AlertFacts.Names {
      .init(
        members.compactMap { member in
          guard let next = routers[member.agent].flatMap(successor) else { return shownName(member.agent) }
          return successors ? "\(shownName(next)), under its former id \(member.agent)," : nil
        })
    }
    let claiming = Set(claimants.map(\.agent))
    var facts = AlertFacts(
      .keysDisputed(
        claimed: claimants[0].dataset.activeSeconds, current: preferred.activeSeconds,
        departed: names(members.departed, successors: true), hasDamage: members.hasDamage))
    facts.router = claimants[0].agent
    facts.routerName = routers[claimants[0].agent]?.name
    facts.names = names(claimants)
    facts.otherNames = names(members.present.lazy.filter { !claiming.contains($0.agent) })
    facts.network = .init(preferred)
    facts.preferred = .init(preferred)
    facts.differs = claimants[0].dataset.differences(from: preferred)
    facts.trigger = .dataset
    setAlert(key, facts)
  }

  /// In a home of many, the network that is preferred by its Extended PAN ID alone gets credentials with the tick, not
  /// with the second report.
  private mutating func checkPreferredID() {
    guard !isSmall, let preferred = preferred?.dataset else { return }
    step.work += routers.count
    var first: [DatasetSummary: PreferredDecision.Member] = [:]
    for member in members(of: preferred).present where member.team != nil {
      guard let other = first[member.dataset.essential], other.team != member.team else {
        first[member.dataset.essential] = first[member.dataset.essential] ?? member
        continue
      }
      return prefer(
        member.dataset, from: .record(.router(member.agent)), cause: .confirmed(by: other.agent),
        who: shownName(member.agent), by: KeyChange.Reporter(member.agent, routers[member.agent]))
    }
  }

  // MARK: Where the home is

  /// A home that moved has at least so many border routers; one alone is a mismatch.
  static let fewestThatMove = 2

  /// Members on more networks than these are not looked at with each message.
  private static let mostNetworks = 64
  /// Seconds before the move in which a router was seen last that may have gone with the others.
  private static let lastSeenBeforeMove = 86_400

  /// Finds whether the border routers that were on the preferred network are together on another one. A whole home that
  /// moves is one alert, not one for each router; where others cannot be reached, one login may have made it up.
  mutating func findMove() {
    let destination = self.destination
    let isExplaining = destination != nil && isMoveWhole
    guard destination != movedTo || isExplaining != isMoveExplaining else { return }
    (movedTo, isMoveExplaining) = (destination, isExplaining)
    needs.routerChecks = true
  }

  /// The network that the home has moved to: more of the members are there than were left behind and can be reached.
  /// Who has gone somewhere else is no sign, and neither is a router that cannot be reached and was last on the
  /// preferred network: it is not known where it is.
  var destination: ExtendedPANID? {
    guard let preferred = preferred?.dataset.network, let members = routers.counts.members[preferred],
      members.count <= Self.mostNetworks, members.count > 1 || members[preferred] == nil
    else { return nil }
    let others = members.filter { $0.key != preferred }
    let left = members[preferred]?.online ?? 0
    guard let most = others.values.map(\.routers).max(), most > left, most >= Self.fewestThatMove else { return nil }
    let networks = others.filter { $0.value.routers == most }.keys
    // Who is on an accepted network is there on purpose.
    guard networks.count == 1, let network = networks.first, left == 0 || !accepted.contains(network) else {
      return nil
    }
    return network
  }

  /// Whether it is known of all members where they are, or those of two teams are on the other network.
  var isMoveWhole: Bool {
    guard let destination, let preferred = preferred?.dataset.network, let members = routers.counts.members[preferred]
    else { return false }
    let rest = members[preferred] ?? .init()
    if rest.online == rest.routers || (members[destination]?.teams.count ?? 0) > 1 { return true }
    return isSmall && !routers.contains { isLost($0) }
  }

  /// Whether a member was there until the move, and it is not known where it is now.
  private func isLost(_ router: Router) -> Bool {
    guard let preferred = preferred?.dataset.network, router.isPresent, !router.isOnline, router.memberOf == preferred,
      router.actualNetwork == preferred
    else { return false }
    return routers.lastSeen(router.agent) >= movedAt.adding(seconds: -Self.lastSeenBeforeMove)
  }

  /// When the home moved.
  private var movedAt: WireTime {
    let key = AlertKey(.homeMoved)
    return isActive(key) ? alerts[key]?.heldSince ?? now : now
  }

  /// When a home moves, or is split again, each router is checked again: its own alert ends or comes back.
  mutating func checkMove() {
    guard needs.preferredBefore != nil || needs.changeCheck else { return }
    let key = AlertKey(.homeMoved)
    findMove()
    guard let movedTo, let preferred = preferred?.dataset else { return setAlert(key, nil) }
    step.work += routers.count
    let members = routers.filter { $0.isPresent && $0.memberOf == preferred.network }
    let there = members.filter { $0.actualNetwork == movedTo }
    let lost = members.count(where: isLost)
    // Who was elsewhere before is not of those that have moved, or might have.
    let others = members.count {
      guard let network = $0.actualNetwork, network != movedTo else { return false }
      return network == preferred.network ? $0.isOnline : $0.datasetChangedAt.map { $0 >= movedAt } == true
    }
    var facts = AlertFacts(.movedTo(routers: there.count, of: there.count + lost + others, lost: lost))
    facts.network = .init(movedTo, networkName(of: movedTo))
    facts.preferred = .init(preferred)
    facts.names = .init(there.map(shownName))
    facts.otherNames = .init(Set(there.compactMap(\.user)).sorted().map { ShownName.account($0.text) })
    setAlert(key, facts)
  }

  // MARK: With nobody on it

  /// Finds whether the preferred network is one on which nobody is, or was, while others are seen elsewhere: as where
  /// what Home Assistant prefers is gone. Then one alert replaces the mismatch of each.
  mutating func findEmpty() {
    guard isNobodyThere != isPreferredEmpty else { return }
    isPreferredEmpty.toggle()
    needs.routerChecks = true
  }

  var isNobodyThere: Bool {
    guard let preferred = preferred?.dataset.network, routers.counts.seen > 0,
      routers.counts.networks[preferred] == nil, routers.counts.members[preferred] == nil
    else { return false }
    return routers.counts.networks.keys.contains { !accepted.contains($0) }
      && !routers.contains { $0.isPresent && $0.resetFrom?.memberOf == preferred }
  }

  mutating func checkPreferredEmpty() {
    guard needs.preferredBefore != nil || needs.changeCheck || needs.routerChecks else { return }
    let key = AlertKey(.preferredNetworkEmpty)
    findEmpty()
    guard isPreferredEmpty, let preferred = preferred?.dataset else { return setAlert(key, nil) }
    let others = routers.counts.networks.filter { !accepted.contains($0.key) }.mapValues(\.routers)
    let most = others.max { ($0.value, $1.key.number) < ($1.value, $0.key.number) }
    guard let most else { return }
    var facts = AlertFacts(.preferredEmpty(routers: most.value, elsewhere: others.values.reduce(-most.value, +)))
    facts.network = .init(most.key, networkName(of: most.key))
    facts.preferred = .init(preferred)
    setAlert(key, facts)
  }

  // MARK: Without one

  /// The most networks that the alert names.
  static let networksNamed = 5

  /// A home with routers needs a preferred network to check them against.
  mutating func checkPreferredExists() {
    let key = AlertKey(.noPreferredNetwork)
    guard lacksPreferred else { return setAlert(key, nil) }
    // Each message of a home with many networks would look at all of them.
    if isActive(key) { needsNetworkNames = true } else { nameNetworks() }
  }

  private var lacksPreferred: Bool { preferred == nil && routers.totals.listed > 0 }

  /// Names the networks to choose from in the alert that none is preferred.
  mutating func nameNetworks() {
    needsNetworkNames = false
    guard lacksPreferred else { return }
    let named = firstNetworks(Self.networksNamed).map { AlertFacts.Named($0.id, $0.name) }
    var facts = AlertFacts(
      .noPreferred(
        isForgotten: isPreferredForgotten, networks: named, more: routers.counts.networks.count - named.count))
    let wanted = allShared.first { $0.isPreferredThere && isOffTheAir($0.network) }
    if let wanted, !isPreferredForgotten {
      facts.network = .init(wanted.dataset)
      facts.user = wanted.user
    }
    setAlert(AlertKey(.noPreferredNetwork), facts)
  }
}
