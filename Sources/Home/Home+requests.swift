import ThreadDataset

/// What comes of requests, whoever asks and however: over MQTT, on the socket, or in a program without a daemon. All
/// that is wrong with one is found before anything that it asks for is changed.
extension Home {
  mutating func answer(_ request: HomeRequest, _ context: RequestContext) -> HomeAnswer {
    if request.hasDataset, !context.isSigned, let user = context.requester.login { notePlaintext(from: user) }
    do throws(HomeRefusal) {
      switch request {
      case .storeCredentials(let agent, let dataset): return try store(dataset, of: agent, context)
      case .deleteCredentials(let agent): return try deleteCredentials(of: agent, context)
      case .getCredentials(let agent): return try credentials(of: agent, context)
      case .listCredentials(let onlyActive): return try list(context, onlyActive: onlyActive)
      case .isPreferredAvailable:
        if mayHavePreferred { throw .damaged }
        return .available(preferredCredentials != nil)
      case .checkPreferred(let dataset):
        if mayHavePreferred { throw .damaged }
        return .checked(PreferredCheck.answer(about: dataset, preferred: preferred?.dataset))
      case .setPreferred(let choice): return try prefer(choice, context)
      case .forgetPreferred: return try forgetPreferred(context)
      case .forgetNetwork(let network): return try forget(network, context)
      case .getPreferred: return try disclose(context.writesPreferred ? .write : .preferred, nil, context)
      case .getNetwork(let network): return try disclose(.network, network, context)
      case .nearbyNetworks: return try disclose(.nearby, nil, context)
      case .pendingQuestions:
        return .questions(
          questions.filter { !$0.isDenied && !$0.isOver(at: now) && $0.requester.isSameParty(as: context.requester) })
      }
    } catch { return .refused(error) }
  }

  // MARK: Credentials of the own team

  private mutating func store(_ incoming: DatasetSummary, of agent: BorderAgentID, _ context: RequestContext)
    throws(HomeRefusal) -> HomeAnswer
  {
    let stored = routers.stored(agent)
    let team = context.requester.team
    if let owner = stored?.owner, owner != team { throw .ofAnotherTeam(agent) }
    let before = preferred?.dataset
    guard context.isOnMachine || !Membership.isTooFarAhead(incoming, preferred: before, at: now) else {
      throw .tooFarAhead
    }
    var router = stored?.value ?? Router(agent, at: now)
    if router.dataset == nil || router.isRead {
      switch makeRoom(for: team, stored) {
      case .there: break
      case .teamIsFull: throw .tooManyRouters(rules.settings.routersPerTeam)
      case .homeIsFull: throw .homeIsFull(rules.settings.routersPerHome)
      }
    }
    dropReading(of: &router)
    if let user = context.requester.login, router.user != user, !router.isPresent {
      router.user = user
      router.order = SequenceWindow()
    }
    let change = DatasetDecision(stored: router.dataset, requested: incoming)
    // Over MQTT a request counts as an event does: it must not replace the preferred network's keys.
    let isMoved = save(
      incoming, change, of: &router, team: team, isOwner: context.isOnMachine, user: context.requester.login)
    router.credential = .stored
    if change.isStored { router.datasetChangedAt = now }
    var event = RouterEvent(isMoved ? .preferredChanged : [], agent)
    event.user = context.requester.login
    event.note(change, of: incoming)
    if !event.types.isEmpty { event.network = .init(incoming) }
    noteKeys(incoming)
    if router.isPresent {
      write(router, before: stored, event, trigger: .request)
    } else {
      // No router has announced itself under this id: there is nothing else that could change.
      put(router)
      if !event.types.isEmpty {
        name(router, in: &event)
        emit(.router(event))
      }
    }
    return .stored(change, preferred: PreferredCheck.answer(about: incoming, preferred: preferred?.dataset))
  }

  private mutating func deleteCredentials(of agent: BorderAgentID, _ context: RequestContext) throws(HomeRefusal)
    -> HomeAnswer
  {
    guard let stored = routers[agent], stored.dataset != nil else { throw noCredentials(of: agent) }
    guard context.isAdministrator || stored.owner == context.requester.team else { throw .ofAnotherTeam(agent) }
    deleteCredentials(of: stored, user: context.requester.login)
    return .deleted
  }

