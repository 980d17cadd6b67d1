// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ThreadkeeperCommands

@Suite("What is new about the questions that wait")
struct ConsentWatchTests {
  private static let beginning = "2026-11-21T04:36:00Z"
  private static let expiry = "2026-11-21T04:38:00Z"

  private func request(_ id: String, by requester: String) -> ConsentReport.Request {
    .init(
      id: id, requester: requester, team: "hub", home: "home", command: "preferred/get",
      networks: [], createdAt: Self.beginning)
  }

  private func question(_ id: String) -> ConsentReport.Pending {
    .init(
      request: request(id, by: "uid 1000 (a\u{1B}[2Jb)"),
      more: .init(reason: "it matters", expiresAt: Self.expiry))
  }

  private func decision(_ id: String, _ outcome: String) -> ConsentReport.Decision {
    .init(
      request: request(id, by: "uid 1000"),
      more: .init(
        outcome: outcome, decidedAt: "2026-11-21T04:37:00Z", decidedBy: "uid 0 (command line)",
        scope: "once"))
  }

  private func time(_ seconds: TimeInterval) throws -> Date {
    try Date(Self.expiry, strategy: .iso8601) + seconds
  }

  @Test("Each question is told once, and its end as soon as it is known")
  func life() throws {
    var watch = ConsentWatch()
    #expect(watch.look(at: [question("a")]).map(\.id) == ["a"])
    #expect(watch.look(at: [question("a"), question("b")]).map(\.id) == ["b"])
    #expect(!watch.needsHistory)
    #expect(watch.look(at: [question("b")]).isEmpty)
    #expect(watch.needsHistory)
    #expect(watch.ends(in: [decision("z", "denied")], now: try time(-60)).isEmpty)
    #expect(watch.needsHistory, "it is not written down yet")
    let ends = watch.ends(
      in: [decision("z", "denied"), decision("a", "approved")], now: try time(-60))
    #expect(ends.map(\.id) == ["a"])
    #expect(!watch.needsHistory)
  }

  @Test("What nobody wrote down has expired")
  func expired() throws {
    var watch = ConsentWatch()
    _ = watch.look(at: [question("a")])
    _ = watch.look(at: [])
    #expect(watch.ends(in: [], now: try time(4)).isEmpty)
    let end = try #require(watch.ends(in: [], now: try time(6)).first)
    #expect(end.outcome == "expired" && end.decidedAt == Self.expiry && end.decidedBy == nil)
    #expect(!watch.needsHistory)
  }

  @Test("As text one line each, which moves no cursor; as JSON the fields beside the event")
  func lines() throws {
    let asked = ConsentNews.asked(question("c-1"))
    #expect(
      asked.text
        == "\(Self.beginning)  c-1  asked     uid 1000 (a\\u{1b}[2Jb) wants preferred/get of \n")
    #expect(
      ConsentNews.ended(decision("c-1", "approved")).text
        == "2026-11-21T04:37:00Z  c-1  approved once by uid 0 (command line)\n")
    #expect(
      ConsentNews.ended(decision("c-1", "denied")).text
        == "2026-11-21T04:37:00Z  c-1  denied by uid 0 (command line)\n")
    let line = try JSONText.line(asked)
    #expect(line.hasSuffix("}\n") && line.dropLast().allSatisfy { $0 != "\n" })
    #expect(line.contains(#""event":"asked""#) && line.contains(#""expires_at":"\#(Self.expiry)""#))
  }
}
