// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

import enum Home.AdoptionState
import enum Home.ThreadState

@testable import BorderRouterAgent

/// A row of the machine's table each.
@Suite("The way of a router to another dataset")
struct AdoptionMachineTests {
  private let home: OperationalDataset
  private let guest: OperationalDataset
  private let order: AdoptionOrder

  init() throws {
    home = try SampleNetwork.home.dataset(at: 1)
    guest = try SampleNetwork.guest.dataset(at: 1)
    order = try Sample.order("a-1", home)
  }

  /// What follows, in words: requests as `PUT /path`, `finished`; and the log.
  private struct Bench {
    var machine = AdoptionMachine()
    var log = ""
    var now = Duration.zero
    var bodies: [String] = []
    var failure: AdoptionState?

    mutating func handle(_ event: AdoptionMachine.Event) -> [String] {
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
          words.append(
            request.path == "/node/state" ? bodies[bodies.count - 1] : "\(request)")
        }
      }
      return words
    }
  }

  private let active = "PUT /node/dataset/active"
  private let pending = "PUT /node/dataset/pending"

  private func bench(_ state: ThreadState = .router, _ steps: Int?...) throws -> Bench {
    var bench = Bench()
    _ = bench.handle(.ordered(order, try Sample.report("1", state, on: .guest)))
    for step in steps {
      guard bench.handle(.answered(step)) == ["look"], step == 200 else { continue }
      // Disabled, and nothing is pending.
      _ = bench.handle(.looked(.report(try Sample.report("1", .disabled, on: .guest))))
    }
    return bench
  }

  @Test("A router that uses the dataset is done at once")
  func alreadyThere() throws {
    var bench = Bench()
    #expect(bench.handle(.ordered(order, try Sample.report())) == ["finished"])
    #expect(!bench.machine.isBusy)
  }

  @Test("A running router: disable, set, enable, and done when it is attached on the network")
  func moved() throws {
    var bench = Bench()
    #expect(
      bench.handle(.ordered(order, try Sample.report("1", .router, on: .guest))) == ["\"disable\""])
    #expect(bench.machine.isChanging)
    #expect(bench.handle(.answered(200)) == ["look"])
    #expect(bench.machine.isChanging)
    #expect(
      bench.handle(.looked(.report(try Sample.report("1", .disabled, on: .guest)))) == [active])
    #expect(bench.bodies.last == home.hex)
    #expect(bench.handle(.answered(200)) == ["\"enable\""])
    #expect(bench.handle(.answered(200)) == [])
    #expect(!bench.machine.isChanging && bench.machine.isBusy)
    for state in [ThreadState.disabled, .detached] {
      #expect(bench.handle(.looked(.report(try Sample.report("1", state)))) == [])
    }
    // Configured for it, and still on the other one.
    var elsewhere = try Sample.report("1", .child)
    elsewhere.network = guest.extendedPANID
    #expect(bench.handle(.looked(.report(elsewhere))) == [])
    #expect(bench.handle(.looked(.silent(.frozen))) == [])
    #expect(bench.handle(.looked(.report(try Sample.report("2", .child)))) == [])
    #expect(bench.handle(.looked(.report(try Sample.report("1", .child)))) == ["finished"])
    #expect(bench.failure == nil)
    #expect(bench.log.contains("it is on network 1111111122222222, as child"))
  }

  @Test(
    "Attached alone, it is done when another router is there, or after a minute, with a warning")
  func alone() throws {
    var bench = try bench(.router, 200, 200, 200)
    var alone = try Sample.report("1", .leader)
    alone.isAlone = true
    for second in [0, 30, 59] {
      bench.now = .seconds(60 + second)
      #expect(bench.handle(.looked(.report(alone))) == [])
    }
    var joined = bench
    #expect(joined.handle(.looked(.report(try Sample.report("1", .router)))) == ["finished"])
    #expect(joined.failure == nil && !joined.log.contains("alone"))
    bench.now = .seconds(120)
    #expect(bench.handle(.looked(.report(alone))) == ["finished"])
    #expect(bench.failure == nil && bench.log.contains("as leader, and alone"))
  }

  @Test("A stopped router: set, enable; 201 for its first dataset")
  func stopped() throws {
    var bench = Bench()
    let report = try Sample.report("1", .disabled, dataset: RouterReport.Reading.none)
    #expect(bench.handle(.ordered(order, report)) == [active])
    #expect(bench.handle(.answered(201)) == ["\"enable\""])
  }

  @Test(
    "A newer dataset of its own network is scheduled, and has the delay and more to take effect")
  func scheduled() throws {
    let newer = try SampleNetwork.home.with { $0.channel = 25 }.dataset(at: 5)
    let order = try Sample.order("a-2", newer)
    var bench = Bench()
    #expect(bench.handle(.ordered(order, try Sample.report())) == [pending])
    #expect(bench.handle(.answered(201)) == [])
    #expect(bench.log.contains("its whole network changes in 60 s"))
    bench.now = .seconds(149)
    #expect(bench.handle(.looked(.report(try Sample.report()))) == [])
    var late = bench
    late.now = .seconds(150)
    #expect(late.handle(.looked(.report(try Sample.report()))) == ["finished"])
    #expect(late.failure == .notAttached)
    let done = try Sample.report("1", dataset: .complete(newer))
    #expect(bench.handle(.looked(.report(done))) == ["finished"])
  }

  @Test("A pending dataset that is not taken changes nothing", arguments: [400, 409, 500, nil])
  func notScheduled(_ status: Int?) throws {
    let newer = try SampleNetwork.home.with { $0.channel = 25 }.dataset(at: 5)
    var bench = Bench()
    _ = bench.handle(
      .ordered(
        try Sample.order("a-2", newer), try Sample.report()))
    #expect(bench.handle(.answered(status)) == ["finished"])
    #expect(bench.failure == (status == nil ? .noAnswer : .refused))
  }

  private func report(_ state: ThreadState, _ network: SampleNetwork = .guest) throws -> RouterLook
  {
    .report(try Sample.report("1", state, on: network))
  }

  @Test("No answer to disabling: it is enabled where a look finds it disabled, and else left alone")
  func notDisabled() throws {
    var bench = try bench()
    #expect(bench.handle(.answered(nil)) == ["look"])
    var running = bench
    #expect(running.handle(.looked(try report(.router))) == ["finished"])
    #expect(bench.handle(.looked(try report(.disabled))) == ["\"enable\""])
    #expect(bench.handle(.answered(200)) == [])
    #expect(bench.handle(.looked(try report(.detached))) == ["finished"])
    #expect(bench.log.contains("it does not disable Thread (no answer); it is put back"))
    #expect(bench.log.contains("it has its previous dataset, and Thread as before"))
  }

  @Test("409 is named; Thread is as before, and what something else has started runs on")
  func conflict() throws {
    var bench = try bench(.router, 200)
    #expect(bench.handle(.answered(409)) == ["look"])
    #expect(bench.handle(.looked(try report(.disabled))) == ["\"enable\""])
    #expect(bench.handle(.answered(200)) == [])
    #expect(bench.handle(.looked(try report(.router))) == ["finished"])
    #expect(bench.log.contains("it does not set the dataset (409: Thread runs on it)"))
    var stopped = try self.bench(.disabled)
    #expect(stopped.handle(.answered(409)) == ["look"])
    #expect(stopped.handle(.looked(try report(.router))) == ["finished"])
  }

  @Test("No answer to the dataset: the old one is set where a look finds the new one")
  func unknownDataset() throws {
    var bench = try bench(.router, 200)
    #expect(bench.handle(.answered(nil)) == ["look"])
    #expect(bench.handle(.looked(try report(.disabled, .home))) == [active])
    #expect(bench.bodies.last == guest.hex)
    #expect(bench.handle(.answered(200)) == [])
    #expect(bench.handle(.looked(try report(.disabled))) == ["\"enable\""])
    #expect(bench.handle(.answered(200)) == [])
    #expect(bench.handle(.looked(try report(.detached))) == ["finished"])
  }

  @Test("Not enabled, or not attached in time: the old dataset, and Thread as before")
  func notAttached() throws {
    for state in [ThreadState.router, .disabled] {
      var bench = state == .disabled ? try bench(state, 200, 200) : try bench(state, 200, 200, 200)
      bench.now = .seconds(90)
      #expect(bench.handle(.looked(try report(.detached, .home))) == ["look"])
      #expect(bench.handle(.looked(try report(.detached, .home))) == ["\"disable\""])
      #expect(bench.handle(.answered(200)) == [])
      #expect(bench.handle(.looked(try report(.disabled, .home))) == [active])
      #expect(bench.bodies.last == guest.hex)
      #expect(bench.handle(.answered(200)) == [])
      #expect(
        bench.handle(.looked(try report(.disabled)))
          == [state == .disabled ? "finished" : "\"enable\""])
    }
    var refused = try bench(.router, 200, 200)
    #expect(refused.handle(.answered(500)) == ["look"])
  }

  @Test("A request that fails while it is put back is tried again, by what the next look shows")
  func restoresAgain() throws {
    var bench = try bench(.router, 200, 200, 500)
    for status in [nil, 500, 409] {
      #expect(bench.handle(.looked(try report(.disabled, .home))) == [active])
      #expect(bench.handle(.answered(status)) == [])
      #expect(bench.handle(.looked(.silent(.frozen))) == [])
      bench.now += .seconds(60)
    }
    #expect(bench.handle(.looked(try report(.disabled, .home))) == [active])
    #expect(bench.handle(.answered(200)) == [])
    for status in [nil, 500] {
      #expect(bench.handle(.looked(try report(.disabled))) == ["\"enable\""])
      #expect(bench.handle(.answered(status)) == [])
      #expect(bench.machine.isChanging)
    }
    #expect(bench.handle(.looked(try report(.detached))) == ["finished"])
  }

  @Test("When it cannot be put back for 5 minutes, the log says what to do by hand")
  func notRestored() throws {
    for look in [try report(.disabled, .home), .silent(.frozen)] {
      var bench = try bench(.router, 200, 200, 500)
      bench.now = .seconds(299)
      _ = bench.handle(.looked(look))
      _ = bench.handle(.answered(nil))
      #expect(bench.machine.isBusy)
      bench.now = .seconds(300)
      #expect(bench.handle(.looked(look)) == ["finished"])
      #expect(bench.log.contains("give it its dataset and enable Thread by hand"))
      #expect(!bench.machine.isBusy)
    }
  }

  @Test("A router without a complete dataset to go back to is stopped, unless it has it still")
  func nothingToGoBackTo() throws {
    let partial = try Sample.report("1", .detached, dataset: .unusable("it lacks parameters"))
    var bench = Bench()
    _ = bench.handle(.ordered(order, partial))
    _ = bench.handle(.answered(200))
    var disabled = partial
    disabled.state = .disabled
    _ = bench.handle(.looked(.report(disabled)))
    var unset = bench
    _ = unset.handle(.answered(400))
    #expect(unset.handle(.looked(.report(disabled))) == ["\"enable\""])
    _ = unset.handle(.answered(200))
    #expect(unset.handle(.looked(.report(partial))) == ["finished"])
    #expect(!unset.log.contains("Thread is stopped"))
    _ = bench.handle(.answered(201))
    _ = bench.handle(.answered(500))
    #expect(bench.handle(.looked(try report(.detached, .home))) == ["\"disable\""])
    _ = bench.handle(.answered(200))
    #expect(bench.handle(.looked(try report(.disabled, .home))) == ["finished"])
    #expect(bench.log.contains("Thread is stopped on it"))
  }

  @Test(
    "A pending change to another dataset: nothing is begun, and one that comes meanwhile stops it")
  func pendingChange() throws {
    let timestamp = try #require(Timestamp(seconds: 50))
    var report = try Sample.report("1", .router, on: .guest)
    report.pending = try SampleNetwork.guest.with { $0.channel = 25 }.dataset(at: 9)
      .replacing(.pendingTimestamp(timestamp), .delayTimer(100))
    var refused = Bench()
    #expect(refused.handle(.ordered(order, report)) == ["finished"])
    #expect(refused.failure == .pendingChange)
    #expect(refused.log.contains("a change to another dataset is pending"))
    var bench = Bench()
    _ = bench.handle(.ordered(order, try Sample.report("1", .router, on: .guest)))
    #expect(bench.handle(.answered(200)) == ["look"])
    report.state = .disabled
    #expect(bench.handle(.looked(.report(report))) == ["look"])
    #expect(bench.handle(.looked(.report(report))) == ["\"enable\""])
    // Silent: nothing is set either.
    var silent = Bench()
    _ = silent.handle(.ordered(order, try Sample.report("1", .router, on: .guest)))
    _ = silent.handle(.answered(200))
    #expect(silent.handle(.looked(.silent(.frozen))) == ["look"])
  }

  @Test("An order during another one is not begun, and no line of the log shows a key")
  func busy() throws {
    var bench = try bench(.router, 200)
    #expect(bench.handle(.ordered(order, try Sample.report("1", on: .guest))) == [])
    _ = bench.handle(.answered(409))
    for network in [SampleNetwork.home, .guest] {
      #expect(!bench.log.contains(network.networkKey) && !bench.log.contains(network.pskc))
    }
  }
}
