// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("Limit of the consent history")
struct HistoryLimitTests {
  @Test("No entry is removed while the history is within its limit")
  func room() {
    #expect(HistoryLimit.surplus(of: [.approved, .expired], kept: 2).isEmpty)
    #expect(HistoryLimit.surplus(of: Array(repeating: .expired, count: 1_000)).isEmpty)
  }

  @Test("A full history removes expired requests first, the oldest of them first")
  func expiredFirst() {
    let outcomes: [ConsentRecord.Outcome] = [.approved, .expired, .denied, .expired, .revoked]
    #expect(HistoryLimit.surplus(of: outcomes, kept: 4) == [1])
    #expect(HistoryLimit.surplus(of: outcomes, kept: 3) == [1, 3])
    #expect(HistoryLimit.surplus(of: outcomes, kept: 1) == [1, 3, 0, 2])
  }

  @Test("The ledger keeps 1,000 entries, and a denial longer than expired requests")
  func ledger() throws {
    let ledger = try Ledger()
    try ledger.deny(ledger.pend(.tablet).id.description)
    ledger.pass(120)
    try ledger.expire()
    for _ in 0..<12 {
      for number in 1...90 {
        try ledger.ask(ConsentRequester(.systemUser(UInt32(number)), team: "t"))
      }
      ledger.pass(120)
      try ledger.expire()
    }
    let history = try ledger.history()
    #expect(history.count == 1_000)
    #expect(history.last?.outcome == .denied, "expired requests are removed before decisions")
  }
}
