import Home
import Testing

@testable import Bridge

@Suite("Noticing that the clock was set") struct ClockJumpsTests {
  private struct Failure: Error {}

  private func moment(_ wall: Int64, _ steady: Int64) -> ClockMoment {
    ClockMoment(wall: WireTime(milliseconds: wall), steady: steady)
  }

  /// What the homes get.
  private func handedOver(_ jumps: inout ClockJumps) -> Int64? {
    var given: Int64?
    jumps.handOver { given = $0 }
    return given
  }

  @Test("Time that passes on both clocks is no jump, however long, nor is what a time server corrects") func passes() {
    var jumps = ClockJumps(since: moment(1_000_000, 5_000))
    #expect(jumps.notice(moment(1_001_000, 6_000)) == nil)
    #expect(jumps.notice(moment(2_001_000, 1_006_000)) == nil)
    #expect(jumps.notice(moment(2_002_000 + 1_999, 1_007_000)) == nil)
    #expect(jumps.notice(moment(2_003_000, 1_008_000)) == nil)
  }

  @Test("Set forward or back by two seconds, or by a year, it is noticed once, with how far") func jumps() {
    let year: Int64 = 31_536_000_000
    for jump in [2_000, -2_000, year, -year] {
      var jumps = ClockJumps(since: moment(1_000_000, 5_000))
      _ = handedOver(&jumps)
      #expect(jumps.notice(moment(1_001_000 + jump, 6_000)) == jump)
      #expect(jumps.notice(moment(1_002_000 + jump, 7_000)) == nil)
      #expect(handedOver(&jumps) == jump)
      #expect(handedOver(&jumps) == nil)
    }
  }

  @Test("What the homes are owed adds up until they take it, and they get it when the daemon starts") func owed() {
    var jumps = ClockJumps(since: moment(0, 0))
    #expect(throws: Failure.self) { try jumps.handOver { _ in throw Failure() } }
    #expect(handedOver(&jumps) == 0)
    _ = jumps.notice(moment(10_000, 0))
    #expect(throws: Failure.self) { try jumps.handOver { _ in throw Failure() } }
    _ = jumps.notice(moment(15_000, 0))
    #expect(handedOver(&jumps) == 15_000)
    #expect(handedOver(&jumps) == nil)
    _ = jumps.notice(moment(0, 0))
    #expect(handedOver(&jumps) == -15_000)
  }
}

@Suite("A daemon that comes to rest") struct RestWatchTests {
  /// At which of the ticks memory is given back, by the steps that are made at each.
  private func rests(_ counts: [Int]) -> [Int] {
    var watch = RestWatch()
    var steps = 0
    return counts.indices.filter { tick in
      steps += counts[tick]
      return watch.tick(steps: steps)
    }
  }

  @Test("Memory is given back after two ticks without a change, and once") func once() {
    #expect(rests([500, 0, 0, 0, 0, 0, 0, 0]) == [2])
  }

  @Test("A burst begins the wait again") func burst() { #expect(rests([500, 0, 101, 0, 0, 0, 0]) == [4]) }

  @Test("While much is changed at each tick, nothing is given back") func busy() {
    #expect(rests(Array(repeating: 101, count: 20)) == [])
  }

  @Test("What a home changes all the time is no work") func signsOfLife() {
    #expect(rests(Array(repeating: 100, count: 20)) == [2])
  }

  @Test("After later work it is given back once more") func again() {
    #expect(rests([1, 0, 0, 0, 0, 900, 0, 0, 0, 0]) == [2, 7])
  }
}

@Suite("How often time passes") struct TickPaceTests {
  private func rested(_ watchdog: Duration? = nil) -> TickPace {
    var pace = TickPace(watchdog: watchdog)
    for _ in 0..<10 { _ = pace.next(hasNews: false, due: nil) }
    return pace
  }

  @Test("Each second while something happens and for ten ticks after it, at rest each five seconds") func rest() {
    var pace = rested()
    for _ in 0..<2 {
      #expect(pace.next(hasNews: true, due: 5_000) == .seconds(1))
      for _ in 1..<10 { #expect(pace.next(hasNews: false, due: nil) == .seconds(1)) }
      for _ in 0..<3 { #expect(pace.next(hasNews: false, due: nil) == .seconds(5)) }
    }
  }

  @Test(
    "At rest a tick comes when something is due, but not more often than each second",
    arguments: [(60_000, 5_000), (3_200, 3_200), (400, 1_000), (-7, 1_000)] as [(Int64, Int64)]) func due(
      _ due: Int64, _ milliseconds: Int64
    )
  {
    var pace = rested()
    #expect(pace.next(hasNews: false, due: due) == .milliseconds(milliseconds))
  }

  @Test("Who watches the daemon sees three ticks in its time", arguments: [(60, 5), (9, 3), (2, 1)]) func watchdog(
    _ limit: Int, _ seconds: Int
  ) {
    var pace = rested(.seconds(limit))
    #expect(pace.next(hasNews: false, due: nil) == .seconds(seconds))
  }

  @Test("What happens is noticed once, and ends a wait only where it should") func activity() {
    let activity = Activity()
    #expect(!activity.take())
    activity.note()
    #expect(activity.isThere && !activity.signal.isRaised)
    #expect(activity.take() && !activity.take())
    activity.wakes(true)
    activity.note()
    let began = ContinuousClock.now
    activity.wait(within: .seconds(300))
    #expect(began.duration(to: .now) < .seconds(200))
    #expect(activity.isThere && !activity.signal.isRaised)
  }
}
