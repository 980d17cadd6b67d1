import ThreadDataset
import ThreadkeeperSupport

/// Credentials that logins share which are no border routers. `SharedDecision` has the table of what they mean.
extension Home {
  mutating func takeCredentials(_ message: RouterMessage, from user: ExactName) throws(HomeRejection) {
    guard let incoming = message.dataset else { return }
    let network = incoming.network
    let stored = shared[network]?[user]
    let own = sharedBy[user] ?? []
    guard stored != nil || own.count < SharedCredentials.most else { throw .tooManyNetworks(SharedCredentials.most) }
    guard stored != nil || sharedCount < rules.settings.routersPerHome else {
      throw .tooManyShared(rules.settings.routersPerHome)
    }
    var one =
      stored ?? SharedCredentials(user: user, dataset: incoming, createdAt: now, changedAt: now, reportedAt: now)
    guard try takeNumber(of: message, into: &one) else { return }
    if message.hasKeys, message.signature == nil { notePlaintext(from: user) }
    one.reportedAt = now
    if one.agent != message.borderAgent {
      one.agentGoneSince = nil
      one.refused.removeAll { $0 == .agentThere }
      if let router = one.agreed?.subject.router, router.agent == message.borderAgent { endAgreed(&one) }
    }
    one.agent = message.borderAgent
    (one.isThere, one.writes) = (true, message.writes)
    one.name = message.name
    one.isPreferredThere = message.isPreferred
    one.isSigned = message.signature != nil
    one.lacks = message.lacks
    if stored?.dataset.hasSameBytes(as: incoming) != true || stored?.dataset.name != incoming.name {
      one.dataset = incoming
      one.changedAt = now
      let hasSecret = incoming.hasCredentials
      moveSecret(to: .shared(user, network), from: hasSecret ? .input : .nothing)
      if hasSecret {
        audit(.sharedStored(by: user, network, isNew: stored == nil))
      } else if stored?.dataset.hasCredentials == true {
        audit(.sharedDeleted(of: user, network))
      }
    }
    one.follows =
      preferredCredentials.map { incoming.hasKeys(of: $0) && (one.follows || incoming.isSame(as: $0)) } ?? false
    put(one)
    for other in own where one.isPreferredThere && other != network {
      guard var former = shared[other]?[user], former.isPreferredThere else { continue }
      former.isPreferredThere = false
      put(former)
    }
    let decision = decision(of: one)
    if case .becomes(let cause) = decision { become(one, cause) }
    // The alert that none is preferred names what is shared.
    if preferred == nil { step.needsHomeCheck = true }
    // What changes nothing is looked at again where a person may be asked again, or its time may have come.
    if decision != .nothing { needs.sharedCheck = true }
    sendOrders(to: user)
  }

  /// - Returns: false for a repetition.
  mutating func takeNumber(of message: RouterMessage, into one: inout SharedCredentials) throws(HomeRejection) -> Bool {
    switch one.order.take(message.order) {
    case .news: return true
    case .duplicate:
      step.output.isDuplicate = true
      return false
    case .outOfOrder:
      put(one)
      throw .outOfOrder
    }
  }

  mutating func put(_ one: SharedCredentials) {
    var before = shared[one.network, default: [:]].updateValue(one, forKey: one.user)
    if before == nil { countShared(one, 1) }
    nameShared(before, one)
    // A number is saved with the next change, and so is the time.
    before?.order = one.order
    before?.reportedAt = one.reportedAt
    if before != one { noteChange(of: one) }
  }

  mutating func drop(_ one: SharedCredentials) {
    if let before = shared[one.network]?.removeValue(forKey: one.user) {
      countShared(one, -1)
      nameShared(before, nil)
      if let agreed = before.agreed { orderedAt[agreed.consent] = nil }
    }
    if shared[one.network]?.isEmpty == true { shared[one.network] = nil }
    noteChange(of: one)
    audit(.sharedDeleted(of: one.user, one.network))
    endPlaintext(of: one.user)
  }

  mutating func countShared(_ one: SharedCredentials, _ change: Int) {
    sharedCount += change
    if change > 0 {
      sharedBy[one.user, default: []].insert(one.network)
    } else {
      sharedBy[one.user]?.remove(one.network)
      if sharedBy[one.user]?.isEmpty == true { sharedBy[one.user] = nil }
    }
  }

  mutating func nameShared(_ before: SharedCredentials?, _ after: SharedCredentials?) {
    if before?.dataset.name == after?.dataset.name { return }
    sharedNames.rename(before?.seenName, after?.seenName)
    for one in [before, after].compactMap(\.self) where hasNamesake(one.network, one.dataset.name) {
      needs.nameCheck = true
    }
  }

  private mutating func noteChange(of one: SharedCredentials) {
    noteRecord(.shared(one.user, one.network))
    changes.networks.insert(one.network)
    // Not all that changes is an event.
    if let signer = step.signer { noteRecord(signer) }
    needs.sharedCheck = true
  }

  // MARK: What that means for the preferred network

