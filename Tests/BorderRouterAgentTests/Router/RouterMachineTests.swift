import TestKit
import Testing
import ThreadDataset

import enum Home.OfflineReason
import struct Home.RouterMessage
import enum Home.ThreadState

@testable import BorderRouterAgent

/// A row of the machine's table each.
@Suite("What is published about a router") struct RouterMachineTests {
  private var machine = RouterMachine()
  private var now = Duration.zero

  @discardableResult private mutating func handle(_ event: RouterMachine.Event, after seconds: Int = 5)
    -> [RouterMachine.Effect]
  {
    now += .seconds(seconds)
    return machine.handle(event, at: now).filter { if case .log = $0 { false } else { true } }
  }

  /// The kinds of what is published after a look.
  @discardableResult private mutating func look(_ look: RouterLook, after seconds: Int = 5) -> [RouterMessage.Kind] {
    handle(.looked(look), after: seconds).compactMap { $0.event?.kind }
  }

  @discardableResult private mutating func look(_ report: RouterReport, after seconds: Int = 5) -> [RouterMessage.Kind]
  { look(.report(report), after: seconds) }

  private mutating func look(_ state: ThreadState, on network: SampleNetwork = .home, at time: UInt64 = 1) throws
    -> [RouterMessage.Kind]
  { look(try Sample.report(state, on: network, at: time)) }

  /// The event that follows.
  private mutating func event(_ event: RouterMachine.Event) throws -> RouterEvent {
    try #require(handle(event).first?.event)
  }

  /// From the beginning: announced and online.
  private mutating func announced(_ report: RouterReport? = nil, whenEmpty: RouterMachine.WhenEmpty = .publish) throws {
    (machine, now) = (RouterMachine(whenEmpty: whenEmpty), .zero)
    look(try report ?? Sample.report())
    handle(.connected)
  }

  private let unreachable = RouterLook.silent(.unreachable("Connection refused"))

  @Test("Nothing is published, up or stopped: a connection for this id comes first") mutating func connects() throws {
    for state in [ThreadState.leader, .detached, .disabled] {
      machine = RouterMachine()
      let report = try Sample.report(state)
      #expect(try handle(.looked(.report(report))) == [.connect(Sample.agent("1"))])
      // Not again while it is being made.
      #expect(handle(.looked(.report(report))) == [])
    }
  }

  @Test("Nothing is published, connected: it is announced with its dataset, address, network and state")
  mutating func announces() throws {
    let report = try Sample.report()
    handle(.looked(.report(report)))
    let event = try event(.connected)
    #expect(event.kind == .announce && event.agent == report.agent)
    #expect(event.dataset == report.active && event.network == report.network)
    #expect(event.threadState == .leader && event.extendedAddress == "0102030405060708")
  }

  @Test("A stopped router is announced as stopped, without the network that it goes on naming")
  mutating func announcesStopped() throws {
    handle(.looked(.report(try Sample.report(.disabled))))
    let event = try event(.connected)
    #expect(event.kind == .announce && event.threadState == .disabled && event.network == nil)
    #expect(handle(.stopping) == [])
  }

