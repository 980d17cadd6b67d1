// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@testable import ConsentLedger

@Suite("Consent history and its revision")
struct HistoryTests {
  private let ledger: Ledger

  init() throws { ledger = try Ledger() }

  private func history(_ limit: Int) throws -> [ConsentRecord] {
    try ledger.store.keychain.database.read { try ledger.ledger.history(limit: limit, $0) }
  }

  private func revision() throws -> String? {
    try ledger.store.keychain.database.read { try ledger.ledger.revision($0) }
  }

  /// - Returns: the ids, the newest first.
  private func deny(_ count: Int) throws -> [ConsentID] {
    var ids: [ConsentID] = []
    for number in 0..<count {
      let user = ConsentRequester(.mqttUser("user-\(number)"), team: "a")
      let id = try ledger.pend(user).id
      try ledger.deny(id.description)
      ids.insert(id, at: 0)
    }
    return ids
  }

  @Test("A limited history opens only the newest decisions, and leaves out altered ones")
  func limited() throws {
    let ids = try deny(5)
    #expect(try history(.max).map(\.id) == ids)
    #expect(try history(0).isEmpty && history(-1).isEmpty)
    let keychain = ledger.store.keychain
    let oldest = try keychain.database.read {
      try #require(try ledger.ledger.historyItems.find(ids[2], $0)).item.rowID
    }
    try keychain.database.write {
      try $0.execute(
        "UPDATE items SET metadata = zeroblob(length(metadata)) WHERE id <= ?", .integer(oldest))
    }
    #expect(try history(2).map(\.id) == Array(ids.prefix(2)))
    #expect(keychain.quarantine.isEmpty)
    #expect(try history(3).map(\.id) == Array(ids.prefix(2)), "what was altered is left out")
    #expect(!keychain.quarantine.isEmpty)
  }

  @Test("A decision that this version cannot read does not count towards the limit")
  func unreadable() throws {
    let ids = try deny(4)
    let keychain = ledger.store.keychain
    try keychain.database.write { tx in
      let newest = try #require(try ledger.ledger.historyItems.find(ids[0], tx)).item
      try keychain.update(newest, attributes: [.generic: .data(Array("{}".utf8))], in: tx)
    }
    #expect(try history(2).map(\.id) == Array(ids[1...2]))
  }

  @Test("Each decision changes the revision; asking, joining and reading do not")
  func revisions() throws {
    var seen = [try #require(try revision())]
    func decide(_ body: () throws -> Void) throws {
      try body()
      let now = try #require(try revision())
      #expect(!seen.contains(now))
      #expect(try revision() == now)
      seen.append(now)
    }
    let first = try ledger.pend().id.description
    try ledger.pend(transaction: "again")
    _ = try history(.max)
    #expect(try revision() == seen.last)
    // What waits has the last row, and gives it up for its decision.
    try decide { try ledger.approve(first, .always) }
    try decide { try ledger.revoke(try #require(try ledger.grants().first).id.description) }
    let second = try ledger.pend().id.description
    try decide { try ledger.deny(second) }
    try ledger.pend(.app)
    ledger.pass(121)
    try decide { try ledger.expire() }
    try ledger.store.reopen()
    #expect(try revision() == seen.last)
    try decide { try ledger.deny(ledger.pend().id.description) }
  }
}
