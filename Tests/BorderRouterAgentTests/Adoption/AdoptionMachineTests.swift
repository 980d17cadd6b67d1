import TestKit
import Testing
import ThreadDataset

import enum Home.AdoptionState
import enum Home.ThreadState

@testable import BorderRouterAgent

/// A row of the machine's table each.
@Suite("The way of a router to another dataset") struct AdoptionMachineTests {
  private let home: OperationalDataset
  private let guest: OperationalDataset
  private let order: AdoptionOrder

  init() throws {
    home = try SampleNetwork.home.dataset(at: 1)
    guest = try SampleNetwork.guest.dataset(at: 1)
    order = try Sample.order("a-1", home)
  }

  private var machine = AdoptionMachine()
  private var now = Duration.zero
  private var log = ""
  private var bodies: [String] = []
  private var failure: AdoptionState?

  /// What follows, in words: requests as `PUT /path`, or what is asked of the state; `look`; `finished`.
  private mutating func handle(_ event: AdoptionMachine.Event) -> [String] {
    var words: [String] = []
    for effect in machine.handle(event, at: now) {
      switch effect {
      case .log(let note): log += note.text + "\n"
      case .finished(let failure):
        self.failure = failure
        words.append("finished")
      case .look: words.append("look")
      case .request(let request):
        bodies.append(String(decoding: request.body, as: UTF8.self))
        words.append(request.path == "/node/state" ? bodies[bodies.count - 1] : "\(request)")
      }
    }
    return words
  }

  /// An order comes while the router is so.
  @discardableResult private mutating func ordered(_ report: RouterReport, _ order: AdoptionOrder? = nil) -> [String] {
    handle(.ordered(order ?? self.order, report))
  }

  @discardableResult private mutating func answered(_ status: Int?) -> [String] { handle(.answered(status)) }

  @discardableResult private mutating func looked(_ report: RouterReport) -> [String] {
    handle(.looked(.report(report)))
  }

  @discardableResult private mutating func looked(_ state: ThreadState, _ network: SampleNetwork = .guest) throws
    -> [String]
  { looked(try Sample.report(state, on: network)) }

  /// From the beginning: an order for a router on the other network, and what was answered since then.
  private mutating func begin(_ state: ThreadState = .router, _ steps: Int?...) throws {
    (machine, now, log, failure) = (AdoptionMachine(), .zero, "", nil)
    ordered(try Sample.report(state, on: .guest))
    for step in steps {
      guard answered(step) == ["look"], step == 200 else { continue }
      // Disabled, and nothing is pending.
      try looked(.disabled)
    }
  }

  private let active = "PUT /node/dataset/active"
  private let pending = "PUT /node/dataset/pending"

  @Test("A router that uses the dataset is done at once") mutating func alreadyThere() throws {
    #expect(ordered(try Sample.report()) == ["finished"])
    #expect(!machine.isBusy)
  }