  private func credentials(of agent: BorderAgentID, _ context: RequestContext) throws(HomeRefusal) -> HomeAnswer {
    guard context.canReceiveSecrets else { throw .noKey }
    // What another team holds is not found: no answer reveals that it has it.
    let team = context.requester.team
    if let own = routers[agent].flatMap({ $0.owner == team ? credentials(of: $0) : nil }) { return .credentials([own]) }
    let shared = credentials(sharedBy: team).filter { $0.agent == agent }
    guard let latest = shared.max(by: { ($0.changedAt ?? now) < ($1.changedAt ?? now) }) else {
      throw noCredentials(of: agent)
    }
    return .credentials([latest])
  }

  private func noCredentials(of agent: BorderAgentID) -> HomeRefusal {
    hasLostCredentials ? .damaged : .noCredentials(agent)
  }

  private func list(_ context: RequestContext, onlyActive: Bool) throws(HomeRefusal) -> HomeAnswer {
    let team = context.requester.team
    let own = routers.filter { $0.owner == team }.compactMap(credentials(of:))
    let found = (own + credentials(sharedBy: team)).filter { $0.isActive || !onlyActive }
    if let most = context.mostCredentials, found.count > most { throw .tooMany(most) }
    return .credentials(found)
  }

  private func credentials(of router: Router) -> StoredCredentials? {
    guard let dataset = router.dataset else { return nil }
    return StoredCredentials(
      agent: router.agent, dataset: dataset, isActive: router.isPresent && router.isOnline,
      createdAt: router.credentialCreatedAt, changedAt: router.credentialChangedAt, secret: .router(router.agent),
      team: router.owner)
  }

  // MARK: What other teams have, and what the home prefers: somebody must agree

  private mutating func disclose(
    _ command: ConsentSubject.Command, _ network: ExtendedPANID?, _ context: RequestContext
  ) throws(HomeRefusal) -> HomeAnswer {
    guard context.canReceiveSecrets else { throw .noKey }
    let found = try disclosable(command, network, of: context.requester.team) { _ in true }
    // Nothing is there that a person could be asked about.
    guard !found.isEmpty else { return .credentials([]) }
    // Nobody should be asked about what could not be sent then.
    if let most = context.mostCredentials, found.count > most { throw .tooMany(most) }
    let subject = ConsentSubject(command, found.map(\.network))
    do throws(ConsentRefusal) {
      switch try ask(subject, by: context.requester, reply: context.reply) {
      case .granted(let grant):
        audit(.given(subject, to: context.requester, by: grant))
        return .credentials(found)
      case .waiting(let id): return .waiting(id)
      }
    } catch { throw .consent(error) }
  }

  /// The answers that a settled question owes. What was agreed to, by its name and team too, and nothing that has
  /// come since: a person has agreed to what the question said.
  mutating func answerWaiting(_ question: ConsentQuestion, _ record: ConsentRecord) {
    var (answer, obstacle) = agreed(question)
    if obstacle != .notEnrolled {
      switch record.outcome {
      case .denied: answer = .refused(.denied)
      case .expired, .revoked: answer = .refused(.expired)
      case .approved: break
      }
    }
    // A caller that has hung up meanwhile is given nothing.
    let replies = question.replies.filter { $0 != .caller || rules.isAwaited(question.id) }
    if obstacle == nil, replies.isEmpty { obstacle = .hungUp }
    if obstacle == nil, case .credentials(let given) = answer {
      let networks = Set(given.map(\.network))
      let subject = ConsentSubject(question.subject.command, question.subject.networks.filter(networks.contains))
      audit(.given(subject, to: question.requester, by: question.id))
    }
    for reply in replies {
      step.output.settled.append(
        SettledAnswer(id: question.id, requester: question.requester, to: reply, answer: answer))
    }
    if record.outcome == .approved, let obstacle { noteNotGiven(question.id, obstacle) }
  }

