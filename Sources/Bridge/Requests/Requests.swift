// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import SQLiteDatabase
import ThreadCredentialStore
import ThreadRequests

/// Requests and their answers within one transaction, whichever way they came. What follows is returned.
struct Requests {
  /// Answers other than credentials of one home have at most so many entries: states are retained on
  /// topics of their own, and no answer should take the batch's time.
  static let mostEntries = 512

  let configuration: BridgeConfiguration
  let parts: RequestParts
  let consents: Consents
  let ownership: Ownership
  let homes: [String: HomeRecord]

  var store: ThreadCredentialStore { ownership.store }
  var now: WireTime { ownership.now }
  var tx: WriteTransaction { ownership.tx }

  /// What has come of a request over MQTT. What was noted before it failed stays.
  struct Fulfilled {
    var effects: [Effect] = []
    var failure: AnswerFailure?
  }

  /// What has come of a request.
  struct Reply {
    let effects: [Effect]
    let result: Result<CredentialService.Reply, AnswerFailure>
    /// The grant by which it is answered, if it is by one.
    let granted: GrantedDisclosure?
  }

  /// The fields of a request over MQTT, those inside of the envelope where there is one.
  func opened(_ inbound: InboundRequest, in home: String) throws -> RequestFields {
    let fields = try inbound.fields.get()
    let opener = parts.opener
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

  /// - Parameter transaction: what the answer repeats.
  func fulfil(
    _ inbound: InboundRequest, _ fields: RequestFields, _ transaction: String?, in home: String
  ) throws -> Fulfilled {
    var fulfilled = Fulfilled()
    do {
      guard let command = inbound.command else { throw AnswerFailure.unknownCommand }
      let request = try ThreadRequest(command, fields)
      if request.dataset != nil, try inbound.fields.get().sealed == nil {
        fulfilled.effects.append(.plaintextSeen(user: inbound.user, home: home))
      }
      let context = try context(of: inbound, command, transaction, home: home)
      let reply = try reply(to: request, context)
      fulfilled.effects += reply.effects
      switch try reply.result.get() {
      case .data(let data):
        if let answer = try answer(data, context, transaction) { fulfilled.effects.append(answer) }
        try consents.noteDisclosure(reply.granted)
      case .waiting: break
      case .decided:
        if let answer = try answer(AnswerData(), context, transaction) {
          fulfilled.effects.append(answer)
        }
      }
    } catch let failure as AnswerFailure {
      fulfilled.failure = failure
    }
    return fulfilled
  }

  /// Fulfils a request, or asks a person first.
  func reply(to request: ThreadRequest, _ context: RequestContext) throws -> Reply {
    let gate = LedgerConsentGate(consents, configuration, parts)
    let registry = RequestRegistry(ownership, homes: homes)
    let result: Result<CredentialService.Reply, AnswerFailure>
    do {
      result = .success(try service(context, gate, registry).answer(request))
    } catch let failure as AnswerFailure {
      result = .failure(failure)
    }
    return Reply(effects: gate.effects + registry.effects, result: result, granted: gate.granted)
  }

  func service(
    _ context: RequestContext, _ gate: LedgerConsentGate, _ registry: RequestRegistry
  ) -> CredentialService {
    let other = parts.gate.map { $0 as any ConsentGate }
    return CredentialService(
      store: store, gate: other ?? gate, registry: registry, context: context, tx)
  }

  private func context(
    of inbound: InboundRequest, _ command: RequestCommand, _ transaction: String?, home: String
  ) throws -> RequestContext {
    var context = RequestContext(
      requester: .mqttUser(inbound.user), team: configuration.team(inbound.user), home: home,
      reply: .topic(inbound.reply), now: now.date)
    context.isSigned = (try? inbound.fields.get().sealed) != nil
    context.isApprover =
      configuration.isApprover(inbound.user)
      && (context.isSigned || !configuration.approversMustSign)
    // Home Assistant chooses where nobody has: its buttons are there while no network is preferred.
    if command == .setPreferred, configuration.homeAssistant.decides(as: inbound.user),
      let fields = try? inbound.fields.get(), let network = fields.extendedPANID,
      configuration.buttonTokens.isValid(
        fields.token, for: HomeAssistantQuestions.choice(of: network)),
      !parts.refusesButtons(now), try !store.hasPreferredNetwork(in: home, tx)
    {
      context.isApprover = true
    }
    context.mostEntries = Self.mostEntries
    context.version = configuration.version
    context.timeout = Int(inbound.timeout)
    if command.disclosesSecrets {
      context.fingerprint = try parts.sealer.fingerprint(
        of: inbound.user, in: home, tx)
      context.canReceiveSecrets = context.fingerprint != nil
      context.mostSecretBytes = parts.sealer.room(
        at: AnswerPlace(topic: inbound.reply.name, transaction: transaction), now: now)
    }
    return context
  }
}
