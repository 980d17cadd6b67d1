import ThreadDataset

/// What one look at the local network leaves for the next one. Not stored.
struct DiscoveryMemory: Sendable {
  /// Routers that may be new in an hour, so that a host that invents them does not fill the disk.
  static let newInHour = 200
  /// Seconds after which a record that is still there has answered again: addresses live for 120.
  static let answerLimit = 130

  var room = newInHour
  var hour: WireTime?
  /// The ids of records that the last look listed.
  var listed: Set<BorderAgentID> = []
  /// Of those, the ones whose routers a person has removed since, and when that was noticed.
  var removed: [BorderAgentID: WireTime] = [:]
  /// Of the last look: how many of the list are listed, and which are not.
  var listedCount = 0
  var refused: [RefusedSighting] = []
  /// A network may be split now, or no more: looked at with the next tick.
  var needsSplitCheck = true
}

/// A record on the local network that is not listed.
package struct RefusedSighting: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// Another record of this router is.
    case again(BorderAgentID)
    /// A person has removed its router, which has not answered since.
    case removed
    /// Its login has said that it left.
    case left
    /// It is announced in another home.
    case elsewhere
    /// So many are only seen, or were new in this hour.
    case tooMany
  }

  package let advertisement: Advertisement
  package let reason: Reason
}

/// Brings the list of routers in line with what is advertised on the local network. Everything is compared each time,
/// so that a later look makes up for whatever an earlier one missed or refused.
extension Home {
  /// Routers that a home may have from the local network alone. Anybody there can invent some.
  package static let mostDiscovered = 200
  /// Seconds after the first complete list in which a router counts as one that was there before: some answer late.
  private static let firstLook = 3_600

  /// Of the last look at the local network: how many records are listed, and which are not.
  package var listedSightings: Int { discovery.listedCount }
  package var refusedSightings: [RefusedSighting] { discovery.refused }

  /// Border routers of the preferred network whose records on the local network say how their devices are reached.
  /// Names are as in a sentence.
  package var routersWithPrefix: [(name: String, prefix: UInt64, endpoint: String?)] {
    guard let preferred = preferred?.dataset.network else { return [] }
    return routers.compactMap { router in
      guard router.isAdvertised, router.actualNetwork == preferred, let prefix = router.offMeshPrefix else {
        return nil
      }
      return (shownName(router), prefix, router.endpoint)
    }
  }

  mutating func see(_ sightings: Sightings) {
    startHour()
    var visited: Set<BorderAgentID> = []
    var listed: Set<BorderAgentID> = []
    var new: [Advertisement] = []
    var refused: [RefusedSighting] = []
    // A record that names an id of another router, whose own record is there as well, is not that router's.
    let atAddress = announced(at: Set(sightings.list.compactMap(\.extendedAddress)))
    let isOwn = sightings.list.map { one in
      rows(of: one, atAddress).first.map { $0.isPresent && $0.agent == one.agents[0] } == true
    }
    let pairs = zip(sightings.list, isOwn)
    for one in pairs.filter(\.1).map(\.0) + pairs.filter({ !$0.1 }).map(\.0) {
      let rows = self.rows(of: one, atAddress)
      guard let stored = rows.first, stored.isPresent else {
        new.append(one)
        continue
      }
      // Two records of one router: the first counts.
      guard visited.insert(stored.agent).inserted else {
        refused.append(.init(advertisement: one, reason: .again(stored.agent)))
        continue
      }
      listed.insert(one.agents[0])
      take(one, stored)
      // It was seen under another of its ids before its login announced it.
      for twin in rows.dropFirst() where twin.isPresent && twin.source == .mdns { unlistSeen(twin) }
    }
    // Who is listed already comes first, so that nobody who is there has to make room.
    let withoutRecord = seen(besides: visited, at: new.compactMap(\.extendedAddress))
    for one in new {
      let stored = rows(of: one, atAddress).first
      let agent = stored?.agent ?? one.agents[0]
      let former = one.extendedAddress.flatMap { withoutRecord[$0] }
      let reason: RefusedSighting.Reason? =
        if !visited.insert(agent).inserted { .again(agent) } else if isRemoved(one) { .removed } else {
          former.map { move($0, one) } == true ? nil : add(one, stored)
        }
      if let reason {
        refused.append(.init(advertisement: one, reason: reason))
        continue
      }
      listed.insert(one.agents[0])
    }
    endRecords(sightings, visited)
    if sightings.isComplete { finishLook(sightings, visited, listed) }
    forgetSeen()
    (discovery.listedCount, discovery.refused) = (sightings.list.count - refused.count, refused)
    checkSplits()
  }

