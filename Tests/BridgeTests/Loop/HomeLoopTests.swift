import Broker
import Home
import Testing
import ThreadDataset

@testable import Bridge

@Suite("The loop of homes") struct HomeLoopTests {
  @Test("Messages are on disk, published and seen when the call returns, in their order") func order() throws {
    let kit = try LoopKit()
    let commits = kit.memory.commits
    try kit.receive(.announce(1), .message("heartbeat", 9), .announce(2))
    #expect(kit.memory.commits == commits + 1)
    #expect(kit.home.routers.count == 2)
    let published = kit.memory.messages.map(\.text)
    #expect(published.count { $0.contains("router") } == 2)
    let outcomes = try #require(kit.last?.outcomes)
    #expect(outcomes.map { $0.rejection?.code } == [nil, "not_found", nil])
    #expect(outcomes[1].router == .agent(9))
    #expect(kit.last?.received == 3)
  }

  @Test("A dataset that a Matter device can attach with is kept byte for byte, whatever it lacks") func partial() throws
  {
    let kit = try LoopKit()
    let usable = OperationalDataset.of(1).removing(.activeTimestamp, .pskc)
    try kit.receive(
      .announce(1, usable), .announce(2, OperationalDataset.of(2).removing(.networkKey)),
      IncomingMessage.of("tk/home/in/ha/credentials", #"{"dataset":"\#(usable.hex)"}"#))
    let later = try kit.restarted()
    #expect(kit.rejected.isEmpty && later.home.preferred == nil)
    let routers = [1, 2].map { later.home.routers[.agent($0)] }
    #expect(routers.map { $0?.credential } == [.partial, .missing])
    #expect(routers.map { $0?.lacks } == [usable.missing, [.networkKey]])
    let network = try #require(usable.extendedPANID)
    for key in [RecordKey.router(.agent(1)), .shared("ha", network)] { #expect(try later.dataset(key) == usable) }
    try later.receive(.announce(1))
    #expect(later.home.routers[.agent(1)]?.credential == .stored)
    #expect(try later.dataset(.router(.agent(1))) == .of(1) && later.dataset(.home) == .of(1))
  }

  @Test("What fails to be written has changed nothing, and the same messages succeed again") func atomic() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    let (before, rows, batches) = (kit.home, kit.memory.rows.keys.sorted(), kit.follower.batches.withLock { $0.count })
    let messages = [IncomingMessage.announce(2), .announce(1, .of(2))]
    kit.memory.refuses { try kit.loop.received(messages) }
    #expect(kit.home.equals(before))
    #expect(kit.memory.rows.keys.sorted() == rows)
    #expect(kit.follower.batches.withLock { $0.count } == batches)

    let other = try LoopKit()
    try other.receive(.announce(1))
    try other.loop.received(messages)
    try kit.loop.received(messages)
    #expect(kit.home.equals(other.home))
    // No id was lost or used twice.
    #expect(kit.memory.rows.keys.sorted() == other.memory.rows.keys.sorted())
    #expect(kit.memory.messages == other.memory.messages)
  }

  @Test("A call fails with the store, and its home is as before") func callFails() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    kit.memory.refuses { try kit.loop.perform(.remove(.agent(1)), in: "home") }
    #expect(kit.home.routers.count == 1)
    #expect(throws: UnknownHome.self) { try kit.loop.perform(.remove(.agent(1)), in: "attic") }
    try kit.loop.perform(.remove(.agent(1)), in: "home", actor: "uid 0")
    #expect(kit.home.routers.count == 0)
    #expect(kit.memory.audit.last?.actor == "uid 0")
    #expect(kit.memory.audit.last?.subject == "\(BorderAgentID.agent(1)) home home from otbr")
  }

  @Test("Several inputs are one commit: all of them are on disk, or none") func together() throws {
    let kit = try LoopKit(["home", "attic"])
    try kit.receive(.announce(1), .announce(2), .announce(3, home: "attic"))
    let inputs: [(home: String, input: HomeInput)] = [
      ("home", .remove(.agent(1))), ("attic", .remove(.agent(3))), ("home", .remove(.agent(2))),
    ]
    kit.memory.refuses { try kit.loop.perform(inputs) }
    #expect(kit.home.routers.count == 2)
    #expect(throws: UnknownHome.self) {
      try kit.loop.perform([inputs[0], (home: "cellar", input: .remove(.agent(1)))])
    }
    #expect(kit.home.routers.count == 2)
    let commits = kit.memory.commits
    try kit.loop.perform(inputs)
    #expect(kit.home.routers.count == 0 && kit.loop.homes.home("attic")?.routers.count == 0)
    #expect(kit.memory.commits == commits + 1)
  }

  @Test("A sign of life is not written, but for the first heartbeat; when a router was seen is saved after an hour")
  func signsOfLife() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    // What is held is raised.
    try kit.pass(seconds: 40)
    let first = kit.memory.commits
    try kit.receive(.message("heartbeat", 1))
    #expect(kit.memory.commits == first + 1)
    let commits = kit.memory.commits
    kit.time.advance(seconds: 60)
    try kit.receive(.message("heartbeat", 1), .announce(1))
    try kit.pass()
    #expect(kit.memory.commits == commits)
    #expect(kit.home.routers.lastSeen(.agent(1)) == kit.time.now)
    let seen = kit.time.now

