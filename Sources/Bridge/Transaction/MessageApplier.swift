// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore

/// Messages of the broker within one transaction. What is wrong with one becomes a rejection; only the store's own
/// failures are thrown.
struct MessageApplier {
  private let context: TransactionContext
  private let progress: TransactionProgress
  private let effects: EffectApplier
  private let sealedEvents: SealedEvents
  private let events: EventApplier
  private let requests: RequestApplier

  init(
    _ context: TransactionContext, _ progress: TransactionProgress, _ effects: EffectApplier
  ) {
    self.context = context
    self.progress = progress
    self.effects = effects
    sealedEvents = SealedEvents(context.configuration, now: context.now, context.tx)
    events = EventApplier(context: context, effects: effects)
    requests = RequestApplier(context: context, effects: effects)
  }

  func apply(_ message: InboundMessage, _ intake: SealedIntake) throws {
    progress.outcome.counts.received += 1
    switch message {
    case .rejected(let rejection, let origin):
      try reject(rejection, origin)
    case .request(let request, let origin):
      try requests.apply(request, origin)
    case .ignored:
      progress.outcome.counts.requestsRefused += 1
    case .dropped:
      let code = Rejection.Code.rateLimited.rawValue
      progress.outcome.counts.rejected[code, default: 0] += 1
      progress.outcome.counts.rejectionExamples[code] = .init(
        topic: nil, reason: "a user publishes more than `limits.events_per_second` allows")
    case .skipped: break
    case .event(let event, let user, let origin):
      context.store.keychain.act(as: "mqtt user \(user)", in: context.tx)
      let isTaken = try rejecting(origin, event.subject) {
        let home = try context.home(named: origin.home)
        try sealedEvents.requireTrust(in: user, home: home.record, intake)
        try events.apply(event, user: user, home: home)
      }
      if isTaken { try answer(nil, origin) }
    case .sealed(let message, let user, let origin):
      context.store.keychain.act(as: "mqtt user \(user)", in: context.tx)
      var opened: SealedEvents.Opened?
      _ = try rejecting(origin) {
        opened = try sealedEvents.open(
          message, user: user, home: context.home(named: origin.home).record, intake)
      }
      switch opened {
      case nil: break
      case .duplicate:
        try effects.apply([.duplicate])
        try answer(nil, origin)
      case .event(let event):
        let isTaken = try rejecting(origin, event.subject) {
          let home = try context.home(named: origin.home)
          try events.apply(event, user: user, home: home)
          if event.dataset != nil, try sealedEvents.isSigned(user, home: home.record, intake) {
            try effects.apply([
              .alert(.plaintextCredentials, nil, about: user, home: home.record.id)
            ])
          }
        }
        if isTaken { try answer(nil, origin) }
      }
    }
  }

  /// What is wrong with the message itself becomes a rejection.
  ///
  /// - Returns: whether nothing was wrong.
  private func rejecting(
    _ origin: InboundMessage.Origin, _ subject: InboundEvent.Subject? = nil,
    _ body: () throws -> Void
  ) throws -> Bool {
    do {
      try body()
      return true
    } catch let rejection as Rejection {
      try reject(rejection, origin, of: subject)
    } catch let error as KeychainError where error.isItemDamaged {
      try reject(
        Rejection(
          .damagedCredentials, field: "border_agent_id",
          message: "the stored credentials of this router are damaged; "
            + "delete them with `threadkeeper credentials delete` or restore a backup"), origin,
        of: subject)
    }
    return false
  }

  /// A message that fails whenever it is applied, or has ended the daemon.
  func reject(_ message: InboundMessage, because reason: String) throws {
    progress.outcome.counts.received += 1
    let origin: InboundMessage.Origin
    switch message {
    case .event(_, _, let from), .sealed(_, _, let from), .rejected(_, let from),
      .request(_, let from):
      origin = from
    case .ignored, .dropped, .skipped: return
    }
    try reject(
      Rejection(.cannotApply, message: "the daemon cannot act upon this message: \(reason)"), origin
    )
  }

  private func reject(
    _ rejection: Rejection, _ origin: InboundMessage.Origin, of subject: InboundEvent.Subject? = nil
  ) throws {
    if rejection.code == Rejection.Code.retained.rawValue {
      progress.outcome.counts.retained += 1
    } else {
      progress.outcome.counts.rejected[rejection.code, default: 0] += 1
      progress.outcome.counts.rejectionExamples[rejection.code] = .init(
        topic: String(origin.topic.prefix(200)), reason: rejection.message)
    }
    var event = EventRecord(
      time: context.now, types: .messageRejected,
      home: try context.home(named: origin.home).record.id)
    event.user = origin.user
    if case .router(let agent) = subject { event.router = agent }
    event.detail.topic = origin.topic
    event.detail.code = rejection.code
    event.detail.field = rejection.field
    event.detail.tlv = rejection.tlv
    event.detail.offset = rejection.offset
    event.detail.message = rejection.message
    try effects.apply([.event(event)])
    try answer(rejection, origin)
  }

  /// Publishes what became of an event to the publisher that asked for it.
  ///
  /// - Parameter rejection: nil when the event was acted upon, or had come before.
  private func answer(_ rejection: Rejection?, _ origin: InboundMessage.Origin) throws {
    guard let address = origin.answer else { return }
    let publication = Publication(
      topic: address.name, payload: WireJSON().encode(EventAnswer(rejection)),
      contentType: "application/json", correlationData: address.correlation)
    try effects.apply([
      .eventAnswer(
        .publication(
          publication, expires: context.now.adding(seconds: Int(RequestReader.timeout))))
    ])
  }
}
