// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import LocalAPI
@testable import ThreadkeeperDaemon

@Suite("Reports about consent")
struct ConsentReportTests {
  private func decision() -> ConsentReport.Decision {
    let request = ConsentReport.Request(
      id: "c-1", requester: "uid 1000", team: "a", home: "home", command: "preferred/get",
      networks: [
        .init(id: "1111111122222222", name: "home-thread", team: nil)
      ], createdAt: "2026-01-02T03:04:05Z")
    return ConsentReport.Decision(
      request: request, more: .init(outcome: "approved", decidedAt: "then", given: false))
  }

  @Test("An entry is one JSON object, with the fields of both parts")
  func entry() throws {
    let bytes = try JSONEncoder().encode(decision())
    let object = try JSONSerialization.jsonObject(with: bytes) as? NSDictionary
    #expect(
      object == [
        "id": "c-1", "requester": "uid 1000", "team": "a", "home": "home",
        "command": "preferred/get",
        "networks": [["ext_pan_id": "1111111122222222", "network_name": "home-thread"]],
        "created_at": "2026-01-02T03:04:05Z",
        "outcome": "approved", "decided_at": "then", "given": false,
      ])
  }

  @Test("A reply of the local API is read as it was sent, with the names of its fields")
  func reply() throws {
    let sent = try VarlinkReply(
      parameters: ListDecisions.Reply(history: [decision()]), continues: false
    ).encoded()
    let text = String(decoding: sent, as: UTF8.self)
    #expect(text.contains("\"ext_pan_id\":\"1111111122222222\""))
    #expect(text.contains("\"decided_at\":\"then\""))
    let read = try #require(
      VarlinkReply<ListDecisions.Reply>(reading: sent).parameters.history.first)
    #expect(read.requester == "uid 1000" && read.given == false)
    #expect(read.networks == decision().networks)
  }
}
