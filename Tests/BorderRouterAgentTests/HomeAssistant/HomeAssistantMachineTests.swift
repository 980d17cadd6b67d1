// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import BorderRouterAgent

/// A row of the machine's table each.
@Suite("What is published of Home Assistant's Thread store")
struct HomeAssistantMachineTests {
  /// A machine, its clock, and what Home Assistant has.
  private struct Bench {
    var machine = HomeAssistantMachine()
    var now = Duration.zero
    var there: [String: RouterReport.Reading] = [:]
    var read: [String] = []

    /// A bench with one dataset, published.
    static func published() throws -> Bench {
      var bench = Bench()
      bench.there["a"] = .complete(try SampleNetwork.home.dataset(at: 1))
      #expect(bench.look([.home]).count == 1)
      return bench
    }

    @discardableResult
    mutating func handle(
      _ event: HomeAssistantMachine.Event, after seconds: Int = 0
    ) -> [HomeAssistantMachine.Effect] {
      now += .seconds(seconds)
      return machine.handle(event, at: now)
    }

    /// - Returns: what is published after a list.
    mutating func look(_ entries: [StoredDataset], after seconds: Int = 0) -> [SharedDataset] {
      read = []
      var published: [SharedDataset] = []
      for effect in handle(.listed(entries), after: seconds) {
        guard case .read(let entry) = effect else { continue }
        read.append(entry.id)
        published += handle(.read(entry, there[entry.id] ?? .none)).compactMap(\.published)
      }
      handle(.looked)
      return published
    }
  }

  @Test("What is listed for the first time is read and published, the preferred one first")
  func first() throws {
    var bench = Bench()
    bench.there = [
      "a": .complete(try SampleNetwork.home.dataset(at: 1)),
      "b": .complete(try SampleNetwork.guest.dataset(at: 1)),
    ]
    var guest = StoredDataset.guest
    guest.preference = true
    guest.borderAgentText = "230C6A1AC57F6F4BE262ACF32E5EF52C"
    let published = bench.look([.home, guest])
    #expect(bench.read == ["b", "a"])
    #expect(published.map(\.isPreferred) == [true, false])
    #expect(published[0].borderAgent?.description == "230c6a1ac57f6f4be262acf32e5ef52c")
    #expect(published[0].dataset == (try SampleNetwork.guest.dataset(at: 1)))
    #expect(published[1].borderAgent == nil)
    #expect(bench.look([.home, guest], after: 60).isEmpty && bench.read.isEmpty)
  }

  @Test(
    "What is listed differently is read, and published where it is news",
    arguments: [
      \StoredDataset.name, \.networkText, \.panID, \.created, \.borderAgentText,
    ])
  func listedDifferently(field: WritableKeyPath<StoredDataset, String?> & Sendable) throws {
    var bench = try Bench.published()
    var entry = StoredDataset.home
    entry[keyPath: field] = "230c6a1ac57f6f4be262acf32e5ef52c"
    #expect(bench.look([entry], after: 60).count == (field == \.borderAgentText ? 1 : 0))
    #expect(bench.read == ["a"])
  }

  @Test("Another channel is read; preference is news")
  func preference() throws {
    var bench = try Bench.published()
    var entry = StoredDataset.home
    entry.channel = 26
    #expect(bench.look([entry], after: 60).isEmpty && bench.read == ["a"])
    entry.preference = true
    #expect(bench.look([entry], after: 60).map(\.isPreferred) == [true])
    entry.preference = false
    #expect(bench.look([entry], after: 60).map(\.isPreferred) == [false])
  }

  @Test("TLVs that the list does not show as new are read within ten minutes")
  func reread() throws {
    var bench = try Bench.published()
    bench.there["a"] = .complete(try SampleNetwork.home.dataset(at: 2))
    #expect(bench.look([.home], after: 599).isEmpty && bench.read.isEmpty)
    #expect(bench.look([.home], after: 1).map(\.dataset) == [try SampleNetwork.home.dataset(at: 2)])
    #expect(bench.look([.home], after: 600).isEmpty && bench.read == ["a"])
  }

