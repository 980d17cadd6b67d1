// SPDX-License-Identifier: Apache-2.0

/// Whether one more request may wait. A person looks at a handful, and a requester that floods the
/// list hides what others ask.
enum PendingLimit {
  static let all = 100
  /// Of these, for questions of the daemon's own user and root: no number of other users can have their own
  /// programs refused.
  static let reserved = 2 * ofOneRequester
  /// Of what it asks itself; and as many of what the daemon asks for its routers, which must not cost it
  /// its own.
  static let ofOneRequester = 5

  /// - Parameters:
  ///   - waiting: all that are there, also those that were refused a moment ago.
  ///   - ownUser: the number of the user that the daemon runs as.
  /// - Returns: why not; nil when it may.
  static func refusal(
    of request: ConsentRequest, beside waiting: [PendingConsent], ownUser: UInt32
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
    func isReserved(_ requester: ConsentRequester) -> Bool {
      [.systemUser(ownUser), .systemUser(0)].contains(requester.identity)
    }
    let others = waiting.filter { !isReserved($0.requester) }.count
    if isReserved(request.requester) ? waiting.count >= all : others >= all - reserved {
      return ConsentRefusal(
        .rateLimited, "\(waiting.count) requests wait for consent already")
    }
    return nil
  }
}
