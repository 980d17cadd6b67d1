import Home
import Testing
import ThreadDataset

@testable import Bridge

@Suite("When border routers are read") struct ReadingScheduleTests {
  /// What happens at a second.
  enum Step: Sendable {
    /// The record is there, changed so.
    case seen(Int, @Sendable (inout Advertisement) -> Void = { _ in })
    case gone(Int)
    case asked(Int)

    var second: Int {
      switch self {
      case .seen(let second, _), .gone(let second), .asked(let second): second
      }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    /// Of the conversations, in their order; the last one goes on.
    let endings: [ReadingSchedule.Ending]
    /// The seconds at which it is read, of the first four hours.
    let reads: [Int]

    init(_ name: String, _ steps: [Step], _ endings: [ReadingSchedule.Ending], _ reads: [Int]) {
      (testDescription, self.steps, self.endings, self.reads) = (name, steps, endings, reads)
    }
  }

  // A conversation takes a second.
  static let rows: [Row] = [
    Row("It is read when it is seen, then each hour", [.seen(5)], [.answered], [5, 3_606, 7_207, 10_808]),
    Row("One that refuses is read each hour", [.seen(5)], [.refused], [5, 3_606, 7_207, 10_808]),
    Row(
      "A silent one is read after 1, 5, 30 minutes, then each hour", [.seen(0)], [.failed],
      [0, 61, 362, 2_163, 5_764, 9_365, 12_966]),
    Row(
      "An answer ends the short pauses", [.seen(0)], [.failed, .failed, .answered, .failed],
      [0, 61, 362, 3_963, 4_024, 4_325, 6_126, 9_727, 13_328]),
    Row(
      "Another active timestamp", [.seen(0), .seen(100) { $0.activeSeconds = 9 }], [.answered],
      [0, 100, 3_701, 7_302, 10_903]),
    Row(
      "Another partition", [.seen(0), .seen(9_000) { $0.partition = 9 }], [.answered], [0, 3_601, 7_202, 9_000, 12_601]),
    Row(
      "Another network name", [.seen(0), .seen(9_000) { $0.networkName = "x" }], [.answered],
      [0, 3_601, 7_202, 9_000, 12_601]),
    Row(
      "Another address", [.seen(0), .seen(2_500) { $0.endpoint = "fd00::2, 49153" }], [.failed],
      [0, 61, 362, 2_163, 2_500, 2_561, 2_862, 4_663, 8_264, 11_865]),
    Row(
      "Another role changes nothing", [.seen(0), .seen(100) { $0.role = .leader }], [.answered],
      [0, 3_601, 7_202, 10_803]),
    Row(
      "A change soon after a reading waits for a minute",
      [.seen(0), .seen(10) { $0.activeSeconds = 9 }, .seen(20) { $0.activeSeconds = 10 }], [.answered],
      [0, 60, 3_661, 7_262, 10_863]),
    Row("A person need not wait", [.seen(0), .asked(10), .asked(11)], [.answered], [0, 10, 11, 3_612, 7_213, 10_814]),
    Row("One that is gone is not read", [.seen(0), .gone(100), .asked(200)], [.answered], [0]),
    Row("One that returns is read", [.seen(0), .gone(100), .seen(200)], [.answered], [0, 200, 3_801, 7_402, 11_003]),
    Row(
      "One that comes and goes is read once a minute", (0..<120).map { $0 % 2 == 0 ? .seen($0) : .gone($0) },
      [.answered], [0, 60]),
    Row("One that takes no PSKc", [.seen(0) { $0.takesPSKc = false }, .asked(1)], [.answered], []),
    Row("One without an address", [.seen(0) { $0.endpoint = nil }], [.answered], []),
    Row("One on no network", [.seen(0) { $0.network = nil }], [.answered], []),
    Row(
      "One on a network whose PSKc is not known", [.seen(0) { $0.network = ExtendedPANID(number: 2) }], [.answered], []),
  ]

  @Test("A border router is read by the table", arguments: rows) func table(_ row: Row) throws {
    var schedule = ReadingSchedule()
    let beginning = ContinuousClock.now
    let router = try Self.router(1)
    var (reads, reading): ([Int], BorderAgentID?) = ([], nil)
    for second in 0..<14_400 {
      let now = beginning + .seconds(second)
      if let agent = reading {
        schedule.ended(agent, row.endings[min(reads.count, row.endings.count) - 1], at: now)
        reading = nil
      }
      for step in row.steps where step.second == second {
        switch step {
        case .seen(_, let change):
          var record = router
          change(&record)
          schedule.see([record], at: now) { $0.number == 1 }
        case .gone: schedule.see([], at: now) { _ in true }
        case .asked: _ = schedule.ask(router.agents[0], at: now)
        }
      }
      if let next = schedule.next(at: now) {
        reads.append(second)
        reading = next.agents[0]
      }
    }
    #expect(reads == row.reads)
  }

  @Test("Two conversations go on at a time, one with each router, who waits longest first") func conversations() throws
  {
    var schedule = ReadingSchedule()
    let now = ContinuousClock.now
    let routers = try (1...4).map(Self.router)
    for count in 1...4 { schedule.see(Array(routers.prefix(count)), at: now + .seconds(count)) { _ in true } }
    let later = now + .seconds(9)
    #expect(schedule.next(at: later) == routers[0] && schedule.next(at: later) == routers[1])
    #expect(schedule.next(at: later) == nil && schedule.deadline == nil)
    let isAsked = schedule.ask(routers[0].agents[0], at: later)
    #expect(isAsked)
    #expect(schedule.next(at: later) == nil)
    schedule.ended(routers[1].agents[0], .answered, at: later)
    #expect(schedule.next(at: later) == routers[2])
    schedule.ended(routers[2].agents[0], .failed, at: later)
    #expect(schedule.next(at: later) == routers[3])
    schedule.ended(routers[0].agents[0], .answered, at: later)
    #expect(schedule.next(at: later) == routers[0], "it was asked for during its conversation")
    // An ending that nobody waits for changes nothing.
    schedule.ended(routers[2].agents[0], .answered, at: later)
    schedule.ended(routers[3].agents[0], .answered, at: later)
    #expect(schedule.deadline == later + .seconds(60))
  }

  private static func router(_ number: Int) throws -> Advertisement {
    let agent = try #require(BorderAgentID(bytes: [UInt8](repeating: UInt8(number), count: 16)))
    var router = try #require(Advertisement([agent]))
    (router.endpoint, router.takesPSKc, router.network) = ("10.0.0.\(number), 49152", true, ExtendedPANID(number: 1))
    (router.activeSeconds, router.partition, router.networkName) = (1, 7, "home")
    return router
  }
}