  private func decision(of one: SharedCredentials) -> SharedDecision {
    SharedDecision(
      one, preferred: preferred?.dataset, needsChoice: needsChoice || preferred == nil && isOffTheAir(one.network),
      isTrusted: one.isSigned && rules.settings.trusted.contains(one.user), at: now)
  }

  /// Whether no border router is online on a network, and some are listed on others: it may have been given up long
  /// ago.
  func isOffTheAir(_ network: ExtendedPANID) -> Bool {
    let networks = routers.counts.networks
    return (networks[network]?.online ?? 0) == 0 && networks.keys.contains { $0 != network }
  }

  /// - Parameter person: who has chosen it.
  private mutating func become(_ one: SharedCredentials, _ cause: PreferredCause, by person: ConsentApprover? = nil) {
    let before = preferred?.dataset
    // The login was checked; what the sender is called is its own word.
    prefer(
      one.dataset, from: .record(.shared(one.user, one.network)), cause: cause, who: person?.shown ?? one.user.text,
      sharedBy: person == nil ? one.user : nil)
    if person != nil { markMembers(of: one.dataset) }
    noteChoice(before, one.dataset, person == nil ? one.user : person?.login)
  }

  /// The preferred network is another one, or the settings are: a user that they trust may have its credentials. Or
  /// none is preferred, and a router is now on the network that a user prefers.
  mutating func checkPreferredByShared() {
    guard needs.sharedCheck || needs.preferredBefore != nil || preferred == nil && needs.changeCheck else { return }
    for one in preferred.map({ shared(of: $0.dataset.network) }) ?? allShared {
      if case .becomes(let cause) = decision(of: one) { return become(one, cause) }
    }
  }

  /// Brings questions and alerts in line with what is shared, and with the preferred network.
  mutating func checkShared() {
    guard rules.hasDaemon, needs.sharedCheck || needs.preferredBefore != nil else { return }
    step.work += sharedCount
    var wanted = checkLeftovers()
    var asked: [SharedCredentials] = []
    for one in allShared {
      func alert(
        _ name: AlertName, _ subject: AlertSubject, _ message: AlertFacts.Message, _ differs: DatasetDifferences? = nil
      ) {
        var facts = AlertFacts(message)
        facts.user = one.user
        facts.names = .init([one.name.flatMap(ShownName.quoted)].compactMap(\.self))
        facts.network = .init(one.dataset)
        facts.preferred = preferred.map { .init($0.dataset) }
        facts.differs = differs
        facts.otherNames = AlertFacts.Names(lacking: one.lacks)
        if message == .otherPreferred { facts.since = deadSince(one) }
        wanted[AlertKey(name, subject)] = wanted[AlertKey(name, subject)] ?? facts
      }
      let network = AlertSubject.network(one.network)
      switch decision(of: one) {
      case .asks: if !one.isDenied { asked.append(one) }
      case .older(let differs): alert(.staleDataset, network, .sharedOlder, differs)
      case .conflict(let differs): alert(.datasetConflict, network, .sharedConflict, differs)
      case .otherPreferred: alert(.homeAssistantDiffers, .user(one.user), .otherPreferred)
      case .partial: alert(.credentialsMissing, network, .sharedPartial)
      case .nothing, .becomes: break
      }
    }
    for question in questions where question.subject.command == .accept {
      let isWanted = asked.contains {
        isAbout($0, question.requester, question.subject) && replacesKeys($0) == question.keyHasChanged
      }
      if !isWanted { withdraw(question.id) }
    }
    for one in asked {
      let (requester, subject) = question(about: one)
      if waiting(about: one) != nil || askedUntil[one.user] != nil { continue }
      // Where too many wait, it is asked with the next report.
      let isNew = try? ask(subject, by: requester, reply: .caller, replacesKeys: replacesKeys(one))
      if isNew != nil { askedUntil[one.user] = now.adding(seconds: ConsentQuestion.timeout) }
    }
    let ofShared = alerts.keys.filter {
      switch ($0.name, $0.subject) {
      case (.homeAssistantDiffers, _), (.staleDataset, .network), (.datasetConflict, .network),
        (.credentialsMissing, .network), (.ghostNetwork, _):
        true
      default: false
      }
    }
    for key in Set(ofShared).union(wanted.keys).sorted() { setAlert(key, wanted[key]) }
  }

  private func replacesKeys(_ one: SharedCredentials) -> Bool {
    preferredCredentials.map { !one.dataset.hasKeys(of: $0) } ?? false
  }

  private func question(about one: SharedCredentials) -> (requester: Requester, subject: ConsentSubject) {
    var requester = Requester(.login(one.user), team: team(of: one.user))
    requester.program = one.name
    return (requester, ConsentSubject(.accept, [ConsentNetwork(one.dataset, of: requester.team)]))
  }

  private func isAbout(_ one: SharedCredentials, _ requester: Requester, _ subject: ConsentSubject) -> Bool {
    let question = question(about: one)
    return question.requester.isSame(as: requester) && question.subject.isSame(as: subject)
  }

