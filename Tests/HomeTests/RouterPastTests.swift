import Testing
import ThreadDataset

@testable import Home

/// How a router was in the last 30 days.
@Suite struct RouterPastTests {
  /// Router 1 is on the preferred network 1, the first hour has just begun.
  private static func scene() -> HomeScene {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.now = WireTime(milliseconds: 1_700_000_000_000 / 3_600_000 * 3_600_000)
    scene.announce(9, .of(1))
    scene.announce(1, .of(1))
    return scene
  }

  /// Hours of each state, the oldest first.
  private static func past(_ scene: HomeScene, _ agent: UInt64 = 1) -> [String] {
    guard let router = scene.router(agent) else { return [] }
    var runs: [(RouterPast.Standing, Int)] = []
    for standing in scene.home.past(of: router, at: scene.now) {
      if runs.last?.0 == standing { runs[runs.count - 1].1 += 1 } else { runs.append((standing, 1)) }
    }
    return runs.map { "\($0) \($1)" }
  }

  @Test("What it was is known by the hour since it came, of an hour the worst, and nothing is written meanwhile")
  func hours() {
    var scene = Self.scene()
    #expect(Self.past(scene) == ["unknown 719", "online 1"])
    scene.publish(.heartbeat, 1)
    scene.wait(seconds: 10 * 3_600)
    _ = scene.home.takeChanges()
    scene.publish(.heartbeat, 1)
    #expect(Self.past(scene) == ["unknown 709", "online 11"] && scene.home.takeChanges().records.isEmpty)
    for _ in 1...5 {
      scene.publish(.offline, 1)
      scene.publish(.heartbeat, 1)
    }
    #expect(Self.past(scene) == ["unknown 709", "online 10", "away 1"])
    scene.wait(seconds: 3 * 3_600)
    scene.announce(1, .of(2))
    scene.wait(seconds: 3_600)
    scene.publish(.offline, 1)
    scene.wait(seconds: 2 * 3_600)
    scene.publish(.heartbeat, 1)
    #expect(Self.past(scene) == ["unknown 703", "online 10", "away 1", "online 2", "otherNetwork 1", "away 3"])
    scene.wait(seconds: 720 * 3_600)
    #expect(Self.past(scene) == ["otherNetwork 720"])
  }

  @Test("Of each hour the worst is kept, however often it changes", arguments: 1...20 as ClosedRange<UInt64>)
  func worst(_ seed: UInt64) {
    var random = RandomHome(seed: seed)
    let home = HomeScene().home
    let start = WireTime(milliseconds: 1_700_000_000_000 / 3_600_000 * 3_600_000)
    var router = Router(.number(1), at: start)
    var (current, minutes) = (RouterPast.Standing.unknown, 0)
    var expected: [Int: RouterPast.Standing] = [:]
    for _ in 1...300 {
      let next = [RouterPast.Standing.online, .otherNetwork, .away][Int.random(in: 0..<3, using: &random)]
      router.past.become(next, at: start.adding(seconds: minutes * 60))
      expected[minutes / 60] = max(expected[minutes / 60] ?? .unknown, current, next)
      current = next
      let passed = Int.random(in: 0...400, using: &random)
      for hour in minutes / 60...(minutes + passed) / 60 { expected[hour] = max(expected[hour] ?? .unknown, current) }
      minutes += passed
    }
    let last = minutes / 60
    let hours = (0..<RouterPast.hours).map { expected[last - RouterPast.hours + 1 + $0] ?? .unknown }
    #expect(home.past(of: router, at: start.adding(seconds: minutes * 60)) == hours)
  }

  @Test("It is on another network as long as nobody accepts that one, or prefers it") func otherNetwork() {
    for change in [HomeInput.acceptNetwork(2, isAccepted: true), nil] {
      var scene = Self.scene()
      scene.announce(2, .of(2))
      scene.wait(seconds: 5 * 3_600)
      if let change {
        scene.handle(change)
      } else {
        scene.ask(.setPreferred(.network(2, router: nil))) { $0.isAdministrator = true }
      }
      scene.tick()
      scene.wait(seconds: 5 * 3_600)
      #expect(Self.past(scene, 2) == ["unknown 709", "otherNetwork 6", "online 5"])
    }
  }