  private func agreed(_ question: ConsentQuestion) -> (HomeAnswer, ConsentRecord.Obstacle?) {
    // A requester whose key was revoked, or is another one than the person was shown, is given nothing.
    if let user = question.requester.login {
      guard let client = clients[user], !client.isRevoked, rules.canSeal(),
        client.fingerprint == question.requester.fingerprint
      else { return (.refused(.keyIsGone), .notEnrolled) }
    }
    let agreed = Set(question.subject.networks)
    let found = try? disclosable(
      question.subject.command, question.subject.networks.first?.id, of: question.requester.team, where: agreed.contains
    )
    guard let found, !found.isEmpty else { return (.refused(.changed), .changed) }
    return (.credentials(found), nil)
  }

  /// - Parameters:
  ///   - network: of the command `network`.
  ///   - isAsked: whether it may be among them at all.
  private func disclosable(
    _ command: ConsentSubject.Command, _ network: ExtendedPANID?, of team: ExactName,
    where isAsked: (ConsentNetwork) -> Bool
  ) throws(HomeRefusal) -> [StoredCredentials] {
    switch command {
    case .preferred, .write: return [try preferredRecord(for: team)].filter { isAsked($0.network) }
    case .network:
      // Anybody can name an Extended PAN ID that is on the air: of the preferred network only its own dataset is given.
      if preferredCredentials?.network == network {
        return [try preferredRecord(for: team)].filter { isAsked($0.network) }
      }
      let found = allCredentials.filter { $0.dataset.network == network }
      guard !found.isEmpty else { throw hasLostCredentials ? .damaged : .noCredentialsOfNetwork }
      // The newest one that is asked for; none when there are others only.
      var best: StoredCredentials?
      for one in found where isAsked(one.network) {
        if best.map({ one.dataset.isPreferable(to: $0.dataset) }) != false { best = one }
      }
      return best.map { [$0] } ?? []
    case .nearby, .adopt, .accept, .deleteThere, .agentThere:
      return allCredentials.filter(\.isActive).compactMap(disclosable).filter { isAsked($0.network) }
    }
  }

  /// What routers have, and what is shared of other networks. What was read is nobody's, so nobody can be asked for it.
  private var allCredentials: [StoredCredentials] {
    let routers = routers.filter { !$0.isRead }
    let known = Set(routers.lazy.compactMap(\.dataset).filter(\.isComplete).map(\.network))
    let others = allShared.filter { $0.dataset.hasCredentials && !known.contains($0.network) }
    return routers.compactMap(credentials(of:)) + others.map(credentials(of:))
  }

  /// Nil for what only claims to be the preferred network: it has its Extended PAN ID, and something else is different.
  private func disclosable(_ one: StoredCredentials) -> StoredCredentials? {
    guard let preferred = preferredCredentials, preferred.network == one.dataset.network else { return one }
    guard one.dataset.isSame(as: preferred) else { return nil }
    var own = one
    own.team = nil
    return own
  }

  /// The preferred network, where its credentials are here.
  var preferredCredentials: DatasetSummary? { preferred.flatMap { $0.dataset.hasCredentials ? $0.dataset : nil } }

  private func preferredRecord(for team: ExactName) throws(HomeRefusal) -> StoredCredentials {
    guard let preferred else { throw mayHavePreferred ? .damaged : .noPreferred }
    guard preferred.dataset.hasCredentials else { throw .preferredWithoutCredentials(preferred.dataset.network) }
    // A router that runs on just this dataset, one that is active before one that is not, one of the own team before
    // another's.
    var best: Router?
    for router in routers where router.dataset?.isSame(as: preferred.dataset) == true {
      guard let other = best else {
        best = router
        continue
      }
      let (isActive, wasActive) = (router.isPresent && router.isOnline, other.isPresent && other.isOnline)
      if isActive != wasActive ? isActive : router.owner == team { best = router }
    }
    let shared = shared(of: preferred.dataset.network).first { $0.dataset.isSame(as: preferred.dataset) }.map(
      credentials(of:))
    return StoredCredentials(
      agent: best?.agent ?? shared?.agent, dataset: preferred.dataset,
      isActive: best.map { $0.isPresent && $0.isOnline } ?? shared?.isActive ?? false, createdAt: preferred.createdAt,
      changedAt: preferred.changedAt, secret: .home, team: nil)
  }

  // MARK: The preferred network, by choice

