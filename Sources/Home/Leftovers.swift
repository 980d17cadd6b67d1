import ThreadDataset
import ThreadkeeperSupport

/// What a store of credentials, as Home Assistant's, still has although it is not on the air any more. Pure.
///
/// | in the store of a login | what follows |
/// |---|---|
/// | a network without an online router for 14 days, preferred nowhere | alert, and question: is it deleted there? |
/// | the same, preferred there | nothing: `HomeAssistantDiffers` has it, and it cannot be deleted |
/// | the same, and a person has accepted the network | nothing |
/// | it names a border agent not online there for 14 days, another is | alert, and question: is that one named? |
///
/// The days count while the daemon runs and knows what is on the local network. Without a preferred network, or while
/// nothing is looked for there, nothing is left over. A person is asked where the agent of the login writes, and has
/// keys. After a no, the same is asked again only once a router was there and has gone. What a person has agreed to is
/// sent to the agent with its reports, for a day at most, until they show that it is done.
enum Leftover {
  /// - since: when a border router was on it last, as far as is known.
  case network(since: WireTime)
  case agent(BorderAgentID, since: WireTime, next: Router)

  /// Seconds.
  static let age = 14 * 86_400

  var command: ConsentSubject.Command {
    switch self {
    case .network: .deleteThere
    case .agent: .agentThere
    }
  }
}

/// What a person has agreed to be changed in a store, until its agent reports that it is done.
struct AgreedChange: Hashable, Sendable {
  /// Seconds for which it is tried.
  static let timeout = 86_400
  /// Between two messages about it.
  static let pause = 60

  let consent: ConsentID
  let subject: ConsentSubject
  /// Of the key that the message is sealed to.
  let fingerprint: String
  let until: WireTime
}

/// A change of a store that a person has agreed to, for the agent of its login.
package struct StoreOrder: Hashable, Sendable {
  package enum Change: Hashable, Sendable {
    case delete
    /// The border agent of the network that the store names.
    case name(BorderAgentID, extendedAddress: UInt64)
  }

  package let user: ExactName
  package let consent: ConsentID
  package let network: ExtendedPANID
  package let change: Change
}

extension Home {
  // MARK: What is left over

  /// When what has begun at a time has lasted long enough: hours in which nobody watched do not count.
  private func dueTime(of since: WireTime) -> WireTime? {
    guard let discoveredSince else { return nil }
    // Of what was longer ago it is not known when nobody watched.
    let begin = max(since, discoveredSince, now.adding(seconds: -RouterPast.hours * 3_600))
    let missed = unwatched.reduce(0) { sum, gap in
      let from = max(Int64(gap.from) * 3_600, begin.seconds64)
      return sum + Int(max(0, min(Int64(gap.until) * 3_600, now.seconds64) - from))
    }
    return begin.adding(seconds: Leftover.age + missed)
  }

  private func isLongAgo(_ since: WireTime) -> Bool { dueTime(of: since).map { $0 <= now } ?? false }

  private func isThere(_ router: Router, _ network: ExtendedPANID) -> Bool {
    router.isPresent && router.isOnline && (router.network == network || router.actualNetwork == network)
  }

  private func isOnAir(_ network: ExtendedPANID) -> Bool {
    (routers.counts.networks[network]?.online ?? 0) > 0
      || routers.counts.totals.elsewhere > 0 && routers.contains { isThere($0, network) }
  }

  /// A router came to a network of which credentials are shared, or went from it.
  func isAirNews(_ before: Router?, _ after: Router?) -> Bool {
    func networks(_ router: Router?) -> [ExtendedPANID?] {
      router.map { $0.isPresent && $0.isOnline ? [$0.network, $0.actualNetwork] : [] } ?? []
    }
    let (old, new) = (networks(before), networks(after))
    return old != new && (old + new).contains { $0.map { shared[$0] != nil } == true }
  }

  /// Since when a network, and the border agent that is named for it, are not there: it begins and ends here.
  private mutating func noteAir(of stored: SharedCredentials) -> SharedCredentials {
    var one = stored
    one.offAirSince = isOnAir(one.network) ? nil : one.offAirSince ?? now
    let agent = one.agent.flatMap { routers[$0] }
    one.agentGoneSince =
      one.agent == nil || agent.map { isThere($0, one.network) } == true ? nil : one.agentGoneSince ?? now
    if one.offAirSince == nil { one.refused.removeAll { $0 == .deleteThere } }
    if one.agentGoneSince == nil { one.refused.removeAll { $0 == .agentThere } }
    if one != stored { put(one) }
    return one
  }