  @Test("Everything is published again after an hour")
  func again() throws {
    var bench = try Bench.published()
    for _ in 0..<5 { #expect(bench.look([.home], after: 600).isEmpty) }
    #expect(bench.look([.home], after: 599).isEmpty)
    #expect(bench.look([.home], after: 1).count == 1)
    #expect(bench.look([.home], after: 1).isEmpty)
  }

  @Test("What is not listed any more is forgotten, and nothing published")
  func gone() throws {
    var bench = try Bench.published()
    #expect(bench.look([], after: 60).isEmpty)
    #expect(bench.machine.store?.timestamps == [:])
    // Deleted after the list was made.
    bench.there["b"] = nil
    #expect(bench.look([.guest], after: 60).isEmpty)
    #expect(bench.look([.home], after: 60).count == 1)
  }

  @Test("A dataset that can't be used is logged once, and published when it can")
  func unusable() throws {
    var bench = Bench()
    let reading = HomeAssistantMachine.Event.read(.home, .unusable("it lacks parameters"))
    let notes = bench.handle(reading).compactMap(\.note)
    #expect(notes.count == 1 && notes[0].level == .warning)
    #expect(notes[0].text.contains("\"home\" 1111111122222222"))
    #expect(bench.handle(reading, after: 600) == [])
    #expect(bench.machine.store == nil)
    bench.handle(.looked)
    #expect(bench.machine.store?.unusable == [try #require(StoredDataset.home.network)])
    #expect(bench.machine.store?.timestamps == [:])
    let dataset = try SampleNetwork.home.dataset(at: 1)
    #expect(bench.handle(.read(.home, .complete(dataset))).compactMap(\.published).count == 1)
    bench.handle(.looked)
    #expect(bench.machine.store?.timestamps.values.map { $0 } == [1])
    #expect(bench.machine.store?.unusable == [])
  }

  @Test("What decides about a question is read with the next list")
  func doubted() throws {
    var bench = try Bench.published()
    bench.there["a"] = .complete(try SampleNetwork.home.dataset(at: 2))
    #expect(bench.handle(.doubted(try #require(StoredDataset.guest.network))) == [])
    #expect(bench.look([.home]).isEmpty && bench.read.isEmpty)
    #expect(bench.handle(.doubted(try #require(StoredDataset.home.network))) == [])
    #expect(bench.look([.home]).count == 1 && bench.machine.store?.timestamps.values.first == 2)
  }

  @Test(
    "What is rejected for what it is, or as one too many, waits for an hour or a change",
    arguments: [
      SharingRejection(code: "bad_value", field: "dataset", message: "no"),
      SharingRejection(code: "too_many_networks", message: "no"),
    ])
  func rejected(rejection: SharingRejection) throws {
    var bench = try Bench.published()
    let note = try #require(bench.handle(.rejected("a", rejection)).first?.note)
    #expect(note.level == .warning && note.text.contains("(\(rejection.code)): no"))
    #expect(bench.look([.home], after: 900).isEmpty)
    bench.there["a"] = .complete(try SampleNetwork.home.dataset(at: 2))
    #expect(bench.look([.home], after: 600).count == 1)
    // The same reason is not logged again.
    #expect(bench.handle(.rejected("a", rejection)) == [])
    #expect(bench.look([.home], after: 3_599).isEmpty)
    #expect(bench.look([.home], after: 1).count == 1)
    #expect(bench.handle(.accepted("a")).first?.note?.level == .info)
    #expect(bench.handle(.accepted("a")) == [] && bench.handle(.rejected("x", rejection)) == [])
  }

  @Test(
    "What is rejected for another reason is published again after five minutes",
    arguments: [
      SharingRejection(code: "not_enrolled", field: "sealed", message: "no"),
      SharingRejection(who: "the broker", code: "refused", message: "no"),
    ])
  func retried(rejection: SharingRejection) throws {
    var bench = try Bench.published()
    let note = try #require(bench.handle(.rejected("a", rejection)).first?.note)
    #expect(note.text.hasPrefix(rejection.who))
    #expect(bench.look([.home], after: 299).isEmpty)
    #expect(bench.look([.home], after: 1).count == 1)
  }

  @Test("Trouble is logged when it is another one, and makes the pauses longer until it ends")
  func trouble() throws {
    var bench = try Bench.published()
    #expect(bench.machine.pause == nil)
    var pauses: [Duration?] = []
    for trouble in [HomeAssistantTrouble.closed, .closed, .closed, .timeout, .timeout, .timeout] {
      let notes = bench.handle(.troubled(trouble)).compactMap(\.note)
      #expect(notes.isEmpty == [1, 2, 4, 5].contains(pauses.count))
      pauses.append(bench.machine.pause)
    }
    #expect(pauses == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
    // A list alone does not end it.
    bench.handle(.listed([.home]))
    #expect(bench.machine.pause == .seconds(60))
    #expect(bench.handle(.looked).first?.note?.text == "it answers again")
    #expect(bench.handle(.looked) == [] && bench.machine.pause == nil)
  }

  @Test("What is compared with the home is known once all was read")
  func summary() throws {
    var bench = try Bench.published()
    #expect(bench.machine.store?.preferred == nil)
    var guest = StoredDataset.guest
    guest.preference = true
    bench.handle(.listed([.home, guest]))
    bench.handle(.troubled(.cut))
    #expect(bench.machine.store?.timestamps.count == 1)
    bench.there["b"] = .complete(try SampleNetwork.guest.dataset(at: 7))
    #expect(bench.look([.home, guest]).count == 1)
    #expect(bench.machine.store?.preferred == guest.network)
    let networks = (try #require(StoredDataset.home.network), try #require(guest.network))
    #expect(bench.machine.store?.timestamps == [networks.0: 1, networks.1: 7])
  }
}

extension StoredDataset {
  static let home = StoredDataset(
    id: "a", networkText: "1111111122222222", name: "home", channel: 15)
  static let guest = StoredDataset(id: "b", networkText: "3333333344444444", name: "guest-thread")
}

extension HomeAssistantMachine.Effect {
  var published: SharedDataset? { if case .publish(let shared) = self { shared } else { nil } }
  var note: RouterNote? { if case .log(let note) = self { note } else { nil } }
}
