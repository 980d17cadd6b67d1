// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Which team a border agent id belongs to, how many one may have, and what a person removes or accepts.
extension Home {
  /// Seconds for which an id without credentials continues to belong to the team of a router that left.
  static let retention = 30 * 86_400
  /// Routers forgotten at once, so that a message never waits for long.
  static let forgottenAtOnce = 50

  /// Lets a team have one more id. At its limit, the router that left first is forgotten for it; none that counts
  /// against other keys of the preferred network.
  ///
  /// - Returns: false when no more are allowed.
  mutating func makeRoom(for team: ExactName, _ stored: Router?) -> Bool {
    if let stored, stored.owner ?? stored.team == team { return true }
    guard routers.counts.ids[team, default: 0] >= rules.routersPerTeam else { return true }
    guard routers.counts.left[team] != nil else { return false }
    let key = preferred?.dataset.parameters?.networkKey
    let now = now
    let left = routers.lazy.filter {
      $0.hasLeft && $0.team == team && $0.formerKey?.counts(for: key, at: now) != true
    }
    guard let first = left.min(by: { leftAt($0) < leftAt($1) }) else { return false }
    forget(first, .forRoom)
    return true
  }

  func leftAt(_ router: Router) -> WireTime {
    max(router.credentialsGoneAt ?? router.firstSeenAt, router.firstSeenAt)
  }

  private mutating func forget(_ router: Router, _ reason: AuditNote.RemovalReason) {
    if router.owner != nil {
      step.output.audit.append(.routerRemoved(router.agent, team: router.owner, reason))
    }
    step.output.events.append(.forgotten(router.agent))
    drop(router)
    step.needsKeyCheck = true
  }

  /// Forgets routers that left 30 days ago.
  mutating func forgetLeftRouters() {
    let deadline = now.adding(seconds: -Self.retention)
    let old = routers.filter { $0.hasLeft && leftAt($0) <= deadline }
    for router in old.prefix(Self.forgottenAtOnce) { forget(router, .leftLongAgo) }
  }

  /// Deletes all that is kept of a border agent id: credentials, owner, and its place on the list.
  mutating func remove(_ agent: BorderAgentID) -> HomeAnswer {
    guard let stored = routers[agent] else { return .refused(.unknownRouter(agent)) }
    if stored.isPresent {
      var event = RouterEvent()
      event.isRemoved = true
      unlist(stored, event)
    }
    if stored.dataset != nil {
      step.output.secrets.append(SecretMove(to: .router(agent), from: .nothing))
    }
    step.output.audit.append(.routerRemoved(agent, team: stored.owner, .byPerson))
    drop(stored)
    step.needsKeyCheck = true
    if let user = stored.user { endPlaintext(of: user) }
    return .removed(team: stored.owner, hadCredentials: stored.dataset != nil)
  }

  /// A router stays, without its credentials.
  ///
  /// - Parameter user: who has them deleted.
  mutating func deleteCredentials(of stored: Router, user: ExactName?) {
    var router = stored
    router.dropCredentials(preferred: preferred?.dataset.parameters?.networkKey, at: now)
    step.output.secrets.append(SecretMove(to: .router(stored.agent), from: .nothing))
    step.output.audit.append(.credentialsDeleted(stored.agent))
    var event = RouterEvent()
    event.user = user
    if router.isPresent {
      write(router, before: stored, event, trigger: .deleted)
    } else {
      put(router)
    }
  }

  /// The credentials of a record are missing from now on. The record is written again in any case.
  mutating func loseSecret(of key: RecordKey) {
    changes.records.insert(key)
    switch key {
    case .home: losePreferredCredentials()
    case .router(let agent):
      guard let stored = routers[agent], stored.dataset != nil else { return }
      deleteCredentials(of: stored, user: nil)
    case .former(let id):
      guard let index = former.firstIndex(where: { $0.id == id && $0.dataset.hasCredentials })
      else { return }
      step.output.audit.append(.formerDeleted(former[index].dataset.network))
      removeFormer(at: index)
    case .shared(let user, let network):
      if let one = shared[network]?[user] { drop(one) }
    case .alert, .question, .grant, .decision, .client, .signer: return
    }
  }

  /// Ends the alert about a router that joined the preferred network and was not there before.
  mutating func accept(_ agent: BorderAgentID) -> HomeAnswer {
    guard let stored = routers[agent], stored.isPresent else {
      return .refused(.unknownRouter(agent))
    }
    guard !stored.isKnown else { return .accepted(isChange: false, isKnown: true) }
    var router = stored
    router.isKnown = true
    write(router, before: stored, RouterEvent(), trigger: .accepted)
    return .accepted(isChange: true, isKnown: true)
  }

  /// Ends, or lets come back, the alerts about routers that are on a network which is not the preferred one and never
  /// were on that.
  mutating func accept(_ network: ExtendedPANID, _ isAccepted: Bool) -> HomeAnswer {
    let isKnown = self.network(network) != nil
    guard accepted.contains(network) != isAccepted else {
      return .accepted(isChange: false, isKnown: isKnown)
    }
    if isAccepted { accepted.insert(network) } else { accepted.remove(network) }
    changes.records.insert(.home)
    changes.networks.insert(network)
    for router in routers where router.isPresent && router.network == network {
      changes.routers.insert(router.agent)
    }
    step.needsRouterChecks = true
    discovery.needsSplitCheck = true
    return .accepted(isChange: true, isKnown: isKnown)
  }
}
