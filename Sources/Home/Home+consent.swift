import ThreadDataset

/// Questions to people, and what they decide. `ConsentQuestion` has the table of what happens to one.
extension Home {
  /// Questions that wait at a time. A person looks at a handful, and a requester that floods the list hides what others
  /// ask.
  static let mostQuestions = 100
  /// Of what a requester asks itself; and as many of what the home asks about it.
  static let mostOfRequester = 5
  /// Of all, for the daemon's own user and root: no number of other users can have their own programs refused.
  static let reservedQuestions = 2 * mostOfRequester
  static let mostGrants = 500

  enum Asked {
    /// "Always" was approved, by this grant.
    case granted(ConsentID)
    case waiting(ConsentID)
  }

  /// Asks for consent. The same question of the same requester joins the one that waits already.
  mutating func ask(_ subject: ConsentSubject, by requester: Requester, reply: ReplyAddress, replacesKeys: Bool = false)
    throws(ConsentRefusal) -> Asked
  {
    if rules.grantsCount, let grant = grants.first(where: { $0.covers(subject, of: requester) }) {
      return .granted(grant.id)
    }
    let same = questions.firstIndex {
      !$0.isOver(at: now) && $0.requester.isSame(as: requester) && $0.subject.isSame(as: subject)
    }
    if let same {
      try join(same, reply)
      return .waiting(questions[same].id)
    }
    // Whatever else is asked for beside it: a person has refused this key to this requester.
    guard denial(of: subject, to: requester) == nil else { throw .denied }
    try checkRoom(for: requester, isAskedByHome: subject.command.isAskedByHome)
    let isAboutPreferred = subject.networks.contains { $0.team == nil }
    let question = ConsentQuestion(
      id: ConsentID(rules.random()), requester: requester, subject: subject, createdAt: now,
      expiresAt: now.adding(seconds: subject.command.timeout), replies: [reply],
      keyHasChanged: replacesKeys || grants.contains { $0.isOutdated(for: subject, of: requester) },
      keyChange: isAboutPreferred ? preferred?.keyChange : nil)
    questions.append(question)
    noteRecord(.question(question.id))
    emit(.asked(question))
    return .waiting(question.id)
  }

  /// A question that was denied a moment ago, about a key that the subject has, too. Of what is shared it is kept with
  /// the credentials.
  private func denial(of subject: ConsentSubject, to requester: Requester) -> ConsentQuestion? {
    guard !subject.command.isAboutStore else { return nil }
    return questions.first {
      $0.isDenied && !$0.isOver(at: now) && $0.requester.identity == requester.identity
        && $0.subject.hasKey(of: subject)
    }
  }

  private mutating func join(_ index: Int, _ reply: ReplyAddress) throws(ConsentRefusal) {
    let question = questions[index]
    guard !question.isDenied else { throw .denied }
    guard !question.replies.contains(reply) else { return }
    if question.subject.command == .write {
      // One agent asks, again after each restart: nobody has the earlier request any more.
      questions[index].replies = [reply]
    } else {
      guard question.replies.count < ConsentQuestion.mostReplies else {
        throw .rateLimited(waiting: question.replies.count)
      }
      questions[index].replies.append(reply)
    }
    noteRecord(.question(question.id))
  }

  private func checkRoom(for requester: Requester, isAskedByHome: Bool) throws(ConsentRefusal) {
    let waiting = questions.filter { !$0.isOver(at: now) }
    // By identity alone: who is moved to another team is no other requester.
    let own = waiting.count {
      $0.requester.identity == requester.identity && $0.subject.command.isAskedByHome == isAskedByHome
    }
    guard own < Self.mostOfRequester else { throw .rateLimited(waiting: own) }
    func isReserved(_ requester: Requester) -> Bool {
      [.systemUser(rules.ownUser), .systemUser(0)].contains(requester.identity)
    }
    let others = waiting.count { !isReserved($0.requester) }
    let isFull =
      isReserved(requester)
      ? waiting.count >= Self.mostQuestions : others >= Self.mostQuestions - Self.reservedQuestions
    guard !isFull else { throw .rateLimited(waiting: waiting.count) }
  }

  // MARK: Decisions

  mutating func decide(_ decision: ConsentDecision) -> HomeAnswer {
    do throws(HomeRefusal) {
      // Before anything is looked up, so that no other user learns which ids there are.
      switch decision.what {
      case .approve(let id, let scope):
        try checkExtent(of: decision, id, scope)
        return .decided(try approve(id, scope, by: decision.by))
      case .deny(let id):
        try checkExtent(of: decision, id)
        return .decided(try deny(id, by: decision.by))
      case .revoke(let grant): return .revoked(try revoke(grant, by: decision.by))
      case .askAgain(let agent): return askAgain(about: agent)
      }
    } catch { return .refused(error) }
  }

