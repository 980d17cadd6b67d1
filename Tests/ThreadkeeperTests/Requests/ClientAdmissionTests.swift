import Bridge
import LocalAPI
import Synchronization
import TestKit
import Testing
import ThreadRequests

@testable import Threadkeeper

@Suite("Who is heard on the socket for other users, and how often") struct ClientAdmissionTests {
  private let clock = ManualClock()
  private let door: ClientAdmission

  init() {
    var door = ClientAdmission(team: { $0 < 2_000 ? "team" : nil })
    door.owner = 998
    door.clock = clock
    self.door = door
  }

  /// How many of so many calls are let in, and are answered why not.
  private func calls(_ count: Int, of user: UInt32) -> [Int] {
    var counts = [0, 0]
    for _ in 0..<count {
      switch door.judge(user) {
      case .admitted: counts[0] += 1
      case .refused(let error):
        #expect(AnswerFailure(error)?.code == "rate_limited")
        counts[1] += 1
      }
    }
    return counts
  }

  @Test("Fifty at once, then ten a second, for each user by itself") func rate() {
    #expect(calls(100, of: 1_001) == [50, 50])
    #expect(calls(10, of: 1_002) == [10, 0])
    clock.advance(seconds: 1)
    #expect(calls(100, of: 1_001) == [10, 90])
  }

  @Test("The daemon's own user and root ask as often as they like") func exempt() {
    for user: UInt32 in [998, 0] {
      #expect(calls(1_000, of: user) == [1_000, 0])
      #expect(door.refusal(of: .listCredentials, by: user) == nil)
    }
  }

  @Test("A list costs five, the call among them") func lists() {
    var told = 0
    for _ in 0..<20 where door.judge(1_001) == .admitted(.team) {
      if door.refusal(of: .listCredentials, by: 1_001) == nil { told += 1 }
    }
    #expect(told == 10)
    #expect(door.refusal(of: .listCredentials, by: 1_001)?.known == .rateLimited)
    clock.advance(seconds: 5)
    #expect(calls(1, of: 1_001) == [1, 0])
    #expect(door.refusal(of: .ping, by: 1_001) == nil)
  }

  @Test("A list of many costs more, which the next calls pay") func manyItems() {
    #expect(door.judge(1_001) == .admitted(.team))
    #expect(door.refusal(of: .listCredentials, by: 1_001, items: { 6_000 }) == nil)
    #expect(calls(10, of: 1_001) == [0, 10])
    clock.advance(seconds: 3)
    #expect(calls(1, of: 1_001) == [1, 0])
  }

  @Test("The first call of a connection is paid with it; each other one costs one, whatever it is")
  func callsOfConnection() {
    #expect(door.judge(1_001) == .admitted(.team))
    let refusals = (0..<100).map { door.refusal(ofCallBy: 1_001, isFirst: $0 == 0) }
    #expect(refusals.count { $0 == nil } == 50)
    #expect(refusals.last??.name == "io.threadkeeper.Failed")
    for user: UInt32 in [998, 0] {
      #expect((0..<100).allSatisfy { _ in door.refusal(ofCallBy: user, isFirst: false) == nil })
    }
  }

  @Test("A user without a team is refused as `not_authorized`, and in a flood as `rate_limited`") func withoutTeam() {
    guard case .refused(let first) = door.judge(5_000) else {
      Issue.record("a user without a team is admitted")
      return
    }
    #expect(AnswerFailure(first)?.code == "not_authorized")
    for _ in 1..<60 { _ = door.judge(5_000) }
    guard case .refused(let answer) = door.judge(5_000) else {
      Issue.record("a flood of calls is admitted")
      return
    }
    #expect(AnswerFailure(answer)?.code == "rate_limited")
  }

  @Test("Each that is refused is counted") func counted() {
    let count = Mutex(0)
    var door = ClientAdmission(team: { _ in "team" }, refused: { count.withLock { $0 += 1 } })
    door.owner = 998
    door.clock = clock
    for _ in 0..<100 { _ = door.judge(1_001) }
    _ = door.refusal(of: .listCredentials, by: 1_001)
    #expect(count.withLock { $0 } == 51)
  }
}
