// SPDX-License-Identifier: Apache-2.0

import Broker
import DaemonTestKit
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import ThreadkeeperDaemon

@Suite("Lists over the local API", .timeLimit(.minutes(30)))
struct ListTests {
  private let store: TemporaryStore
  private let server: OperationServer

  init() throws {
    store = try TemporaryStore()
    server = try OperationServer(store)
    try BridgeRegistry.prepare(
      BridgeConfiguration(MovedStore.settings(store)), keychain: store.keychain)
  }

  private func addRouters(_ count: Int) throws -> [String] {
    let agents = (0..<count).map { number in
      let digits = String(number + 1)
      return String(repeating: "0", count: 32 - digits.count) + digits
    }
    try store.keychain.database.write { tx in
      let home = try #require(try HomeLedger.all(tx).first)
      for agent in agents {
        var router = RouterRecord(
          home: home.id, agent: try #require(BorderAgentID(hex: agent)), user: "hub",
          now: WireTime(milliseconds: 1_000_000))
        router.name = String(repeating: "n", count: 200)
        try RouterLedger.insert(router, tx)
      }
    }
    return agents
  }

  @Test(
    "A list that is longer than a message comes in several, and is whole",
    arguments: [0, 50, 2_000])
  func parts(count: Int) async throws {
    let agents = try addRouters(count)
    var replies: [Rows<RouterState>] = []
    try await server.follow(ListRouters()) {
      replies.append($0)
      return true
    }
    let isWhole = replies.flatMap(\.rows).map(\.borderAgentID).sorted() == agents
    #expect(isWhole)
    #expect(replies.count == max(1, count / 50))
    // What is said of the whole list comes once.
    #expect(replies.filter { $0.note != nil }.count == (count == 0 ? 1 : 0))
  }
}