  /// Home Assistant decides as far as the settings go, and once. An id that does not wait is left to what is known of
  /// it.
  ///
  /// Who alters what a button publishes has a person decide about something else. So a token is needed, and nothing is
  /// decided by buttons for a minute after a device was altered.
  private func checkExtent(of decision: ConsentDecision, _ id: ConsentID, _ scope: ConsentScope? = nil)
    throws(HomeRefusal)
  {
    guard decision.extent == nil || scope != .always else { throw .onceOnly }
    guard let question = waiting(id) else { return }
    guard decision.extent != .adoptions || question.subject.command.isForHomeAssistant else { throw .adoptionsOnly(id) }
    guard let button = decision.button else { return }
    guard button.hasToken else { throw .wrongButton }
    guard !button.isAltered else { throw .buttonsAltered(id) }
  }

  func waiting(_ id: ConsentID) -> ConsentQuestion? {
    questions.first { $0.id == id && !$0.isDenied && !$0.isOver(at: now) }
  }

  private mutating func approve(_ id: ConsentID, _ scope: ConsentScope, by approver: ConsentApprover)
    throws(HomeRefusal) -> ConsentRecord
  {
    let question = questions[try decidable(id)]
    guard mayApprove(question, approver) else { throw .consent(.notAuthorized) }
    // The next credentials are another question: who need not be asked about is in the settings.
    let scope = question.subject.command.isAboutStore ? .once : scope
    var grant: ConsentID?
    if scope == .always { grant = try keepGrant(question, by: approver) }
    remove(question)
    return end(question, .approved, by: approver, scope, grant)
  }

  private mutating func deny(_ id: ConsentID, by approver: ConsentApprover) throws(HomeRefusal) -> ConsentRecord {
    let index = try decidable(id)
    let question = questions[index]
    if question.subject.command.isAboutStore {
      remove(question)
      return end(question, .denied, by: approver)
    }
    // Nothing with this key is asked for this requester for as long as a request waits, from now on.
    questions[index].isDenied = true
    questions[index].replies = []
    questions[index].expiresAt = now.adding(seconds: ConsentQuestion.timeout)
    noteRecord(.question(id))
    return end(question, .denied, by: approver)
  }

  /// Where the question is.
  private func decidable(_ id: ConsentID) throws(HomeRefusal) -> Int {
    guard let index = questions.firstIndex(where: { $0.id == id }) else {
      throw .consent(.staleID(decisions.last { $0.id == id }?.outcome))
    }
    guard waiting(id) != nil else { throw .consent(.staleID(questions[index].isDenied ? .denied : .expired)) }
    return index
  }

  /// Nobody approves a request of his own, or of his own team. At the command line it is a person, and one who could
  /// read the store anyway; such a one has made the token of the page, and given it to somebody on purpose.
  package func mayApprove(_ question: ConsentQuestion, _ approver: ConsentApprover) -> Bool {
    guard case .login(let name, let team) = approver else { return true }
    // By the looks: of two names that only look the same, none approves the other's.
    if case .login(let own) = question.requester.identity, own.text == name.text { return false }
    return team != question.requester.team
  }

  /// The same grant is there already when the request waited longer than another one. One for an earlier network key is
  /// replaced: it covers nothing any more.
  private mutating func keepGrant(_ question: ConsentQuestion, by approver: ConsentApprover) throws(HomeRefusal)
    -> ConsentID
  {
    let subject = question.subject.ofAnyRouter
    let own = grants.filter { $0.requester.isSame(as: question.requester) }
    if let same = own.first(where: { $0.subject.isSame(as: subject) }) { return same.id }
    let outdated = own.filter { $0.subject.withoutKeys.isSame(as: subject.withoutKeys) }
    guard grants.count - outdated.count < Self.mostGrants else { throw .consent(.tooManyGrants(grants.count)) }
    for grant in outdated { end(grant, by: approver) }
    let grant = ConsentGrant(
      id: ConsentID(rules.random()), requester: question.requester, subject: subject, createdAt: now, by: approver)
    grants.append(grant)
    noteRecord(.grant(grant.id))
    audit(.granted(grant))
    return grant.id
  }

  /// A person is asked again about the next request; what was given by the grant stays given.
  private mutating func revoke(_ id: ConsentID, by approver: ConsentApprover) throws(HomeRefusal) -> ConsentGrant {
    guard let grant = grants.first(where: { $0.id == id }) else { throw .consent(.notFound) }
    end(grant, by: approver)
    return grant
  }

  // MARK: What ends without a decision

  /// Questions that no person has answered in time.
  mutating func expireQuestions() {
    for question in questions where question.isOver(at: now) {
      remove(question)
      if !question.isDenied { end(question, .expired, by: nil) }
    }
  }

  /// For a question that has no meaning any more: it expires.
  mutating func withdraw(_ id: ConsentID) {
    guard let index = questions.firstIndex(where: { $0.id == id }), !questions[index].isDenied else { return }
    expire(at: index)
  }

  /// What is preferred now is not what a question that waits long is about.
  mutating func withdrawOutdated() {
    let current = preferredCredentials.map { ConsentNetwork($0, of: nil) }
    for question in questions where question.subject.command == .write && question.subject.networks.first != current {
      withdraw(question.id)
    }
  }

