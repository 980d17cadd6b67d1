// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

private let failed: [AdoptionState] =
  [.denied, .expired, .timeout, .disagreement] + AdoptionState.reported
private let asking: [AdoptionState] = [.due, .notEnrolled, .damagedKeys]

/// A test for each row of the table in `AdoptionMachine` but those of the clock, which are in
/// `AdoptionMachineClockTests`.
@Suite("The states of an adoption")
struct AdoptionMachineTests {
  private let scene: AdoptionStates

  init() throws { scene = try AdoptionStates() }

  // MARK: Checked

  @Test("Without a mismatch every adoption ends", arguments: AdoptionState.allCases)
  func match(state: AdoptionState) {
    for check in [scene.check(.match), scene.check(isEnabled: false)] {
      var machine = scene.machine(state)
      #expect(machine.handle(.checked(check)) == scene.ending(state))
      #expect(machine == AdoptionMachine(nil, nil))
    }
  }

  @Test("None begins before the mismatch is raised, unless the Wi-Fi has another name")
  func begins() {
    let rows: [(AdoptionCheck, AdoptionState?)] = [
      (scene.check(), nil), (scene.check(isRaised: true), .due),
      (scene.check(isSSIDNew: true), .due),
    ]
    for (check, next) in rows {
      var machine = scene.machine(nil)
      let effects = machine.handle(.checked(check))
      #expect(machine.state == next && effects == (next == nil ? [] : [.delete]))
    }
  }

  @Test("A raised mismatch makes an adoption due, and changes none that is there")
  func raised() {
    var machine = scene.machine(nil)
    #expect(machine.handle(.mismatchRaised) == [])
    #expect(machine.state == .due)
    for state in AdoptionState.allCases {
      var machine = scene.machine(state)
      #expect(machine.handle(.mismatchRaised) == [] && machine == scene.machine(state))
    }
  }

  @Test(
    "A router that is only behind or disputed is asked about no more",
    arguments: asking + [.asked, .agreed])
  func notElsewhere(state: AdoptionState) {
    for check in [PreferredCheck.stale([.channel]), .conflict([.channel])] {
      var machine = scene.machine(state)
      #expect(machine.handle(.checked(scene.check(check))) == scene.ending(state))
      #expect(machine.state == nil)
    }
  }

