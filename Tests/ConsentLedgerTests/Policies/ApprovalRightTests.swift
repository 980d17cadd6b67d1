// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("Right to approve a request")
struct ApprovalRightTests {
  private func pending(_ requester: ConsentRequester) -> PendingConsent {
    PendingConsent(
      ConsentRequest(.preferred, by: requester, reply: .socket), id: .make(.request), now: 0)
  }

  private func may(_ approver: ConsentApprover, _ requester: ConsentRequester) -> Bool {
    ApprovalRight.refusal(of: approver, for: pending(requester)) == nil
  }

  @Test("A login may approve requests of others, but never its own, whatever its team")
  func mqtt() {
    #expect(may(.mqttUser("anna", team: "anna"), .phone))
    #expect(may(.mqttUser("1000", team: "1000"), .app))
    #expect(!may(.mqttUser("phone", team: "phone"), .phone))
    let moved = ConsentRequester(.mqttUser("phone"), team: "other")
    #expect(!may(.mqttUser("phone", team: "phone"), moved))
  }

  @Test("A login may not approve requests of its own team, from a login or a system user")
  func team() {
    #expect(!may(.mqttUser("tablet", team: "phone"), .phone))
    #expect(!may(.mqttUser("anna", team: "user/uid-1000"), .app))
    let composed = ConsentRequester(.mqttUser("x"), team: "jos\u{E9}")
    #expect(may(.mqttUser("y", team: "jose\u{301}"), composed), "team names are compared by bytes")
  }

  @Test("A login may not approve a request of a login whose name looks the same")
  func lookalikes() {
    let composed = ConsentRequester(.mqttUser("jos\u{E9}"), team: "t")
    #expect(!may(.mqttUser("jose\u{301}", team: "u"), composed))
  }

  @Test("The command line may approve every request")
  func commandLine() {
    #expect(may(.commandLine(user: 0), .phone))
    #expect(may(.commandLine(user: 1000), .app))
  }
}