  @Test("A running router: disable, set, enable, and done when it is attached on the network") mutating func moved()
    throws
  {
    #expect(ordered(try Sample.report(.router, on: .guest)) == ["\"disable\""])
    #expect(machine.isChanging)
    #expect(answered(200) == ["look"])
    #expect(machine.isChanging)
    #expect(try looked(.disabled) == [active])
    #expect(bodies.last == home.hex)
    #expect(answered(200) == ["\"enable\""])
    #expect(answered(200) == [])
    #expect(!machine.isChanging && machine.isBusy)
    for state in [ThreadState.disabled, .detached] { #expect(try looked(state, .home) == []) }
    // Configured for it, and still on the other one.
    var elsewhere = try Sample.report(.child)
    elsewhere.network = guest.extendedPANID
    #expect(looked(elsewhere) == [])
    #expect(handle(.looked(.silent(.frozen))) == [])
    #expect(looked(try Sample.report(.child, of: "2")) == [])
    #expect(try looked(.child, .home) == ["finished"])
    #expect(failure == nil)
    #expect(log.contains("it is on network 1111111122222222, as child"))
  }

  @Test("Attached alone, it is done when another router is there, or after a minute, with a warning")
  mutating func alone() throws {
    try begin(.router, 200, 200, 200)
    var alone = try Sample.report(.leader)
    alone.isAlone = true
    for second in [0, 30, 59] {
      now = .seconds(60 + second)
      #expect(looked(alone) == [])
    }
    var joined = self
    #expect(try joined.looked(.router, .home) == ["finished"])
    #expect(joined.failure == nil && !joined.log.contains("alone"))
    now = .seconds(120)
    #expect(looked(alone) == ["finished"])
    #expect(failure == nil && log.contains("as leader, and alone"))
  }

  @Test("A stopped router: set, enable; 201 for its first dataset") mutating func stopped() throws {
    #expect(ordered(try Sample.empty()) == [active])
    #expect(answered(201) == ["\"enable\""])
  }

  @Test("A newer dataset of its own network is scheduled, and has the delay and more to take effect")
  mutating func scheduled() throws {
    let newer = try SampleNetwork.home.with { $0.channel = 25 }.dataset(at: 5)
    let order = try Sample.order("a-2", newer)
    #expect(ordered(try Sample.report(), order) == [pending])
    #expect(answered(201) == [])
    #expect(log.contains("its whole network changes in 60 s"))
    now = .seconds(149)
    #expect(looked(try Sample.report()) == [])
    var late = self
    late.now = .seconds(150)
    #expect(late.looked(try Sample.report()) == ["finished"])
    #expect(late.failure == .notAttached)
    let done = try Sample.report(dataset: .complete(newer))
    #expect(looked(done) == ["finished"])
  }

  @Test("A pending dataset that is not taken changes nothing", arguments: [400, 500, nil]) mutating func notScheduled(
    _ status: Int?
  ) throws {
    let newer = try SampleNetwork.home.with { $0.channel = 25 }.dataset(at: 5)
    ordered(try Sample.report(), try Sample.order("a-2", newer))
    #expect(answered(status) == ["finished"])
    #expect(failure == (status == nil ? .noAnswer : .refused))
  }

  @Test(
    "A verdict of the leader is said in words, and tried again until a limit",
    arguments: [
      (409, "another change is pending on its network", AdoptionState.pendingChange),
      (412, "it is detached", AdoptionState.refused), (504, "its leader does not answer", AdoptionState.refused),
    ]) mutating func verdict(_ status: Int, _ words: String, _ code: AdoptionState) throws
  {
    let newer = try SampleNetwork.home.with { $0.channel = 25 }.dataset(at: 5)
    #expect(ordered(try Sample.report(), try Sample.order("a-2", newer)) == [pending])
    #expect(answered(status) == [])
    #expect(machine.isBusy && !machine.isChanging)
    #expect(log.contains("it does not set the pending dataset (\(status): \(words)"))
    #expect(log.contains("it is tried again"))
    let logged = log
    now = .seconds(9)
    #expect(looked(try Sample.report()) == [])
    now = .seconds(10)
    // Detached it is not moved alone: that would cut it off from the others.
    #expect(looked(try Sample.report(.detached)) == [])
    #expect(handle(.looked(.silent(.frozen))) == [])
    #expect(looked(try Sample.report()) == [pending])
    #expect(answered(status) == [])
    #expect(log == logged)
    var taken = self
    taken.now = .seconds(20)
    #expect(try taken.looked(Sample.report()) == [pending])
    #expect(taken.answered(200) == [])
    #expect(taken.log.contains("its whole network changes in 60 s"))
    var landed = self
    #expect(try landed.looked(Sample.report(dataset: .complete(newer))) == ["finished"])
    #expect(landed.failure == nil)
    now = .seconds(90)
    #expect(looked(try Sample.report()) == [pending])
    #expect(answered(status) == ["finished"])
    #expect(failure == code)
  }

  @Test("Where the same change is pending already, it waits for that") mutating func samePending() throws {
    let newer = try SampleNetwork.home.with { $0.channel = 25 }.dataset(at: 5)
    let timestamp = try #require(Timestamp(seconds: 5))
    ordered(try Sample.report(), try Sample.order("a-2", newer))
    answered(409)
    var report = try Sample.report()
    report.pending = try newer.replacing(.pendingTimestamp(timestamp), .delayTimer(120_000))
    #expect(looked(report) == [])
    #expect(log.contains("its whole network changes in 120 s"))
    now = .seconds(209)
    #expect(looked(report) == [])
    #expect(looked(try Sample.report(dataset: .complete(newer))) == ["finished"])
  }

  @Test("No answer to disabling: it is enabled where a look finds it disabled, and else left alone")
  mutating func notDisabled() throws {
    try begin()
    #expect(answered(nil) == ["look"])
    var running = self
    #expect(try running.looked(.router) == ["finished"])
    #expect(try looked(.disabled) == ["\"enable\""])
    #expect(answered(200) == [])
    #expect(try looked(.detached) == ["finished"])
    #expect(log.contains("it does not disable Thread (no answer); it is put back"))
    #expect(log.contains("it has its previous dataset, and Thread as before"))
  }

  @Test("409 is named; Thread is as before, and what something else has started runs on") mutating func conflict()
    throws
  {
    try begin(.router, 200)
    #expect(answered(409) == ["look"])
    #expect(try looked(.disabled) == ["\"enable\""])
    #expect(answered(200) == [])
    #expect(try looked(.router) == ["finished"])
    #expect(log.contains("it does not set the dataset (409: Thread runs on it)"))
    try begin(.disabled)
    #expect(answered(409) == ["look"])
    #expect(try looked(.router) == ["finished"])
  }

  @Test("No answer to the dataset: the old one is set where a look finds the new one") mutating func unknownDataset()
    throws
  {
    try begin(.router, 200)
    #expect(answered(nil) == ["look"])
    #expect(try looked(.disabled, .home) == [active])
    #expect(bodies.last == guest.hex)
    #expect(answered(200) == [])
    #expect(try looked(.disabled) == ["\"enable\""])
    #expect(answered(200) == [])
    #expect(try looked(.detached) == ["finished"])
  }

  @Test("Not enabled, or not attached in time: the old dataset, and Thread as before") mutating func notAttached()
    throws
  {
    for state in [ThreadState.router, .disabled] {
      if state == .disabled { try begin(state, 200, 200) } else { try begin(state, 200, 200, 200) }
      now = .seconds(90)
      #expect(try looked(.detached, .home) == ["look"])
      #expect(try looked(.detached, .home) == ["\"disable\""])
      #expect(answered(200) == [])
      #expect(try looked(.disabled, .home) == [active])
      #expect(bodies.last == guest.hex)
      #expect(answered(200) == [])
      #expect(try looked(.disabled) == [state == .disabled ? "finished" : "\"enable\""])
    }
    try begin(.router, 200, 200)
    #expect(answered(500) == ["look"])
  }

  @Test("A request that fails while it is put back is tried again, by what the next look shows")
  mutating func restoresAgain() throws {
    try begin(.router, 200, 200, 500)
    for status in [nil, 500, 409] {
      #expect(try looked(.disabled, .home) == [active])
      #expect(answered(status) == [])
      #expect(handle(.looked(.silent(.frozen))) == [])
      now += .seconds(60)
    }
    #expect(try looked(.disabled, .home) == [active])
    #expect(answered(200) == [])
    for status in [nil, 500] {
      #expect(try looked(.disabled) == ["\"enable\""])
      #expect(answered(status) == [])
      #expect(machine.isChanging)
    }
    #expect(try looked(.detached) == ["finished"])
  }

  @Test("When it cannot be put back for 5 minutes, the log says what to do by hand") mutating func notRestored() throws
  {
    for look in [RouterLook.report(try Sample.report(.disabled)), .silent(.frozen)] {
      try begin(.router, 200, 200, 500)
      now = .seconds(299)
      _ = handle(.looked(look))
      answered(nil)
      #expect(machine.isBusy)
      now = .seconds(300)
      #expect(handle(.looked(look)) == ["finished"])
      #expect(
        log.contains(
          "give it its dataset by hand, and enable Thread: `sudo ot-ctl ifconfig up`, then `sudo ot-ctl thread start`"))
      #expect(!machine.isBusy)
    }
  }