  @Test(
    "What differs from the question restarts it",
    arguments: failed + [.asked, .agreed, .sent])
  func another(state: AdoptionState) {
    var machine = scene.machine(state)
    #expect(machine.handle(.checked(scene.check())) == [])
    #expect(machine == scene.machine(state), "the same is asked once")
    #expect(
      machine.handle(.checked(scene.check(key: .enrolled("other")))) == scene.ending(state))
    #expect(machine == AdoptionMachine(.due, nil))
  }

  @Test(
    "A router whose row was lost begins with the end of what is stored",
    arguments: [AdoptionState.asked, .agreed, .sent])
  func forgotten(state: AdoptionState) {
    var machine = AdoptionMachine(nil, scene.machine(state).record)
    #expect(machine.handle(.checked(scene.check(isRaised: true))) == scene.ending(state))
    #expect(machine == AdoptionMachine(.due, nil))
  }

  @Test("A sent adoption that is not awaited any more restarts")
  func notAwaited() {
    var machine = scene.machine(.sent)
    #expect(machine.handle(.checked(scene.check(before: nil))) == [.logChanged, .delete])
    #expect(machine.state == .due)
    #expect(scene.machine(.sent).isAwaited(scene.guest))
    #expect(!scene.machine(.sent).isAwaited(scene.home) && !scene.machine(.sent).isAwaited(nil))
    #expect(!scene.machine(.timeout).isAwaited(scene.guest))
  }

  @Test("Another SSID restarts what has failed, and ends it where the router is not elsewhere")
  func failedAgain() {
    for state in failed {
      var machine = scene.machine(state)
      #expect(machine.handle(.checked(scene.check(isSSIDNew: true))) == [.delete])
      #expect(machine.state == .due)
      machine = scene.machine(state)
      let other = scene.check(.stale([.channel]), key: .enrolled("other"))
      #expect(machine.handle(.checked(other)) == [.delete] && machine.state == nil)
    }
  }

  @Test(
    "Without a key to seal to, what was asked becomes an obstacle",
    arguments: failed + [.asked, .agreed, .sent])
  func obstacle(state: AdoptionState) {
    let rows: [(AdoptionKey, AdoptionState)] = [
      (.notEnrolled, .notEnrolled), (.damaged, .damagedKeys),
    ]
    for (key, next) in rows {
      var machine = scene.machine(state)
      #expect(machine.handle(.checked(scene.check(key: key))) == scene.ending(state))
      #expect(machine == AdoptionMachine(next, nil))
    }
  }

  @Test(
    "Without a key to seal to, and not elsewhere, there is nothing to adopt",
    arguments: failed + [.asked, .agreed, .sent])
  func obstacleNotElsewhere(state: AdoptionState) {
    var machine = scene.machine(state)
    let check = scene.check(.stale([.channel]), key: .notEnrolled)
    #expect(machine.handle(.checked(check)) == scene.ending(state))
    #expect(machine == AdoptionMachine(nil, nil))
  }

  @Test("What has failed restarts when a person wants to be asked again, and nothing else does")
  func wantedAgain() throws {
    for state in AdoptionState.allCases {
      var machine = scene.machine(state)
      guard state.canBeAskedAgain else {
        #expect(machine.handle(.wantedAgain) == [] && machine == scene.machine(state))
        continue
      }
      let consent = try #require(machine.record).consent
      #expect(machine.handle(.wantedAgain) == [.allowAgain(consent), .delete, .check])
      #expect(machine == AdoptionMachine(.due, nil))
    }
  }

  @Test("A router that is removed has no adoption", arguments: AdoptionState.allCases)
  func removed(state: AdoptionState) {
    var machine = scene.machine(state)
    #expect(machine.handle(.removed) == scene.ending(state))
    #expect(machine == AdoptionMachine(nil, nil))
  }

  // MARK: Reported

  @Test(
    "A router that uses what it was sent is done",
    arguments: [AdoptionState.sent, .timeout, .disagreement] + AdoptionState.reported)
  func confirmed(state: AdoptionState) {
    var machine = scene.machine(state)
    #expect(machine.handle(.reported(.confirmed, isAwaited: state == .sent)) == [.delete])
    #expect(machine == AdoptionMachine(nil, nil))
  }

  @Test(
    "What a router reports meanwhile is kept, and written once",
    arguments: [
      (AdoptionState.sent, AdoptionReport.configured), (.sent, .notYet),
      (.timeout, .configured), (.disagreement, .configured),
    ])
  func reported(state: AdoptionState, report: AdoptionReport) throws {
    var machine = scene.machine(state)
    let isAwaited = state == .sent
    #expect(machine.counts(report, isAwaited: isAwaited))
    #expect(machine.handle(.reported(report, isAwaited: isAwaited)) == [])
    #expect(machine.handle(.stored(scene.guest, after: report)) == [])
    let later = try SampleNetwork.guest.dataset(at: 9)
    var kept = try #require(machine.record)
    kept.reported = later
    #expect(machine.handle(.stored(later, after: report)) == [.save(kept)])
    #expect(machine == AdoptionMachine(state, kept))
  }

  @Test("A router that uses something else disagrees")
  func disagreement() throws {
    var machine = scene.machine(.sent)
    #expect(machine.handle(.reported(.disagreement, isAwaited: true)) == [])
    let third = try SampleNetwork.guest.with { $0.channel = 20 }.dataset(at: 9)
    var over = scene.record(.over)
    over.reported = third
    #expect(machine.handle(.stored(third, after: .disagreement)) == [.save(over)])
    #expect(machine == AdoptionMachine(.disagreement, over))
  }

  @Test(
    "The router's own reason counts, whatever it reports beside it, and no later one",
    arguments: [AdoptionReport.configured, .notYet, .disagreement])
  func reason(report: AdoptionReport) throws {
    for reason in AdoptionState.reported {
      var machine = scene.machine(.sent)
      #expect(machine.handle(.reported(report, isAwaited: true, failure: reason)) == [])
      #expect(machine.state == reason)
      #expect(
        machine.handle(.stored(scene.guest, after: report)) == [.save(scene.record(.over))])
      _ = machine.handle(.reported(report, isAwaited: false, failure: .refused))
      #expect(machine == AdoptionMachine(reason, scene.record(.over)))
      #expect(machine.handle(.reported(.confirmed, isAwaited: false)) == [.delete])
    }
  }

  @Test(
    "A report that is not awaited counts for nothing",
    arguments: [AdoptionReport.confirmed, .configured, .notYet, .disagreement])
  func reportedForNothing(report: AdoptionReport) {
    for state in AdoptionState.allCases {
      let isLate = state != .sent && state.mayBeConfirmed
      guard !isLate || ![.confirmed, .configured].contains(report) else { continue }
      var machine = scene.machine(state)
      #expect(!machine.counts(report, isAwaited: false))
      #expect(machine.handle(.reported(report, isAwaited: false)) == [])
      #expect(machine == scene.machine(state))
    }
    var lost = AdoptionMachine(.sent, nil)
    #expect(lost.handle(.reported(report, isAwaited: true)) == [] && lost.state == .sent)
  }

  // MARK: Asked

  @Test("What the ledger answers decides what follows", arguments: asking)
  func asked(state: AdoptionState) {
    let record = scene.record(.asked)
    let rows: [(AdoptionAnswer, AdoptionState?, [AdoptionEffect])] = [
      (.nothingToAdopt, nil, [.delete, .check]),
      (.noKey(.notEnrolled), .notEnrolled, [.delete, .check]),
      (.granted(record), .agreed, [.save(scene.record(.agreed)), .check]),
      (.waits(record), .asked, [.save(record), .check]),
      (.refused, .due, state == .due ? [] : [.check]),
    ]
    for (answer, next, effects) in rows {
      var machine = AdoptionMachine(state, nil)
      #expect(machine.handle(.asked(answer)) == effects)
      #expect(machine.state == next)
    }
  }

  // MARK: Decided

  private func decide(
    _ machine: inout AdoptionMachine, _ outcome: ConsentRecord.Outcome, isEnabled: Bool = true,
    target: AdoptionTarget? = nil
  ) -> [AdoptionEffect] {
    machine.handle(
      .decided(outcome, consent: scene.consent, isEnabled: isEnabled, target: target))
  }

  @Test("What is given is what is preferred when a person agrees")
  func approved() throws {
    let preferred = try SampleNetwork.home.dataset(at: 9)
    var machine = scene.machine(.asked)
    let target = AdoptionTarget(preferred: preferred, reported: scene.guest)
    var agreed = scene.record(.agreed)
    agreed.preferred = preferred
    let effects = decide(&machine, .approved, target: target)
    #expect(effects == [.save(agreed), .check])
    #expect(machine == AdoptionMachine(.agreed, agreed))
  }

  @Test("Where something else holds by then, nothing is given")
  func approvedTooLate() {
    let rows: [(Bool, AdoptionState?)] = [(true, .due), (false, nil)]
    for (isEnabled, next) in rows {
      var machine = scene.machine(.asked)
      let effects = decide(&machine, .approved, isEnabled: isEnabled)
      #expect(
        effects == scene.ending(.asked) + [.check, .noteNotGiven(scene.consent)])
      #expect(machine == AdoptionMachine(next, nil))
    }
  }

  @Test("A refusal and an expiry are failures of their own")
  func denied() {
    let rows: [(ConsentRecord.Outcome, AdoptionState)] = [
      (.denied, .denied), (.expired, .expired), (.revoked, .expired),
    ]
    for (outcome, next) in rows {
      var machine = scene.machine(.asked)
      let effects = decide(&machine, outcome)
      #expect(effects == [.save(scene.record(.over)), .check])
      #expect(machine == AdoptionMachine(next, scene.record(.over)))
    }
  }

  @Test("A decision that nothing waits for changes nothing, and an approval is noted as not given")
  func decidedForNothing() {
    for state in AdoptionState.allCases where state != .asked {
      var machine = scene.machine(state)
      let denied = decide(&machine, .denied)
      let approved = decide(&machine, .approved)
      #expect(denied == [] && approved == [.noteNotGiven(scene.consent)])
      #expect(machine == scene.machine(state))
    }
  }

  @Test("A decision about another question counts for nothing")
  func decidedForAnother() {
    var machine = scene.machine(.asked)
    for (outcome, effects) in [
      (ConsentRecord.Outcome.denied, []), (.expired, []), (.approved, [.noteNotGiven("c-other")]),
    ] as [(ConsentRecord.Outcome, [AdoptionEffect])] {
      #expect(
        machine.handle(.decided(outcome, consent: "c-other", isEnabled: true, target: nil))
          == effects)
      #expect(machine == scene.machine(.asked))
    }
  }
}
