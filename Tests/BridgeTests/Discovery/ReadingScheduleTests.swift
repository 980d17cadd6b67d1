import Home
import Testing
import ThreadDataset

@testable import Bridge

@Suite("When border routers are read") struct ReadingScheduleTests {
  /// What happens at a second.
  enum Step: Sendable {
    /// The record is there, changed so.
    case seen(Int, @Sendable (inout Advertisement) -> Void = { _ in })
    /// And another record with its id, at another address, behind it.
    case twice(Int)
    case gone(Int)
    case asked(Int)

    var second: Int {
      switch self {
      case .seen(let second, _), .twice(let second), .gone(let second), .asked(let second): second
      }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    /// Of the conversations, in their order; the last one goes on.
    let outcomes: [ReadingSchedule.Outcome]
    /// The seconds at which it is read, of the first four hours.
    let reads: [Int]
    /// Seconds after which its network changes, as the first conversation has it.
    var delay: Int?

    init(
      _ name: String, _ steps: [Step], _ outcomes: [ReadingSchedule.Outcome], _ reads: [Int], changesAfter: Int? = nil
    ) {
      (testDescription, self.steps, self.outcomes, self.reads) = (name, steps, outcomes, reads)
      delay = changesAfter
    }
  }

  // A conversation takes a second.
  static let rows: [Row] = [
    Row("It is read when it is seen, then each hour", [.seen(5)], [.answered], [5, 3_606, 7_207, 10_808]),
    Row(
      "One whose network changes is read after that", [.seen(0)], [.answered], [0, 311, 3_912, 7_513, 11_114],
      changesAfter: 300),
    Row(
      "… but not sooner than after a minute", [.seen(0)], [.answered], [0, 60, 3_661, 7_262, 10_863], changesAfter: 0),
    Row("… nor later than after an hour", [.seen(0)], [.answered], [0, 3_601, 7_202, 10_803], changesAfter: 7_200),
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
    Row(
      "A second record with its id changes nothing", (0..<300).map { .twice($0) }, [.answered],
      [0, 3_601, 7_202, 10_803]),
    Row("One that takes no PSKc", [.seen(0) { $0.takesPSKc = false }, .asked(1)], [.answered], []),
    Row("One without an address", [.seen(0) { $0.endpoint = nil }], [.answered], []),
    Row("One whose address is invalid", [.seen(0) { $0.endpoint = "nowhere" }, .asked(1)], [.answered], []),
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
        schedule.end(
          agent, row.outcomes[min(reads.count, row.outcomes.count) - 1], at: now,
          changesAfter: reads.count == 1 ? row.delay.map { .seconds($0) } : nil)
        reading = nil
      }
      for step in row.steps where step.second == second {
        switch step {
        case .seen(_, let change):
          var record = router
          change(&record)
          schedule.update([record], at: now) { $0.number == 1 }
        case .twice:
          var other = router
          other.endpoint = "fd00::9, 49153"
          schedule.update([router, other], at: now) { $0.number == 1 }
        case .gone: schedule.update([], at: now) { _ in true }
        case .asked: _ = schedule.request(router.agents[0], at: now)
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
    for count in 1...4 { schedule.update(Array(routers.prefix(count)), at: now + .seconds(count)) { _ in true } }
    let later = now + .seconds(9)
    #expect(schedule.next(at: later) == routers[0] && schedule.next(at: later + .seconds(1)) == routers[1])
    #expect(schedule.next(at: later + .seconds(2)) == nil && schedule.deadline == nil)
    let isRequested = schedule.request(routers[0].agents[0], at: later + .seconds(2))
    #expect(isRequested)
    #expect(schedule.next(at: later + .seconds(2)) == nil)
    schedule.end(routers[1].agents[0], .answered, at: later + .seconds(2))
    #expect(schedule.next(at: later + .seconds(2)) == routers[2])
    schedule.end(routers[2].agents[0], .failed, at: later + .seconds(3))
    #expect(schedule.next(at: later + .seconds(3)) == routers[3])
    schedule.end(routers[0].agents[0], .answered, at: later + .seconds(3))
    #expect(schedule.next(at: later + .seconds(3)) == routers[0], "it was asked for during its conversation")
    // An end that nobody waits for changes nothing.
    schedule.end(routers[2].agents[0], .answered, at: later + .seconds(4))
    schedule.end(routers[3].agents[0], .answered, at: later + .seconds(4))
    #expect(schedule.deadline == later + .seconds(63))
  }

  @Test("However many records there are, one conversation a second begins that nobody has asked for") func pace() throws
  {
    var schedule = ReadingSchedule()
    let beginning = ContinuousClock.now
    var began: [Duration] = []
    for step in 0..<100 {
      let time = Duration.milliseconds(100 * step)
      schedule.update([try Self.router(step + 1)], at: beginning + time) { _ in true }
      while let next = schedule.next(at: beginning + time) {
        began.append(time)
        schedule.end(next.agents[0], .failed, at: beginning + time)
      }
    }
    #expect(began == (0..<10).map { .seconds($0) })
  }

  @Test("Who is asked about comes first, at once") func requested() throws {
    var schedule = ReadingSchedule()
    let now = ContinuousClock.now
    let routers = try (1...9).map(Self.router)
    schedule.update(routers, at: now) { _ in true }
    let next = schedule.next(at: now)
    let first = try #require(next)
    #expect(schedule.next(at: now) == nil && schedule.deadline == now + .seconds(1))
    let wanted = try #require(routers.last { $0 != first })
    let isRequested = schedule.request(wanted.agents[0], at: now)
    #expect(isRequested && schedule.deadline == now)
    #expect(schedule.next(at: now) == wanted)
  }

  private static func router(_ number: Int) throws -> Advertisement {
    let agent = try #require(BorderAgentID(bytes: [UInt8](repeating: UInt8(number), count: 16)))
    var router = try #require(Advertisement([agent]))
    (router.endpoint, router.takesPSKc, router.network) = ("10.0.0.\(number), 49152", true, ExtendedPANID(number: 1))
    (router.activeSeconds, router.partition, router.networkName) = (1, 7, "home")
    return router
  }
}