  @Test("Nothing is published, silent, or empty where that is a leave: nothing") mutating func nothing() throws {
    machine = RouterMachine(whenEmpty: .leave)
    for look in [unreachable, .report(try Sample.empty())] { for _ in 0..<20 { #expect(handle(.looked(look)) == []) } }
  }

  @Test("Nothing is published, empty: where it takes datasets it is announced, and that it has no network is")
  mutating func empty() throws {
    let empty = try Sample.empty()
    let news = RouterMachine.Effect.publish(RouterEvent(.offline, of: empty.agent, reason: .noNetwork))
    for (whenEmpty, isAnnounced) in [(RouterMachine.WhenEmpty.publish, false), (.announce, true)] {
      machine = RouterMachine(whenEmpty: whenEmpty)
      #expect(handle(.looked(.report(empty))) == [.connect(empty.agent)])
      let effects = handle(.connected)
      #expect(effects.last == news && effects.count == (isAnnounced ? 2 : 1))
      if isAnnounced {
        let first = try #require(effects.first?.event)
        #expect(first.kind == .announce && first.dataset == nil && first.threadState == .disabled)
      }
      for _ in 0..<11 { #expect(look(empty) == []) }
      #expect(look(empty) == [.offline])
      // threadkeeper does not know it.
      let again = handle(.rejected(.offline, code: "not_found", field: "border_agent_id"))
      #expect(again.compactMap { $0.event?.kind } == (isAnnounced ? [.announce, .offline] : []))
      // It gets one.
      let first = try event(.looked(.report(Sample.report())))
      #expect(first.kind == (isAnnounced ? .dataset : .announce) && first.dataset != nil)
    }
  }

  @Test("It loses its network: offline, no_network, after the hold and each minute; and back with a heartbeat")
  mutating func losesNetwork() throws {
    try announced()
    let empty = try Sample.empty()
    for _ in 0..<6 { #expect(look(empty) == []) }
    #expect(handle(.looked(.report(empty))) == [.publish(RouterEvent(.offline, of: empty.agent, reason: .noNetwork))])
    for _ in 0..<10 {
      for _ in 0..<11 { #expect(look(empty) == []) }
      #expect(look(empty) == [.offline])
    }
    handle(.disconnected)
    #expect(try event(.connected).reason == .noNetwork)
    #expect(look(try Sample.report()) == [.heartbeat])
  }

  @Test("That a router has no network is repeated each hour where threadkeeper does not know it")
  mutating func unknownWithoutNetwork() throws {
    let empty = try Sample.empty()
    handle(.looked(.report(empty)))
    handle(.connected)
    #expect(handle(.rejected(.offline, code: "not_found", field: "border_agent_id")) == [])
    #expect(look(empty, after: 3_500) == [] && look(empty, after: 100) == [.offline])
    #expect(look(empty, after: 60) == [])
  }

  @Test("A dataset that can't be used is not published; the router is announced all the same") mutating func unusable()
    throws
  {
    let report = try Sample.report(.detached, dataset: .unusable("it is a pending one"))
    handle(.looked(.report(report)))
    let event = try event(.connected)
    #expect(event.kind == .announce && event.dataset == nil && event.threadState == .detached)
    #expect(look(try Sample.report()) == [.dataset])
  }

  @Test("A dataset that lacks parameters is announced as what it is, once, and what it lacks is logged")
  mutating func partial() throws {
    let whole = try SampleNetwork.home.dataset(at: 1)
    let (first, second) = (whole.removing(.pskc), whole.removing(.pskc, .channelMask))
    handle(.looked(.report(try Sample.report(dataset: .partial(first)))))
    var event = try event(.connected)
    #expect(event.kind == .announce && event.dataset == first)
    #expect(RouterNote(event).text.contains("it lacks PSKc") && RouterNote(event).level == .warning)
    #expect(look(try Sample.report(dataset: .partial(first))) == [])
    event = try self.event(.looked(.report(try Sample.report(dataset: .partial(second)))))
    #expect(event.kind == .announce && event.dataset == second)
    #expect(look(try Sample.report()) == [.dataset])
  }

  @Test("Another dataset is published at once, also while detached, and not for another order of its TLVs")
  mutating func changedDataset() throws {
    try announced()
    #expect(try look(.detached, at: 2) == [.dataset])
    let same = try SampleNetwork.home.dataset(at: 2)
    let timestamp = try #require(same.activeTimestamp)
    let reordered = try same.removing(.activeTimestamp).replacing(.activeTimestamp(timestamp))
    #expect(reordered != same)
    #expect(look(try Sample.report(.detached, dataset: .complete(reordered))) == [])
  }

  @Test("Another network, partition or Thread state is a heartbeat at once") mutating func changedState() throws {
    try announced()
    #expect(try look(.detached) == [.heartbeat])
    var report = try Sample.report(.router)
    report.network = ExtendedPANID(hex: "3333333344444444")
    let event = try event(.looked(.report(report)))
    #expect(event.kind == .heartbeat && event.network == report.network && event.dataset == nil)
    report.partition = 7
    #expect(try self.event(.looked(.report(report))).partition == 7)
  }

  @Test("As before, a heartbeat is published each minute") mutating func heartbeats() throws {
    let report = try Sample.report()
    try announced(report)
    var times: [Duration] = []
    let start = now
    for _ in 0..<36 where look(report) == [.heartbeat] { times.append(now - start) }
    #expect(times == [.seconds(60), .seconds(120), .seconds(180)])
  }

  @Test("Silent for the hold: offline with the reason, once, and back with a heartbeat; never a leave")
  mutating func silent() throws {
    for (silence, reason) in [
      (RouterSilence.unreachable("refused"), OfflineReason?.some(.unreachable)), (.frozen, .frozen),
      (.garbage("/node is no JSON object"), .failing), (.garbage("x", status: 500), .failing),
      (.unchecked("nobody may look"), nil),
    ] {
      let report = try Sample.report()
      try announced(report)
      var published: [RouterMachine.Effect] = []
      for _ in 0..<6 { published += handle(.looked(.silent(silence))) }
      // 25 s.
      #expect(published == [])
      for _ in 0..<100 { published += handle(.looked(.silent(silence))) }
      var event = RouterEvent(.offline, of: report.agent, reason: reason)
      event.httpStatus = silence.status
      #expect(published == [.publish(event)])
      #expect(look(report) == [.heartbeat])
    }
  }

  @Test("A router that has never answered is reported after the hold; what is published of one says the rest")
  mutating func standing() throws {
    #expect(machine.standing(at: now) == nil)
    for _ in 0..<6 { #expect(look(unreachable) == []) }
    #expect(machine.standing(at: now) == nil)
    look(unreachable)
    #expect(machine.standing(at: now) == .fails("nothing accepts the connection (Connection refused): is it off?"))
    try announced()
    #expect(machine.standing(at: now) == .reportedByRouter)
    for _ in 0..<20 { look(unreachable) }
    #expect(machine.standing(at: now) == .reportedByRouter)
  }

  @Test("Silent or stopped for less than the hold, as in a restart: nothing") mutating func restart() throws {
    let report = try Sample.report()
    try announced(report)
    for _ in 0..<4 { #expect(look(unreachable) == []) }
    #expect(try look(.disabled) == [])
    #expect(look(report) == [])
  }

  @Test("Trouble that changes its kind is offline after the hold, and the reason is published once stable")
  mutating func alternating() throws {
    let report = try Sample.report()
    try announced(report)
    let kinds: [RouterLook] = [unreachable, .silent(.frozen), .report(try Sample.report(.disabled))]
    var published: [RouterMachine.Effect] = []
    for index in 0..<60 { published += handle(.looked(kinds[index % 3])) }
    #expect(published == [.publish(RouterEvent(.offline, of: report.agent))])
    for _ in 0..<6 { #expect(look(unreachable) == []) }
    #expect(handle(.looked(unreachable)) == [.publish(RouterEvent(.offline, of: report.agent, reason: .unreachable))])
    #expect(look(report) == [.heartbeat])
    for _ in 0..<6 { #expect(look(unreachable) == []) }
  }

  @Test("Each hour it is announced again, in place of a heartbeat") mutating func announcesAgain() throws {
    let report = try Sample.report()
    try announced(report)
    var kinds: [RouterMessage.Kind] = []
    for _ in 0..<120 { kinds += look(report, after: 60) }
    #expect(kinds.count { $0 == .announce } == 2 && kinds.count == 120)
    #expect(kinds[59] == .announce && kinds[119] == .announce)
  }

  @Test("Two routers whose addresses are swapped: neither leaves, and both are announced") mutating func swapped()
    throws
  {
    for (old, new) in [("1", "2"), ("2", "1")] as [(Character, Character)] {
      try announced(Sample.report(of: old))
      machine.elsewhere = [try Sample.agent(old)]
      for _ in 0..<2 { #expect(look(try Sample.report(of: new)) == []) }
      let other = try Sample.report(of: new)
      #expect(try handle(.looked(.report(other))) == [.connect(Sample.agent(new))])
      #expect(handle(.connected).first?.event?.kind == .announce)
    }
  }

  @Test("Another reason is published when it has held") mutating func twoReasons() throws {
    try announced()
    for _ in 0..<7 { look(unreachable) }
    for _ in 0..<6 { #expect(look(.silent(.frozen)) == []) }
    #expect(look(.silent(.frozen)) == [.offline])
  }

  @Test("Stopped for the hold: offline, stopped; with another dataset that is published") mutating func stopped() throws
  {
    let report = try Sample.report(.disabled)
    try announced()
    for _ in 0..<6 { #expect(look(report) == []) }
    let event = try event(.looked(.report(report)))
    #expect(event.kind == .offline && event.reason == .stopped)
    #expect(look(report) == [])
    #expect(try look(.disabled, on: .guest) == [.dataset])
    #expect(try look(.leader, on: .guest) == [.heartbeat])
  }

  @Test("Empty, three times in a row, where that is a leave: leave, once; less is not enough") mutating func leaves()
    throws
  {
    let empty = try Sample.empty()
    try announced(whenEmpty: .leave)
    #expect(look(empty) == [])
    #expect(look(try Sample.report()) == [])
    #expect(look(empty) == [])
    #expect(look(empty) == [])
    #expect(look(unreachable) == [])
    for _ in 0..<2 { #expect(look(empty) == []) }
    #expect(look(empty) == [.leave])
    #expect(look(empty) == [])
    #expect(look(try Sample.report()) == [.announce])
  }

  @Test("Detached without a dataset is not empty") mutating func idle() throws {
    try announced()
    let idle = try Sample.report(.detached, dataset: RouterReport.Reading.none)
    #expect(look(idle) == [.heartbeat])
    #expect(look(idle) == [])
  }

  @Test("Another id, three times in a row: leave for the old one, a connection for the new one, and announce")
  mutating func factoryReset() throws {
    for state in [ThreadState.leader, .disabled] {
      let new = try Sample.report(state, of: "2", on: .guest)
      try announced()
      for _ in 0..<2 { #expect(handle(.looked(.report(new))) == []) }
      #expect(
        try handle(.looked(.report(new))) == [
          .publish(RouterEvent(.leave, of: Sample.agent("1"))), .connect(Sample.agent("2")),
        ])
      let event = try event(.connected)
      #expect(event.kind == .announce && event.agent == new.agent)
    }
  }

  @Test("Another id without a dataset: leave for the old one, and the new one is announced where it takes them")
  mutating func factoryResetWithoutDataset() throws {
    let new = try Sample.empty("2")
    for (whenEmpty, kinds) in [
      (RouterMachine.WhenEmpty.publish, [.offline]), (.announce, [.announce, .offline]), (.leave, nil),
    ] as [(RouterMachine.WhenEmpty, [RouterMessage.Kind]?)] {
      try announced(whenEmpty: whenEmpty)
      for _ in 0..<2 { #expect(handle(.looked(.report(new))) == []) }
      let leave = RouterMachine.Effect.publish(RouterEvent(.leave, of: try Sample.agent("1")))
      #expect(try handle(.looked(.report(new))) == (kinds == nil ? [leave] : [leave, .connect(Sample.agent("2"))]))
      #expect(handle(.looked(.report(new))) == [])
      #expect(handle(.connected).compactMap { $0.event?.kind } == kinds ?? [])
    }
  }

  @Test("The connection is there again: what holds is published once more, also that it is offline")
  mutating func reconnected() throws {
    let report = try Sample.report()
    try announced(report)
    handle(.disconnected)
    #expect(look(try Sample.report(.leader, at: 2), after: 600) == [])
    #expect(handle(.connected).first?.event?.kind == .dataset)
    handle(.disconnected)
    #expect(handle(.connected).first?.event?.kind == .heartbeat)
    for _ in 0..<7 { look(unreachable) }
    handle(.disconnected)
    #expect(handle(.connected).first?.event?.kind == .offline)
    #expect(look(unreachable) == [])
  }

  @Test("A router that is another one while there is no connection leaves when there is one")
  mutating func leavesLater() throws {
    try announced()
    handle(.disconnected)
    let new = try Sample.report(of: "2")
    for _ in 0..<3 { #expect(handle(.looked(.report(new))) == []) }
    #expect(
      try handle(.connected) == [.publish(RouterEvent(.leave, of: Sample.agent("1"))), .connect(Sample.agent("2"))])
  }

  @Test("A router that threadkeeper does not know is announced") mutating func unknown() throws {
    try announced()
    let effects = handle(.rejected(.heartbeat, code: "not_found", field: "border_agent_id"))
    #expect(effects.first?.event?.kind == .announce)
  }

  @Test("A rejected dataset is not repeated: announced without it, until it changes") mutating func rejectedDataset()
    throws
  {
    try announced()
    let event = try event(.rejected(.announce, code: "bad_value", field: "dataset"))
    #expect(event.kind == .announce && event.dataset == nil)
    #expect(look(try Sample.report()) == [])
    #expect(try look(.leader, at: 2) == [.dataset])
    #expect(handle(.rejected(.dataset, code: "bad_value", field: "dataset")) == [])
    #expect(try look(.leader, at: 2) == [])
  }

  @Test("After any other rejection it is announced a minute later") mutating func rejected() throws {
    try announced()
    #expect(handle(.rejected(.announce, code: "not_sealed", field: nil)) == [])
    for _ in 0..<11 { #expect(!look(try Sample.report()).contains(.announce)) }
    #expect(look(try Sample.report()) == [.announce])
  }

  @Test("Whatever is answered, to each event, heartbeats, offline and leave go on") mutating func falseAnswers() throws
  {
    for (code, field) in [("not_sealed", nil), ("bad_value", "dataset"), ("not_found", "border_agent_id")]
      as [(String, String?)]
    {
      let report = try Sample.report()
      try announced(report)
      var kinds: [RouterMessage.Kind] = [.announce]
      // Each event is answered once.
      func take(_ look: RouterLook) {
        var new = self.look(look)
        var rounds = 0
        while let kind = new.popLast(), rounds < 20 {
          rounds += 1
          kinds.append(kind)
          new += handle(.rejected(kind, code: code, field: field), after: 0).compactMap { $0.event?.kind }
        }
        #expect(rounds < 5, "\(code)")
      }
      for _ in 0..<120 { take(.report(report)) }
      // 10 minutes.
      #expect(kinds.count >= 10, "\(code)")
      kinds = []
      for _ in 0..<7 { take(unreachable) }
      #expect(kinds.contains(.offline), "\(code)")
      let reset = try Sample.empty("2")
      for _ in 0..<3 { take(.report(reset)) }
      #expect(kinds.contains(.leave), "\(code)")
    }
  }

  @Test("After an adoption the dataset is published, whether it has changed or not") mutating func reportWanted() throws
  {
    try announced()
    let wanted = try event(.reportWanted(nil))
    #expect(wanted.kind == .dataset && wanted.dataset != nil && wanted.adoptionFailure == nil)
    // Without a connection it is owed.
    handle(.disconnected)
    #expect(handle(.reportWanted(.refused)) == [])
    let owed = try event(.connected)
    #expect(owed.kind == .dataset && owed.adoptionFailure == .refused)
    #expect(handle(.connected).allSatisfy { $0.event?.kind != .dataset })
  }

  @Test("While an order waits or is carried out, no other dataset is published, and no stop is news")
  mutating func adopting() throws {
    try announced()
    machine.isAdopting = true
    let other = try Sample.report(dataset: .complete(SampleNetwork.guest.dataset(at: 1)))
    for report in [try Sample.report(.disabled), other] {
      for effect in machine.handle(.looked(.report(report)), at: .seconds(60)) {
        #expect(effect.event?.kind != .dataset)
        if case .log(let note) = effect { #expect(!note.text.contains("stopped")) }
      }
    }
    machine.isAdopting = false
    #expect(handle(.looked(.report(other))).contains { $0.event?.kind == .dataset })
  }

  @Test("The agent stops: offline without a reason, unless it is offline or was never announced")
  mutating func stopping() throws {
    try announced()
    #expect(try handle(.stopping) == [.publish(RouterEvent(.offline, of: Sample.agent("1")))])
    #expect(handle(.stopping) == [])
    machine = RouterMachine()
    #expect(handle(.stopping) == [])
  }

  @Test("The log says on which network a router is, and for which one it is configured") mutating func elsewhere()
    throws
  {
    var machine = RouterMachine()
    _ = machine.handle(.looked(.report(try Sample.report())), at: .zero)
    _ = machine.handle(.connected, at: .zero)
    var report = try Sample.report(.child)
    report.network = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
    let notes = machine.handle(.looked(.report(report)), at: .seconds(5)).compactMap { effect in
      if case .log(let note) = effect { note.text } else { nil }
    }
    #expect(notes == ["\(report.agent): it is child on network 3333333344444444, and configured for 1111111122222222"])
  }

  @Test("The log names what begins, once, and shows no secret") mutating func notes() throws {
    var machine = RouterMachine()
    var text = ""
    for (index, look) in [
      RouterLook.report(try Sample.report()), unreachable, unreachable, .silent(.frozen), .report(try Sample.report()),
    ].enumerated() {
      for case .log(let note) in machine.handle(.looked(look), at: .seconds(index)) { text += note.text + "\n" }
    }
    #expect(text.components(separatedBy: "is it off?").count == 2)
    #expect(text.contains("frozen") && text.contains("it answers again"))
    #expect(!text.contains(SampleNetwork.home.networkKey))
  }
}

extension RouterMachine.Effect {
  fileprivate var event: RouterEvent? { if case .publish(let event) = self { event } else { nil } }
}
