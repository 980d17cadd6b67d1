import ThreadDataset

/// Which team a border agent id belongs to, how many one may have, and what a person removes or accepts.
extension Home {
  /// Seconds for which an id without credentials continues to belong to the team of a router that left.
  static let retention = 30 * 86_400
  /// Routers forgotten at once, so that a message never waits for long.
  static let forgottenAtOnce = 50

  /// Of routers that may make room for another one, the most that are looked at.
  private static let mostForRoom = 64

  enum Room { case there, teamIsFull, homeIsFull }

  /// Lets a team have one more id. At its limit, the router that left first is forgotten for it; at that of the home,
  /// the one that came last, whichever team's it is: who was there before others stays. No router makes room that is,
  /// or counts as, a member of the preferred network.
  mutating func makeRoom(for team: ExactName, _ stored: StoredRouter?) -> Room {
    if let stored, stored.owner ?? stored.team == team { return .there }
    var first: Router?
    if routers.counts.ids[team, default: 0] >= rules.settings.routersPerTeam {
      let left = routers.left(of: team, atMost: Self.mostForRoom)
      first = left.first { !isFormerMember($0) }
      if first == nil { return .teamIsFull }
    }
    let countsAlready = stored.map { !$0.isPresent || $0.source != .mdns } ?? false
    if first == nil, !countsAlready, routers.count - routers.counts.seen >= rules.settings.routersPerHome {
      let newest = routers.newest(atMost: Self.mostForRoom)
      guard let last = newest.first(where: { !isFormerMember($0) }) else { return .homeIsFull }
      evict(last)
    }
    if let first { forget(first, .forRoom) }
    return .there
  }

  private func isFormerMember(_ router: Router) -> Bool {
    router.formerKey?.counts(for: preferred?.dataset.parameters?.networkKey, at: now) == true
  }

  private mutating func evict(_ stored: Router) {
    if stored.isPresent { unlist(stored, RouterEvent()) }
    if stored.dataset != nil { moveSecret(to: .router(stored.agent), from: .nothing) }
    audit(.routerRemoved(stored.agent, team: stored.owner, .forHome))
    drop(stored)
    noteKeys(stored.dataset)
    var ended = AlertName.ofRouters.map { AlertKey($0, .router(stored.agent)) }
    if let user = stored.user {
      endPlaintext(of: user)
      ended.append(AlertKey(.plaintextCredentials, .user(user)))
    }
    // Else whoever makes up ids and logins would fill the list of alerts with those that were resolved.
    for key in ended where alerts[key]?.phase == .resolved {
      alerts[key] = nil
      noteRecord(.alert(key))
    }
  }

  private mutating func forget(_ router: Router, _ reason: AuditNote.RemovalReason) {
    if router.owner != nil { audit(.routerRemoved(router.agent, team: router.owner, reason)) }
    emit(.forgotten(router.agent))
    drop(router)
    needs.keyCheck = true
  }

  /// Forgets routers that left 30 days ago.
  mutating func forgetLeftRouters() {
    let deadline = now.adding(seconds: -Self.retention)
    let old = routers.waiting.lazy.filter { $0.value.hasLeft && $0.value.leftAt <= deadline }
    for router in old.prefix(Self.forgottenAtOnce) { forget(router.value, .leftLongAgo) }
  }

  /// Deletes all that is kept of a border agent id: credentials, owner, and its place on the list.
  mutating func remove(_ agent: BorderAgentID) -> HomeAnswer {
    guard let stored = routers[agent] else { return .refused(.unknownRouter(agent)) }
    if stored.isPresent {
      var event = RouterEvent()
      event.isRemoved = true
      unlist(stored, event)
    }
    if stored.dataset != nil { moveSecret(to: .router(agent), from: .nothing) }
    audit(.routerRemoved(agent, team: stored.owner, .byPerson))
    drop(stored)
    needs.keyCheck = true
    if let user = stored.user { endPlaintext(of: user) }
    return .removed(team: stored.owner, hadCredentials: stored.dataset != nil)
  }

