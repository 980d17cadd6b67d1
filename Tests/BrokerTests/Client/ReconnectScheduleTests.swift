// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Broker

@Suite("The schedule of attempts")
struct ReconnectScheduleTests {
  typealias Acceptance = ReconnectSchedule.Acceptance

  let backoff = MosquittoConfiguration.Backoff(
    initial: .seconds(1), ceiling: .seconds(60), jitter: 0.5, stableAfter: .seconds(30))

  @Test("Waits double from the beginning to the ceiling, for ever")
  func doubling() {
    var schedule = ReconnectSchedule()
    var waits: [Duration] = []
    for _ in 0..<100 { waits.append(schedule.lost(nil, silently: false, backoff, chance: 0)) }
    #expect(Array(waits[..<8]) == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
    #expect(waits.last == .seconds(60))
    #expect(schedule.failures == 100)
  }

  @Test("Chance takes away up to its part of a wait, and adds nothing")
  func jitter() {
    for chance in [0.0, 0.25, 0.999] {
      var schedule = ReconnectSchedule()
      let wait = schedule.lost(nil, silently: false, backoff, chance: chance)
      #expect(wait <= .seconds(1))
      #expect(wait >= .milliseconds(500))
    }
  }

  @Test("Only a connection that lived long enough resets the doubling")
  func stability() {
    var schedule = ReconnectSchedule()
    for _ in 0..<3 { _ = schedule.lost(nil, silently: false, backoff, chance: 0) }
    let short = Acceptance(lifetime: .seconds(29))
    #expect(schedule.lost(short, silently: false, backoff, chance: 0) == .seconds(8))
    let long = Acceptance(lifetime: .seconds(30))
    #expect(schedule.lost(long, silently: false, backoff, chance: 0) == .seconds(1))
  }

  @Test(
    "Silent drops in a row soon after being let in are suspected, then contested and waited for")
  func takeover() {
    var schedule = ReconnectSchedule()
    let long = Acceptance(lifetime: .seconds(9999))
    let short = Acceptance(lifetime: .seconds(2))
    var states: [String] = []
    var waits: [Duration] = []
    for accepted in [long, short, short, short, short, short, short] {
      waits.append(schedule.lost(accepted, silently: true, backoff, chance: 0))
      states.append(
        schedule.isContested ? "yes" : schedule.suspectsTakeover ? "perhaps" : "no")
    }
    #expect(states == ["no", "no", "perhaps", "perhaps", "yes", "yes", "yes"])
    #expect(waits == [1, 0, 0, 0, 16, 32, 60].map { Duration.seconds($0) })
  }

  @Test("A broker that states a takeover is believed at once, and each loss is waited for longer")
  func statedTakeover() {
    var schedule = ReconnectSchedule()
    let short = Acceptance(lifetime: .seconds(2))
    var waits: [Duration] = []
    for _ in 0..<8 {
      waits.append(
        schedule.lost(short, silently: false, takenOver: true, backoff, chance: 0))
      #expect(schedule.isContested)
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
  }

  @Test("A contest ends with a connection that outlives the longest wait of another client")
  func contestEnds() {
    var schedule = ReconnectSchedule()
    func lose(after seconds: Int) -> Duration {
      schedule.lost(
        Acceptance(lifetime: .seconds(seconds)), silently: true, backoff,
        chance: 0)
    }
    for _ in 0..<9 { _ = lose(after: 1) }
    // As long as the other one waits at most: it has come back.
    #expect(lose(after: 60) == .seconds(60))
    #expect(schedule.isContested)
    // Neither does a broker that is away end it.
    _ = schedule.lost(nil, silently: false, backoff, chance: 0)
    #expect(schedule.isContested)
    #expect(backoff.uncontestedAfter == .seconds(75))
    #expect(lose(after: 75) == .seconds(1))
    #expect(!schedule.isContested)
  }

  @Test("A suspicion makes it look at once, and a broker that is not there makes it wait again")
  func restart() {
    var schedule = ReconnectSchedule()
    let short = Acceptance(lifetime: .seconds(2))
    var waits: [Duration] = []
    for _ in 0..<3 {
      waits.append(schedule.lost(short, silently: true, backoff, chance: 0))
      waits.append(schedule.lost(short, silently: true, backoff, chance: 0))
      waits.append(schedule.lost(nil, silently: false, backoff, chance: 0))
      #expect(!schedule.suspectsTakeover)
    }
    #expect(waits == [1, 0, 4, 8, 0, 32, 60, 0, 60].map { Duration.seconds($0) })
  }

  @Test("A reason, a refusal or a long life ends the suspicion")
  func noTakeover() {
    let short = Acceptance(lifetime: .seconds(2))
    let innocent: [(Acceptance?, Bool)] = [
      (short, false), (nil, false), (nil, true),
      (Acceptance(lifetime: .seconds(11)), true),
      (Acceptance(lifetime: .seconds(2), wasPublishing: true), true),
    ]
    for (accepted, silently) in innocent {
      var schedule = ReconnectSchedule()
      for _ in 0..<20 {
        _ = schedule.lost(short, silently: true, backoff, chance: 0)
        _ = schedule.lost(accepted, silently: silently, backoff, chance: 0)
        #expect(!schedule.suspectsTakeover)
      }
    }
  }
}