    func written() -> Int? { kit.memory.contents.withLock { $0.last?.records.count } }
    try kit.pass(seconds: 2_600)
    #expect(kit.memory.commits == commits)
    // With the hour in which the daemon ran, which is all that is saved at rest.
    try kit.pass(seconds: 901)
    #expect(kit.memory.commits == commits + 1 && written() == 2)
    for _ in 0..<2 {
      try kit.pass(seconds: 3_600)
      #expect(written() == 1)
    }
    #expect(kit.memory.commits == commits + 3)
    let later = try kit.restarted(cleanly: false)
    #expect(later.home.routers.lastSeen(.agent(1)) == seen)
    let link = Link(connection: 1, listeningSince: kit.time.now)
    kit.time.advance(seconds: 301)
    try later.loop.tick(link)
    #expect(later.router(1)?.offlineReason == .silent)
  }

  @Test("After a crash a router that has sent one heartbeat is missed, and one that has sent none is not")
  func silentAfterCrash() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1), .announce(2), .message("heartbeat", 1))
    let later = try kit.restarted(cleanly: false)
    let link = Link(connection: 1, listeningSince: kit.time.now)
    try later.pass(seconds: 299, link)
    #expect(later.router(1)?.isOnline == true)
    try later.pass(seconds: 2, link)
    #expect(later.router(1)?.offlineReason == .silent && later.router(2)?.isOnline == true)
  }

  @Test("After a crash a router that goes on is not missed, however old what is on disk is") func goesOnAfterCrash()
    throws
  {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    for _ in 0..<50 {
      try kit.receive(.message("heartbeat", 1))
      try kit.pass(seconds: 60)
    }
    let later = try kit.restarted(cleanly: false)
    #expect(later.home.routers.lastSeen(.agent(1)) < kit.time.now.adding(seconds: -1_800))
    let link = Link(connection: 1, listeningSince: kit.time.now)
    for _ in 0..<10 {
      try later.pass(seconds: 60, link)
      #expect(later.router(1)?.isOnline == true)
      try later.receive(.message("heartbeat", 1))
    }
    #expect(later.home.alerts[AlertKey(.borderRouterOffline, .router(.agent(1)))] == nil)
  }

  @Test("An end as it should be saves when routers were seen") func savesAtTheEnd() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1), .message("heartbeat", 1))
    kit.time.advance(seconds: 10)
    try kit.receive(.message("heartbeat", 1))
    let later = try kit.restarted()
    #expect(later.home.routers.lastSeen(.agent(1)) == kit.time.now)
  }

  @Test("A snapshot stays as it is while the loop goes on") func snapshots() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1))
    let snapshot = kit.loop.homes.snapshot
    try kit.receive(.announce(2), .message("leave", 1))
    #expect(snapshot.homes["home"]?.routers.count == 1)
    #expect(snapshot.homes["home"]?.routers[.agent(1)]?.isPresent == true)
    #expect(kit.router(1)?.isPresent == false)
    #expect(kit.router(2) != nil)
  }

  @Test("A batch is committed in parts of limited size") func bounds() throws {
    let kit = try LoopKit()
    let commits = kit.memory.commits
    let filler = #","more":""# + String(repeating: "x", count: 16_000) + #"""#
    try kit.loop.received((0..<600).map { .announce($0, more: filler) })
    #expect(kit.home.routers.count == 600)
    #expect(kit.memory.commits - commits >= 3)
  }

  @Test("Each home has what was published below its own base topic") func severalHomes() throws {
    let kit = try LoopKit(["home", "attic"])
    try kit.receive(.announce(1), .announce(2, .of(2), home: "attic"), .announce(3, home: "cellar"))
    #expect(kit.home.routers.map(\.agent) == [.agent(1)])
    #expect(kit.loop.homes.snapshot.homes["attic"]!.routers.map(\.agent) == [.agent(2)])
    #expect(try kit.dataset(.router(.agent(2)), "attic") == .of(2))
    #expect(try kit.dataset(.router(.agent(2))) == nil)
    let later = try kit.restarted(["attic", "home"])
    #expect(later.loop.homes.snapshot.homes["attic"]!.equals(kit.loop.homes.snapshot.homes["attic"]!))
    #expect(later.home.equals(kit.home))
  }

  @Test("What is advertised belongs to the first home, unless it is announced in another one") func sightings() throws {
    let kit = try LoopKit(["home", "attic"], discovers: true)
    try kit.receive(.announce(2, home: "attic"))
    let found = try (1...2).map { try #require(Advertisement([.agent($0)])) }
    try kit.loop.see(Sightings(found))
    #expect(kit.home.routers.map(\.agent) == [.agent(1)])
    #expect(kit.loop.homes.snapshot.homes["attic"]?.routers.count == 1)
    // Without discovery it goes.
    let later = try kit.restarted(["home", "attic"])
    #expect(!later.home.routers.contains { $0.isPresent })
  }

  @Test("What the broker has taken is deleted with the next commit, or by the second tick after it") func published()
    throws
  {
    let kit = try LoopKit()
    var last: Int64 { kit.memory.contents.withLock { $0.messages.last?.id ?? 0 } }
    try kit.receive(.announce(1), .announce(2))
    let first = last
    kit.loop.acknowledged(upTo: first)
    try kit.receive(.announce(3))
    #expect(last > first && kit.memory.contents.withLock { $0.messages.allSatisfy { $0.id > first } })
    kit.loop.acknowledged(upTo: last)
    var commits = kit.memory.commits
    try kit.pass()
    #expect(kit.memory.commits == commits && !kit.memory.messages.isEmpty)
    try kit.pass()
    #expect(kit.memory.messages.isEmpty)
    commits = kit.memory.commits
    try kit.pass()
    #expect(kit.memory.commits == commits)
  }

  @Test("The ids of messages go on after a restart") func messageIDs() throws {
    let kit = try LoopKit()
    try kit.loop.received((1...5).map { .announce($0) })
    let last = kit.memory.contents.withLock { $0.messages.last!.id }
    #expect(last > 1)
    let later = try kit.restarted()
    try later.receive(.announce(6))
    #expect(kit.memory.contents.withLock { $0.messages.last!.id } > last)
  }

  @Test("When something is due next is known after a tick") func nextDue() throws {
    let kit = try LoopKit(["attic", "home"])
    try kit.receive(.announce(1), .message("offline", 1))
    try kit.pass()
    let due = try #require(kit.loop.nextDue)
    #expect(due > kit.time.now && due <= kit.time.now.adding(seconds: 30))
    try kit.pass(seconds: 30)
    #expect(kit.home.alerts[AlertKey(.borderRouterOffline, .router(.agent(1)))]?.phase == .firing)
  }

  @Test("Time passes for homes in which something is due, and for no other") func ticks() throws {
    let kit = try LoopKit(["home", "attic"])
    let link = Link(connection: 1, listeningSince: kit.time.now)
    // The other networks are a mismatch, which is held for 30 seconds.
    try kit.receive(.announce(1), .announce(2), .announce(3, .of(2)))
    try kit.loop.tick(link)
    let commits = kit.memory.commits
    for _ in 0..<29 { try kit.pass(seconds: 1, link) }
    #expect(kit.memory.commits == commits)
    let batches = kit.follower.batches.withLock { $0.count }
    try kit.pass(seconds: 1, link)
    #expect(kit.memory.commits == commits + 1)
    let last = kit.follower.batches.withLock { $0[batches...].flatMap { $0.changes.map(\.home) } }
    #expect(last == ["home"])
    #expect(kit.home.alerts.values.contains { $0.phase == .firing })
  }

  @Test("What was due at a tick that failed is done at the next one") func failedTick() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1), .announce(2, .of(2)))
    try kit.pass()
    kit.time.advance(seconds: 30)
    kit.memory.refuses { try kit.pass() }
    #expect(!kit.home.alerts.values.contains { $0.phase == .firing })
    try kit.pass()
    #expect(kit.home.alerts.values.contains { $0.phase == .firing })
  }

  @Test("A daemon that is killed again and again within the hold suppresses no alert") func killed() throws {
    var kit = try LoopKit()
    try kit.receive(.announce(1), .announce(2, .of(2)))
    for _ in 0..<5 {
      try kit.pass()
      #expect(!kit.home.alerts.values.contains { $0.phase == .firing })
      kit = try kit.restarted(cleanly: false)
      kit.time.advance(seconds: 6)
    }
    try kit.pass()
    let firing = kit.home.alerts.values.filter { $0.phase == .firing }
    #expect(!firing.isEmpty && firing.allSatisfy { $0.sequence == 1 })
  }

  @Test("A clock that is set back ends no hold early, and saves what was seen") func clock() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1), .message("heartbeat", 1))
    kit.time.advance(seconds: -3_600)
    try kit.loop.clockJumped(by: -3_600_000)
    try kit.pass()
    #expect(kit.home.routers.lastSeen(.agent(1)) == kit.time.now)
  }

  @Test("A session that the broker has lost is an alert until the next one is found") func session() throws {
    let kit = try LoopKit()
    try kit.loop.connected(isSessionPresent: false)
    #expect(kit.home.alerts[AlertKey(.sessionLost)] == nil)
    let later = try kit.restarted()
    try later.loop.connected(isSessionPresent: false)
    #expect(later.home.isFiring(.sessionLost))
    try later.loop.connected(isSessionPresent: true)
    #expect(later.home.alerts[AlertKey(.sessionLost)]?.phase == .resolved)
  }

  @Test("Messages that the broker has dropped are noticed over a restart") func dropped() throws {
    let kit = try LoopKit()
    #expect(try !kit.loop.noteDropped(5))
    #expect(try !kit.restarted().loop.noteDropped(5))
    #expect(try kit.restarted().loop.noteDropped(6))
  }
}