  /// A router stays, without its credentials.
  ///
  /// - Parameter user: who has them deleted.
  mutating func deleteCredentials(of stored: Router, user: ExactName?) {
    var router = stored
    router.dropCredentials(preferred: preferred?.dataset.parameters?.networkKey, at: now)
    moveSecret(to: .router(stored.agent), from: .nothing)
    audit(.credentialsDeleted(stored.agent))
    var event = RouterEvent()
    event.user = user
    if router.isPresent { write(router, before: stored, event, trigger: .deleted) } else { put(router) }
  }

  /// The credentials of a record are missing from now on. The record is written again in any case.
  mutating func loseSecret(of key: RecordKey) {
    noteRecord(key)
    switch key {
    case .home: losePreferredCredentials()
    case .router(let agent):
      guard let stored = routers[agent], stored.dataset != nil else { return }
      deleteCredentials(of: stored, user: nil)
    case .former(let id):
      guard let index = former.firstIndex(where: { $0.id == id && $0.dataset.hasCredentials }) else { return }
      audit(.formerDeleted(former[index].dataset.network))
      removeFormer(at: index)
    case .shared(let user, let network): if let one = shared[network]?[user] { drop(one) }
    default: return
    }
  }

  /// Ends the alert about a router that joined the preferred network and was not there before, or was reset.
  mutating func accept(_ agent: BorderAgentID) -> HomeAnswer {
    guard let stored = routers[agent], stored.isPresent else { return .refused(.unknownRouter(agent)) }
    guard !stored.isKnown || stored.resetFrom != nil else { return .accepted(isChange: false, isKnown: true) }
    var router = stored
    router.isKnown = true
    // Its former record may be there for a while.
    if let former = stored.resetFrom?.agent { discovery.removed[former] = now }
    router.endReset()
    if let network = router.network, accepted.contains(network) { router.extras.acceptedOn = network }
    write(router, before: stored, RouterEvent(), trigger: .accepted)
    return .accepted(isChange: true, isKnown: true)
  }

  /// Gives a router a name, or, by nil, its own again.
  mutating func rename(_ agent: BorderAgentID, _ name: String?) -> HomeAnswer {
    guard let stored = routers[agent], stored.isPresent else { return .refused(.unknownRouter(agent)) }
    guard stored.givenName != name else { return .accepted(isChange: false, isKnown: true) }
    var router = stored
    router.extras.givenName = name
    write(router, before: stored, RouterEvent(), trigger: .request)
    return .accepted(isChange: true, isKnown: true)
  }

  /// A code that was asked for here is no alert.
  mutating func expectCredentialSharing(of agent: BorderAgentID, minutes: Int) -> HomeAnswer {
    guard let stored = routers[agent], stored.isPresent else { return .refused(.unknownRouter(agent)) }
    var router = stored
    router.extras.askedCodeEndsAt = now.adding(seconds: minutes * 60)
    router.isOpenForCode = false
    write(router, before: stored, RouterEvent(), trigger: .request)
    return .accepted(isChange: true, isKnown: true)
  }

  /// Ends, or lets come back, the alerts about routers that are on a network which is not the preferred one.
  mutating func accept(_ network: ExtendedPANID, _ isAccepted: Bool) -> HomeAnswer {
    let isKnown = self.network(network) != nil
    return .accepted(isChange: setAccepted(network, isAccepted), isKnown: isKnown)
  }

  /// - Returns: whether that changes anything.
  @discardableResult mutating func setAccepted(_ network: ExtendedPANID, _ isAccepted: Bool) -> Bool {
    let isNew = accepted.contains(network) != isAccepted
    let present = routers.filter { $0.isPresent && $0.network == network }
    let members = present.filter { $0.memberOf != nil && $0.memberOf == preferred?.dataset.network }
    let moved = isAccepted ? members.filter { $0.acceptedOn != network } : []
    guard isNew || !moved.isEmpty else { return false }
    if isAccepted { accepted.insert(network) } else { accepted.remove(network) }
    for var router in moved {
      router.extras.acceptedOn = network
      put(router)
    }
    noteRecord(.home)
    changes.networks.insert(network)
    for router in present { changes.routers.insert(router.agent) }
    needs.routerChecks = true
    needs.changeCheck = true
    needs.sharedCheck = true
    discovery.needsSplitCheck = true
    return true
  }
}