  /// Of routers that nobody sees any more.
  private mutating func endRecords(_ sightings: Sightings, _ visited: Set<BorderAgentID>) {
    for stored in routers where stored.isAdvertised && !visited.contains(stored.agent) {
      // What a login saw that may not report it any more counts no longer.
      let isOver = sightings.ends(stored.reporter) || stored.reporter.map { !mayReportSightings($0) } == true
      guard isOver else { continue }
      var router = stored
      router.endAdvertisement(at: now)
      if router.source == .mdns {
        let seen = sightings.lastSeen[router.agent] ?? now
        routers.see(router.agent, at: max(routers.lastSeen(router.agent), seen))
      }
      write(router, before: stored, RouterEvent(), trigger: .mdns)
    }
  }

  private mutating func finishLook(_ sightings: Sightings, _ visited: Set<BorderAgentID>, _ listed: Set<BorderAgentID>)
  {
    let present = Set(sightings.list.map { $0.agents[0] })
    discovery.removed = discovery.removed.filter { present.contains($0.key) }
    discovery.listed = listed
    if discoveredSince == nil {
      discoveredSince = now
      noteRecord(.home)
      needs.sharedCheck = true
    }
    // In a home of very many, who is asked for by phones is not in one local network.
    guard isSmall else { return }
    for stored in routers where stored.isAnnounced && stored.beats && !stored.isUnadvertised {
      // One that is still advertised was seen by a login that is silent.
      if visited.contains(stored.agent) || stored.isAdvertised { continue }
      var router = stored
      router.isUnadvertised = true
      write(router, before: stored, RouterEvent(), trigger: .mdns)
    }
  }

  private mutating func startHour() {
    if let hour = discovery.hour, now >= hour, now < hour.adding(seconds: 3_600) { return }
    discovery.hour = now
    discovery.room = DiscoveryMemory.newInHour
  }

  /// The routers that a record may be of: first one that a login has announced, or that somebody owns, under
  /// whichever of its ids; then the one that it has made itself, which is under the first of them; then those that
  /// are not listed.
  ///
  /// A router that a record has made is of no other record, whichever address that names: anybody can name it.
  private func rows(of advertisement: Advertisement, _ atAddress: [UInt64: [BorderAgentID]]) -> [Router] {
    var rows = advertisement.agents.compactMap { routers[$0] }.filter {
      !$0.isPresent || $0.isAnnounced || $0.team != nil || $0.agent == advertisement.agents[0]
    }
    let known = rows.map(\.agent)
    let others = advertisement.extendedAddress.flatMap { atAddress[$0] } ?? []
    rows += others.filter { !known.contains($0) }.prefix(4).compactMap { routers[$0] }
    return rows.filter(\.isAnnounced) + rows.filter { $0.isPresent && !$0.isAnnounced } + rows.filter { !$0.isPresent }
  }

  /// Routers that a login has announced with one of the addresses.
  private func announced(at addresses: Set<UInt64>) -> [UInt64: [BorderAgentID]] {
    var found: [UInt64: [BorderAgentID]] = [:]
    if addresses.isEmpty { return found }
    for router in routers where router.isAnnounced {
      if let address = router.extendedAddress, addresses.contains(address) {
        found[address, default: []].append(router.agent)
      }
    }
    return found
  }

  /// The router on the list that a record is of.
  package func router(of advertisement: Advertisement) -> Router? {
    let address = advertisement.extendedAddress.map { [$0] } ?? []
    return rows(of: advertisement, announced(at: Set(address))).first.flatMap { $0.isPresent ? $0 : nil }
  }