  @Test("A router without a complete dataset to go back to is stopped, unless it has it still")
  mutating func nothingToGoBackTo() throws {
    let partial = try Sample.report(.detached, dataset: .unusable("it lacks parameters"))
    ordered(partial)
    answered(200)
    var disabled = partial
    disabled.state = .disabled
    looked(disabled)
    var unset = self
    unset.answered(400)
    #expect(unset.looked(disabled) == ["\"enable\""])
    unset.answered(200)
    #expect(unset.looked(partial) == ["finished"])
    #expect(!unset.log.contains("Thread is stopped"))
    answered(201)
    answered(500)
    #expect(try looked(.detached, .home) == ["\"disable\""])
    answered(200)
    #expect(try looked(.disabled, .home) == ["finished"])
    #expect(log.contains("Thread is stopped on it"))
  }

  @Test("A pending change to another dataset: nothing is begun, and one that comes meanwhile stops it")
  mutating func pendingChange() throws {
    let timestamp = try #require(Timestamp(seconds: 50))
    var report = try Sample.report(.router, on: .guest)
    report.pending = try SampleNetwork.guest.with { $0.channel = 25 }.dataset(at: 9).replacing(
      .pendingTimestamp(timestamp), .delayTimer(100))
    var (refused, silent) = (self, self)
    #expect(refused.ordered(report) == ["finished"])
    #expect(refused.failure == .pendingChange)
    #expect(refused.log.contains("a change to another dataset is pending"))
    ordered(try Sample.report(.router, on: .guest))
    #expect(answered(200) == ["look"])
    report.state = .disabled
    #expect(looked(report) == ["look"])
    #expect(looked(report) == ["\"enable\""])
    // Silent: nothing is set either.
    silent.ordered(try Sample.report(.router, on: .guest))
    silent.answered(200)
    #expect(silent.handle(.looked(.silent(.frozen))) == ["look"])
  }

