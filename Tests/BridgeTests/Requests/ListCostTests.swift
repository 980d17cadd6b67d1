// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import Logging
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing
import ThreadRequests

@testable import Bridge

@Suite("What lists cost")
struct ListCostTests {
  private let limiter = RequestLimiter()

  private func allowed(
    _ count: Int, _ command: RequestCommand, items: Int, at milliseconds: Int64,
    user: String = "anna"
  ) -> Int {
    (0..<count).count { _ in
      limiter.judge(
        user, command.rawValue, items: { items }, now: WireTime(milliseconds: milliseconds))
        == .allowed
    }
  }

  @Test("Of a store with 10,000 items, one list is answered, and the next after as long as it owes")
  func large() {
    // 50 tokens, of which a list takes 5 and 100 for what it looks at: 55 are owed, and 5 are needed.
    #expect(allowed(20, .listCredentials, items: 10_000, at: 0) == 1)
    #expect(allowed(1, .ping, items: 10_000, at: 5_500) == 0)
    #expect(allowed(1, .listCredentials, items: 10_000, at: 5_900) == 0)
    #expect(allowed(1, .listCredentials, items: 10_000, at: 6_000) == 1)
    // In the long run one in 10.5 seconds.
    let answered = (1...1_050).reduce(0) {
      $0 + allowed(1, .listCredentials, items: 10_000, at: 6_000 + Int64($1) * 100)
    }
    #expect(answered == 10)
  }

  @Test("The others are answered meanwhile, and a small store's lists cost what they did")
  func others() {
    #expect(allowed(20, .listCredentials, items: 1_000_000, at: 0) == 1)
    #expect(allowed(60, .ping, items: 1_000_000, at: 0, user: "bob") == 50)
    #expect(allowed(20, .listCredentials, items: 99, at: 0, user: "carl") == 10)
  }

  @Test("Lists that end at an index cost no more than what an answer can hold")
  func bounded() {
    for command: RequestCommand in [.listRouters, .listNetworks, .listAlerts, .pendingConsents] {
      #expect(allowed(20, command, items: 1_000_000, at: 0, user: command.rawValue) == 5)
    }
    for command: RequestCommand in [.getPreferred, .getNetwork] {
      #expect(allowed(20, command, items: 10_000, at: 0, user: command.rawValue) == 1)
    }
    #expect(allowed(60, .getCredentials, items: 1_000_000, at: 0) == 50)
  }

  @Test("What a user owes is not forgotten when many others ask")
  func manyUsers() {
    #expect(allowed(1, .listCredentials, items: 100_000, at: 0) == 1)
    for number in 0..<RequestLimiter.users {
      _ = allowed(1, .ping, items: 0, at: 10_000 + Int64(number), user: "user \(number)")
    }
    #expect(allowed(1, .ping, items: 0, at: 60_000) == 0)
  }

  @Test("A large store makes a login's lists rarer, through the connection that listens")
  func intake() throws {
    let bridge = try TestBridge()
    try bridge.temporary.fill(400)
    let answers = AnswerQueue()
    let monitor = BridgeMonitor()
    let intake = try bridge.intake(bridge.runner(monitor, answers: answers))
    try intake.received(
      try (0..<20).map { _ in try bridge.request("credentials/list") })
    let all = answers.next(100, connection: 1, now: bridge.clock.now()).compactMap {
      ThreadAnswer(json: $0.payload)
    }
    #expect(all.count { $0.status == .ok } == 6)
  }

  @Test("Every list, and every look at the ids of a team, goes by an index and sorts nothing")
  func plans() throws {
    let bridge = try TestBridge()
    let statements: [StaticString] = [
      RouterLedger.pageSQL, NetworkLedger.pageSQL, AlertLedger.firingSQL, RouterLedger.countSQL,
      RouterLedger.leftOfTeamSQL, RouterLedger.leftSQL,
    ]
    for statement in statements {
      let plan = try Program.check(
        "sqlite3",
        [bridge.temporary.location.databasePath, "EXPLAIN QUERY PLAN \(statement)"])
      #expect(plan.contains("USING INDEX") || plan.contains("USING COVERING INDEX"), "\(plan)")
      #expect(!plan.contains("SCAN router") && !plan.contains("SCAN network"), "\(plan)")
      #expect(!plan.contains("SCAN alert") && !plan.contains("TEMP B-TREE"), "\(plan)")
    }
  }
}

extension TemporaryStore {
  /// Adds so many items that are nobody's credentials.
  fileprivate func fill(_ count: Int) throws {
    try keychain.database.write { tx in
      for number in 0..<count {
        _ = try keychain.add(
          NewItem(
            .genericPassword,
            attributes: [.service: .string("filler"), .account: .string("\(number)")],
            secret: SecretBytes(copying: [1]), accessible: .afterFirstUnlock), in: tx)
      }
    }
  }
}
