import Broker
import KeychainCore
import SodiumCrypto
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Records of the loop") struct LoopStoreTests {
  @Test("Homes that are loaded equal those in memory, and each thing keeps its record") func restart() throws {
    let kit = try LoopKit()
    try kit.loop.received((0..<100).map { .announce($0, .of(UInt8($0 % 3 + 1))) })
    try kit.pass(seconds: 60)
    try kit.receive(.message("leave", 5), .announce(7, .of(4)), .message("offline", 8))
    for network in 2...4 { try kit.prefer(ExtendedPANID(number: Self.network(network))) }
    // A home of many settles with the tick.
    try kit.pass(seconds: 1)
    #expect(kit.home.former.count > 1)
    let rows = kit.memory.rows
    let later = try kit.restarted()
    #expect(later.home.equals(kit.home))
    #expect(later.home.former.map(\.id) == kit.home.former.map(\.id))
    for key in [RecordKey.router(.agent(7)), .home, .former(kit.home.former[0].id)] {
      #expect(try later.dataset(key) == kit.dataset(key))
    }
    try later.receive(.announce(7, .of(5)))
    #expect(try later.dataset(.router(.agent(7))) == .of(5))
    #expect(Set(rows.keys).isSubset(of: later.memory.rows.keys))
  }

  private static func network(_ number: Int) -> UInt64 { UInt64(number) * 0x0101_0101_0101_0101 }

  @Test("Secrets of several inputs in one batch follow each other") func secrets() throws {
    // The preferred network takes the dataset that its router has got in the same batch, and the former one moves on.
    let steps: [[IncomingMessage]] = [
      [.announce(1, .of(1))],
      [
        .announce(1, .of(1, at: 2, channel: 16)), .announce(1, .of(1, at: 3, channel: 17)), .announce(2, .of(2)),
        .announce(3, .of(1, at: 3, channel: 17)), .announce(2, .of(3)),
      ], [.message("leave", 2), .announce(2, .of(4))],
    ]
    let (one, each) = (try LoopKit(), try LoopKit())
    for batch in steps {
      try one.loop.received(batch)
      for message in batch { try each.receive(message) }
    }
    #expect(one.home.equals(each.home))
    var secrets = 0
    for key in Self.keys(of: one.home) {
      let dataset = try one.dataset(key)
      #expect(try dataset == each.dataset(key))
      if dataset != nil { secrets += 1 }
    }
    #expect(secrets >= 4)
    #expect(try one.dataset(.home) == .of(1, at: 3, channel: 17))
  }

  private static func keys(of home: Home) -> [RecordKey] {
    [.home] + home.routers.map { .router($0.agent) } + home.former.map { .former($0.id) }
  }

  @Test(
    "Moves read what earlier ones of the batch have written, and else what is on disk",
    arguments: [
      ([(1, 0)], [1: -1]), ([(1, 0), (2, 1)], [1: -1, 2: -1]),
      // Two that change places.
      ([(9, 1), (1, 2), (2, 9)], [1: 2, 2: 1, 9: 1]), ([(1, 2), (3, 1)], [1: 2, 3: 2]),
      ([(1, 2), (2, 1)], [1: 2, 2: 2]),
    ] as [([(Int, Int)], [Int: Int])]) func moves(_ moves: [(Int, Int)], _ expected: [Int: Int])
  {
    var secrets = SecretMoves()
    func key(_ number: Int) -> RecordKey { .router(.agent(number)) }
    for (to, from) in moves {
      secrets.take(
        [SecretMove(to: key(to), from: from == 0 ? .input : .record(key(from)))], in: 0,
        dataset: OperationalDataset.of(1).bytes
      ) { asked in (1...2).first { key($0) == asked }.map { RecordID(Int64($0)) } }
    }
    for (record, source) in expected {
      switch secrets.secret(of: key(record), in: 0, RecordID(Int64(record))) {
      case .new(let bytes):
        #expect(source == -1)
        #expect(bytes == SecretBytes(copying: OperationalDataset.of(1).bytes))
      case .copy(let other): #expect(other.rawValue == Int64(source))
      case .keep: #expect(source == record)
      case .none: Issue.record("the secret of \(record) is gone")
      }
    }
  }

  @Test("A record that cannot be read is left out, named by an alert, and not overwritten") func damage() throws {
    let kit = try LoopKit()
    try kit.loop.received((1...5).map { .announce($0) })
    let number = kit.home.routers.count
    let row = try #require(kit.memory.rows.filter { $0.value.secret != nil }.max { $0.key < $1.key })
    let later = try kit.restarted(damaged: [row.key])
    #expect(later.home.routers.count == number - 1)
    #expect(later.home.hasDamage && later.home.hasLostCredentials)
    #expect(later.home.isFiring(.storeDamaged))
    try later.loop.received((1...8).map { .announce($0) })
    #expect(later.home.routers.count == 8)
    #expect(later.memory.rows[row.key]?.state == row.value.state)
  }

  @Test("Of two records of one thing the older one is deleted at the start") func replaced() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    let row = try #require(
      kit.memory.rows.first { row in
        var home = Home(rules: HomeRules { 0 })
        return (try? home.load(row.value.state)) == .router(.agent(1))
      })
    let later = try kit.restarted(damaged: [row.key])
    try later.receive(.announce(1, .of(2), more: #","name":"new""#))
    // The disk reads again.
    kit.memory.damage([])
    let last = try later.restarted()
    #expect(last.memory.rows[row.key] == nil)
    #expect(!last.home.hasDamage)
    #expect(last.router(1)?.name == "new")
    #expect(try last.dataset(.router(.agent(1))) == .of(2))
  }

  @Test("A damaged record without a secret is named by the alert, and is nobody's credentials") func damagedAlert()
    throws
  {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    let row = try #require(
      kit.memory.rows.first { $0.value.home != 0 && $0.value.secret == nil && !HomeNote.isOne($0.value.state) })
    let later = try kit.restarted(damaged: [row.key])
    #expect(later.home.isFiring(.storeDamaged))
    #expect(later.home.hasDamage && !later.home.hasLostCredentials)
  }

  @Test("A home of which the record with its name is damaged is known where it can be no other") func damagedName()
    throws
  {
    let kit = try LoopKit(["home", "attic"])
    try kit.receive(.announce(1))
    let note = try #require(kit.memory.rows.first { HomeNote($0.value.state)?.name == "home" })
    kit.memory.contents.withLock { $0.rows[note.key]?.state = [0, 77] }
    let later = try kit.restarted(["home", "attic"])
    #expect(later.home.routers.count == 1)
    #expect(later.home.hasDamage)
    // It has its name again.
    #expect(try later.restarted(["attic", "home"]).home.hasDamage == false)
  }

  @Test("A home of which nothing can be read is damaged, and takes nobody's network as its own") func nothingReadable()
    throws
  {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    #expect(kit.home.preferred != nil)
    let lost = kit.memory.rows.filter { $0.value.home != 0 }
    let later = try kit.restarted(damaged: lost.keys)
    #expect(later.home.hasDamage)
    #expect(later.home.isFiring(.storeDamaged))
    try later.receive(.announce(2, .of(2), user: "guest"))
    let network = ExtendedPANID(number: Self.network(2))
    let guest = RequestContext(Requester(.systemUser(1_000), team: "guest"), reply: .caller, actor: "uid 1000")
    for (context, isPreferred) in [(guest, false), (.administrator, true)] {
      #expect(later.home.preferred == nil)
      try later.loop.perform(.request(.setPreferred(.network(network, router: nil)), context), in: "home")
      #expect((later.home.preferred != nil) == isPreferred)
    }
  }

  @Test("Where the names of several homes are lost, each new one is damaged, and none is dropped") func severalNames()
    throws
  {
    let kit = try LoopKit(["home", "attic", "cabin"])
    for home in ["home", "attic", "cabin"] { try kit.receive(.announce(1, home: home)) }
    for name in ["home", "attic"] {
      let note = try #require(kit.memory.rows.first { HomeNote($0.value.state)?.name == name })
      kit.memory.contents.withLock { $0.rows[note.key]?.state = [0, 77] }
    }
    try kit.loop.stop()
    // Also when they are new no more.
    for _ in 0..<2 {
      let later = try LoopKit(["home", "attic", "cabin"], on: kit.memory, time: kit.time)
      for (name, home) in later.loop.homes.snapshot.homes {
        #expect(home.hasDamage == (name != "cabin"))
        let alert = home.alerts[AlertKey(.storeDamaged)]
        #expect((alert?.phase == .firing) == (name != "cabin"))
      }
      try later.loop.stop()
    }
    let loaded = try Self.reload(kit)
    #expect(loaded.former.count { $0.note == nil && $0.home.routers.count == 1 } == 2)
  }

  @Test("A home that the settings name no more is kept, and its base topic is given up once") func formerHomes() throws
  {
    let kit = try LoopKit(["home", "attic"])
    try kit.receive(.announce(1), .announce(2, home: "attic"))
    #expect(kit.loop.retiredBases.isEmpty)
    let later = try kit.restarted(["home"], bases: ["home": "new"])
    #expect(later.loop.retiredBases == [.init(home: "home", base: "tk/home"), .init(home: "attic", base: "tk/attic")])
    #expect(later.loop.homes.formerHomes.homes.mapValues(\.routers.count) == ["attic": 1])
    #expect(later.loop.homes.snapshot.homes.keys.sorted() == ["home"] && later.loop.homes.home("attic") == nil)
    try later.loop.basesAreEmpty()
    let last = try later.restarted(["home", "attic"], bases: ["home": "new"])
    #expect(last.loop.retiredBases.isEmpty && last.loop.homes.formerHomes.homes.isEmpty)
    #expect(last.loop.homes.snapshot.homes["attic"]?.routers.count == 1)
    #expect(try last.dataset(.router(.agent(2)), "attic") == .of(1))
    // It has its base topic again, which is given up again.
    let gone = try last.restarted(["home"], bases: ["home": "new"])
    #expect(gone.loop.retiredBases == [.init(home: "attic", base: "tk/attic")])
  }

  @Test("That the store cannot be used is in every list of the first home, and in no record") func storeAlert() throws {
    let kit = try LoopKit(["home", "attic"])
    let now = WireTime(milliseconds: 1_000)
    let alert = Alert(
      shown: AlertFacts.storeReadOnly("the disk is full"), since: now, updatedAt: now, endsAt: nil, sequence: 1)
    kit.loop.homes.show(alert)
    let kind = HomeCounts.AlertKind(name: .storeReadOnly, severity: .critical)
    #expect(kit.loop.homes.counts.alerts == [kind: 1] && kit.loop.homes.snapshot.counts.alerts == [kind: 1])
    #expect(kit.loop.homes.home("home")?.alerts[AlertKey(.storeReadOnly)] == alert)
    #expect(kit.loop.homes.home("attic")?.alerts.isEmpty == true)
    try kit.loop.probe()
    kit.loop.homes.show(nil)
    #expect(kit.loop.homes.counts.alerts.isEmpty && kit.loop.homes.home("home")?.alerts.isEmpty == true)
    #expect(try kit.restarted(["home", "attic"]).loop.homes.counts.alerts.isEmpty)
  }

  @Test("A discovery prefix is given up once the broker holds nothing below it any more") func prefixes() throws {
    func next(_ kit: LoopKit, _ prefix: String?) throws -> LoopKit {
      try kit.loop.stop()
      return try LoopKit(on: kit.memory, time: kit.time, devicePrefix: prefix)
    }
    let first = try LoopKit(devicePrefix: "ha")
    #expect(first.loop.retiredPrefixes.isEmpty)
    let second = try next(first, "other")
    #expect(second.loop.retiredPrefixes == ["ha"])
    // Neither is empty yet.
    let off = try next(second, nil)
    #expect(off.loop.retiredPrefixes == ["ha", "other"])
    let back = try next(off, "ha")
    #expect(back.loop.retiredPrefixes == ["other"])
    try back.loop.basesAreEmpty()
    let last = try next(back, nil)
    #expect(last.loop.retiredPrefixes == ["ha"])
    try last.loop.basesAreEmpty()
    #expect(try next(last, nil).loop.retiredPrefixes.isEmpty)
  }

  private struct Follower: LoopFollower {
    func messages(of outcome: LoopOutcome, at now: WireTime) -> [[UInt8]] { [] }
    func news(of batch: CommittedBatch, home: (String) -> Home?) -> BatchNews {
      BatchNews(batch, ways: .init(isOnlyHome: true), home: home)
    }
    func committed(_ batch: CommittedBatch, _ homes: CommittedHomes) {}
  }

  @Test("An alert that has ended is there after a restart, with how long it lasted") func ended() throws {
    let kit = try LoopKit(following: Follower())
    try kit.receive(.announce(1, .of(1)))
    let began = kit.time.now
    _ = try kit.loop.perform(.condition(.testAlert, .test), in: "home")
    kit.time.advance(seconds: 90)
    _ = try kit.loop.perform(.condition(.testAlert, nil), in: "home")
    let ended = try #require(try kit.restarted().loop.homes.recent.ended.first)
    #expect(ended.since == began && ended.at == began.adding(seconds: 90))
    #expect(ended.sentence == "Resolved: \(ended.text)")
  }

  @Test("What happened last is there after a restart, and what could not be written has not happened") func recent()
    throws
  {
    let kit = try LoopKit(following: Follower())
    try kit.receive(.announce(1, .of(1)))
    let recent = kit.loop.homes.recent
    #expect(recent.newest.contains { $0.text.hasSuffix("announced itself") })
    kit.memory.refuses { try kit.receive(.announce(2)) }
    #expect(kit.loop.homes.recent == recent)
    #expect(try kit.restarted().loop.homes.recent == recent)
  }

  @Test("Hours in which no daemon ran are unknown of each router, however it ended") func unwatched() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    try kit.pass(seconds: 5 * 3_600)
    kit.time.advance(seconds: 4 * 3_600)
    let second = try kit.restarted(cleanly: false)
    kit.time.advance(seconds: 2 * 3_600)
    try second.loop.stop()
    kit.time.advance(seconds: 3 * 3_600)
    let third = try second.restarted(cleanly: false)
    let past = third.home.past(of: try #require(third.router(1)), at: kit.time.now).map { $0 == .unknown ? "?" : "o" }
    #expect(past.suffix(15).joined() == "oooooo???ooo??o")
  }

  @Test("What the daemon and homes remember is read as it was written") func notes() throws {
    var notes = DaemonNotes()
    #expect(DaemonNotes(notes.record) == notes)
    notes.isRunning = true
    notes.dropped = 1_000_000
    notes.ranIn = 472_223
    _ = notes.trial.begin("a", [1], nil)
    notes.prefixes = ["homeassistant", "hö"]
    #expect(DaemonNotes(notes.record) == notes)
    for rest: [UInt8] in [[0], [2, 65], [1, 0xFF]] { #expect(DaemonNotes(notes.record + rest) == nil) }
    let home = HomeNote(name: "hö", base: "tk/ö")
    #expect(HomeNote(home.record) == home)
    #expect(HomeNote([0, 1, 0, 9, 65]) == nil)
  }
}
