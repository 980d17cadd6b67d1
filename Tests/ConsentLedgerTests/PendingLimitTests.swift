// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("How many requests wait")
struct PendingLimitTests {
  private func waiting(_ requesters: [ConsentRequester]) -> [PendingConsent] {
    requesters.map {
      PendingConsent(
        ConsentRequest(.preferred, by: $0, reply: .socket), id: .make(.request), now: 0)
    }
  }

  private let request = ConsentRequest(.preferred, by: .phone, reply: .socket)

  private func user(_ number: Int) -> ConsentRequester {
    ConsentRequester(.mqttUser("user \(number)"), team: "t")
  }

  @Test("Five of one requester, whatever team it is in by now")
  func ofOne() {
    let moved = ConsentRequester(.mqttUser("phone"), team: "other")
    for count in 0..<5 {
      #expect(
        PendingLimit.objection(
          to: request, beside: waiting(Array(repeating: moved, count: count))) == nil)
    }
    let refusal = PendingLimit.objection(
      to: request, beside: waiting(Array(repeating: moved, count: 5)))
    #expect(refusal?.code == .rateLimited)
    #expect(
      PendingLimit.objection(
        to: request, beside: waiting(Array(repeating: .tablet, count: 5))) == nil)
  }

  @Test("A hundred of all together")
  func ofAll() {
    #expect(PendingLimit.objection(to: request, beside: waiting((0..<99).map(user))) == nil)
    let refusal = PendingLimit.objection(to: request, beside: waiting((0..<100).map(user)))
    #expect(refusal?.code == .rateLimited)
  }
}
