// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import CredentialService
import MosquittoClient
import ThreadRequests

/// Requests, in the order in which they came among the events, and their answers.
extension BatchApplier {
  /// Answers other than credentials of one home have at most so many entries: states are retained on
  /// topics of their own, and no answer should take the batch's time.
  static let mostEntries = 512

  func apply(_ inbound: InboundRequest, _ origin: InboundMessage.Origin) throws {
    store.keychain.act(as: Requester.mqttUser(inbound.user).words, in: tx)
    var transaction = inbound.transaction
    do {
      // What was opened has come, whatever becomes of it: it is answered, and does not count again.
      let fields = try step { try opened(inbound, home: origin.home) }
      transaction = fields.soundTransaction ?? transaction
      try step { try fulfil(inbound, fields, origin, transaction) }
    } catch let failure as AnswerFailure {
      refuse(failure, inbound, transaction)
    }
  }

  /// - Parameters:
  ///   - fields: those inside of the envelope, where there is one.
  ///   - transaction: what the answer repeats.
  private func fulfil(
    _ inbound: InboundRequest, _ fields: RequestFields, _ origin: InboundMessage.Origin,
    _ transaction: String?
  ) throws {
    guard let command = inbound.command else { throw AnswerFailure.unknownCommand }
    let request = try ThreadRequest(command, fields)
    if request.dataset != nil, try inbound.fields.get().sealed == nil {
      try plaintextSeen(from: inbound.user, home: home(named: origin.home))
    }
    let context = try context(of: inbound, command, transaction, home: origin.home)
    let (reply, granted) = try reply(to: request, context)
    switch reply {
    case .data(let data):
      try answer(data, context, transaction)
      try consents.noteDisclosure(granted)
    case .waiting: break
    case .decided(let settled):
      try answer(settled)
      try answer(AnswerData(), context, transaction)
    }
  }

  /// Fulfils a request, or asks a person first, and applies what follows.
  ///
  /// - Returns: what is answered, and by which grant, if it is by one.
  func reply(
    to request: ThreadRequest, _ context: RequestContext
  ) throws -> (CredentialService.Reply, granted: GrantedDisclosure?) {
    let gate = LedgerConsentGate(consents, configuration)
    let registry = RequestRegistry(ownership, homes: homeRecords)
    let reply: Result<CredentialService.Reply, AnswerFailure>
    do {
      reply = .success(try service(context, gate, registry).answer(request))
    } catch let failure as AnswerFailure {
      reply = .failure(failure)
    }
    try apply(gate.effects + registry.effects)
    return (try reply.get(), gate.granted)
  }

  func service(
    _ context: RequestContext, _ gate: LedgerConsentGate, _ registry: RequestRegistry
  ) -> CredentialService {
    let other = configuration.requests.gate.map { $0 as any ConsentGate }
    return CredentialService(
      store: store, gate: other ?? gate, registry: registry, context: context, tx)
  }

  private func opened(_ inbound: InboundRequest, home: String) throws -> RequestFields {
    let fields = try inbound.fields.get()
    let opener = configuration.requests.opener
    guard let sealed = fields.sealed else {
      guard try !opener.requiresSeal(of: inbound.user, in: home, tx) else {
        throw AnswerFailure(
          .notAuthorized, field: "sealed", "requests of this user must be sealed and signed")
      }
      return fields
    }
    return try RequestFields(
      json: opener.open(
        sealed, from: inbound.user, in: home, topic: inbound.topic, now: now, tx))
  }

  private func context(
    of inbound: InboundRequest, _ command: RequestCommand, _ transaction: String?, home: String
  ) throws -> RequestContext {
    var context = RequestContext(
      requester: .mqttUser(inbound.user), team: configuration.team(inbound.user), home: home,
      reply: .topic(inbound.answerTopic, correlation: inbound.correlation), now: now.date)
    context.isSigned = (try? inbound.fields.get().sealed) != nil
    context.isApprover =
      configuration.isApprover(inbound.user)
      && (context.isSigned || !configuration.approversMustSign)
    context.mostEntries = Self.mostEntries
    context.version = configuration.version
    context.patience = Int(inbound.patience)
    if command.disclosesSecrets {
      context.fingerprint = try configuration.requests.sealer.fingerprint(
        of: inbound.user, in: home, tx)
      context.canBeToldSecrets = context.fingerprint != nil
      context.mostSecretBytes = configuration.requests.sealer.room(
        at: AnswerPlace(topic: inbound.answerTopic, transaction: transaction), now: now)
    }
    return context
  }

  /// Publishes data, sealed where it is secret.
  func answer(
    _ data: AnswerData, _ context: RequestContext, _ transaction: String?
  ) throws {
    guard case .topic(let topic, let correlation) = context.reply,
      case .mqttUser(let user) = context.requester
    else { return }
    var data = data
    if data.isSecret {
      guard
        let sealed = try configuration.requests.sealer.seal(
          data.json, to: user, in: context.home,
          AnswerPlace(topic: topic, transaction: transaction), now: now, tx)
      else {
        throw AnswerFailure(
          .notEnrolled, "the answer holds secrets, and this user has no key to seal them to")
      }
      data = AnswerData(sealed: sealed)
    }
    publish(
      ThreadAnswer(data, transaction: transaction), on: topic, correlation,
      patience: context.patience)
    outcome.counts.requestsAnswered += 1
  }

  private func refuse(_ failure: AnswerFailure, _ inbound: InboundRequest, _ transaction: String?) {
    outcome.counts.requestsRefused += 1
    publish(
      ThreadAnswer(failure, transaction: transaction), on: inbound.answerTopic,
      inbound.correlation, patience: Int(inbound.patience))
  }

  func publish(
    _ answer: ThreadAnswer, on topic: String, _ correlation: [UInt8]?,
    patience: Int = Int(RequestReader.patience)
  ) {
    var answer = answer
    // Those are for people at the daemon's own terminal.
    answer.error?.help = nil
    answer.error?.exit = nil
    outcome.answers.append(
      .publication(
        Publication(
          topic: topic, payload: answer.json, contentType: "application/json",
          correlationData: correlation),
        expires: now.adding(seconds: patience)))
  }
}
