import Broker
import TestKit
import Testing
import ThreadDataset

@testable import BorderRouterAgent

/// A row of the machine's table each.
@Suite("What is published of Home Assistant's Thread store") struct HomeAssistantMachineTests {
  private var machine = HomeAssistantMachine()
  private var now = Duration.zero
  /// What Home Assistant has, and what of it was read in the last look.
  private var there: [String: RouterReport.Reading] = [:]
  private var read: [String] = []

  /// One dataset is there, and published.
  private mutating func published() throws {
    there["a"] = .complete(try SampleNetwork.home.dataset(at: 1))
    #expect(look([.home]).count == 1)
  }

  @discardableResult private mutating func handle(_ event: HomeAssistantMachine.Event, after seconds: Int = 0)
    -> [HomeAssistantMachine.Effect]
  {
    now += .seconds(seconds)
    return machine.handle(event, at: now)
  }

  /// - Returns: what is published after a list.
  private mutating func look(_ entries: [StoredDataset], after seconds: Int = 0) -> [SharedDataset] {
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

  private func router(_ name: String) -> SightedRouter {
    var router = SightedRouter()
    router.name = name
    return router
  }

  private mutating func sees(_ routers: [String: SightedRouter], gone: Set<String> = [], after seconds: Int = 60)
    -> [String?]?
  {
    for case .sight(let list) in handle(.sighted(RouterSighting(routers, gone: gone)), after: seconds) {
      return list.map(\.name)
    }
    return nil
  }

  @Test("Border routers are published when they change, and each minute; one is missed twice before it is left out")
  mutating func sighted() {
    let both = ["a": router("Attic"), "b": router("Bath")]
    #expect(sees(both) == ["Attic", "Bath"])
    #expect(sees(both, after: 10) == nil)
    #expect(sees(both) == ["Attic", "Bath"])
    #expect(sees(["b": router("Bath")]) == ["Attic", "Bath"])
    #expect(sees(both) == ["Attic", "Bath"], "it is back, and may be missed again")
    #expect(sees([:], gone: ["b"]) == ["Attic"])
    #expect(sees([:], after: 10) == [])
  }

  @Test("That the daemon rejects them is logged once") mutating func sightingRejected() {
    let rejected = HomeAssistantMachine.Event.answered(
      EventOutcome(kind: .sightings, token: 1, subject: "sightings", code: "not_sealed", message: "no"))
    #expect(handle(rejected).count == 1)
    #expect(handle(rejected).isEmpty)
    #expect(handle(.answered(EventOutcome(kind: .sightings, token: 2, subject: "sightings"))).isEmpty)
    #expect(handle(rejected).count == 1)
  }

  @Test("What is listed for the first time is read and published, the preferred one first") mutating func first() throws
  {
    there = [
      "a": .complete(try SampleNetwork.home.dataset(at: 1)), "b": .complete(try SampleNetwork.guest.dataset(at: 1)),
    ]
    var guest = StoredDataset.guest
    guest.preference = true
    guest.borderAgentText = "230C6A1AC57F6F4BE262ACF32E5EF52C"
    let published = look([.home, guest])
    #expect(read == ["b", "a"])
    #expect(published.map(\.isPreferred) == [true, false])
    #expect(published[0].borderAgent?.description == "230c6a1ac57f6f4be262acf32e5ef52c")
    #expect(published[0].dataset == (try SampleNetwork.guest.dataset(at: 1)))
    #expect(published[1].borderAgent == nil)
    #expect(look([.home, guest], after: 60).isEmpty && read.isEmpty)
  }

  @Test(
    "What is listed differently is read, and published where it is news",
    arguments: [\StoredDataset.name, \.networkText, \.panID, \.created, \.borderAgentText])
  mutating func listedDifferently(field: WritableKeyPath<StoredDataset, String?> & Sendable) throws {
    try published()
    var entry = StoredDataset.home
    entry[keyPath: field] = "230c6a1ac57f6f4be262acf32e5ef52c"
    #expect(look([entry], after: 60).count == (field == \.borderAgentText ? 1 : 0))
    #expect(read == ["a"])
  }

  @Test("Another channel is read; preference is news") mutating func preference() throws {
    try published()
    var entry = StoredDataset.home
    entry.channel = 26
    #expect(look([entry], after: 60).isEmpty && read == ["a"])
    entry.preference = true
    #expect(look([entry], after: 60).map(\.isPreferred) == [true])
    entry.preference = false
    #expect(look([entry], after: 60).map(\.isPreferred) == [false])
  }

  @Test("TLVs that the list does not show as new are read within ten minutes") mutating func reread() throws {
    try published()
    there["a"] = .complete(try SampleNetwork.home.dataset(at: 2))
    #expect(look([.home], after: 599).isEmpty && read.isEmpty)
    #expect(look([.home], after: 1).map(\.dataset) == [try SampleNetwork.home.dataset(at: 2)])
    #expect(look([.home], after: 600).isEmpty && read == ["a"])
  }

  @Test("Everything is published again after an hour") mutating func again() throws {
    try published()
    for _ in 0..<5 { #expect(look([.home], after: 600).isEmpty) }
    #expect(look([.home], after: 599).isEmpty)
    #expect(look([.home], after: 1).count == 1)
    #expect(look([.home], after: 1).isEmpty)
  }

  @Test("What is not listed any more is forgotten, and gone where its network is, too") mutating func gone() throws {
    try published()
    let network = try #require(StoredDataset.home.network)
    #expect(machine.hasPublished(SharedDataset(.home, try SampleNetwork.home.dataset(at: 1))))
    #expect(!machine.hasPublished(SharedDataset(.home, try SampleNetwork.home.dataset(at: 2))))
    var again = StoredDataset.home
    again.id = "c"
    #expect(!handle(.listed([again]), after: 60).contains(.gone(network)), "it has another id")
    machine = HomeAssistantMachine()
    try published()
    #expect(handle(.listed([]), after: 60) == [.gone(network)])
    #expect(handle(.listed([]), after: 60) == [])
    handle(.looked)
    #expect(machine.store?.timestamps == [:])
    // Deleted after the list was made.
    there["b"] = nil
    #expect(look([.guest], after: 60).isEmpty)
    #expect(look([.home], after: 60).count == 1)
  }

  @Test("A dataset that can't be used is logged once, and published when it can") mutating func unusable() throws {
    let reading = HomeAssistantMachine.Event.read(.home, .unusable("it lacks parameters"))
    let notes = handle(reading).compactMap(\.note)
    #expect(notes.count == 1 && notes[0].level == .warning)
    #expect(notes[0].text.contains("\"home\" 1111111122222222"))
    #expect(handle(reading, after: 600) == [])
    #expect(machine.store == nil)
    handle(.looked)
    #expect(machine.store?.unusable == [try #require(StoredDataset.home.network)])
    #expect(machine.store?.timestamps == [:])
    let dataset = try SampleNetwork.home.dataset(at: 1)
    #expect(handle(.read(.home, .complete(dataset))).compactMap(\.published).count == 1)
    handle(.looked)
    #expect(machine.store?.timestamps.values.map { $0 } == [1])
    #expect(machine.store?.unusable == [])
  }

  @Test("A dataset that lacks something is published as what it is, and what it lacks is logged once")
  mutating func partial() throws {
    let partial = try SampleNetwork.home.dataset(at: 1).removing(.pskc)
    let reading = HomeAssistantMachine.Event.read(.home, .partial(partial))
    let effects = handle(reading)
    #expect(effects.compactMap(\.published?.dataset) == [partial])
    #expect(effects.compactMap(\.note).filter { $0.text.contains("it lacks PSKc") }.count == 1)
    #expect(handle(reading, after: 600) == [])
    handle(.looked)
    #expect(machine.store?.unusable == [try #require(StoredDataset.home.network)])
  }

  @Test("What decides about a question is read with the next list") mutating func doubted() throws {
    try published()
    there["a"] = .complete(try SampleNetwork.home.dataset(at: 2))
    #expect(handle(.doubted(try #require(StoredDataset.guest.network))) == [])
    #expect(look([.home]).isEmpty && read.isEmpty)
    #expect(handle(.doubted(try #require(StoredDataset.home.network))) == [])
    #expect(look([.home]).count == 1 && machine.store?.timestamps.values.first == 2)
  }

  @Test(
    "What is rejected for what it is, or as one too many, waits for an hour or a change",
    arguments: [(code: "bad_value", field: "dataset"), (code: "too_many_networks", field: nil)]) mutating func rejected(
      code: String, field: String?
    ) throws
  {
    let rejection = EventOutcome.ofHome(code, field: field)
    try published()
    let note = try #require(handle(.answered(rejection)).first?.note)
    #expect(note.level == .warning && note.text.contains("(\(code)): no"))
    #expect(look([.home], after: 900).isEmpty)
    there["a"] = .complete(try SampleNetwork.home.dataset(at: 2))
    #expect(look([.home], after: 600).count == 1)
    // The same reason is not logged again.
    #expect(handle(.answered(rejection)) == [])
    #expect(look([.home], after: 3_599).isEmpty)
    #expect(look([.home], after: 1).count == 1)
    #expect(handle(.answered(.ofHome())).first?.note?.level == .info)
    var other = rejection
    other.subject = "x"
    #expect(handle(.answered(.ofHome())) == [] && handle(.answered(other)) == [])
  }

  @Test(
    "What is rejected for another reason is published again after five minutes",
    arguments: [
      (code: "not_enrolled", field: "sealed", who: "threadkeeper"), (code: "refused", field: nil, who: "the broker"),
    ]) mutating func retried(code: String, field: String?, who: String) throws
  {
    try published()
    let note = try #require(handle(.answered(.ofHome(code, field: field))).first?.note)
    #expect(note.text.hasPrefix(who))
    #expect(look([.home], after: 299).isEmpty)
    #expect(look([.home], after: 1).count == 1)
  }

  @Test("Trouble is logged when it is another one, and makes the pauses longer until it ends") mutating func trouble()
    throws
  {
    try published()
    #expect(machine.pause == nil)
    var pauses: [Duration?] = []
    for trouble in [HomeAssistantTrouble.closed, .closed, .closed, .timeout, .timeout, .timeout] {
      let notes = handle(.troubled(trouble)).compactMap(\.note)
      #expect(notes.isEmpty == [1, 2, 4, 5].contains(pauses.count))
      pauses.append(machine.pause)
    }
    #expect(pauses == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
    // A list alone does not end it.
    handle(.listed([.home]))
    #expect(machine.pause == .seconds(60))
    #expect(handle(.looked).first?.note?.text == "it answers again")
    #expect(handle(.looked) == [] && machine.pause == nil)
  }

  @Test("It reports a trouble that a person has to end at once, and what may pass once it has lasted")
  mutating func standing() throws {
    #expect(machine.standing == nil)
    handle(.troubled(.wrongToken))
    #expect(machine.standing == .fails("\(HomeAssistantTrouble.wrongToken)"))
    try published()
    #expect(machine.standing == .works)
    for passing in [HomeAssistantTrouble.unreachable("refused"), .timeout, .status(502), .closed] {
      for look in 1...5 {
        handle(.troubled(passing))
        #expect(machine.standing == (look < 5 ? nil : .fails("\(passing)")), "look \(look)")
      }
      handle(.looked)
      #expect(machine.standing == .works)
    }
  }

  @Test("What is compared with the home is known once all was read") mutating func summary() throws {
    try published()
    #expect(machine.store?.preferred == nil)
    var guest = StoredDataset.guest
    guest.preference = true
    handle(.listed([.home, guest]))
    handle(.troubled(.cut))
    #expect(machine.store?.timestamps.count == 1)
    there["b"] = .complete(try SampleNetwork.guest.dataset(at: 7))
    #expect(look([.home, guest]).count == 1)
    #expect(machine.store?.preferred == guest.network)
    let networks = (try #require(StoredDataset.home.network), try #require(guest.network))
    #expect(machine.store?.timestamps == [networks.0: 1, networks.1: 7])
  }
}

extension StoredDataset {
  static let home = StoredDataset(id: "a", networkText: "1111111122222222", name: "home", channel: 15)
  static let guest = StoredDataset(id: "b", networkText: "3333333344444444", name: "guest-thread")
}

extension EventOutcome {
  fileprivate static func ofHome(_ code: String? = nil, field: String? = nil) -> EventOutcome {
    EventOutcome(kind: .credentials, token: 1, subject: "a", code: code, field: field, message: "no")
  }
}

extension HomeAssistantMachine.Effect {
  var published: SharedDataset? { if case .publish(let shared) = self { shared } else { nil } }
  var note: RouterNote? { if case .log(let note) = self { note } else { nil } }
}