  private mutating func take(_ advertisement: Advertisement, _ stored: Router) {
    var router = stored
    if advertisement.reporter == nil, let network = advertisement.network, network != router.network {
      dropReading(of: &router)
    }
    router.take(advertisement, at: now)
    guard router != stored else { return }
    if router.source == .mdns { routers.see(router.agent, at: now) }
    write(router, before: stored, RouterEvent(), trigger: .mdns)
  }

  /// - Returns: why it is not listed; nil: it is.
  private mutating func add(_ advertisement: Advertisement, _ stored: Router?) -> RefusedSighting.Reason? {
    if let stored, stored.isPresent { return .again(stored.agent) }
    if let reason = refusal(of: advertisement, stored) { return reason }
    guard discovery.room > 0, makeRoomForSeen() else { return .tooMany }
    discovery.room -= 1
    var router = stored ?? Router(advertisement.agents[0], at: now)
    router.isPresent = true
    router.source = .mdns
    router.firstSeenAt = now
    let preferred = preferred?.dataset.network
    // Who is elsewhere yet may join later: only who is on the preferred network already was there before.
    router.isKnown = stored != nil || isFirstLook && preferred != nil && advertisement.network == preferred
    router.take(advertisement, at: now)
    let former = formerRows(of: router)
    router.extras.resetFrom = former.lazy.compactMap(\.asReset).first
    var event = RouterEvent(.discovered, router.agent)
    event.network = advertisement.network.map { .init($0, advertisement.networkName) }
    step.needsHomeCheck = true
    write(router, before: stored.map { StoredRouter($0) }, event, trigger: .mdns)
    routers.see(router.agent, at: now)
    for one in former { unlistSeen(one) }
    return nil
  }

  /// Seconds for which a router that is reset may be away.
  private static let longestReset = 86_400

  /// What a router was before it was reset, the oldest first. A reset gives it another id, and another name and address
  /// for its radio; its place on the local network stays. Whatever was there before in its place has gone: its record
  /// outlives it in caches.
  private func formerRows(of new: Router) -> [Router] {
    guard let endpoint = new.endpoint else { return [] }
    let earliest = now.adding(seconds: -Self.longestReset)
    return routers.filter {
      $0.isPresent && $0.source == .mdns && $0.endpoint == endpoint && $0.agent != new.agent && $0.vendor == new.vendor
        && $0.model == new.model && $0.firstSeenAt < now && (routers.lastSeen($0.agent) >= earliest || $0.isAdvertised)
    }.sorted { $0.firstSeenAt < $1.firstSeenAt }
  }

  /// Routers that their records have made and that have none of these, by address.
  private func seen(besides visited: Set<BorderAgentID>, at addresses: [UInt64]) -> [UInt64: Router] {
    if addresses.isEmpty { return [:] }
    let wanted = Set(addresses)
    var found: [UInt64: Router] = [:]
    for router in routers where router.isPresent && router.source == .mdns {
      if let address = router.extendedAddress, wanted.contains(address), !visited.contains(router.agent) {
        found[address] = router
      }
    }
    return found
  }

  /// An update adds an id to the record of a router: what is known of it moves over.
  ///
  /// - Returns: whether it is the same: it has the same name, host, port and address.
  private mutating func move(_ stored: Router, _ advertisement: Advertisement) -> Bool {
    guard routers[stored.agent] != nil, routers[advertisement.agents[0]] == nil, refusal(of: advertisement, nil) == nil,
      stored.team == nil, let endpoint = stored.endpoint, advertisement.endpoint == endpoint,
      advertisement.name == stored.ownName
    else { return false }
    var router = stored
    if let network = advertisement.network, network != router.network { dropReading(of: &router) }
    router.agent = advertisement.agents[0]
    if router.dataset != nil { moveSecret(to: .router(router.agent), from: .record(.router(stored.agent))) }
    router.take(advertisement, at: now)
    for name in AlertName.ofRouters { setAlert(AlertKey(name, .router(stored.agent)), nil) }
    noteNetworks(stored, nil)
    drop(stored)
    step.needsHomeCheck = true
    write(router, before: nil, RouterEvent(), trigger: .mdns)
    routers.see(router.agent, at: now)
    return true
  }

