import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadRequests

/// A request as it came from the broker, below `in/<user>/request/`. Whatever is wrong with it is answered, so nothing
/// is thrown where it is read.
package struct MQTTRequest: Sendable {
  /// Seconds for which an answer is of use, unless the requester waits for less.
  static let timeout: UInt32 = 30
  /// Bytes of Correlation Data that an answer repeats. It is stored while a person is asked, so it has to be small;
  /// programs send a number or a UUID.
  static let correlationBytes = 128

  package let user: ExactName
  /// Nil for one that this version does not know.
  package let command: RequestCommand?
  /// The whole topic: a sealed request is bound to it.
  package let topic: String
  /// The fields of the payload, or why it cannot be read.
  package let fields: Result<RequestFields, AnswerFailure>
  /// Where the answer goes, and what it repeats, also where the rest cannot be read.
  package let reply: ReplyAddress
  /// Seconds for which the requester waits for the answer.
  package let timeout: Int

  /// - Parameters:
  ///   - name: of the command, which may be anything.
  ///   - base: the base topic of its home.
  ///   - isTooOften: the user asks too often, so it is refused.
  package init(
    _ message: IncomingMessage, command name: String, user: ExactName, base: String, isTooOften: Bool = false
  ) {
    let command = RequestCommand(rawValue: name)
    let fields = Result { () throws(AnswerFailure) in try Self.fields(message, command) }
    var transaction = (try? fields.get())?.soundTransaction
    // A payload that may not be read is not read for its transaction either.
    if case .failure = fields, (try? InboundLimits.check(message.payload)) != nil {
      transaction = RequestFields.transaction(of: message.payload)
    }
    self.user = user
    self.command = command
    topic = message.topic
    self.fields = isTooOften ? .failure(.tooManyRequests) : fields
    reply =
      ReplyAddress(asked: message, user: user, base: base, transaction: transaction)
      ?? ReplyAddress(OutboundTopic(base: base).answer(to: user.text, command: name), message, transaction)
    timeout =
      message.messageExpiry.map { $0 == 0 ? Self.timeout : min($0, Self.timeout) }.map(Int.init) ?? Int(Self.timeout)
  }

  private static func fields(_ message: IncomingMessage, _ command: RequestCommand?) throws(AnswerFailure)
    -> RequestFields
  {
    do throws(Rejection) { try InboundLimits.check(message.payload) } catch {
      throw AnswerFailure(.invalidPayload, offset: error.offset, error.message)
    }
    guard message.correlationData?.count ?? 0 <= correlationBytes else {
      throw AnswerFailure(.invalidPayload, "the Correlation Data has more than \(correlationBytes) bytes")
    }
    guard message.messageExpiry != 0 else { throw AnswerFailure(.expired, "the request had expired when it was read") }
    guard command != nil else { throw .unknownCommand }
    return try RequestFields(json: message.payload)
  }

  /// The fields, out of their envelope where there is one.
  fileprivate func opened(
    in home: Home, with exchange: SealedExchange, _ requests: inout SealedRequests, at now: WireTime
  ) throws(AnswerFailure) -> RequestFields {
    let fields = try fields.get()
    if let sealed = fields.sealed {
      return try RequestFields(json: exchange.open(sealed, from: user, in: home, topic: topic, &requests, at: now))
    }
    guard !exchange.requiresSeal(of: user, in: home) else {
      throw AnswerFailure(.notAuthorized, field: "sealed", "requests of this user must be sealed and signed")
    }
    return fields
  }
}

/// A request that is read: who handles it, and what its answer needs to know of it.
package struct AskedRequest: Sendable {
  /// Where the answer goes. It repeats the transaction inside of the envelope, where there is one.
  package fileprivate(set) var reply: ReplyAddress
  package let requester: Requester
  /// Seconds for which the requester waits for the answer.
  package let timeout: Int
  /// Or why it is refused.
  package fileprivate(set) var step: Result<Step, AnswerFailure>

  package struct Step: Sendable {
    package let request: ThreadRequest
    package let context: RequestContext
    package let route: RequestRoute
  }
}

extension RequestRules {
  /// Opens a request over MQTT, and finds who handles it.
  ///
  /// - Parameters:
  ///   - requests: those that have come. They are to be on disk before the answer is sent.
  ///   - buttonsAltered, summarize: as for `route(of:)`.
  package func read(
    _ inbound: MQTTRequest, in home: Home, team: ExactName, with exchange: SealedExchange,
    _ requests: inout SealedRequests, buttonsAltered: Bool, at now: WireTime,
    summarize: (OperationalDataset) -> DatasetSummary?
  ) -> AskedRequest {
    var read = AskedRequest(
      reply: inbound.reply, requester: Requester(.login(inbound.user), team: team), timeout: inbound.timeout,
      step: .failure(.unknownCommand))
    do throws(AnswerFailure) {
      let fields = try inbound.opened(in: home, with: exchange, &requests, at: now)
      guard let command = inbound.command else { return read }
      read.reply = read.reply.repeating(fields.soundTransaction)
      let request = try ThreadRequest(command, fields)
      var context = RequestContext(read.requester, reply: read.reply, actor: read.requester.shortActor)
      context.isSigned = (try inbound.fields.get()).sealed != nil
      context.writesPreferred = request.purpose == .write
      complete(&context, command, fields, in: home, with: exchange, buttonsAltered: buttonsAltered, at: now)
      let route = try route(of: request, context, buttonsAltered: buttonsAltered, summarize: summarize)
      read.step = .success(.init(request: request, context: context, route: route))
    } catch { read.step = .failure(error) }
    return read
  }

