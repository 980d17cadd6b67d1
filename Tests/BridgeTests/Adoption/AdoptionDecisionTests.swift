// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What becomes of an adoption")
struct AdoptionDecisionTests {
  private let home: OperationalDataset
  private let guest: OperationalDataset

  init() throws {
    home = try SampleNetwork.home.dataset(at: 5)
    guest = try SampleNetwork.guest.dataset(at: 1)
  }

  private func situation(
    preferred: OperationalDataset? = nil, reported: OperationalDataset? = nil,
    user: String = "anna", key: AdoptionKey = .enrolled("k")
  ) -> AdoptionSituation {
    AdoptionSituation(
      preferred: preferred ?? home, reported: reported ?? guest, user: user, key: key)
  }

  private func decide(
    _ state: AdoptionState?, _ before: AdoptionSituation? = nil, _ now: AdoptionSituation? = nil,
    isEnabled: Bool = true, isRaised: Bool = false, isSSIDNew: Bool = false
  ) -> AdoptionDecision {
    let now = now ?? situation()
    return AdoptionDecision(
      state,
      AdoptionCheck(
        isEnabled: isEnabled, check: PreferredCheck(now.reported, preferred: now.preferred),
        before: before, now: now, isRaised: isRaised, isSSIDNew: isSSIDNew))
  }

  @Test("It begins when a mismatch is raised or the Wi-Fi has another name, and not before")
  func begins() {
    #expect(decide(nil) == .keep)
    #expect(decide(nil, isRaised: true) == .begin)
    #expect(decide(nil, isSSIDNew: true) == .begin)
    #expect(decide(nil, isEnabled: false, isRaised: true) == .keep)
  }

  @Test(
    "Without a mismatch nothing begins, and what is under way ends",
    arguments: AdoptionState.allCases)
  func ends(state: AdoptionState) {
    let well = situation(reported: home)
    #expect(decide(nil, nil, well, isRaised: true, isSSIDNew: true) == .keep)
    #expect(decide(state, situation(), well) == .end)
    #expect(decide(state, situation(), isEnabled: false) == .end)
  }