  @Test("Thread is disabled for a moment only, but on a router that was stopped or has no way back")
  mutating func enablesAgain() throws {
    #expect(!machine.enablesAgain)
    try begin()
    #expect(machine.enablesAgain)
    try begin(.router, 200, 200, 500)
    #expect(try looked(.detached, .home) == ["\"disable\""])
    #expect(machine.enablesAgain)
    try begin(.disabled, 200, 500)
    #expect(try looked(.detached, .home) == ["\"disable\""])
    #expect(!machine.enablesAgain)
    machine = AdoptionMachine()
    ordered(try Sample.report(.detached, dataset: .unusable("it lacks parameters")))
    #expect(machine.enablesAgain)
    answered(nil)
    #expect(!machine.enablesAgain)
  }

  @Test("After the agent's death Thread is enabled where it is disabled and a dataset is there") func afterDeath()
    throws
  {
    let enable = HTTPRequest.setThread(enabled: true)
    for network in [SampleNetwork.home, .guest] {
      let report = try Sample.report(.disabled, on: network)
      #expect(AdoptionRestoration.step(afterDeath: report) == enable)
    }
    let partial = RouterReport.Reading.unusable("it lacks parameters")
    #expect(AdoptionRestoration.step(afterDeath: try Sample.report(.disabled, dataset: partial)) == enable)
    for report in [try Sample.empty(), try Sample.report(.detached), try Sample.report(.child)] {
      #expect(AdoptionRestoration.step(afterDeath: report) == nil)
    }
  }

  @Test("An order during another one is not begun, and no line of the log shows a key") mutating func busy() throws {
    try begin(.router, 200)
    #expect(ordered(try Sample.report(on: .guest)) == [])
    answered(409)
    for network in [SampleNetwork.home, .guest] {
      #expect(!log.contains(network.networkKey) && !log.contains(network.pskc))
    }
  }
}
