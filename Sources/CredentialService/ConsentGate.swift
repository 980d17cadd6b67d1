// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import SQLiteDatabase
import ThreadRequests

package enum ConsentVerdict: Hashable, Sendable {
  /// It may be told now.
  case granted
  /// A person is asked; the answer follows, to the address of the question.
  case pending(id: String)
  case refused(AnswerFailure)
}

/// A person's decision about what is pending.
package struct ConsentDecision: Hashable, Sendable {
  package var id: String
  package var approves: Bool
  package var scope: ConsentScope
  package var by: Requester
  package var isAdministrator: Bool
  /// Whether its keys say so, and not only the broker.
  package var isSigned: Bool
  /// The home in which it was said; nil where none was named, and the id alone says what is meant.
  package var home: String?
  /// Of Home Assistant's button.
  package var token: String?

  package init(
    id: String, approves: Bool, scope: ConsentScope = .once, by: Requester,
    isAdministrator: Bool, isSigned: Bool = false, home: String?, token: String? = nil
  ) {
    self.id = id
    self.approves = approves
    self.scope = scope
    self.by = by
    self.isAdministrator = isAdministrator
    self.isSigned = isSigned
    self.home = home
    self.token = token
  }
}

/// A question that is pending no more.
package struct SettledConsent: Hashable, Sendable {
  package var id: String
  package var question: ConsentQuestion
  /// Nil: agreed, so the question's request is to be fulfilled.
  package var refusal: AnswerFailure?

  package init(id: String, question: ConsentQuestion, refusal: AnswerFailure?) {
    self.id = id
    self.question = question
    self.refusal = refusal
  }
}

/// Decides whether another team's credentials, or the preferred network's, may be told.
///
/// It is asked, and given decisions, in the transaction of the request, and may live as long as that.
package protocol ConsentGate {
  func judge(_ question: ConsentQuestion, _ tx: WriteTransaction) throws -> ConsentVerdict

  /// Takes a person's decision. The questions that it settles are answered by whoever runs the transaction.
  ///
  /// - Throws: `AnswerFailure` with `stale_id` when nothing of that id is pending, with
  ///   `not_authorized` when this requester may not decide it.
  func settle(_ decision: ConsentDecision, _ tx: WriteTransaction) throws

  /// - Throws: `AnswerFailure` with `not_authorized` when this requester may decide nothing.
  func requireDecider(_ decision: ConsentDecision) throws

  /// What this requester itself waits for, in its home, oldest first. What the networks are is said
  /// only to who may decide it: before somebody agrees, nothing is told.
  func waiting(_ context: RequestContext, _ tx: WriteTransaction) throws -> [WaitingQuestion]
}

extension ConsentGate {
  package func waiting(
    _ context: RequestContext, _ tx: WriteTransaction
  ) throws -> [WaitingQuestion] { [] }

  package func requireDecider(_ decision: ConsentDecision) throws {
    throw AnswerFailure(.notAuthorized, "nobody can be asked")
  }
}

/// For a program without a daemon: nobody can agree to anything.
package struct NoConsentGate: ConsentGate, Sendable {
  package init() {}

  package func judge(_ question: ConsentQuestion, _ tx: WriteTransaction) -> ConsentVerdict {
    .refused(
      AnswerFailure(
        .consentRequired, "a person must agree before this is told, and nobody can be asked"))
  }

  package func settle(_ decision: ConsentDecision, _ tx: WriteTransaction) throws {
    throw AnswerFailure(.staleID, field: "id", "nothing of this id is waiting for a decision")
  }
}
