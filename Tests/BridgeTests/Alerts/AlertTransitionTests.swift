// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import Bridge

@Suite("What becomes of an alert")
struct AlertTransitionTests {
  private static let now = WireTime(milliseconds: 1_000_000)
  private static let facts = AlertFacts(summary: "a", remedy: "b")
  private static let otherFacts = AlertFacts(summary: "c", remedy: "b")

  private func transition(
    _ phase: AlertRecord.Phase?, wanted: AlertFacts?, heldFor: Int = 0, hold: Int = 30
  ) -> AlertTransition {
    AlertTransition(
      phase: phase, facts: phase == nil ? nil : Self.facts, wanted: wanted,
      heldSince: phase == nil ? nil : Self.now.adding(seconds: -heldFor), hold: hold,
      now: Self.now)
  }

  @Test("A condition that does not hold ends what there is", arguments: [0, 30], [0, 29, 30, 31])
  func ended(hold: Int, heldFor: Int) {
    #expect(transition(nil, wanted: nil, heldFor: heldFor, hold: hold) == .none)
    #expect(transition(.resolved, wanted: nil, heldFor: heldFor, hold: hold) == .none)
    #expect(transition(.held, wanted: nil, heldFor: heldFor, hold: hold) == .drop)
    #expect(transition(.firing, wanted: nil, heldFor: heldFor, hold: hold) == .resolve)
  }

  @Test("A condition that begins is held, or raised at once where there is no hold")
  func begins() {
    for phase in [nil, .resolved] as [AlertRecord.Phase?] {
      for wanted in [Self.facts, Self.otherFacts] {
        #expect(transition(phase, wanted: wanted, heldFor: 1_000, hold: 30) == .hold)
        #expect(transition(phase, wanted: wanted, hold: 0) == .raise)
      }
    }
  }

  @Test(
    "A held one is raised when it has lasted, to the second",
    arguments: [(0, false), (29, false), (30, true), (31, true), (10_000, true)])
  func held(heldFor: Int, isRaised: Bool) {
    #expect(
      transition(.held, wanted: Self.facts, heldFor: heldFor) == (isRaised ? .raise : .none))
    #expect(
      transition(.held, wanted: Self.otherFacts, heldFor: heldFor) == (isRaised ? .raise : .amend))
    #expect(transition(.held, wanted: Self.facts, heldFor: heldFor, hold: 0) == .raise)
  }

  @Test("A clock that was set back only lets it wait longer")
  func clockSetBack() {
    #expect(transition(.held, wanted: Self.facts, heldFor: -100) == .none)
  }

  @Test("A firing one is published again only when there is something new", arguments: [0, 30])
  func firing(hold: Int) {
    #expect(transition(.firing, wanted: Self.facts, heldFor: 1_000, hold: hold) == .none)
    #expect(transition(.firing, wanted: Self.otherFacts, heldFor: 1_000, hold: hold) == .update)
    var again = Self.facts
    again.trigger = "ssid_changed"
    #expect(transition(.firing, wanted: again, hold: hold) == .none)
  }
}
