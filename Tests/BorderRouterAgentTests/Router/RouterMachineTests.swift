// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

import enum Home.OfflineReason
import enum Home.ThreadState

@testable import BorderRouterAgent

/// A row of the machine's table each.
@Suite("What is published about a router")
struct RouterMachineTests {
  /// A machine and its clock.
  private struct Bench {
    var machine = RouterMachine()
    var now = Duration.zero

    @discardableResult
    mutating func handle(_ event: RouterMachine.Event, after seconds: Int = 5) -> [RouterMachine
      .Effect]
    {
      now += .seconds(seconds)
      return machine.handle(event, at: now).filter { if case .log = $0 { false } else { true } }
    }

    /// The kinds of what is published after a look.
    mutating func look(_ look: RouterLook, after seconds: Int = 5) -> [InboundEventKind] {
      handle(.looked(look), after: seconds).compactMap { $0.event?.kind }
    }

    mutating func look(_ report: RouterReport, after seconds: Int = 5) -> [InboundEventKind] {
      look(.report(report), after: seconds)
    }

    /// Announced and online.
    static func announced(_ report: RouterReport) -> Bench {
      var bench = Bench()
      bench.handle(.looked(.report(report)))
      bench.handle(.connected)
      return bench
    }
  }

  private let unreachable = RouterLook.silent(.unreachable("Connection refused"))

  @Test("Nothing is published, up or stopped: a connection for this id comes first")
  func connects() throws {
    for state in [ThreadState.leader, .detached, .disabled] {
      var bench = Bench()
      let report = try Sample.report("1", state)
      #expect(try bench.handle(.looked(.report(report))) == [.connect(Sample.agent("1"))])
      // Not again while it is being made.
      #expect(bench.handle(.looked(.report(report))) == [])
    }
  }

  @Test(
    "Nothing is published, connected: it is announced with its dataset, address, network and state")
  func announces() throws {
    var bench = Bench()
    let report = try Sample.report()
    bench.handle(.looked(.report(report)))
    let event = try #require(bench.handle(.connected).first?.event)
    #expect(event.kind == .announce && event.agent == report.agent)
    #expect(event.dataset == report.active && event.network == report.network)
    #expect(event.threadState == .leader && event.extendedAddress == "0102030405060708")
  }

  @Test("A stopped router is announced as stopped, without the network that it goes on naming")
  func announcesStopped() throws {
    var bench = Bench()
    bench.handle(.looked(.report(try Sample.report("1", .disabled))))
    let event = try #require(bench.handle(.connected).first?.event)
    #expect(event.kind == .announce && event.threadState == .disabled && event.network == nil)
    #expect(bench.handle(.stopping) == [])
  }

