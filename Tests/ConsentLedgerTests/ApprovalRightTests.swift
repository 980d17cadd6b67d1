// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("Who may approve what")
struct ApprovalRightTests {
  private func pending(_ requester: ConsentRequester) -> PendingConsent {
    PendingConsent(
      ConsentRequest(.preferred, by: requester, reply: .socket), id: .make(.request), now: 0)
  }

  private func may(_ approver: ConsentApprover, _ requester: ConsentRequester) -> Bool {
    ApprovalRight.objection(to: approver, of: pending(requester)) == nil
  }

  @Test("An approver approves what others ask, and never what it asks itself")
  func mqtt() {
    #expect(may(.mqttUser("anna"), .phone))
    #expect(may(.mqttUser("tablet"), .phone), "of the same team, but another one")
    #expect(may(.mqttUser("1000"), .app))
    #expect(!may(.mqttUser("phone"), .phone))
    #expect(!may(.mqttUser("phone"), ConsentRequester(.mqttUser("phone"), team: "other")))
  }

  @Test("Of two names that look the same, none approves the other's")
  func lookalikes() {
    let composed = ConsentRequester(.mqttUser("jos\u{E9}"), team: "t")
    #expect(!may(.mqttUser("jose\u{301}"), composed))
  }

  @Test("At the command line everything can be approved")
  func commandLine() {
    #expect(may(.commandLine(user: 0), .phone))
    #expect(may(.commandLine(user: 1000), .app))
  }
}
