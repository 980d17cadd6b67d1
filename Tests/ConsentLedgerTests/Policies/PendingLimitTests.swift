// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("Limit of pending requests")
struct PendingLimitTests {
  private func waiting(_ requesters: [ConsentRequester]) -> [PendingConsent] {
    requesters.map {
      PendingConsent(
        ConsentRequest(.preferred, by: $0, reply: .socket), id: .make(.request), now: 0)
    }
  }

  private func user(_ number: Int) -> ConsentRequester {
    ConsentRequester(.mqttUser("user \(number)"), team: "t")
  }

  @Test("A sixth request of a login is refused, counted across its teams")
  func ofOne() {
    let moved = ConsentRequester(.mqttUser("phone"), team: "other")
    for count in 0..<5 {
      #expect(
        refusal(beside: Array(repeating: moved, count: count)) == nil)
    }
    #expect(refusal(beside: Array(repeating: moved, count: 5))?.code == .rateLimited)
    #expect(refusal(beside: Array(repeating: .tablet, count: 5)) == nil)
  }

  @Test("At most 90 requests wait, plus 10 of the daemon's own user and root")
  func ofAll() {
    let own = ConsentRequester(.systemUser(998), team: "own")
    let root = ConsentRequester(.systemUser(0), team: "root")
    #expect(refusal(beside: (0..<89).map(user)) == nil)
    let others = (0..<90).map(user)
    #expect(refusal(beside: others)?.code == .rateLimited)
    for requester in [own, root] {
      #expect(refusal(of: requester, beside: others) == nil)
    }
    let all = others + Array(repeating: own, count: 5) + Array(repeating: root, count: 5)
    #expect(refusal(of: own, beside: all)?.code == .rateLimited)
    #expect(
      refusal(beside: (0..<89).map(user) + Array(repeating: own, count: 5)) == nil,
      "requests of the daemon's own user do not count against others")
  }

  private func refusal(
    of requester: ConsentRequester = .phone, beside others: [ConsentRequester]
  ) -> ConsentRefusal? {
    PendingLimit.refusal(
      of: ConsentRequest(.preferred, by: requester, reply: .socket), beside: waiting(others),
      ownUser: 998)
  }
}
