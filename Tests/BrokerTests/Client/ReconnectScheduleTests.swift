import Testing

@testable import Broker

@Suite("The schedule of attempts") struct ReconnectScheduleTests {
  private typealias Acceptance = ReconnectSchedule.Acceptance

  private let backoff = MosquittoConfiguration.Backoff(
    initial: .seconds(1), ceiling: .seconds(60), jitter: 0.5, stableAfter: .seconds(30))
  private let short = Acceptance(lifetime: .seconds(2))
  private var schedule = ReconnectSchedule()

  @discardableResult private mutating func lost(
    _ accepted: Acceptance?, silently: Bool = false, takenOver: Bool = false, chance: Double = 0
  ) -> Duration { schedule.lost(accepted, silently: silently, takenOver: takenOver, backoff, chance: chance) }

  @Test("Waits double from the beginning to the ceiling, for ever") mutating func doubling() {
    var waits: [Duration] = []
    for _ in 0..<100 { waits.append(lost(nil)) }
    #expect(Array(waits[..<8]) == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
    #expect(waits.last == .seconds(60))
    #expect(schedule.failures == 100)
  }

  @Test("Chance takes away up to its part of a wait, and adds nothing") mutating func jitter() {
    for chance in [0.0, 0.25, 0.999] {
      schedule = ReconnectSchedule()
      let wait = lost(nil, chance: chance)
      #expect(wait <= .seconds(1))
      #expect(wait >= .milliseconds(500))
    }
  }

  @Test("Only a connection that lived long enough resets the doubling") mutating func stability() {
    for _ in 0..<3 { lost(nil) }
    #expect(lost(Acceptance(lifetime: .seconds(29))) == .seconds(8))
    #expect(lost(Acceptance(lifetime: .seconds(30))) == .seconds(1))
  }

  @Test("Silent drops in a row soon after being let in are suspected, then contested and waited for")
  mutating func takeover() {
    let long = Acceptance(lifetime: .seconds(9999))
    var states: [String] = []
    var waits: [Duration] = []
    for accepted in [long, short, short, short, short, short, short] {
      waits.append(lost(accepted, silently: true))
      states.append(schedule.isContested ? "yes" : schedule.suspectsTakeover ? "perhaps" : "no")
    }
    #expect(states == ["no", "no", "perhaps", "perhaps", "yes", "yes", "yes"])
    #expect(waits == [1, 0, 0, 0, 16, 32, 60].map { Duration.seconds($0) })
  }

  @Test("A broker that states a takeover is believed at once, and each loss is waited for longer")
  mutating func statedTakeover() {
    var waits: [Duration] = []
    for _ in 0..<8 {
      waits.append(lost(short, takenOver: true))
      #expect(schedule.isContested)
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
  }

  @Test("A contest ends with a connection that outlives the longest wait of another client") mutating func contestEnds()
  {
    func lose(after seconds: Int) -> Duration { lost(Acceptance(lifetime: .seconds(seconds)), silently: true) }
    for _ in 0..<9 { _ = lose(after: 1) }
    // As long as the other one waits at most: it has come back.
    #expect(lose(after: 60) == .seconds(60))
    #expect(schedule.isContested)
    // Neither does a broker that is away end it.
    lost(nil)
    #expect(schedule.isContested)
    #expect(backoff.uncontestedAfter == .seconds(75))
    #expect(lose(after: 75) == .seconds(1))
    #expect(!schedule.isContested)
  }

  @Test("A suspicion makes it look at once, and a broker that is not there makes it wait again") mutating func restart()
  {
    var waits: [Duration] = []
    for _ in 0..<3 {
      waits.append(lost(short, silently: true))
      waits.append(lost(short, silently: true))
      waits.append(lost(nil))
      #expect(!schedule.suspectsTakeover)
    }
    #expect(waits == [1, 0, 4, 8, 0, 32, 60, 0, 60].map { Duration.seconds($0) })
  }

  @Test("A reason, a refusal or a long life ends the suspicion") mutating func noTakeover() {
    let innocent: [(Acceptance?, Bool)] = [
      (short, false), (nil, false), (nil, true), (Acceptance(lifetime: .seconds(11)), true),
      (Acceptance(lifetime: .seconds(2), wasPublishing: true), true),
    ]
    for (accepted, silently) in innocent {
      schedule = ReconnectSchedule()
      for _ in 0..<20 {
        lost(short, silently: true)
        lost(accepted, silently: silently)
        #expect(!schedule.suspectsTakeover)
      }
    }
  }
}