  @Test("One with an older dataset of the preferred network is not on another network") func older() {
    var scene = Self.scene()
    scene.announce(9, .of(1, at: 2, channel: 20))
    scene.tick()
    #expect(scene.verdict(of: 1)?.isMismatch == true)
    scene.wait(seconds: 3 * 3_600)
    #expect(Self.past(scene) == ["unknown 716", "online 4"] && Self.past(scene, 9) == ["unknown 716", "online 4"])
  }

  @Test("What it was before a clock that is set back was wrong stays") func setBack() {
    var scene = Self.scene()
    scene.wait(seconds: 100 * 3_600)
    scene.wait(seconds: 6 * 3_600)
    scene.publish(.offline, 1)
    scene.wait(seconds: -6 * 3_600)
    scene.handle(.clockJumped(by: -6 * 3_600_000))
    scene.wait(seconds: 3_600)
    #expect(Self.past(scene) == ["unknown 618", "online 100", "away 2"])
  }

  @Test("Hours in which the daemon did not run are unknown, also after the next start") func down() {
    var scene = Self.scene()
    scene.wait(seconds: 5 * 3_600)
    let stopped = scene.now
    scene.wait(seconds: 4 * 3_600)
    scene.handle(.unwatched(since: stopped))
    #expect(Self.past(scene) == ["unknown 710", "online 6", "unknown 3", "online 1"])
    scene.restart()
    #expect(Self.past(scene) == ["unknown 710", "online 6", "unknown 3", "online 1"])
    // An hour without a gap.
    scene.handle(.unwatched(since: scene.now.adding(seconds: -3_600)))
    #expect(Self.past(scene) == ["unknown 710", "online 6", "unknown 3", "online 1"])
    scene.wait(seconds: 800 * 3_600)
    scene.handle(.unwatched(since: scene.now.adding(seconds: -900 * 3_600)))
    #expect(Self.past(scene) == ["unknown 719", "online 1"])
  }

  @Test(
    "A clock that is set forward, as of a machine that slept, leaves unknown hours; one that is set back, none later than now"
  ) func clock() {
    var scene = Self.scene()
    scene.wait(seconds: 10 * 3_600)
    scene.handle(.clockJumped(by: 5 * 3_600_000))
    #expect(Self.past(scene) == ["unknown 709", "online 6", "unknown 4", "online 1"])
    scene.publish(.offline, 1)
    scene.wait(seconds: 5 * 3_600)
    scene.publish(.heartbeat, 1)
    scene.wait(seconds: 3_600)
    scene.wait(seconds: -12 * 3_600)
    scene.handle(.clockJumped(by: -12 * 3_600_000))
    #expect(Self.past(scene) == ["unknown 715", "online 5"])
    scene.wait(seconds: -100 * 3_600)
    scene.handle(.clockJumped(by: -100 * 3_600_000))
    #expect(Self.past(scene) == ["unknown 719", "online 1"])
  }

  @Test("A router that comes and goes each hour takes two kilobytes at most, and the oldest hours are unknown")
  func room() {
    var past = RouterPast()
    var now = WireTime(milliseconds: 1_700_000_000_000)
    for _ in 1...400 {
      for standing in [RouterPast.Standing.online, .otherNetwork] {
        past.become(standing, at: now)
        now = now.adding(seconds: 7_200)
      }
    }
    var coder = RecordCoder()
    _ = try? coder(past)
    #expect(coder.bytes.count <= 2_048)
    var fast = RouterPast()
    for number in 1...2_000 {
      fast.become(number % 2 == 0 ? .online : .otherNetwork, at: now)
      now = now.adding(seconds: 3_600)
    }
    coder = RecordCoder()
    _ = try? coder(fast)
    #expect(coder.bytes.count <= 2_048)
  }

  @Test("One that leaves, and comes back, begins anew") func leaves() {
    var scene = Self.scene()
    scene.wait(seconds: 5 * 3_600)
    scene.publish(.leave, 1)
    #expect(Self.past(scene) == ["unknown 720"])
    scene.announce(1, .of(1))
    #expect(Self.past(scene) == ["unknown 719", "online 1"])
  }
}
