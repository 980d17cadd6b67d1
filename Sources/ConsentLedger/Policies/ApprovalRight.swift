// SPDX-License-Identifier: Apache-2.0

extension PendingConsent {
  /// Whether an approver may say yes, as far as that depends on who asks.
  package func isApprovable(by approver: ConsentApprover) -> Bool {
    ApprovalRight.refusal(of: approver, for: self) == nil
  }
}

/// Who may approve what: no login its own request, nor one of its own team.
enum ApprovalRight {
  /// To deny one's own request is allowed: it gives nothing away.
  ///
  /// - Returns: why not; nil when the approver may.
  static func refusal(
    of approver: ConsentApprover, for pending: PendingConsent
  ) -> ConsentRefusal? {
    switch (approver, pending.requester.identity) {
    // Here by the looks: of two names that only look the same, none approves the other's.
    case (.mqttUser(let name, _), .mqttUser(let own)) where name == own:
      ConsentRefusal(.notAuthorized, "nobody approves a request of his own")
    // One person may have several logins, and a user of this machine may be of a team too.
    case (.mqttUser(_, let team), _) where team.utf8.elementsEqual(pending.requester.team.utf8):
      ConsentRefusal(.notAuthorized, "nobody approves a request of his own team")
    // At the command line it is a person, and one who could read the store anyway. Such a one has made the token of
    // the page, and given it to somebody on purpose.
    case (.mqttUser, _), (.commandLine, _), (.statusPage, _): nil
    }
  }
}