  @Test("Nothing is published, gone or silent: nothing")
  func nothing() throws {
    var bench = Bench()
    for look in [
      unreachable, .report(try Sample.report("1", .disabled, dataset: RouterReport.Reading.none)),
    ] {
      for _ in 0..<20 { #expect(bench.handle(.looked(look)) == []) }
    }
  }

  @Test("A dataset that lacks parameters is not published; the router is announced all the same")
  func partial() throws {
    var bench = Bench()
    let report = try Sample.report("1", .detached, dataset: .unusable("it lacks parameters"))
    bench.handle(.looked(.report(report)))
    let event = try #require(bench.handle(.connected).first?.event)
    #expect(event.kind == .announce && event.dataset == nil && event.threadState == .detached)
    #expect(bench.look(try Sample.report()) == [.dataset])
  }

  @Test(
    "Another dataset is published at once, also while detached, and not for another order of its TLVs"
  )
  func changedDataset() throws {
    var bench = Bench.announced(try Sample.report())
    #expect(bench.look(try Sample.report("1", .detached, at: 2)) == [.dataset])
    let same = try SampleNetwork.home.dataset(at: 2)
    let timestamp = try #require(same.activeTimestamp)
    let reordered = try same.removing(.activeTimestamp).replacing(.activeTimestamp(timestamp))
    #expect(reordered != same)
    #expect(bench.look(try Sample.report("1", .detached, dataset: .complete(reordered))) == [])
  }

  @Test("Another network or Thread state is a heartbeat at once")
  func changedState() throws {
    var bench = Bench.announced(try Sample.report())
    #expect(bench.look(try Sample.report("1", .detached)) == [.heartbeat])
    var report = try Sample.report("1", .router)
    report.network = ExtendedPANID(hex: "3333333344444444")
    let event = try #require(bench.handle(.looked(.report(report))).first?.event)
    #expect(event.kind == .heartbeat && event.network == report.network && event.dataset == nil)
  }

  @Test("As before, a heartbeat is published each minute")
  func heartbeats() throws {
    let report = try Sample.report()
    var bench = Bench.announced(report)
    var times: [Duration] = []
    let start = bench.now
    for _ in 0..<36 where bench.look(report) == [.heartbeat] { times.append(bench.now - start) }
    #expect(times == [.seconds(60), .seconds(120), .seconds(180)])
  }

  @Test(
    "Silent for the hold: offline with the reason, once, and back with a heartbeat; never a leave")
  func silent() throws {
    for (silence, reason) in [
      (RouterSilence.unreachable("refused"), OfflineReason?.some(.unreachable)), (.frozen, .frozen),
      (.garbage("/node is no JSON object"), nil),
    ] {
      let report = try Sample.report()
      var bench = Bench.announced(report)
      var published: [RouterMachine.Effect] = []
      for _ in 0..<6 { published += bench.handle(.looked(.silent(silence))) }
      // 25 s.
      #expect(published == [])
      for _ in 0..<100 { published += bench.handle(.looked(.silent(silence))) }
      #expect(published == [.publish(RouterEvent(.offline, of: report.agent, reason: reason))])
      #expect(bench.look(report) == [.heartbeat])
    }
  }

  @Test("Silent or stopped for less than the hold, as in a restart: nothing")
  func restart() throws {
    let report = try Sample.report()
    var bench = Bench.announced(report)
    for _ in 0..<4 { #expect(bench.look(unreachable) == []) }
    #expect(bench.look(try Sample.report("1", .disabled)) == [])
    #expect(bench.look(report) == [])
  }

  @Test(
    "Trouble that changes its kind is offline after the hold, and the reason is published once stable"
  )
  func alternating() throws {
    let report = try Sample.report()
    var bench = Bench.announced(report)
    let kinds: [RouterLook] = [
      unreachable, .silent(.frozen), .report(try Sample.report("1", .disabled)),
    ]
    var published: [RouterMachine.Effect] = []
    for index in 0..<60 { published += bench.handle(.looked(kinds[index % 3])) }
    #expect(published == [.publish(RouterEvent(.offline, of: report.agent))])
    for _ in 0..<6 { #expect(bench.look(unreachable) == []) }
    #expect(
      bench.handle(.looked(unreachable)) == [
        .publish(RouterEvent(.offline, of: report.agent, reason: .unreachable))
      ])
    #expect(bench.look(report) == [.heartbeat])
    for _ in 0..<6 { #expect(bench.look(unreachable) == []) }
  }

  @Test("Each hour it is announced again, in place of a heartbeat")
  func announcesAgain() throws {
    let report = try Sample.report()
    var bench = Bench.announced(report)
    var kinds: [InboundEventKind] = []
    for _ in 0..<120 { kinds += bench.look(report, after: 60) }
    #expect(kinds.count { $0 == .announce } == 2 && kinds.count == 120)
    #expect(kinds[59] == .announce && kinds[119] == .announce)
  }

  @Test("Two routers whose addresses are swapped: neither leaves, and both are announced")
  func swapped() throws {
    for (old, new) in [("1", "2"), ("2", "1")] as [(Character, Character)] {
      var bench = Bench.announced(try Sample.report(old))
      bench.machine.elsewhere = [try Sample.agent(old)]
      for _ in 0..<2 { #expect(bench.look(try Sample.report(new)) == []) }
      let other = try Sample.report(new)
      #expect(try bench.handle(.looked(.report(other))) == [.connect(Sample.agent(new))])
      #expect(bench.handle(.connected).first?.event?.kind == .announce)
    }
  }

  @Test("Another reason is published when it has held")
  func twoReasons() throws {
    var bench = Bench.announced(try Sample.report())
    for _ in 0..<7 { _ = bench.look(unreachable) }
    for _ in 0..<6 { #expect(bench.look(.silent(.frozen)) == []) }
    #expect(bench.look(.silent(.frozen)) == [.offline])
  }

  @Test("Stopped for the hold: offline, stopped; with another dataset that is published")
  func stopped() throws {
    let report = try Sample.report("1", .disabled)
    var bench = Bench.announced(try Sample.report())
    for _ in 0..<6 { #expect(bench.look(report) == []) }
    let event = try #require(bench.handle(.looked(.report(report))).first?.event)
    #expect(event.kind == .offline && event.reason == .stopped)
    #expect(bench.look(report) == [])
    #expect(bench.look(try Sample.report("1", .disabled, on: .guest)) == [.dataset])
    #expect(bench.look(try Sample.report("1", .leader, on: .guest)) == [.heartbeat])
  }

  @Test("Gone, three times in a row: leave, once; less is not enough")
  func leaves() throws {
    let gone = try Sample.report("1", .disabled, dataset: RouterReport.Reading.none)
    var bench = Bench.announced(try Sample.report())
    #expect(bench.look(gone) == [])
    #expect(bench.look(try Sample.report()) == [])
    #expect(bench.look(gone) == [])
    #expect(bench.look(gone) == [])
    #expect(bench.look(unreachable) == [])
    for _ in 0..<2 { #expect(bench.look(gone) == []) }
    #expect(bench.look(gone) == [.leave])
    #expect(bench.look(gone) == [])
    #expect(bench.look(try Sample.report()) == [.announce])
  }

  @Test("Detached without a dataset is not gone")
  func idle() throws {
    var bench = Bench.announced(try Sample.report())
    let idle = try Sample.report("1", .detached, dataset: RouterReport.Reading.none)
    #expect(bench.look(idle) == [.heartbeat])
    #expect(bench.look(idle) == [])
  }

  @Test(
    "Another id, three times in a row: leave for the old one, a connection for the new one, and announce"
  )
  func factoryReset() throws {
    for state in [ThreadState.leader, .disabled] {
      let new = try Sample.report("2", state, on: .guest)
      var bench = Bench.announced(try Sample.report("1"))
      for _ in 0..<2 { #expect(bench.handle(.looked(.report(new))) == []) }
      #expect(
        try bench.handle(.looked(.report(new))) == [
          .publish(RouterEvent(.leave, of: Sample.agent("1"))), .connect(Sample.agent("2")),
        ])
      let event = try #require(bench.handle(.connected).first?.event)
      #expect(event.kind == .announce && event.agent == new.agent)
    }
  }

  @Test("Another id without a dataset: leave for the old one, and nothing for the new one")
  func factoryResetWithoutDataset() throws {
    let new = try Sample.report("2", .disabled, dataset: RouterReport.Reading.none)
    var bench = Bench.announced(try Sample.report("1"))
    for _ in 0..<2 { #expect(bench.handle(.looked(.report(new))) == []) }
    #expect(
      try bench.handle(.looked(.report(new))) == [
        .publish(RouterEvent(.leave, of: Sample.agent("1")))
      ])
    #expect(bench.handle(.looked(.report(new))) == [])
  }

  @Test("The connection is there again: what holds is published once more, also that it is offline")
  func reconnected() throws {
    let report = try Sample.report()
    var bench = Bench.announced(report)
    bench.handle(.disconnected)
    #expect(bench.look(try Sample.report("1", .leader, at: 2), after: 600) == [])
    #expect(bench.handle(.connected).first?.event?.kind == .dataset)
    bench.handle(.disconnected)
    #expect(bench.handle(.connected).first?.event?.kind == .heartbeat)
    for _ in 0..<7 { _ = bench.look(unreachable) }
    bench.handle(.disconnected)
    #expect(bench.handle(.connected).first?.event?.kind == .offline)
    #expect(bench.look(unreachable) == [])
  }

  @Test("A router that is gone or another while there is no connection leaves when there is one")
  func leavesLater() throws {
    var bench = Bench.announced(try Sample.report("1"))
    bench.handle(.disconnected)
    let new = try Sample.report("2")
    for _ in 0..<3 { #expect(bench.handle(.looked(.report(new))) == []) }
    #expect(
      try bench.handle(.connected) == [
        .publish(RouterEvent(.leave, of: Sample.agent("1"))), .connect(Sample.agent("2")),
      ])
  }

  @Test("A router that threadkeeper does not know is announced")
  func unknown() throws {
    var bench = Bench.announced(try Sample.report())
    let effects = bench.handle(.rejected(.heartbeat, code: "not_found", field: "border_agent_id"))
    #expect(effects.first?.event?.kind == .announce)
  }

  @Test("A rejected dataset is not repeated: announced without it, until it changes")
  func rejectedDataset() throws {
    var bench = Bench.announced(try Sample.report())
    let event = try #require(
      bench.handle(.rejected(.announce, code: "bad_value", field: "dataset")).first?.event)
    #expect(event.kind == .announce && event.dataset == nil)
    #expect(bench.look(try Sample.report()) == [])
    #expect(bench.look(try Sample.report("1", .leader, at: 2)) == [.dataset])
    #expect(bench.handle(.rejected(.dataset, code: "bad_value", field: "dataset")) == [])
    #expect(bench.look(try Sample.report("1", .leader, at: 2)) == [])
  }

  @Test("After any other rejection it is announced a minute later")
  func rejected() throws {
    var bench = Bench.announced(try Sample.report())
    #expect(bench.handle(.rejected(.announce, code: "not_sealed", field: nil)) == [])
    for _ in 0..<11 { #expect(!bench.look(try Sample.report()).contains(.announce)) }
    #expect(bench.look(try Sample.report()) == [.announce])
  }

  @Test("Whatever is answered, to each event, heartbeats, offline and leave go on")
  func falseAnswers() throws {
    for (code, field) in [
      ("not_sealed", nil), ("bad_value", "dataset"), ("not_found", "border_agent_id"),
    ]
      as [(String, String?)]
    {
      let report = try Sample.report()
      var bench = Bench.announced(report)
      var kinds: [InboundEventKind] = [.announce]
      // Each event is answered once.
      func look(_ look: RouterLook) {
        var new = bench.look(look)
        var rounds = 0
        while let kind = new.popLast(), rounds < 20 {
          rounds += 1
          kinds.append(kind)
          new += bench.handle(.rejected(kind, code: code, field: field), after: 0)
            .compactMap { $0.event?.kind }
        }
        #expect(rounds < 5, "\(code)")
      }
      for _ in 0..<120 { look(.report(report)) }
      // 10 minutes.
      #expect(kinds.count >= 10, "\(code)")
      kinds = []
      for _ in 0..<7 { look(unreachable) }
      #expect(kinds.contains(.offline), "\(code)")
      let gone = try Sample.report("1", .disabled, dataset: RouterReport.Reading.none)
      for _ in 0..<3 { look(.report(gone)) }
      #expect(kinds.contains(.leave), "\(code)")
    }
  }

  @Test("After an adoption the dataset is published, whether it has changed or not")
  func reportWanted() throws {
    var bench = Bench.announced(try Sample.report())
    let event = try #require(bench.handle(.reportWanted(nil)).first?.event)
    #expect(event.kind == .dataset && event.dataset != nil && event.adoptionFailure == nil)
    // Without a connection it is owed.
    _ = bench.handle(.disconnected)
    #expect(bench.handle(.reportWanted(.refused)) == [])
    let owed = try #require(bench.handle(.connected).first?.event)
    #expect(owed.kind == .dataset && owed.adoptionFailure == .refused)
    #expect(bench.handle(.connected).allSatisfy { $0.event?.kind != .dataset })
  }

  @Test(
    "While an order waits or is carried out, no other dataset is published, and no stop is news")
  func adopting() throws {
    var bench = Bench.announced(try Sample.report())
    bench.machine.isAdopting = true
    let other = try Sample.report(dataset: .complete(SampleNetwork.guest.dataset(at: 1)))
    for report in [try Sample.report("1", .disabled), other] {
      for effect in bench.machine.handle(.looked(.report(report)), at: .seconds(60)) {
        #expect(effect.event?.kind != .dataset)
        if case .log(let note) = effect { #expect(!note.text.contains("stopped")) }
      }
    }
    bench.machine.isAdopting = false
    #expect(bench.handle(.looked(.report(other))).contains { $0.event?.kind == .dataset })
  }

  @Test("The agent stops: offline without a reason, unless it is offline or was never announced")
  func stopping() throws {
    var bench = Bench.announced(try Sample.report())
    #expect(
      try bench.handle(.stopping) == [.publish(RouterEvent(.offline, of: Sample.agent("1")))])
    #expect(bench.handle(.stopping) == [])
    var fresh = Bench()
    #expect(fresh.handle(.stopping) == [])
  }

  @Test("The log says on which network a router is, and for which one it is configured")
  func elsewhere() throws {
    var machine = RouterMachine()
    _ = machine.handle(.looked(.report(try Sample.report())), at: .zero)
    _ = machine.handle(.connected, at: .zero)
    var report = try Sample.report("1", .child)
    report.network = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
    let notes = machine.handle(.looked(.report(report)), at: .seconds(5)).compactMap { effect in
      if case .log(let note) = effect { note.text } else { nil }
    }
    #expect(
      notes == [
        "\(report.agent): it is child on network 3333333344444444, and configured for 1111111122222222"
      ])
  }

  @Test("The log names what begins, once, and shows no secret")
  func notes() throws {
    var machine = RouterMachine()
    var text = ""
    for (index, look) in [
      RouterLook.report(try Sample.report()), unreachable, unreachable, .silent(.frozen),
      .report(try Sample.report()),
    ].enumerated() {
      for case .log(let note) in machine.handle(.looked(look), at: .seconds(index)) {
        text += note.text + "\n"
      }
    }
    #expect(text.components(separatedBy: "is it off?").count == 2)
    #expect(text.contains("frozen") && text.contains("it answers again"))
    #expect(!text.contains(SampleNetwork.home.networkKey))
  }
}

extension RouterMachine.Effect {
  fileprivate var event: RouterEvent? { if case .publish(let event) = self { event } else { nil } }
}
