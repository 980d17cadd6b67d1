// SPDX-License-Identifier: Apache-2.0

/// Whether one more request may wait. A person looks at a handful, and a requester that floods the
/// list hides what others ask.
enum PendingLimit {
  static let all = 100
  /// Of what it asks itself; and as many of what the keeper asks for its routers, which must not cost it
  /// its own.
  static let ofOneRequester = 5

  /// - Parameter waiting: all that are there, also those that were refused a moment ago.
  /// - Returns: why not; nil when it may.
  static func objection(
    to request: ConsentRequest, beside waiting: [PendingConsent]
  ) -> ConsentRefusal? {
    let isAboutRouter = request.subject.router != nil
    // By identity alone: who is moved to another team is no other requester.
    let own = waiting.filter {
      $0.requester.identity == request.requester.identity
        && ($0.subject.router != nil) == isAboutRouter
    }
    if own.count >= ofOneRequester {
      let what = isAboutRouter ? "questions about routers" : "requests"
      return ConsentRefusal(
        .rateLimited, "\(own.count) \(what) of \(request.requester) wait for consent already")
    }
    if waiting.count >= all {
      return ConsentRefusal(
        .rateLimited, "\(waiting.count) requests wait for consent already")
    }
    return nil
  }
}
