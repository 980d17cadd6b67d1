// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("Lists over the local API", .timeLimit(.minutes(30)))
struct ListTests {
  private let store: TemporaryStore
  private let server: OperationServer

  init() throws {
    store = try TemporaryStore()
    server = try OperationServer(store)
  }

  private func addRouters(_ count: Int) throws -> [String] {
    let agents = (0..<count).map { number in
      let digits = String(number + 1)
      return String(repeating: "0", count: 32 - digits.count) + digits
    }
    let name = String(repeating: "n", count: 60)
    try server.context.bridge.loop.received(
      agents.map { agent in
        IncomingMessage(
          topic: "threadkeeper/in/hub/announce",
          payload: Array(#"{"border_agent_id":"\#(agent)","name":"\#(name)"}"#.utf8))
      })
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