  private mutating func prefer(_ choice: HomeRequest.PreferredChoice, _ context: RequestContext) throws(HomeRefusal)
    -> HomeAnswer
  {
    try requireChoice(context)
    let (dataset, source) = try chosen(choice, context)
    let before = preferred?.dataset
    let isChanged = before?.hasSameBytes(as: dataset) != true
    if context.choosesPreferred || before == nil {
      if isChanged { prefer(dataset, from: source, cause: .person, who: context.actor) } else { confirmKeys() }
      // Also where only other parameters were chosen: who claims other keys is no member any more.
      markMembers(of: dataset)
    } else if isChanged {
      prefer(
        dataset, from: source, cause: .owner, who: context.actor,
        by: KeyChange.Reporter(nil, name: context.actor, user: nil))
    }
    needs.keyCheck = true
    needs.routerChecks = true
    if isChanged { noteChoice(before, dataset, context.requester.login) }
    var owner: RecordKey?
    if before?.isSameNetwork(as: dataset) != true, case .record(let key) = source { owner = key }
    return .preferredSet(isChanged: isChanged, hasCredentials: dataset.hasCredentials, keysOf: owner)
  }

  mutating func noteChoice(_ before: DatasetSummary?, _ dataset: DatasetSummary?, _ user: ExactName?) {
    var event = RouterEvent(.preferredChanged)
    event.user = user
    event.network = dataset.map { .init($0) }
    if let before {
      if let dataset, before.network == dataset.network {
        event.differs = dataset.differences(from: before)
      } else {
        event.previousNetwork = before.network
      }
    }
    emit(.router(event))
  }

  /// A person may replace the preferred network, and so may a program on this machine whose team has a router that
  /// belongs to it, whose changes move it anyway. The first one anybody may set. Any other login could give the whole
  /// home a network of its own.
  private func requireChoice(_ context: RequestContext) throws(HomeRefusal) {
    if context.choosesPreferred { return }
    if let preferred = preferred?.dataset {
      let team = context.requester.team
      // One that is preferred by its Extended PAN ID alone has no members.
      if context.isOnMachine, preferred.hasCredentials,
        members(of: preferred).present.contains(where: { $0.team == team })
      {
        return
      }
    } else if !needsChoice {
      return
    }
    throw .mayNotPrefer
  }

  private typealias Chosen = (dataset: DatasetSummary, source: SecretMove.Source)

  private func chosen(_ choice: HomeRequest.PreferredChoice, _ context: RequestContext) throws(HomeRefusal) -> Chosen {
    switch choice {
    case .dataset(let dataset): return (dataset, .input)
    case .current:
      guard context.choosesPreferred else { throw .mayNotPrefer }
      guard let preferred else { throw mayHavePreferred ? .damaged : .noPreferred }
      return (preferred.dataset, .record(.home))
    case .former(let id):
      guard context.choosesPreferred, let former = former.first(where: { $0.id == id }) else { throw .unknownFormer }
      return (former.dataset, .record(.former(id)))
    case .name(let name): return try newest(on: network(named: name, context), context)
    case .network(let network, let agent):
      guard let agent else { return try newest(on: network, context) }
      guard let router = routers[agent], let dataset = router.dataset, dataset.network == network,
        context.choosesPreferred || router.owner == context.requester.team
      else { throw .noCredentialsOfRouterForNetwork }
      guard dataset.isComplete else { throw .partialCredentials(agent, dataset.lacks) }
      return (dataset, .record(.router(agent)))
    }
  }

  private func network(named name: ExactName, _ context: RequestContext) throws(HomeRefusal) -> ExtendedPANID {
    var datasets = routers.filter { context.choosesPreferred || $0.owner == context.requester.team }.compactMap(
      \.dataset)
    datasets += allShared.filter { mayChoose($0, context) }.map(\.dataset)
    if context.choosesPreferred {
      datasets += former.map(\.dataset)
      if let preferred { datasets.append(preferred.dataset) }
    }
    let named = Set(datasets.filter { ExactName($0.name) == name }.map(\.network))
    guard named.count < 2 else { throw .severalOfName(named.sorted()) }
    guard let network = named.first else { throw .noNetworkOfName }
    return network
  }

