// SPDX-License-Identifier: Apache-2.0

import Synchronization

@_implementationOnly import CredentialService
@_implementationOnly import SQLiteDatabase

/// The consent of the person who uses this program. A transaction does not wait for it: the first one
/// finds out what is to be asked, and the second one goes on if that is still so.
final class PersonsConsent: ConsentGate {
  private struct State {
    var question: ConsentQuestion?
    var isAgreed = false
  }

  private let state = Mutex(State())

  var question: ConsentQuestion? { state.withLock { $0.question } }

  func agree() { state.withLock { $0.isAgreed = true } }

  func judge(_ question: ConsentQuestion, _ tx: WriteTransaction) -> ConsentVerdict {
    state.withLock {
      // Later is another context; what counts is what would be told.
      if $0.isAgreed, let agreed = $0.question, agreed.networks == question.networks,
        agreed.request == question.request
      {
        return .granted
      }
      $0.question = question
      return .pending(id: "")
    }
  }

  func settle(_ decision: ConsentDecision, _ tx: WriteTransaction) throws {
    throw AnswerFailure(.staleID, field: "id", "nothing of this id is waiting for a decision")
  }
}
