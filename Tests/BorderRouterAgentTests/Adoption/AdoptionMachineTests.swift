// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadDataset

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
    order = AdoptionOrder(id: "a-1", agent: try Sample.agent(), dataset: home)
  }

  /// What follows, in words: requests as `PUT /path`, `finished`; and the log.
  private struct Bench {
    var machine = AdoptionMachine()
    var log = ""
    var now = Duration.zero
    var bodies: [String] = []

    mutating func handle(_ event: AdoptionMachine.Event) -> [String] {
      var words: [String] = []
      for effect in machine.handle(event, at: now) {
        switch effect {
        case .log(let note): log += note.text + "\n"
        case .finished: words.append("finished")
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
    for step in steps { _ = bench.handle(.answered(step)) }
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
    #expect(bench.handle(.answered(200)) == [active])
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
    #expect(bench.log.contains("it is on network 1111111122222222, as child"))
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
    let order = AdoptionOrder(id: "a-2", agent: try Sample.agent(), dataset: newer)
    var bench = Bench()
    #expect(bench.handle(.ordered(order, try Sample.report())) == [pending])
    #expect(bench.handle(.answered(201)) == [])
    #expect(bench.log.contains("its whole network changes in 60 s"))
    bench.now = .seconds(149)
    #expect(bench.handle(.looked(.report(try Sample.report()))) == [])
    var late = bench
    late.now = .seconds(150)
    #expect(late.handle(.looked(.report(try Sample.report()))) == ["finished"])
    let done = try Sample.report("1", dataset: .complete(newer))
    #expect(bench.handle(.looked(.report(done))) == ["finished"])
  }

  @Test("A pending dataset that is not taken changes nothing", arguments: [400, 409, 500, nil])
  func notScheduled(_ status: Int?) throws {
    let newer = try SampleNetwork.home.with { $0.channel = 25 }.dataset(at: 5)
    var bench = Bench()
    _ = bench.handle(
      .ordered(
        AdoptionOrder(id: "a-2", agent: try Sample.agent(), dataset: newer), try Sample.report()))
    #expect(bench.handle(.answered(status)) == ["finished"])
  }

  @Test("Not disabled: it is enabled again")
  func notDisabled() throws {
    var bench = try bench()
    #expect(bench.handle(.answered(nil)) == ["\"enable\""])
    #expect(bench.handle(.answered(200)) == ["finished"])
    #expect(bench.log.contains("it does not disable Thread (no answer); it is as it was before"))
  }

  @Test("409 is named; Thread is as before")
  func conflict() throws {
    var bench = try bench(.router, 200)
    #expect(bench.handle(.answered(409)) == ["\"enable\""])
    #expect(bench.handle(.answered(200)) == ["finished"])
    #expect(bench.log.contains("it does not set the dataset (409: Thread runs on it)"))
    var stopped = try self.bench(.disabled)
    #expect(stopped.handle(.answered(409)) == ["finished"])
  }

  @Test("No answer to the dataset: it may have it, so the old one is set again")
  func unknownDataset() throws {
    var bench = try bench(.router, 200)
    #expect(bench.handle(.answered(nil)) == ["\"disable\""])
    #expect(bench.handle(.answered(200)) == [active])
    #expect(bench.bodies.last == guest.hex)
    #expect(bench.handle(.answered(200)) == ["\"enable\""])
    #expect(bench.handle(.answered(200)) == ["finished"])
  }

  @Test("Not enabled, or not attached in time: the old dataset, and Thread as before")
  func notAttached() throws {
    for state in [ThreadState.router, .disabled] {
      var bench = state == .disabled ? try bench(state, 200, 200) : try bench(state, 200, 200, 200)
      bench.now = .seconds(90)
      #expect(
        bench.handle(.looked(.report(try Sample.report("1", .detached)))) == ["\"disable\""])
      #expect(bench.handle(.answered(200)) == [active])
      #expect(
        bench.handle(.answered(200)) == [state == .disabled ? "finished" : "\"enable\""])
    }
    var refused = try bench(.router, 200, 200)
    #expect(refused.handle(.answered(500)) == ["\"disable\""])
  }

  @Test("When it cannot be put back, the log says what to do by hand")
  func notRestored() throws {
    var bench = try bench(.router, 200, 200, 500)
    #expect(bench.handle(.answered(500)) == ["finished"])
    #expect(bench.log.contains("give it its dataset and enable Thread by hand"))
    #expect(!bench.machine.isBusy)
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