  private var isFirstLook: Bool { discoveredSince.map { now < $0.adding(seconds: Self.firstLook) } ?? true }

  /// A router that left by MQTT stays off the list although it can still be seen, and so does one that is announced in
  /// another home.
  private func refusal(of advertisement: Advertisement, _ absent: Router?) -> RefusedSighting.Reason? {
    if let absent, absent.dataset == nil, absent.user != nil { return .left }
    // The former record of a router that was reset.
    if let now = routers.first(where: {
      $0.resetFrom?.agent == advertisement.agents[0] && $0.endpoint == advertisement.endpoint
    }) {
      return .again(now.agent)
    }
    return advertisement.agents.contains(where: rules.isAnnouncedElsewhere) ? .elsewhere : nil
  }

  /// Whether a person has removed its router, and it has not answered since: a record outlives its router in caches.
  private mutating func isRemoved(_ advertisement: Advertisement) -> Bool {
    let agent = advertisement.agents[0]
    if discovery.listed.contains(agent) { discovery.removed[agent] = now }
    guard let since = discovery.removed[agent] else { return false }
    // A clock that was set back hides nothing for longer.
    if since <= now, now < since.adding(seconds: DiscoveryMemory.answerLimit) { return true }
    discovery.removed[agent] = nil
    return false
  }

  /// Where the list is full, the router that was there the longest time ago makes room, unless it was on the
  /// preferred network, has an owner, or was read: anybody can invent others.
  private mutating func makeRoomForSeen() -> Bool {
    guard routers.counts.seen >= Self.mostDiscovered else { return true }
    if step.isListFull { return false }
    let oldest = routers.filter {
      $0.isPresent && $0.source == .mdns && !$0.isAdvertised && $0.memberOf == nil && $0.team == nil && !$0.isRead
    }.min { routers.lastSeen($0.agent) < routers.lastSeen($1.agent) }
    guard let oldest else {
      step.isListFull = true
      return false
    }
    unlistSeen(oldest)
    return true
  }

  /// Routers that were there 30 days ago.
  private mutating func forgetSeen() {
    let deadline = now.adding(seconds: -Self.retention)
    let old = routers.filter {
      $0.isPresent && $0.source == .mdns && !$0.isAdvertised && routers.lastSeen($0.agent) <= deadline
    }
    for router in old.prefix(Self.forgottenAtOnce) { unlistSeen(router) }
  }

  /// Takes a router off the list that only its record has brought there.
  private mutating func unlistSeen(_ router: Router) {
    unlist(router, RouterEvent())
    var absent = router
    dropReading(of: &absent)
    keepAbsent(absent)
  }

  /// Discovery is off: what it has brought goes. When it is on again, all is looked at as for the first time.
  mutating func endDiscovery() {
    for stored in routers where stored.isPresent && stored.source == .mdns { unlistSeen(stored) }
    for stored in routers where stored.isAdvertised || stored.isRecordGone || stored.isUnadvertised {
      var router = stored
      router.withdrawAdvertisement()
      write(router, before: stored, RouterEvent(), trigger: .mdns)
    }
    discovery = DiscoveryMemory()
    if discoveredSince != nil {
      discoveredSince = nil
      noteRecord(.home)
      needs.sharedCheck = true
    }
    checkSplits()
  }

  // MARK: Partitions

  /// Leaders of one network that are named. Only a login that makes routers up has more.
  private static let mostLeaders = 20

