// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What is new about the questions that wait")
struct ConsentFollowerTests {
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

  private func asked(_ question: ConsentReport.Pending) -> ConsentNews {
    .asked(question.request, question.more)
  }

  /// What of a line tells it from others.
  private func heads(_ news: [ConsentNews]) -> [String] {
    news.map {
      switch $0 {
      case .asked(let question, let more): "\(question.id) asked\(more == nil ? " before" : "")"
      case .ended(let end): "\(end.id) \(end.outcome)"
      }
    }
  }

  @Test("Each question is reported once, and its end as soon as it is known")
  func life() {
    let old = decision("z", "denied")
    var follower = ConsentFollower(before: [old])
    #expect(heads(follower.news([question("a")], [old])) == ["a asked"])
    #expect(heads(follower.news([question("a"), question("b")], [old])) == ["b asked"])
    #expect(follower.news([question("b")], [old]).isEmpty, "it is not written down yet")
    let end = decision("a", "approved")
    #expect(heads(follower.news([question("b")], [end, old])) == ["a approved"])
    #expect(follower.news([question("b")], [end, old]).isEmpty)
    #expect(heads(follower.news([], [decision("b", "expired"), end])) == ["b expired"])
  }

  @Test("What came and was decided between two looks is reported, the older first; no revocation")
  func between() {
    var follower = ConsentFollower(before: [decision("z", "denied")])
    let history = [
      decision("g-1", "revoked"), decision("b", "denied"), decision("a", "approved"),
      decision("z", "denied"),
    ]
    #expect(
      heads(follower.news([], history))
        == ["a asked before", "a approved", "b asked before", "b denied"])
    #expect(follower.news([], history).isEmpty)
  }

  @Test("As text one line each, which moves no cursor; as JSON the fields beside the event")
  func lines() throws {
    let asked = asked(question("c-1"))
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
    let short = try JSONText.line(ConsentNews.asked(question("c-1").request, nil))
    #expect(short.contains(#""event":"asked""#) && !short.contains("reason"))
    #expect(line.contains(#""event":"asked""#) && line.contains(#""expires_at":"\#(Self.expiry)""#))
  }
}