  /// Any login can store a dataset that names an Extended PAN ID, and earlier keys of it are known, too: so a single
  /// pair of keys must be known. Between several a person chooses, who names a router or an id. A dataset that is not
  /// complete does not count.
  private func newest(on network: ExtendedPANID, _ context: RequestContext) throws(HomeRefusal) -> Chosen {
    var known: [HomeRefusal.KnownKeys.Known] = []
    let current = preferredCredentials?.network == network ? preferredCredentials : nil
    if let current { known.append((.home, current)) }
    for router in routers {
      guard let dataset = router.dataset, dataset.network == network, dataset.isComplete,
        context.choosesPreferred || router.owner == context.requester.team
      else { continue }
      known.append((.router(router.agent), dataset))
    }
    if context.choosesPreferred {
      for one in former where one.dataset.network == network && one.dataset.hasCredentials {
        known.append((.former(one.id), one.dataset))
      }
    }
    let isOnlyShared = known.isEmpty
    for one in shared(of: network) where one.dataset.isComplete && mayChoose(one, context) {
      known.append((.shared(one.user, network), one.dataset))
    }
    guard var best = known.first else { return try seen(network, context) }
    guard known.allSatisfy({ $0.dataset.hasKeys(of: best.dataset) }) else {
      // Without credentials it can be preferred all the same: a person is asked about each that is shared.
      if isOnlyShared { return try seen(network, context) }
      throw .severalKeys(network, HomeRefusal.KnownKeys.list(known))
    }
    for one in known {
      switch one.owner {
      case .shared where !isOnlyShared: continue
      // What was preferred before is not newer than what is preferred now.
      case .former where current != nil: continue
      default: break
      }
      if let age = one.dataset.activeTimestamp, let newest = best.dataset.activeTimestamp, age > newest { best = one }
    }
    return (best.dataset, .record(best.owner))
  }

  /// A network of which no credentials are here: only a person chooses it, by its Extended PAN ID alone.
  private func seen(_ network: ExtendedPANID, _ context: RequestContext) throws(HomeRefusal) -> Chosen {
    if let preferred, preferred.dataset.network == network { return (preferred.dataset, .record(.home)) }
    let isSeen = routers.contains { $0.isPresent && ($0.network == network || $0.currentNetwork == network) }
    guard context.choosesPreferred, isSeen || shared[network] != nil else { throw .noCredentialsOfNetwork }
    return (DatasetSummary(network: network, name: self.network(network)?.name ?? ""), .nothing)
  }

  /// From then on no network is preferred until a person chooses one.
  private mutating func forgetPreferred(_ context: RequestContext) throws(HomeRefusal) -> HomeAnswer {
    guard context.isAdministrator else { throw .onlyAdministrator }
    guard let before = preferred?.dataset else { throw .noPreferred }
    let kept = forgetPreferred()
    noteChoice(before, nil, context.requester.login)
    return .forgotten(kept.map { [$0] } ?? [], remaining: [], sharedBy: [])
  }

  private mutating func forget(_ network: HomeRequest.ForgottenNetwork, _ context: RequestContext) throws(HomeRefusal)
    -> HomeAnswer
  {
    guard context.isAdministrator else { throw .onlyAdministrator }
    var named: ExtendedPANID?
    if case .network(let id) = network { named = id }
    let shared = named.map { self.shared(of: $0) } ?? []
    // Of the preferred network only what is shared goes.
    let isPreferred = named != nil && named == preferred?.dataset.network
    if isPreferred, shared.isEmpty { throw .isPreferred }
    let meant = former.filter {
      if case .former(let id) = network { $0.id == id } else { !isPreferred && $0.dataset.network == named }
    }
    let id = named ?? meant.first?.dataset.network
    let remaining = routers.filter { $0.dataset != nil && $0.dataset?.network == id }.map(\.agent)
    guard !meant.isEmpty || !shared.isEmpty else { throw .notInHistory(isUsed: !remaining.isEmpty) }
    for one in meant {
      if let index = former.firstIndex(of: one) { removeFormer(at: index) }
      audit(.formerDeleted(one.dataset.network))
    }
    for one in shared { drop(one) }
    return .forgotten(meant, remaining: remaining, sharedBy: shared.map(\.user))
  }
}