  private func leftover(of one: SharedCredentials) -> Leftover? {
    guard one.isThere, let preferred = preferred?.dataset.network else { return nil }
    if let since = one.offAirSince {
      let isUnused = one.network != preferred && !one.isPreferredThere && !accepted.contains(one.network)
      return isUnused && isLongAgo(since) ? .network(since: since) : nil
    }
    guard let agent = one.agent, let since = one.agentGoneSince, isLongAgo(since) else { return nil }
    // The one that was asked about stays; else the one that is there for the longest time.
    let others = routers.filter { $0.extendedAddress != nil && $0.agent.numbers.low != 0 && isThere($0, one.network) }
    let asked = questions.first { isAbout(one, .agentThere, $0) }?.subject.router ?? one.agreed?.subject.router
    guard
      let next = others.first(where: { $0.agent == asked?.agent })
        ?? others.min(by: { ($0.firstSeenAt, $0.agent) < ($1.firstSeenAt, $1.agent) })
    else { return nil }
    return .agent(agent, since: since, next: next)
  }

  /// Since when a network has no border router, where that is long ago.
  func deadSince(_ one: SharedCredentials) -> WireTime? { one.offAirSince.flatMap { isLongAgo($0) ? $0 : nil } }

  /// Brings alerts, questions, and what was agreed to, in line with what is left over.
  ///
  /// - Returns: the alerts that hold.
  mutating func checkLeftovers() -> [AlertKey: AlertFacts] {
    var alerts: [AlertKey: AlertFacts] = [:]
    var found: [(one: SharedCredentials, subject: ConsentSubject)] = []
    leftoverDue = nil
    for stored in allShared {
      let one = noteAir(of: stored)
      for due in [one.offAirSince.flatMap(dueTime), one.agentGoneSince.flatMap(dueTime), one.agreed?.until] {
        if let due, due > now { leftoverDue = min(leftoverDue ?? due, due) }
      }
      guard let what = leftover(of: one), !one.refused.contains(what.command) else { continue }
      let mayAsk = one.writes && requester(for: one).fingerprint != nil
      if mayAsk { found.append((one, subject(of: what, one))) }
      let key = AlertKey(.ghostNetwork, .network(one.network))
      alerts[key] = alerts[key] ?? facts(of: what, one, isAsked: mayAsk)
    }
    askAboutLeftovers(found)
    return alerts
  }

  private func facts(of what: Leftover, _ one: SharedCredentials, isAsked: Bool) -> AlertFacts {
    var facts: AlertFacts
    switch what {
    case .network(let since):
      facts = AlertFacts(.ghostNetwork(isAsked: isAsked))
      facts.since = since
    case .agent(let agent, let since, let next):
      facts = AlertFacts(.ghostAgent(isAsked: isAsked))
      (facts.router, facts.since) = (agent, since)
      facts.otherNames = .init([shownName(next)])
    }
    facts.user = one.user
    facts.names = .init([one.name.flatMap(ShownName.quoted)].compactMap(\.self))
    facts.network = .init(one.dataset)
    facts.preferred = preferred.map { .init($0.dataset) }
    return facts
  }

  // MARK: What a person decides

  private func requester(for one: SharedCredentials) -> Requester {
    var requester = Requester(.login(one.user), team: team(of: one.user))
    requester.program = one.name
    if let client = clients[one.user], !client.isRevoked, rules.canSeal() { requester.fingerprint = client.fingerprint }
    return requester
  }

  private func subject(of what: Leftover, _ one: SharedCredentials) -> ConsentSubject {
    var router: ConsentSubject.Router?
    if case .agent(_, _, let next) = what { router = .init(agent: next.agent, name: next.name, network: nil) }
    var subject = ConsentSubject(what.command, [ConsentNetwork(one.dataset, of: team(of: one.user))], router: router)
    subject.since =
      switch what {
      case .network(let since), .agent(_, let since, _): since
      }
    return subject
  }