  /// Networks whose border routers are in several partitions: they do not reach each other by radio. Only of networks
  /// that the home wants: a neighbour's are not its business. Partitions are seen by mDNS, or reported over MQTT;
  /// there, routers may report no more than that they lead one, and a partition has one leader. A router that nobody
  /// has accepted may have another key.
  mutating func checkSplits() {
    discovery.needsSplitCheck = false
    let seen = partitions.filter { $1.count > 1 }
    let led = leaders
    let wanted = Set(seen.keys).union(led.keys).filter { $0 == preferred?.dataset.network || accepted.contains($0) }
    for network in wanted.sorted(by: { $0.number < $1.number }) {
      let parts = seen[network].map { Array($0.values) } ?? []
      let names = seen[network] == nil ? (led[network] ?? []).map { [$0] } : parts.map(self.names)
      let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }
      let shown = sorted.prefix(AlertFacts.Names.most).map { AlertFacts.Names($0) }
      var facts = AlertFacts(.split(shown, parts: names.count))
      let unaccepted = parts.filter { $0.allSatisfy { !$0.isKnown && $0.dataset == nil } }
      if unaccepted.count < parts.count { facts.otherNames = .init(self.names(of: unaccepted.flatMap(\.self))) }
      facts.network = .init(network, networkName(of: network))
      facts.trigger = seen[network] == nil ? .heartbeat : .mdns
      setAlert(AlertKey(.networkSplit, .network(network)), facts)
    }
    for key in alerts.keys.filter({ $0.name == .networkSplit }).sorted() {
      if case .network(let network) = key.subject, !wanted.contains(network) { setAlert(key, nil) }
    }
  }

  private func names(of routers: [Router]) -> [String] { routers.map(shownName).sorted() }

  /// Routers by network and partition.
  private var partitions: [ExtendedPANID: [UInt32: [Router]]] {
    var found: [ExtendedPANID: [Router]] = [:]
    for router in routers where router.shownPartition != nil {
      guard let network = router.actualNetwork else { continue }
      found[network, default: []].append(router)
    }
    var partitions: [ExtendedPANID: [UInt32: [Router]]] = [:]
    for (network, routers) in found {
      partitions[network] = Dictionary(grouping: withKey(of: network, routers)) {
        Self.inAnyOrder($0.shownPartition ?? 0)
      }
    }
    return partitions
  }

  /// Publishers write the id of a partition in one order of its bytes or the other.
  private static func inAnyOrder(_ partition: UInt32) -> UInt32 { min(partition, partition.byteSwapped) }

  /// Those that have the key of their network, as far as that is known: by radio, another key is another network. Which
  /// one is right is known of the preferred network alone: any login can report one of another network.
  private func withKey(of network: ExtendedPANID, _ routers: [Router]) -> [Router] {
    guard let own = preferredCredentials, own.network == network, let key = own.parameters?.networkKey else {
      return routers
    }
    return routers.filter { router in
      guard let dataset = router.dataset, dataset.network == network else { return true }
      return dataset.parameters?.networkKey == key
    }
  }

  /// The names of routers that led their network at the same time as another one.
  private var leaders: [ExtendedPANID: [String]] {
    typealias Leader = (name: String, since: WireTime, reported: WireTime)
    var all: [ExtendedPANID: [Router]] = [:]
    for router in routers where router.isPresent && router.isOnline {
      guard router.threadState == .leader, let network = router.actualNetwork else { continue }
      all[network, default: []].append(router)
    }
    var found: [ExtendedPANID: [String]] = [:]
    for (network, routers) in all where routers.count > 1 {
      let leaders = withKey(of: network, routers).compactMap { router -> Leader? in
        guard let since = router.threadStateSince, let reported = router.threadStateReportedAt else { return nil }
        return (shownName(router), since, reported)
      }
      guard leaders.count > 1 else { continue }
      let ordered = leaders.sorted { ($0.since, $0.reported) < ($1.since, $1.reported) }
      // The one that reported last, and one that has led alone so far.
      var last = ordered[0]
      var alone: Leader? = last
      for leader in ordered.dropFirst() {
        guard last.reported > leader.since else {
          (last, alone) = (leader, leader)
          continue
        }
        found[network, default: []] += [alone?.name, leader.name].compactMap(\.self)
        alone = nil
        if leader.reported > last.reported { last = leader }
      }
      found[network] = found[network].map { Array($0.prefix(Self.mostLeaders)) }
    }
    return found
  }
}
