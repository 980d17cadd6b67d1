// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

/// What can happen to a question.
enum ConsentEvent {
  /// The same is asked again.
  case asked(ConsentRequest)
  case approved(ConsentScope, by: ConsentApprover)
  case denied(by: ConsentApprover)
  /// A second passed.
  case clock
  /// It has no meaning any more.
  case withdrawn
  /// A person wants to be asked the same again at once.
  case wantedAgain
  /// The key of its requester counts no more.
  case requesterEnded
}

/// What follows, in order.
enum ConsentEffect: Hashable {
  case save(PendingConsent)
  case delete
  /// "Always" is kept. May be refused, where there are too many; then nothing follows.
  case grant(PendingConsent, by: ConsentApprover)
  /// History and audit.
  case remember(ConsentRecord.Outcome, by: ConsentApprover?, ConsentScope?)
}

/// One question to a person. A pure value.
///
/// | state | event | next state | what follows |
/// |---|---|---|---|
/// | waits | asked by another reply | waits | it owes one more answer, at most 8: `rate_limited` |
/// | denied | asked | denied | refused: `consent_denied` |
/// | waits | approved | gone | history; "always" is kept |
/// | waits | approved by who may not | waits | refused: `not_authorized` |
/// | waits | denied | denied | history; owes no answers; about a router the time restarts |
/// | waits | withdrawn | waits | its time is over |
/// | denied | withdrawn | denied | |
/// | denied | wanted again | gone | |
/// | waits | wanted again | waits | |
/// | waits, denied | its requester ended | the same | its time is over |
/// | waits, its time is over | clock | gone | history: expired |
/// | denied, its time is over | clock | gone | |
/// | waits, its time is over | approved, denied | the same | refused: `stale_id` |
/// | denied | approved, denied | denied | refused: `stale_id` |
struct ConsentMachine: Hashable {
  /// Nil: it is gone.
  private(set) var question: PendingConsent?

  init(_ question: PendingConsent) { self.question = question }

  /// - Parameter now: milliseconds since 1970.
  /// - Throws: why not; then nothing has changed.
  mutating func handle(
    _ event: ConsentEvent, now: Int64
  ) throws(ConsentRefusal) -> [ConsentEffect] {
    guard let question else { return [] }
    switch event {
    case .asked(let request): return try join(question, request)
    case .approved(let scope, let approver):
      try requireWaiting(question, now: now)
      if let refusal = ApprovalRight.refusal(of: approver, for: question) { throw refusal }
      self.question = nil
      let kept: [ConsentEffect] = scope == .always ? [.grant(question, by: approver)] : []
      return kept + [.delete, .remember(.approved, by: approver, scope)]
    case .denied(let approver):
      try requireWaiting(question, now: now)
      return [.remember(.denied, by: approver, nil), change(question) { $0.deny(now: now) }]
    case .clock:
      guard PendingLife.isOver(question, now: now) else { return [] }
      self.question = nil
      return question.isDenied ? [.delete] : [.delete, .remember(.expired, by: nil, nil)]
    case .withdrawn:
      return question.isDenied ? [] : [change(question) { $0.end(now: now) }]
    case .wantedAgain:
      guard question.isDenied else { return [] }
      self.question = nil
      return [.delete]
    case .requesterEnded: return [change(question) { $0.end(now: now) }]
    }
  }

  private mutating func join(
    _ question: PendingConsent, _ request: ConsentRequest
  ) throws(ConsentRefusal) -> [ConsentEffect] {
    guard !question.isDenied else {
      throw ConsentRefusal(.denied, "the same request was refused a moment ago")
    }
    guard !question.replies.contains(request.reply) else { return [] }
    guard question.replies.count < PendingConsent.mostReplies else {
      throw ConsentRefusal(
        .rateLimited, "the same request waits for consent \(question.replies.count) times already")
    }
    return [change(question) { $0.replies.append(request.reply) }]
  }

  private func requireWaiting(_ question: PendingConsent, now: Int64) throws(ConsentRefusal) {
    if question.isDenied {
      throw ConsentRefusal(.staleID, "the request \(question.id) is denied already")
    }
    if PendingLife.isOver(question, now: now) {
      throw ConsentRefusal(.staleID, "the request \(question.id) is expired already")
    }
  }

  private mutating func change(
    _ question: PendingConsent, _ body: (inout PendingConsent) -> Void
  ) -> ConsentEffect {
    var changed = question
    body(&changed)
    self.question = changed
    return .save(changed)
  }
}

extension PendingConsent {
  /// The clock deletes it.
  fileprivate mutating func end(now: Int64) { expires = min(expires, now) }

  /// The same question is refused until it would have expired. About a router the daemon itself asks, which does not
  /// wait for an answer, so there it is refused for as long as a request waits, from now on.
  fileprivate mutating func deny(now: Int64) {
    isDenied = true
    if subject.router != nil { expires = now + Self.timeout }
    replies = []
  }
}