  /// What was denied a moment ago is asked again at once, because a person wants it.
  mutating func allowAgain(_ subject: ConsentSubject, to requester: Requester) {
    while let question = denial(of: subject, to: requester) { remove(question) }
  }

  /// For a login whose key counts no more: its grants end, and what it waits for expires.
  private mutating func endConsents(of identity: Requester.Identity, by approver: ConsentApprover) {
    for grant in grants where grant.requester.identity == identity { end(grant, by: approver) }
    for index in questions.indices where questions[index].requester.identity == identity { expire(at: index) }
  }

  private mutating func expire(at index: Int) {
    questions[index].expiresAt = min(questions[index].expiresAt, now)
    noteRecord(.question(questions[index].id))
  }

  // MARK: -

  private mutating func remove(_ question: ConsentQuestion) {
    questions.removeAll { $0.id == question.id }
    noteRecord(.question(question.id))
  }

  private mutating func end(_ grant: ConsentGrant, by approver: ConsentApprover) {
    grants.removeAll { $0.id == grant.id }
    noteRecord(.grant(grant.id))
    remember(
      ConsentRecord(
        id: grant.id, outcome: .revoked, requester: grant.requester, subject: grant.subject, createdAt: grant.createdAt,
        decidedAt: now, by: approver, scope: .always, grant: grant.id))
  }

  /// A question waits no more: history, what it means for a router, and the answers that it owes.
  ///
  /// - Returns: with what came of it.
  @discardableResult private mutating func end(
    _ question: ConsentQuestion, _ outcome: ConsentRecord.Outcome, by approver: ConsentApprover?,
    _ scope: ConsentScope? = nil, _ grant: ConsentID? = nil
  ) -> ConsentRecord {
    let record = ConsentRecord(
      id: question.id, outcome: outcome, requester: question.requester, subject: question.subject,
      createdAt: question.createdAt, decidedAt: now, by: approver, scope: scope, grant: grant)
    remember(record)
    emit(.decided(record))
    settleAdoption(record)
    settleAccept(record)
    settleLeftover(record)
    if !question.subject.command.isAskedByHome { answerWaiting(question, record) }
    return decisions.last { $0.id == record.id } ?? record
  }

  private mutating func remember(_ record: ConsentRecord) {
    decisions.append(record)
    noteRecord(.decision(record.id))
    audit(.consent(record))
    while decisions.count > ConsentRecord.kept {
      // Requests that expired go first: a requester that floods the daemon must not push out what people have decided.
      let index = decisions.firstIndex { $0.outcome == .expired } ?? 0
      noteRecord(.decision(decisions.remove(at: index).id))
    }
  }

  /// What a person has agreed to is not given: the decision stands.
  mutating func noteNotGiven(_ id: ConsentID, _ obstacle: ConsentRecord.Obstacle) {
    // A grant that was taken back has a record of its own.
    guard let index = decisions.lastIndex(where: { $0.id == id && $0.outcome == .approved }) else { return }
    decisions[index].obstacle = obstacle
    noteRecord(.decision(id))
    let record = decisions[index]
    emit(.notGiven(record))
    audit(.notGiven(record.subject, to: record.requester, by: id, obstacle))
  }

  /// The same of what may have been given by a grant, which has no decision of its own.
  mutating func noteNotGiven(
    _ subject: ConsentSubject, to requester: Requester, by id: ConsentID, _ obstacle: ConsentRecord.Obstacle
  ) {
    if decisions.contains(where: { $0.id == id && $0.outcome == .approved }) {
      noteNotGiven(id, obstacle)
    } else {
      audit(.notGiven(subject, to: requester, by: id, obstacle))
    }
  }

  // MARK: Clients

  mutating func enroll(_ client: EnrolledClient, as user: ExactName, by approver: ConsentApprover) -> HomeAnswer {
    let before = clients[user]
    if let before, before.fingerprint != client.fingerprint { endConsents(of: .login(user), by: approver) }
    clients[user] = client
    needs.sharedCheck = true
    noteRecord(.client(user))
    if (before?.trust == .signed) != (client.trust == .signed) { noteRecord(.home) }
    if let before {
      let hasNewKeys = before.fingerprint != client.fingerprint
      audit(.enrolledAgain(user, hasNewKeys: hasNewKeys))
    } else {
      audit(.enrolled(user))
    }
    return .enrolled(isUpdate: before != nil)
  }

  mutating func revoke(_ user: ExactName, forgets: Bool, by approver: ConsentApprover) -> HomeAnswer {
    let hadAgents = forgetAgents(of: user)
    guard let client = clients[user], forgets || !client.isRevoked else { return .revokedClient(hadAgents) }
    if !forgets, client.trust == .signed {
      clients[user]?.isRevoked = true
    } else {
      clients[user] = nil
      if client.trust == .signed { noteRecord(.home) }
    }
    noteRecord(.client(user))
    endConsents(of: .login(user), by: approver)
    for one in allShared where one.user == user { drop(one) }
    audit(.revoked(user, isKept: clients[user] != nil))
    return .revokedClient(true)
  }
}
