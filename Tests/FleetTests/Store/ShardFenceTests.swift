#if Fleet
import Foundation
import KeychainCore
import Synchronization
import TestKit
import Testing

@testable import Fleet

@Suite("The fence of a shard", .enabled(if: PostgresServer.isAvailable)) struct ShardFenceTests {
  private func expectLost(_ store: ShardStore, _ kind: PostgresError.Kind) {
    #expect(store.isLost)
    for refused in [
      { try store.commit(messages: [1]) }, { _ = try store.load { _ in } }, { try store.check() },
      { _ = try store.withSecret(of: RecordID(1)) { _ in } }, { _ = try store.messages(after: 0, limit: 1) },
    ] as [() throws -> Void] {
      let error = #expect(throws: PostgresError.self) { try refused() }
      #expect(error?.kind == kind)
    }
  }

  @Test("The commit of a process whose shard was claimed changes no row") func zombie() throws {
    let fleet = try FleetFixture()
    let zombie = try fleet.claim()
    try zombie.commit(.announcements(1...100))
    let owner = try fleet.claim()
    try owner.commit(.announcements(101...110))
    let before = try fleet.counts()
    #expect(before == ["110|2|2|2"])
    var changes = RecordChanges.announcements(1...600, "zombie")
    changes.messages = (200...300).map { StoredMessage(id: $0, bytes: []) }
    changes.records.append(.init(id: RecordID(700), home: 7, state: nil))
    changes.published = 90
    let error = #expect(throws: PostgresError.self) { try zombie.commit(changes) }
    #expect(error?.kind == .claimed && error?.message.contains("shard 1") == true)
    #expect(try fleet.counts() == before)
    expectLost(zombie, .claimed)
    try owner.commit(.of(.sample(1, "goes on")))
    #expect(try fleet.claim().contents()[1] == ["goes on", "dataset 1"])
  }

  @Test("A commit that waits for a claim changes no row when the claim is done") func race() throws {
    let fleet = try FleetFixture()
    let zombie = try fleet.claim()
    try zombie.commit(.announcements(1...10))
    let pool = PostgresPool(url: fleet.url, size: 1)
    let (started, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    try pool.withConnection { connection in
      try connection.transaction { connection in
        try connection.query("UPDATE threadkeeper.shard SET epoch = epoch + 1")
        Thread.detachNewThread {
          started.signal()
          let error = #expect(throws: PostgresError.self) { try zombie.commit(.announcements(11...500)) }
          #expect(error?.kind == .claimed)
          ended.signal()
        }
        started.wait()
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '\(fleet.name)'"
        let end = ContinuousClock.now + .seconds(30)
        var isWaiting = false
        while !isWaiting, .now < end { isWaiting = try fleet.run(waits) == ["1"] }
        #expect(isWaiting)
      }
    }
    ended.wait()
    #expect(try fleet.counts() == ["10|1|1|1"])
    expectLost(zombie, .claimed)
  }

  @Test("What is read while it is replaced is not taken for damage") func readWhileReplaced() throws {
    let fleet = try FleetFixture()
    let store = try fleet.claim()
    try store.commit(.announcements(1...10))
    let isOver = Atomic(false)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      while !isOver.load(ordering: .relaxed) {
        #expect(throws: Never.self) {
          let found = try store.withSecret(of: RecordID(10)) { Array($0) }
          #expect(found == Array("dataset 10".utf8))
          #expect(try store.auditProblem() == nil)
        }
      }
      ended.signal()
    }
    for _ in 1...(Soak.triesAll ? 300 : 100) {
      var changes = RecordChanges.announcements(10...10)
      changes.messages = []
      try store.commit(changes)
    }
    isOver.store(true, ordering: .relaxed)
    ended.wait()
  }

  @Test("A process whose lease is over writes nothing, without asking the database") func lease() throws {
    let fleet = try FleetFixture()
    let lease = LeaseTerm(lasting: .seconds(600))
    let store = try fleet.claim(lease: lease)
    lease.last(.zero)
    let error = #expect(throws: PostgresError.self) { try store.commit(messages: [1]) }
    #expect(error?.kind == .claimed && !store.isLost)
    #expect(throws: PostgresError.self) { try store.check() }
    #expect(throws: PostgresError.self) { try store.load { _ in } }
  }

  @Test("Where the generation has gone back, nothing is written, and the shard is read again") func goneBack() throws {
    let fleet = try FleetFixture()
    let (store, other) = (try fleet.claim(), fleet.store(1, epoch: 1))
    try store.commit(.announcements(1...10))
    let sealed = try fleet.run("SELECT encode(manifest, 'hex') FROM threadkeeper.shard")[0]
    try store.commit(.announcements(11...20))
    #expect(try other.contents().count == 20)
    let anchor = try store.anchor
    try fleet.run("UPDATE threadkeeper.shard SET generation = 1, manifest = decode('\(sealed)', 'hex')")
    let error = #expect(throws: PostgresError.self) { try store.commit(.announcements(21...30)) }
    #expect(error?.kind == .moved)
    #expect(try fleet.counts() == ["20|2|2|1"])
    expectLost(store, .moved)
    // Reading again behind the back of an open store is noticed, too.
    #expect(throws: PostgresError.self) { try other.load { _ in } }
    expectLost(other, .moved)
    let reader = try fleet.claim()
    _ = try reader.load { _ in }
    #expect(reader.condition == .readOnly(.manifestMismatch))
    #expect(try reader.compare(anchorOf: anchor.generation, hash: anchor.hash) == .rolledBack(by: 1))
  }

  @Test("A connection that is cut around COMMIT loses nothing, and writes nothing twice") func unknownOutcomes() throws
  {
    let fleet = try FleetFixture()
    let (relay, url) = try fleet.relay()
    let store = try fleet.claim(url: url)
    try store.commit(.announcements(1...10))
    var expected = 1
    let cuts = Relay.CommitCut.allCases
    for (round, cut) in (cuts + cuts).enumerated() {
      relay.cutNextCommit(cut)
      let first = Int64(100 + 300 * round)
      try store.commit(.announcements(first...(first + 299)))
      expected += 1
      #expect(relay.commitCuts == round + 1, "\(cut)")
      #expect(!store.isLost && store.generation == expected, "\(cut)")
      let records = 10 + 300 * (expected - 1)
      #expect(try fleet.counts() == ["\(records)|\(expected)|\(expected)|\(expected)"], "\(cut)")
    }
    let reader = try fleet.claim()
    #expect(try reader.contents().count == 10 + 300 * 6 && reader.condition == .healthy)
    #expect(try reader.auditProblem() == nil)
  }

  @Test("A commit whose owner is claimed while its answer is lost counts only if it was done") func claimedMeanwhile()
    throws
  {
    for cut in Relay.CommitCut.allCases {
      let fleet = try FleetFixture()
      let (relay, url) = try fleet.relay()
      let store = try fleet.claim(url: url)
      try store.commit(.announcements(1...10))
      try fleet.run(
        """
        CREATE FUNCTION next() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN NEW.epoch = NEW.epoch + 1; RETURN NEW; END';
        CREATE TRIGGER next BEFORE UPDATE OF generation ON threadkeeper.shard FOR EACH ROW EXECUTE FUNCTION next()
        """)
      relay.cutNextCommit(cut)
      let error = Result { try store.commit(.announcements(11...20)) }
      let counts = try fleet.counts()
      if case .success = error {
        // Only half of it has arrived, or a slow server has seen that its client is gone: the second attempt went through.
        #expect(counts == ["20|2|2|2"] && !store.isLost, "\(cut)")
      } else {
        #expect(counts == ["20|2|2|2"] && store.isLost)
      }
      let reader = try fleet.claim()
      #expect(try reader.contents().count == 20 && reader.condition == .healthy)
    }
  }

  @Test("A client that has stopped in the middle of a commit keeps nobody from the shard") func stoppedClient() throws {
    let fleet = try FleetFixture()
    let (relay, url) = try fleet.relay()
    defer { relay.hangUp() }
    let lease = LeaseTerm(lasting: .seconds(600))
    let zombie = try fleet.claim(url: url, lease: lease)
    try zombie.commit(.announcements(1...500))
    let size = try relay.traffic { try zombie.commit(.announcements(501...1_000)) }.bytes
    relay.stopClients(after: size * 9 / 10)
    var changes = RecordChanges.announcements(1...500, "zombie")
    changes.messages = []
    lease.last(.milliseconds(300))
    #expect(throws: PostgresError.self) { try zombie.commit(changes) }
    // No lock is waited for.
    try fleet.run("SET lock_timeout = '100ms'; UPDATE threadkeeper.shard SET epoch = epoch + 1")
    let owner = fleet.store(1, epoch: 2)
    try owner.commit(.of((1...500).map { .sample($0, "new") }))
    #expect(try owner.contents().values.allSatisfy { $0[0]?.hasPrefix("zombie") == false })
    #expect(owner.condition == .healthy)
  }

  @Test("While PostgreSQL is away a commit is refused at once; one that does not answer blocks for a lease") func away()
    throws
  {
    let server = try PostgresServer()
    let fleet = try FleetFixture(server)
    let lease = LeaseTerm(lasting: .seconds(600))
    let store = try fleet.claim(lease: lease)
    try store.commit(.announcements(1...10))
    server.kill()
    let error = #expect(throws: PostgresError.self) { try store.commit(.announcements(11...20)) }
    #expect(error?.isUnsent == true && !store.isLost)
    try server.start()
    // The next one goes on.
    try store.commit(.announcements(11...20))
    #expect(try fleet.counts()[0].hasPrefix("20|"))
    server.pause()
    lease.last(.milliseconds(500))
    let start = ContinuousClock.now
    #expect(throws: PostgresError.self) { try store.commit(.announcements(21...30)) }
    // An attempt to connect may have begun before.
    #expect(ContinuousClock.now - start < .seconds(20))
    #expect(store.isLost)
    server.resume()
    let reader = try fleet.claim()
    #expect([20, 30].contains(try reader.contents().count) && reader.condition == .healthy)
  }

  @Test("A batch of 500 is one round trip") func roundTrips() throws {
    let fleet = try FleetFixture()
    let (relay, url) = try fleet.relay()
    let store = try fleet.claim(url: url)
    try store.commit(.announcements(1...500))
    var message: Int64 = 500
    for first in [501, 501, 1_001, 1_001] as [Int64] {
      var changes = RecordChanges.announcements(first...(first + 499), "\(message)")
      changes.records.append(.init(id: RecordID(first - 500), home: 7, state: nil))
      changes.messages = (1...500).map { StoredMessage(id: message + $0, bytes: [1, 2, 3]) }
      changes.published = message
      message += 500
      let found = try relay.traffic { try store.commit(changes) }
      #expect(found.bytes > 100_000)
      // The first time each is prepared, in the same round trip.
      #expect(found.turns == 1)
    }
    #expect(try fleet.claim().messages(after: 0, limit: 10).first?.id == message - 499)
  }
}
#endif