  private func complete(
    _ context: inout RequestContext, _ command: RequestCommand, _ fields: RequestFields, in home: Home,
    with exchange: SealedExchange, buttonsAltered: Bool, at now: WireTime
  ) {
    guard case .login(let user) = context.requester.identity else { return }
    context.isApprover = approvers.contains(user) && (context.isSigned || !approversMustSign)
    if command == .setPreferred, isHomeAssistant(user), !buttonsAltered, isChoice(fields, in: home) {
      context.isApprover = true
    }
    context.mostCredentials = Self.mostEntries
    guard command.disclosesSecrets else { return }
    let key = exchange.fingerprint(of: user, in: home)
    context.requester.fingerprint = key
    context.canReceiveSecrets = key != nil
    if let place = SealedExchange.Place(context.reply) {
      context.mostCredentials = SealedExchange.mostCredentials(at: place, now: now)
    }
  }

  /// Whether Home Assistant has a button for it now: it chooses where nobody has, and keeps what is disputed.
  private func isChoice(_ fields: RequestFields, in home: Home) -> Bool {
    if fields.id == PreferredNetwork.currentID, let since = disputedKeys(in: home) {
      return tokens.isValid(fields.token, forKeepingKeysSince: since)
    }
    guard home.preferred == nil, let network = fields.network else { return false }
    return tokens.isValid(fields.token, forPreferring: network)
  }
}

extension ReplyAddress {
  /// Where a publisher asks for the answer to its event or request.
  ///
  /// - Returns: nil without a Response Topic that only this user may read.
  package init?(asked message: IncomingMessage, user: ExactName, base: String, transaction: String? = nil) {
    guard let topic = message.responseTopic, OutboundTopic(base: base).isAnswer(topic, to: user.text) else {
      return nil
    }
    self.init(topic, message, transaction)
  }

  /// - Parameter message: whose Correlation Data is repeated; too long, it is left out.
  fileprivate init(_ topic: String, _ message: IncomingMessage, _ transaction: String?) {
    let correlation = message.correlationData.flatMap { $0.count <= MQTTRequest.correlationBytes ? $0 : nil }
    self = .topic(topic, correlation: correlation, transaction: transaction)
  }

  fileprivate func repeating(_ transaction: String?) -> ReplyAddress {
    guard case .topic(let topic, let correlation, _) = self else { return self }
    return .topic(topic, correlation: correlation, transaction: transaction)
  }
}

extension AnswerFailure {
  static let unknownCommand = AnswerFailure(.unsupported, "this version does not know the command")

  package static let tooManyRequests = AnswerFailure(
    .rateLimited, "more than \(RequestLimiter.rate) requests a second; wait a moment and ask again")
}

/// What Home Assistant is asked.
extension RequestRules {
  /// The questions that Home Assistant's login may decide, as many as can have buttons: those that end first.
  ///
  /// - Parameter team: of the login.
  package func asked(in home: Home, team: (ExactName) -> ExactName, at now: WireTime) -> [ConsentQuestion] {
    guard let login = decidingLogin(in: home) else { return [] }
    let approver = ConsentApprover.login(login, team: team(login))
    let asked = home.waitingQuestions(at: now).lazy.filter {
      (homeAssistant == .all || $0.subject.command.isForHomeAssistant) && home.mayApprove($0, approver)
    }
    return Array(asked.prefix(HomeAssistantButton.mostRequests))
  }

  /// The networks that Home Assistant's login may prefer: those that routers are on, while none is preferred.
  package func choices(in home: Home) -> [NetworkView] {
    guard home.preferred == nil, decidingLogin(in: home) != nil else { return [] }
    return Array(home.networks.lazy.filter { $0.routers > 0 }.prefix(HomeAssistantButton.mostChoices))
  }

  /// Since when the keys are preferred that Home Assistant's login may keep: while they are disputed.
  package func disputedKeys(in home: Home) -> WireTime? { decidingLogin(in: home).flatMap { _ in home.disputedKeys } }

  /// Nil where nothing is decided through Home Assistant, also because what its login says in plaintext counts for
  /// nothing.
  private func decidingLogin(in home: Home) -> ExactName? {
    guard homeAssistant != nil, let homeAssistantLogin, home.clients[homeAssistantLogin]?.trust != .signed else {
      return nil
    }
    return homeAssistantLogin
  }
}
