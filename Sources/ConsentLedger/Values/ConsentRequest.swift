// SPDX-License-Identifier: Apache-2.0

/// A request as it comes to the ledger.
package struct ConsentRequest: Sendable {
  package let requester: ConsentRequester
  package let subject: ConsentSubject
  package let reply: ConsentReply

  package init(_ subject: ConsentSubject, by requester: ConsentRequester, reply: ConsentReply) {
    self.requester = requester
    self.subject = subject
    self.reply = reply
  }
}

/// What the ledger answers to it.
package enum ConsentOutcome: Sendable {
  /// "Always" was approved.
  case granted(ConsentGrant)
  /// A person is asked. `isNew` is false where the same question was waiting already.
  case pending(PendingConsent, isNew: Bool)
}
