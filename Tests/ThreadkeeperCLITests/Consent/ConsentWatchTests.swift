// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What is new about the questions that wait")
struct ConsentWatchTests {
  private static let beginning = "2026-11-21T04:36:00Z"
  private static let expiry = "2026-11-21T04:38:00Z"

  private func request(_ id: String, by requester: String) -> ConsentReport.Request {
    .init(
      id: id, requester: requester, team: "hub", home: "home", command: "preferred/get",
      networks: [], createdAt: Self.beginning)
  }

  private func question(
    _ id: String, expires: String = Self.expiry
  ) -> ConsentReport.Pending {
    .init(
      request: request(id, by: "uid 1000 (a\u{1B}[2Jb)"),
      more: .init(reason: "it matters", expiresAt: expires))
  }

  private func decision(
    _ id: String, _ outcome: String, at time: String = "2026-11-21T04:37:00Z"
  ) -> ConsentReport.Decision {
    .init(
      request: request(id, by: "uid 1000"),
      more: .init(
        outcome: outcome, decidedAt: time, decidedBy: "uid 0 (command line)",
        scope: "once"))
  }

  private func time(_ seconds: TimeInterval) throws -> Date {
    try Date(Self.expiry, strategy: .iso8601) + seconds
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

  private func watch(after history: [ConsentReport.Decision] = []) throws -> ConsentWatch {
    ConsentWatch(history: history, start: try time(-60).addingTimeInterval(0.4))
  }

  @Test("Each question is told once, and its end as soon as it is known")
  func life() throws {
    let old = decision("z", "denied")
    var watch = try watch(after: [old])
    #expect(heads(watch.look(at: [question("a")])) == ["a asked"])
    #expect(heads(watch.look(at: [question("a"), question("b")])) == ["b asked"])
    #expect(watch.ends(in: [old], now: try time(-60)).isEmpty)
    #expect(watch.look(at: [question("b")]).isEmpty)
    #expect(watch.ends(in: [old], now: try time(-60)).isEmpty, "it is not written down yet")
    let end = decision("a", "approved")
    #expect(heads(watch.ends(in: [end, old], now: try time(-60))) == ["a approved"])
    #expect(watch.ends(in: [end, old], now: try time(-60)).isEmpty)
  }

  @Test("What nobody wrote down has expired")
  func expired() throws {
    var watch = try watch()
    _ = watch.look(at: [question("a")])
    _ = watch.look(at: [])
    #expect(watch.ends(in: [], now: try time(4)).isEmpty)
    guard case .ended(let end)? = watch.ends(in: [], now: try time(6)).first else {
      Issue.record("it is not told")
      return
    }
    #expect(end.outcome == "expired" && end.decidedAt == Self.expiry && end.decidedBy == nil)
    #expect(watch.ends(in: [], now: try time(7)).isEmpty)
  }

  @Test("What came and was decided between two looks is told, the older one first; no revocation")
  func between() throws {
    var watch = try watch(after: [decision("z", "denied")])
    #expect(watch.look(at: []).isEmpty)
    let history = [
      decision("g-1", "revoked"), decision("b", "denied"), decision("a", "approved"),
      decision("z", "denied"),
    ]
    #expect(
      heads(watch.ends(in: history, now: try time(-50)))
        == ["a asked before", "a approved", "b asked before", "b denied"])
    #expect(watch.ends(in: history, now: try time(-50)).isEmpty)
  }

  @Test("What was decided before the start is not told, also when others of the history have gone")
  func before() throws {
    var watch = try watch()
    _ = watch.look(at: [])
    let old = decision("y", "denied", at: "2026-11-21T04:36:59Z")
    #expect(watch.ends(in: [old], now: try time(-50)).isEmpty)
  }

  @Test("What is decided right after a look is told once, at the next one")
  func late() throws {
    var watch = try watch()
    let end = decision("a", "denied")
    #expect(heads(watch.look(at: [question("a")])) == ["a asked"])
    #expect(watch.ends(in: [end], now: try time(-50)).isEmpty)
    #expect(watch.look(at: []).isEmpty)
    #expect(heads(watch.ends(in: [end], now: try time(-50))) == ["a denied"])
  }

  @Test("A daemon that goes away between the two parts of a look takes no question with it")
  func broken() async throws {
    let histories = Mutex(0)
    let told = Mutex<[String]>([])
    var follower = ConsentFollower(
      history: { _ in
        let number = histories.withLock { count in
          count += 1
          return count
        }
        guard number != 2 else { throw CommandFailure(.unavailable, "no daemon runs") }
        return []
      }, show: { news in told.withLock { $0 += heads([news]) } })
    let list = ConsentReport.List(pending: [question("a")])
    try await follower.begin()
    await #expect(throws: CommandFailure.self) { try await follower.look(at: list) }
    #expect(told.withLock { $0 } == ["a asked"])
    try await follower.look(at: list)
    #expect(told.withLock { $0 } == ["a asked"])
  }

  /// A daemon for a follower, turned by hand.
  private struct Daemon {
    var pending: [ConsentReport.Pending] = []
    var history: [ConsentReport.Decision] = []
    var revision: String?
    var isBroken = false
    var historiesAsked = 0

    var list: ConsentReport.List { .init(pending: pending, revision: revision) }

    mutating func askHistory() throws -> [ConsentReport.Decision] {
      historiesAsked += 1
      if isBroken { throw CommandFailure(.unavailable, "no daemon runs") }
      return history
    }
  }

  @Test("The history is asked for when its revision is another one, and each time without one")
  func revisions() async throws {
    let daemon = Mutex(Daemon())
    let told = Mutex<[String]>([])
    var follower = ConsentFollower(
      history: { _ in try daemon.withLock { try $0.askHistory() } },
      show: { news in told.withLock { $0 += heads([news]) } })
    /// - Returns: how often the history was asked for.
    func look(_ change: (inout Daemon) -> Void = { _ in }) async throws -> Int {
      let before = daemon.withLock {
        change(&$0)
        return $0.historiesAsked
      }
      try await follower.begin()
      try await follower.look(at: daemon.withLock { $0.list })
      return daemon.withLock { $0.historiesAsked } - before
    }
    daemon.withLock { $0.revision = "1" }
    #expect(try await look() == 2, "also that of before")
    for _ in 0..<3 { #expect(try await look() == 0) }
    #expect(try await look { $0.pending = [question("a")] } == 0, "nothing is decided by it")
    // The answer breaks off: it is asked for again.
    daemon.withLock {
      $0.revision = "2"
      $0.pending = []
      $0.history = [decision("a", "approved")]
      $0.isBroken = true
    }
    await #expect(throws: CommandFailure.self) {
      try await follower.look(at: daemon.withLock { $0.list })
    }
    #expect(try await look { $0.isBroken = false } == 1)
    #expect(told.withLock { $0 } == ["a asked", "a approved"])
    #expect(try await look() == 0)
    // Of a question that nobody has ended the time goes on.
    #expect(try await look { $0.pending = [question("b", expires: "2001-01-01T00:00:00Z")] } == 0)
    #expect(try await look { $0.pending = [] } == 0)
    #expect(told.withLock { $0 }.suffix(2) == ["b asked", "b expired"])
    for _ in 0..<3 { #expect(try await look { $0.revision = nil } == 1, "an older daemon") }
    #expect(told.withLock { $0.count } == 4)
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
