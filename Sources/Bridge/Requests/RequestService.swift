import Home
import HomeStore
import Logging
import Synchronization
import ThreadDataset
import ThreadRequests

/// Requests over MQTT and of programs on this machine, between their wires and the loop.
///
/// What only reads gets a copy of the home, and does not wait for the loop.
package final class RequestService: Sendable {
  /// What it needs of others.
  package struct Parts: Sendable {
    package var rules = RequestRules()
    /// Of the program, for `ping`.
    package var version = ""
    package var ways = RemedyWays(isOnlyHome: true)
    /// With the daemon's own keys, as they are now.
    package var exchange: @Sendable () -> SealedExchange = { SealedExchange(nil) }
    /// Another client has altered a device with buttons a moment ago.
    package var buttonsAltered: @Sendable (WireTime) -> Bool = { _ in false }
    package var datasets: DatasetReader
    package var logger = Logger(label: "requests") { _ in SwiftLogNoOpLogHandler() }

    package init(_ datasets: DatasetReader) { self.datasets = datasets }
  }

  /// What has become of requests since the start.
  package struct Figures: Hashable, Sendable {
    package var answered = 0
    /// Answered with an error, or too many to be answered.
    package var refused = 0
    /// Answers and messages of adoptions that were too many to wait for the connection.
    package var dropped = 0

    fileprivate mutating func count(isRefusal: Bool) { if isRefusal { refused += 1 } else { answered += 1 } }
  }

  package typealias OwedInput = (home: String, input: HomeInput)

  package let callers: WaitingCallers
  package let queue = AnswerQueue()
  private let limiter = RequestLimiter()
  private let parts: Parts
  private let homes: [String: ServedHome]
  /// In the order of the settings.
  private let names: [String]
  private let counted = Mutex(Figures())

  /// - Parameters:
  ///   - homes: in the order of the settings.
  ///   - callers: that the rules of the homes ask, too.
  package init(_ homes: [ServedHome], _ parts: Parts, _ callers: WaitingCallers) {
    self.homes = Dictionary(homes.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    names = homes.map(\.name)
    self.parts = parts
    self.callers = callers
  }

  package var figures: Figures { counted.withLock { $0 } }

  /// Of a request that is refused before it is looked at.
  package func countRefusal() { counted.withLock { $0.refused += 1 } }

  private func send(_ messages: [WaitingMessage], at now: WireTime) -> Set<String> {
    let dropped = queue.add(messages, at: now)
    if dropped.count > 0 { counted.withLock { $0.dropped += dropped.count } }
    return dropped.homes
  }

  private func writer(_ home: String, _ state: Home, _ committed: CommittedHomes) -> AnswerWriter {
    var writer = AnswerWriter(home: home, datasets: parts.datasets) { key in
      try committed.withDataset(of: key, in: home) { try OperationalDataset(bytes: Array($0)) }
    }
    writer.namesHome = homes.count > 1
    writer.routerName = state.shownName
    writer.transactions = callers.transactions(of:)
    return writer
  }

  /// - Returns: nil for what a home answers.
  private func read(_ route: RequestRoute, _ state: Home, _ home: String, most: Int, at now: WireTime)
    throws(AnswerFailure) -> AnswerData?
  {
    switch route {
    case .ping: return .pong(parts.version, at: now)
    case .states(let command): return try state.states(command, in: home, ways: parts.ways, most: most)
    case .home: return nil
    }
  }

  // MARK: Over MQTT

  /// For the loop: reads a request.
  package func read(_ arrived: ArrivedRequest, _ requests: inout SealedRequests) -> ReadRequest {
    let (state, now) = (arrived.state, arrived.time)
    let verdict = limiter.judge(arrived.user, arrived.command, items: { state.routers.count }, at: now)
    guard verdict != .ignored else {
      counted.withLock { $0.refused += 1 }
      return .ignored
    }
    let inbound = MQTTRequest(
      arrived.message, command: arrived.command, user: arrived.user, base: arrived.home.base,
      isTooOften: verdict == .refused)
    let exchange = parts.exchange()
    let asked = parts.rules.read(
      inbound, in: state, team: arrived.home.rules.team(arrived.user), with: exchange, &requests,
      buttonsAltered: parts.buttonsAltered(now), at: now, summarize: parts.datasets.summarize)
    let answer: Result<AnswerData, AnswerFailure>
    do throws(AnswerFailure) {
      let step = try asked.step.get()
      if case .home(let input, let dataset) = step.route { return .input(input, dataset: dataset, asked) }
      let data = try read(step.route, state, arrived.home.name, most: RequestRules.mostEntries, at: now)
      answer = .success(data ?? AnswerData())
    } catch { answer = .failure(error) }
    let message = exchange.message(
      answer, to: asked.requester, at: asked.reply, in: state, timeout: asked.timeout, now: now)
    return .other { [self] in
      guard let message else { return }
      counted.withLock { $0.count(isRefusal: message.refusal != nil) }
      _ = send([message.message], at: now)
    }
  }

  /// Answers what is on disk: requests over MQTT, and all that have waited for a person; and makes the messages of
  /// adoptions.
  ///
  /// - Returns: what the homes have to handle for it.
  package func answer(_ batch: CommittedBatch, of committed: CommittedHomes) -> [OwedInput] {
    var owed: [OwedInput] = []
    let exchange = parts.exchange()
    var messages: [WaitingMessage] = []
    for index in batch.answerable {
      let outcome = batch.outcomes[index]
      if outcome.origin?.asked == nil, let answer = WaitingMessage(ofEvent: outcome, at: batch.time) {
        messages.append(answer)
      }
      guard outcome.hasAnswers, let place = homes[outcome.home], let state = committed.home(outcome.home) else {
        continue
      }
      let writer = writer(outcome.home, state, committed)
      // Of credentials that were to be given; nil: at once.
      var (given, failures): (Set<ConsentID?>, [ConsentID?: AnswerFailure]) = ([], [:])
      func add(
        _ answer: HomeAnswer, to requester: Requester, at reply: ReplyAddress, _ question: ConsentID? = nil,
        _ asked: AskedRequest? = nil
      ) {
        let step = try? asked?.step.get()
        let written = Result { () throws(AnswerFailure) in
          guard let step, case .home(let input, _) = step.route else { return try writer.data(of: answer) }
          return try data(of: answer, to: input, step, state, in: place, of: committed, at: batch.time)
        }
        // A person is asked first.
        guard let result = written.some else { return }
        let message = exchange.message(
          result, to: requester, at: reply, in: state, timeout: asked?.timeout ?? Int(MQTTRequest.timeout),
          now: batch.time)
        let failure = message.map(\.refusal) ?? result.failure
        counted.withLock { $0.count(isRefusal: failure != nil) }
        if case .credentials = answer {
          if let failure { failures[question] = failure } else { given.insert(question) }
        }
        if let message { messages.append(message.message) }
        if let question, reply == .caller { callers.deliver(result, for: question) }
      }
      if let asked = outcome.origin?.asked, let answer = outcome.output.answer {
        add(answer, to: asked.requester, at: asked.reply, nil, asked)
      }
      for one in outcome.output.settled { add(one.answer, to: one.requester, at: one.to, one.id) }
      for case .given(let subject, let requester, let id) in outcome.output.audit {
        let place = failures[id] == nil ? nil : id
        guard let failure = failures[place], !given.contains(place) else { continue }
        owed.append((outcome.home, .notGiven(subject, to: requester, by: id, .init(failure))))
      }
      for order in outcome.output.storeOrders {
        if let message = exchange.message(order, in: state, base: place.base, now: batch.time) {
          messages.append(message)
        }
      }
      for order in outcome.output.orders {
        do throws(AnswerFailure) {
          let dataset = try writer.opened(order.dataset, at: .home)
          let message = exchange.message(order, dataset, in: (outcome.home, state), base: place.base, now: batch.time)
          if let message { messages.append(message) }
        } catch { owed.append((outcome.home, notSent(order, error, in: outcome.home, writer))) }
      }
    }
    return owed + send(messages, at: batch.time).map { ($0, .deliveriesAreDue) }
  }

  /// The input of a home for an adoption whose message cannot be made.
  private func notSent(_ order: AdoptionOrder, _ failure: AnswerFailure, in home: String, _ writer: AnswerWriter)
    -> HomeInput
  {
    // Another dataset is there by now, or the store fails: it is tried again, with what is there then.
    guard failure.known == .damagedCredentials else { return .deliveriesAreDue }
    parts.logger.error(
      "a router cannot be sent the preferred credentials",
      metadata: [
        "home": "\(home)", "border_agent_id": "\(order.agent)", "router": "\(writer.routerName(order.agent))",
        "reason": "\(failure.message)",
        "remedy": "restore a backup, or choose the network with `threadkeeper preferred set`",
      ])
    return .notSent(message: order.message)
  }

  /// What has become another dataset by the time it is opened is looked at once more, where nobody had to agree to it.
  ///
  /// - Parameter answer: of `state`.
  private func data(
    of answer: HomeAnswer, to input: HomeInput, _ step: AskedRequest.Step, _ state: Home, in home: ServedHome,
    of committed: CommittedHomes, at now: WireTime
  ) throws(AnswerFailure) -> AnswerData? {
    let first = Result { () throws(AnswerFailure) in
      try writer(home.name, state, committed).data(of: answer, to: step.request, step.context)
    }
    let isSound =
      switch first {
      case .success(let data): data?.damaged == nil
      case .failure(let failure): failure.known != .conflict && failure.known != .damagedCredentials
      }
    guard !isSound, !step.request.command.writes, var state = committed.home(home.name),
      let answer = state.handle(input, at: now, rules: home.rules).answer
    else { return try first.get() }
    var again = writer(home.name, state, committed)
    again.isSecondLook = true
    return try again.data(of: answer, to: step.request, step.context)
  }

  // MARK: On the socket

  package enum Outcome: Sendable {
    case answer(ThreadAnswer)
    /// A person is asked first: `callers.answer(at:)` has the answer, and `callers.forget(_:)` must follow.
    case waiting(WaitingCallers.Place)
  }

  /// Fulfils a request, or says why not. May wait for the disk.
  ///
  /// - Parameters:
  ///   - isOwnUser: whether the daemon's own user or root calls.
  ///   - isThere: whether the caller still waits for the answer; asked from any thread.
  ///   - wake: called when what it waits for is decided.
  package func answer(
    _ local: LocalRequest, by loop: HomeLoop, isOwnUser: Bool, at now: WireTime,
    isThere: @escaping @Sendable () -> Bool = { true }, wake: @escaping @Sendable () -> Void = {}
  ) -> Outcome {
    let transaction = local.request.transaction
    var place: WaitingCallers.Place?
    do throws(AnswerFailure) {
      if local.request.command.needsConsent {
        place = try callers.reserve(transaction: transaction, isOwnUser: isOwnUser, isThere: isThere, wake: wake)
        guard isThere() else { throw .nobodyWaits }
      }
      let (answer, question) = try answer(local, by: loop, at: now)
      if let place, let question {
        try wait(at: place, for: question.id, in: question.home, of: loop)
        return .waiting(place)
      }
      if let place { callers.forget(place) }
      counted.withLock { $0.answered += 1 }
      return .answer(ThreadAnswer(answer, transaction: transaction))
    } catch {
      if let place { callers.forget(place) }
      counted.withLock { $0.refused += 1 }
      return .answer(ThreadAnswer(error, transaction: transaction))
    }
  }

  /// - Throws: also where the question was over before it was waited for: then no answer would come.
  func wait(at place: WaitingCallers.Place, for question: ConsentID, in home: String, of loop: HomeLoop)
    throws(AnswerFailure)
  {
    try callers.wait(at: place, for: question)
    guard let state = loop.homes.home(home), !state.questions.contains(where: { $0.id == question && !$0.isDenied }),
      callers.answer(at: place) == nil
    else { return }
    let decision = state.decisions.last { $0.id == question }
    let refusal: HomeRefusal =
      switch decision?.outcome {
      case .denied: .denied
      // Those who waited have it. What is given now is decided again.
      case .approved: decision?.obstacle == .notEnrolled ? .keyIsGone : .changed
      case .expired, .revoked, nil: .expired
      }
    throw AnswerFailure(refusal, to: nil)
  }

  /// - Returns: the question that waits for a person, where one does.
  private func answer(_ local: LocalRequest, by loop: HomeLoop, at now: WireTime) throws(AnswerFailure) -> (
    AnswerData, (id: ConsentID, home: String)?
  ) {
    let (request, context) = (local.request, local.context)
    let name = try local.home(of: names) { homes[$0] == nil ? nil : loop.homes.home($0) }
    guard let home = homes[name], var state = loop.homes.home(name) else {
      throw AnswerFailure(.invalidPayload, field: "home", "there is no such home")
    }
    let route = try parts.rules.route(
      of: request, context, buttonsAltered: parts.buttonsAltered(now), summarize: parts.datasets.summarize)
    guard case .home(let input, let dataset) = route else {
      let data = try read(route, state, name, most: Home.mostListed, at: now)
      return (data ?? AnswerData(), nil)
    }
    let output: HomeOutput
    if request.command.writes {
      do { output = try loop.perform(input, in: name, dataset: dataset, actor: context.actor) } catch {
        parts.logger.error(
          "a request cannot be stored", metadata: ["command": "\(request.command.rawValue)", "reason": "\(error)"])
        throw AnswerFailure(ofStore: error)
      }
    } else {
      output = state.handle(input, at: now, rules: home.rules)
    }
    guard let answer = output.answer else { return (AnswerData(), nil) }
    if case .waiting(let question) = answer { return (AnswerData(), (question, name)) }
    do throws(AnswerFailure) {
      let step = AskedRequest.Step(request: request, context: context, route: route)
      return (try data(of: answer, to: input, step, state, in: home, of: loop.homes, at: now) ?? AnswerData(), nil)
    } catch {
      for case .given(let subject, let requester, let id) in output.audit {
        // Where this fails, the store takes nothing more, and its alert says so.
        _ = try? loop.perform(.notGiven(subject, to: requester, by: id, .init(error)), in: name, actor: context.actor)
      }
      throw error
    }
  }
}

extension Result where Failure == AnswerFailure {
  fileprivate var failure: AnswerFailure? { if case .failure(let failure) = self { failure } else { nil } }
}

extension Result where Success == AnswerData?, Failure == AnswerFailure {
  /// Nil where there is no answer yet.
  fileprivate var some: Result<AnswerData, AnswerFailure>? {
    switch self {
    case .success(let data): data.map { .success($0) }
    case .failure(let failure): .failure(failure)
    }
  }
}