  private func waiting(about one: SharedCredentials) -> ConsentQuestion? {
    questions.first { isAbout(one, $0.requester, $0.subject) && !$0.isOver(at: now) }
  }

  /// A question about shared credentials is settled.
  mutating func settleAccept(_ record: ConsentRecord) {
    guard record.subject.command == .accept else { return }
    let one = allShared.first { isAbout($0, record.requester, record.subject) }
    switch record.outcome {
    case .expired, .revoked: return
    case .denied:
      guard var one, let key = one.dataset.parameters?.networkKey else { return }
      one.denied = Array((one.denied + [key]).suffix(8))
      put(one)
    case .approved:
      guard let one, let approver = record.by, decision(of: one) == .asks else {
        return noteNotGiven(record.id, .changed)
      }
      become(one, .person, by: approver)
    }
  }

  /// Accepts what is shared of the preferred network, whether a question about it waits or not.
  mutating func acceptCredentials(_ network: ExtendedPANID?, by approver: ConsentApprover) -> HomeAnswer {
    guard let preferred = preferred?.dataset else { return .refused(mayHavePreferred ? .damaged : .noPreferred) }
    if let network, network != preferred.network { return .refused(.notPreferred(network)) }
    let known = shared(of: preferred.network).map { ($0, decision(of: $0)) }
    var new = known.filter { $1 == .asks && !$0.isDenied }
    if new.isEmpty { new = known.filter { $1 == .asks } }
    if new.isEmpty { new = known.filter { if case .conflict = $1 { true } else { false } } }
    guard let one = newest(of: new.map(\.0)) else {
      if known.contains(where: { $1 == .nothing }) { return .preferredSet(isChanged: false, hasCredentials: true) }
      if hasLostCredentials { return .refused(.damaged) }
      let network = preferred.network
      return .refused(known.isEmpty ? .nothingToAccept(network) : .onlyOlderShared(network))
    }
    guard new.allSatisfy({ $0.0.dataset.hasKeys(of: one.dataset) }) else {
      return .refused(.severalShared(new.map(\.0.user)))
    }
    if let question = waiting(about: one) { _ = decide(ConsentDecision(.approve(question.id, .once), by: approver)) }
    if self.preferred?.dataset.isSame(as: one.dataset) != true { become(one, .person, by: approver) }
    return .preferredSet(isChanged: true, hasCredentials: true)
  }

  // MARK: Who shares what

  package var allShared: [SharedCredentials] { shared.keys.sorted { $0.number < $1.number }.flatMap(shared(of:)) }

  /// When credentials that a login shares were read last: it has reported them, or its program has said that it works.
  package var credentialsReadAt: WireTime? { allShared.flatMap(readings).max() }

  /// When the credentials of the preferred network were read last: those of a router or a login came, or were found
  /// there again, or an agent reported of a router for which it has published them. Where none has them: when they
  /// became the preferred ones. Nil where they are not here.
  package var keyReadAt: WireTime? {
    guard let preferred, let key = preferredCredentials else { return nil }
    func hasKey(_ dataset: DatasetSummary) -> Bool { dataset.network == key.network && dataset.hasKeys(of: key) }
    let members = routers.filter { $0.dataset.map(hasKey) == true }.flatMap { router in
      // One that is announced is seen by what its login sends, never by its record, which says nothing about the key.
      let reportedAt: WireTime? = router.isAnnounced && !router.isRead ? routers.lastSeen(router.agent) : nil
      return [reportedAt, router.reading?.readAt, router.credentialChangedAt].compactMap(\.self)
    }
    let stores = shared(of: key.network).filter { hasKey($0.dataset) }.flatMap(readings)
    return (members + stores).max() ?? preferred.changedAt
  }

  private func readings(of one: SharedCredentials) -> [WireTime] {
    [one.reportedAt] + (agents[one.user]?.values.compactMap(\.workedAt) ?? [])
  }

  /// By user.
  package func shared(of network: ExtendedPANID) -> [SharedCredentials] {
    (shared[network] ?? [:]).values.sorted { $0.user < $1.user }
  }

  func newest(of shared: [SharedCredentials]) -> SharedCredentials? {
    shared.max { $1.dataset.isPreferable(to: $0.dataset) }
  }

  func mayChoose(_ one: SharedCredentials, _ context: RequestContext) -> Bool {
    context.choosesPreferred || team(of: one.user) == context.requester.team
  }

  /// The border agent is named where no router of its id has credentials here.
  func credentials(of one: SharedCredentials) -> StoredCredentials {
    StoredCredentials(
      agent: one.agent.flatMap { routers[$0]?.dataset == nil ? $0 : nil }, dataset: one.dataset,
      isActive: routers.counts.networks[one.network].map { $0.online > 0 } ?? false, createdAt: one.createdAt,
      changedAt: one.changedAt, secret: .shared(one.user, one.network), team: team(of: one.user))
  }

  /// What a team shares of which a border agent is named.
  func credentials(sharedBy team: ExactName) -> [StoredCredentials] {
    allShared.filter(\.dataset.hasCredentials).map(credentials(of:)).filter { $0.team == team && $0.agent != nil }
  }
}
