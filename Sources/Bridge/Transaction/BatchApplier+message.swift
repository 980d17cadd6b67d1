// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore

extension BatchApplier {
  /// One message. What is wrong with it becomes a rejection; only the store's own failures are thrown.
  func apply(_ message: InboundMessage, _ intake: SealedIntake) throws {
    outcome.counts.received += 1
    switch message {
    case .foreign:
      outcome.counts.foreign += 1
    case .rejected(let rejection, let origin):
      try reject(rejection, origin)
    case .request(let request, let origin):
      try apply(request, origin)
    case .ignored:
      outcome.counts.requestsRefused += 1
    case .dropped:
      outcome.counts.rejected[Rejection.Code.rateLimited.rawValue, default: 0] += 1
    case .event(let event, let user, let origin):
      store.keychain.act(as: "mqtt user \(user)", in: tx)
      let isTaken = try rejecting(origin, event.subject) {
        let home = try home(named: origin.home)
        try sealedEvents.requireTrust(in: user, home: home.record, intake)
        try apply(event, user: user, home: home)
      }
      if isTaken { answer(nil, origin) }
    case .sealed(let message, let user, let origin):
      store.keychain.act(as: "mqtt user \(user)", in: tx)
      var opened: SealedEvents.Opened?
      _ = try rejecting(origin) {
        opened = try sealedEvents.open(
          message, user: user, home: home(named: origin.home).record, intake)
      }
      switch opened {
      case nil: break
      case .duplicate:
        countDuplicate()
        answer(nil, origin)
      case .event(let event):
        let isTaken = try rejecting(origin, event.subject) {
          let home = try home(named: origin.home)
          try apply(event, user: user, home: home)
          if event.dataset != nil, try sealedEvents.isSigned(user, home: home.record, intake) {
            try setAlert(.plaintextCredentials, about: user, nil, in: home)
          }
        }
        if isTaken { answer(nil, origin) }
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
    outcome.counts.received += 1
    let origin: InboundMessage.Origin
    switch message {
    case .event(_, _, let from), .sealed(_, _, let from), .rejected(_, let from),
      .request(_, let from):
      origin = from
    case .ignored, .dropped, .foreign: return
    }
    try reject(
      Rejection(.cannotApply, message: "the daemon cannot act upon this message: \(reason)"), origin
    )
  }

  private func reject(
    _ rejection: Rejection, _ origin: InboundMessage.Origin, of subject: InboundEvent.Subject? = nil
  ) throws {
    if rejection.code == Rejection.Code.retained.rawValue {
      outcome.counts.retained += 1
    } else {
      outcome.counts.rejected[rejection.code, default: 0] += 1
    }
    var event = EventRecord(
      time: now, types: .messageRejected, home: try home(named: origin.home).record.id)
    event.user = origin.user
    if case .router(let agent) = subject { event.router = agent }
    event.detail.topic = origin.topic
    event.detail.code = rejection.code
    event.detail.field = rejection.field
    event.detail.tlv = rejection.tlv
    event.detail.offset = rejection.offset
    event.detail.message = rejection.message
    try append(event)
    answer(rejection, origin)
  }
}