  private func isAbout(_ one: SharedCredentials, _ command: ConsentSubject.Command, _ question: ConsentQuestion) -> Bool
  {
    question.subject.command == command && question.requester.login == one.user
      && question.subject.networks.first?.id == one.network
  }

  private mutating func askAboutLeftovers(_ found: [(one: SharedCredentials, subject: ConsentSubject)]) {
    func isWanted(_ user: ExactName?, _ subject: ConsentSubject) -> Bool {
      found.contains { $0.one.user == user && $0.subject.isSame(as: subject) }
    }
    for question in questions where question.subject.command.changesStore {
      if !isWanted(question.requester.login, question.subject) { withdraw(question.id) }
    }
    for var one in allShared {
      guard let agreed = one.agreed else { continue }
      let isOutdated = !isWanted(one.user, agreed.subject)
      guard isOutdated || agreed.until <= now else { continue }
      if isOutdated { noteNotGiven(agreed.consent, .changed) }
      endAgreed(&one)
      put(one)
    }
    for (stored, subject) in found {
      guard let one = shared[stored.network]?[stored.user], one.agreed == nil, askedUntil[one.user] == nil,
        !questions.contains(where: { isAbout(one, subject.command, $0) })
      else { continue }
      // Where too many wait, it is asked later.
      let isNew = try? ask(subject, by: requester(for: one), reply: .caller)
      if isNew != nil { askedUntil[one.user] = now.adding(seconds: ConsentQuestion.timeout) }
    }
  }

  mutating func endAgreed(_ one: inout SharedCredentials) {
    if let agreed = one.agreed { orderedAt[agreed.consent] = nil }
    one.agreed = nil
  }

  /// A question about what is left over is settled.
  mutating func settleLeftover(_ record: ConsentRecord) {
    let subject = record.subject
    guard subject.command.changesStore, let user = record.requester.login, let network = subject.networks.first?.id
    else { return }
    guard var one = shared[network]?[user], let fingerprint = record.requester.fingerprint else {
      if record.outcome == .approved { noteNotGiven(record.id, .changed) }
      return
    }
    switch record.outcome {
    case .expired, .revoked: return
    case .denied: one.refused.append(subject.command)
    case .approved:
      one.agreed = AgreedChange(
        consent: record.id, subject: subject, fingerprint: fingerprint, until: now.adding(seconds: AgreedChange.timeout)
      )
    }
    put(one)
    // A person is there: what else is left over is asked about at once.
    askedUntil[user] = nil
    sendOrders(to: user)
  }

  // MARK: What its agent is sent, and reports

  /// It has reported something, so it listens.
  mutating func sendOrders(to user: ExactName) {
    for network in (sharedBy[user] ?? []).sorted() {
      guard let one = shared[network]?[user], let agreed = one.agreed, agreed.until > now,
        requester(for: one).fingerprint == agreed.fingerprint,
        orderedAt[agreed.consent].map({ $0.adding(seconds: AgreedChange.pause) <= now || $0 > now }) ?? true
      else { continue }
      let change: StoreOrder.Change
      if let router = agreed.subject.router {
        guard let address = routers[router.agent]?.extendedAddress else { continue }
        change = .name(router.agent, extendedAddress: address)
      } else {
        change = .delete
      }
      orderedAt[agreed.consent] = now
      step.output.storeOrders.append(StoreOrder(user: user, consent: agreed.consent, network: network, change: change))
    }
  }

  /// A login has deleted a network from its store. What a person has agreed to delete is kept with the networks that
  /// were preferred, while there is room. What was deleted otherwise, or has no room, stays until a person forgets it.
  mutating func takeDeletion(_ message: RouterMessage, of network: ExtendedPANID, from user: ExactName)
    throws(HomeRejection)
  {
    guard var one = shared[network]?[user] else { return }
    guard try takeNumber(of: message, into: &one) else { return }
    (one.isThere, one.isPreferredThere) = (false, false)
    let isAgreed = one.agreed?.subject.command == .deleteThere
    endAgreed(&one)
    put(one)
    guard isAgreed else { return }
    if one.dataset.hasCredentials {
      guard hasRoomForFormer(one.dataset) else { return }
      _ = keepFormer(one.dataset, from: .record(.shared(user, network)))
    }
    drop(one)
  }
}

extension WireTime { fileprivate var seconds64: Int64 { milliseconds / 1_000 } }
