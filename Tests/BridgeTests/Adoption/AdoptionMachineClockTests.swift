// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

/// A test for each row of the table in `AdoptionMachine` that is about the clock, or about what is sent.
@Suite("The states of an adoption by the clock")
struct AdoptionMachineClockTests {
  private let scene: AdoptionStates
  private let now = WireTime(milliseconds: 1_000_000)

  init() throws { scene = try AdoptionStates() }

  private func clock(_ change: (inout AdoptionClock) -> Void = { _ in }) -> AdoptionEvent {
    var found = AdoptionClock(now: now, timeout: 300)
    change(&found)
    return .clock(found)
  }

  private var target: AdoptionTarget {
    AdoptionTarget(preferred: scene.home, reported: scene.guest)
  }

  /// Sent, with so many seconds left.
  private func sent(_ left: Int) -> AdoptionMachine {
    var record = scene.record(.sent)
    record.id = "a-1"
    record.deadline = now.adding(seconds: left).milliseconds
    return AdoptionMachine(.sent, record)
  }

  @Test("A setting that was turned off ends every adoption", arguments: AdoptionState.allCases)
  func disabled(state: AdoptionState) {
    var machine = scene.machine(state)
    #expect(
      machine.handle(.clock(AdoptionClock(now: now, timeout: nil)))
        == scene.ending(state) + [.check])
    #expect(machine == AdoptionMachine(nil, nil))
  }

  @Test("What is due is asked when the router is online")
  func due() {
    var machine = scene.machine(.due)
    #expect(machine.handle(clock()) == [.ask])
    #expect(machine.handle(clock { $0.isRouterOnline = false }) == [])
    #expect(machine == scene.machine(.due))
  }

  @Test("An obstacle is replaced by another one, and where there is none a person is asked")
  func obstacle() {
    let rows: [(AdoptionState, AdoptionState)] = [
      (.notEnrolled, .damagedKeys), (.damagedKeys, .notEnrolled),
    ]
    for (state, other) in rows {
      var machine = scene.machine(state)
      #expect(machine.handle(clock { $0.obstacle = state }) == [] && machine.state == state)
      #expect(machine.handle(clock()) == [.ask])
      #expect(machine.handle(clock { $0.obstacle = other }) == [.delete, .check])
      #expect(machine.state == other)
      #expect(machine.handle(clock { $0.isRouterOnline = false }) == [.delete, .check])
      #expect(machine.state == .due)
    }
  }

  @Test("A question that is gone has expired")
  func question() {
    var machine = scene.machine(.asked)
    #expect(machine.handle(clock()) == [] && machine == scene.machine(.asked))
    #expect(
      machine.handle(clock { $0.isQuestionWaiting = false })
        == [.save(scene.record(.over)), .check])
    #expect(machine == AdoptionMachine(.expired, scene.record(.over)))
  }

  @Test(
    "What is outdated is checked again, before all else",
    arguments: [AdoptionState.asked, .agreed, .sent, .denied, .expired, .timeout, .disagreement])
  func outdated(state: AdoptionState) {
    var machine = scene.machine(state)
    let event = clock {
      $0.isOutdated = true
      $0.isQuestionWaiting = false
      $0.holds = false
      $0.isDue = true
    }
    #expect(machine.handle(event) == [.check] && machine == scene.machine(state))
  }

  @Test("A record that is gone or does not fit restarts it")
  func lost() {
    let rows: [(AdoptionState, Adoption?)] = [
      (.asked, nil), (.asked, scene.record(.sent)), (.agreed, nil),
      (.agreed, scene.record(.over)), (.sent, nil),
    ]
    for (state, record) in rows {
      var machine = AdoptionMachine(state, record)
      let effects = machine.handle(clock { $0.isAwaited = false })
      #expect(effects.suffix(2) == [.delete, .check] && machine == AdoptionMachine(.due, nil))
    }
    for state in [AdoptionState.denied, .expired, .timeout, .disagreement] {
      var machine = AdoptionMachine(state, nil)
      #expect(machine.handle(clock()) == [] && machine.state == state)
    }
  }

  @Test("What was agreed to is sent as soon as there is a connection")
  func agreed() {
    var machine = scene.machine(.agreed)
    #expect(machine.handle(clock()) == [])
    var record = scene.record(.sent)
    record.id = "a-1"
    record.deadline = now.adding(seconds: 300).milliseconds
    let event = clock {
      $0.hasConnection = true
      $0.messageID = "a-1"
      $0.target = target
    }
    #expect(machine.handle(event) == [.send(record)])
    #expect(machine == scene.machine(.agreed), "it may be that nothing can be sealed")
    #expect(machine.handle(.sent(record)) == [.save(record), .publishSent(record)])
    #expect(machine == AdoptionMachine(.sent, record))
  }

  @Test("Nothing is sent where there is no mismatch, or \"always\" was taken back")
  func agreedTooLate() {
    let rows: [(AdoptionTarget?, Bool)] = [(nil, true), (target, false)]
    for (target, holds) in rows {
      var machine = scene.machine(.agreed)
      let event = clock {
        $0.hasConnection = true
        $0.target = target
        $0.holds = holds
      }
      #expect(machine.handle(event) == scene.ending(.agreed) + [.check])
      #expect(machine == AdoptionMachine(.due, nil))
    }
  }

  @Test("The message is sent again on each connection, unless \"always\" was taken back")
  func again() throws {
    var machine = sent(200)
    let record = try #require(machine.record)
    let event = clock {
      $0.hasConnection = true
      $0.isDue = true
      $0.hasArrived = true
    }
    #expect(machine.handle(event) == [.send(record)] && machine.state == .sent)
    let taken = clock {
      $0.hasConnection = true
      $0.isDue = true
      $0.holds = false
    }
    #expect(machine.handle(taken) == [.logChanged, .delete, .check] && machine.state == .due)
  }

  @Test("A message that may not have arrived gets the whole time again")
  func newTime() throws {
    var machine = sent(100)
    var record = try #require(machine.record)
    record.deadline = now.adding(seconds: 300).milliseconds
    let event = clock {
      $0.hasConnection = true
      $0.isDue = true
    }
    #expect(machine.handle(event) == [.save(record), .send(record)])
    #expect(machine.record == record)
    machine = sent(9_000)
    #expect(
      machine.handle(clock { $0.hasConnection = true }) == [.save(record)],
      "nothing is waited for longer than the setting says")
    machine = sent(200)
    let half = try #require(machine.record)
    #expect(machine.handle(event) == [.send(half)], "more than half of the time is left")
    #expect(machine.record == half)
  }

  @Test("The wait ends when its time is over and all reports are received")
  func timeout() throws {
    var machine = sent(0)
    #expect(machine.handle(clock()) == [], "without a connection it is not known")
    #expect(machine.handle(clock { $0.hasArrived = true }) == [], "not all reports are received")
    var over = try #require(machine.record)
    over.phase = .over
    let event = clock {
      $0.hasArrived = true
      $0.isCaughtUp = true
    }
    #expect(machine.handle(event) == [.save(over), .check])
    #expect(machine == AdoptionMachine(.timeout, over))
  }
}
