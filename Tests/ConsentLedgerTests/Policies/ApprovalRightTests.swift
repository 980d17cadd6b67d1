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
    #expect(may(.mqttUser("anna", team: "anna"), .phone))
    #expect(may(.mqttUser("1000", team: "1000"), .app))
    #expect(!may(.mqttUser("phone", team: "phone"), .phone))
    let moved = ConsentRequester(.mqttUser("phone"), team: "other")
    #expect(!may(.mqttUser("phone", team: "phone"), moved))
  }

  @Test("Nor what another login, or a user of the machine, asks for the approver's own team")
  func team() {
    #expect(!may(.mqttUser("tablet", team: "phone"), .phone))
    #expect(!may(.mqttUser("anna", team: "user/uid-1000"), .app))
    let composed = ConsentRequester(.mqttUser("x"), team: "jos\u{E9}")
    #expect(may(.mqttUser("y", team: "jose\u{301}"), composed), "teams are told by their bytes")
  }

  @Test("Of two names that look the same, none approves the other's")
  func lookalikes() {
    let composed = ConsentRequester(.mqttUser("jos\u{E9}"), team: "t")
    #expect(!may(.mqttUser("jose\u{301}", team: "u"), composed))
  }

  @Test("At the command line everything can be approved")
  func commandLine() {
    #expect(may(.commandLine(user: 0), .phone))
    #expect(may(.commandLine(user: 1000), .app))
  }
}