  @Test("Of a network that is only older or disputed no person is asked")
  func notElsewhere() throws {
    let older = situation(reported: try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 1))
    let disputed = situation(
      reported: try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 5))
    for now in [older, disputed] {
      #expect(decide(nil, nil, now, isRaised: true, isSSIDNew: true) == .keep)
      #expect(decide(.asked, situation(), now) == .end)
      #expect(decide(.disagreement, now, now) == .keep)
      #expect(decide(.disagreement, now, now, isSSIDNew: true) == .keep)
      #expect(decide(.disagreement, situation(), now) == .end)
    }
  }

  @Test(
    "The same is asked once, whatever came of it",
    arguments: [AdoptionState.asked, .agreed, .denied, .expired, .timeout, .disagreement])
  func once(state: AdoptionState) throws {
    #expect(decide(state, situation()) == .keep)
    #expect(decide(state, situation(), isRaised: true) == .keep)
    #expect(
      decide(state, situation(), isSSIDNew: true)
        == ([.asked, .agreed].contains(state) ? .keep : .begin))
    let later = situation(
      preferred: try SampleNetwork.home.dataset(at: 9),
      reported: try SampleNetwork.guest.dataset(at: 9))
    #expect(decide(state, situation(), later) == .keep, "only the timestamps differ")
    #expect(decide(state, situation(), situation(user: "ben")) == .begin)
    #expect(decide(state, nil) == .begin, "nothing is known of it")
    let other = SampleNetwork.home.with { $0.networkKey = "00" + $0.networkKey.dropFirst(2) }
    #expect(decide(state, situation(), situation(preferred: try other.dataset(at: 5))) == .begin)
    let moved = try SampleNetwork.guest.with { $0.channel = 20 }.dataset(at: 2)
    #expect(decide(state, situation(), situation(reported: moved)) == .begin)
  }

  @Test(
    "Another key is another question, and where there is none no person is asked",
    arguments: [AdoptionState.asked, .agreed, .sent, .denied, .expired, .timeout, .disagreement])
  func keys(state: AdoptionState) throws {
    #expect(decide(state, situation(), situation(key: .enrolled("l"))) == .begin)
    #expect(decide(state, situation(), situation(key: .notEnrolled)) == .fail(.notEnrolled))
    #expect(decide(state, situation(), situation(key: .damaged)) == .fail(.damagedKeys))
    #expect(decide(state, situation(), situation(key: .unknown)) == .keep)
    let well = situation(reported: home, key: .notEnrolled)
    #expect(decide(state, situation(), well) == .end)
    let older = situation(
      reported: try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 1), key: .notEnrolled)
    #expect(decide(state, older, older) == .end)
    #expect(decide(.due, nil, situation(key: .notEnrolled)) == .keep, "the clock looks")
    #expect(decide(.notEnrolled, nil, situation()) == .keep, "the clock looks")
  }

  @Test("While the router's word is waited for, only another preferred network or key ends it")
  func sent() throws {
    #expect(decide(.sent, situation(), isSSIDNew: true) == .keep)
    #expect(decide(.sent, situation(), situation(user: "ben")) == .begin)
    #expect(decide(.sent, nil) == .begin)
    let other = try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 6)
    #expect(decide(.sent, situation(), situation(preferred: other)) == .begin)
  }

  @Test("A router's report: what it was sent, what it reported before, or something else")
  func reports() throws {
    func report(
      _ incoming: OperationalDataset, preferred: OperationalDataset?, isAttached: Bool = true
    )
      -> AdoptionReport
    {
      AdoptionReport(
        incoming, sent: home, preferred: preferred, before: guest, isAttached: isAttached)
    }
    #expect(report(try SampleNetwork.home.dataset(at: 1), preferred: nil) == .confirmed)
    #expect(report(try SampleNetwork.guest.dataset(at: 9), preferred: home) == .notYet)
    let third = try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 6)
    #expect(report(third, preferred: home) == .disagreement)
    #expect(report(third, preferred: third) == .confirmed, "it is where it should be")
    #expect(report(home, preferred: home, isAttached: false) == .configured)
    #expect(report(third, preferred: home, isAttached: false) == .disagreement)
  }

  @Test("Nothing is waited for longer than the setting says, also when the clock was set back")
  func deadline() {
    func limited(_ left: Int64) -> Int64 {
      AdoptionDeadline.limited(
        1_000_000 + left, timeout: 300, now: WireTime(milliseconds: 1_000_000)) - 1_000_000
    }
    #expect(limited(-1) == -1 && limited(0) == 0 && limited(300_000) == 300_000)
    #expect(limited(300_001) == 300_000 && limited(9_000_000) == 300_000)
  }

  @Test("What waited on the broker is received after ten seconds, also when the clock was set back")
  func hearing() {
    let now = WireTime(milliseconds: 1_000_000)
    func isCaughtUp(_ seconds: Int) -> Bool {
      AdoptionDeadline.isCaughtUp(since: now.adding(seconds: seconds), now: now)
    }
    #expect(!AdoptionDeadline.isCaughtUp(since: nil, now: now))
    #expect(isCaughtUp(-10) && isCaughtUp(3_600))
    #expect(!isCaughtUp(-9) && !isCaughtUp(0) && !isCaughtUp(1))
  }

  @Test("A message is handed out once to each connection, and again when it is over")
  func handedOut() {
    let deliveries = AdoptionDeliveries()
    func isDue(_ connection: Int64, at seconds: Int64) -> Bool {
      deliveries.isDue("a", connection: connection, now: WireTime(milliseconds: seconds * 1_000))
    }
    #expect(isDue(1, at: 0))
    deliveries.began(
      "a", to: 1, until: WireTime(milliseconds: 300_000), now: WireTime(milliseconds: 0))
    #expect(!isDue(1, at: 299))
    #expect(isDue(2, at: 1))
    #expect(isDue(1, at: 300))
    #expect(isDue(1, at: -3_600), "the clock was set back")
  }

  @Test("A message has arrived when the broker has answered to what left, on whichever connection")
  func arrived() {
    let deliveries = AdoptionDeliveries()
    let start = WireTime(milliseconds: 0)
    #expect(!deliveries.hasArrived("a"), "of an earlier process it is not known")
    deliveries.began("a", to: 1, until: start.adding(seconds: 300), now: start)
    deliveries.began("b", to: 2, until: start.adding(seconds: 700), now: start.adding(seconds: 400))
    let tokens = (deliveries.taken("a"), deliveries.taken("b"))
    #expect(tokens.0 != tokens.1 && !deliveries.hasArrived("a") && !deliveries.hasArrived("b"))
    deliveries.acknowledge(7)
    deliveries.acknowledge(tokens.0)
    deliveries.began("a", to: 2, until: start.adding(seconds: 700), now: start.adding(seconds: 401))
    #expect(deliveries.hasArrived("a") && !deliveries.hasArrived("b"))
  }
}
