#if Fleet
import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import Fleet

@Suite("The store of a shard", .enabled(if: PostgresServer.isAvailable)) struct ShardStoreTests {
  private func addSamples(_ store: ShardStore) throws {
    try store.commit(.of(.sample(1, "router 1", .text("dataset 1")), .sample(2, "router 2", .text("dataset 2"))))
    try store.commit(.of(.sample(3, "alert")))
  }

  /// A shard for each of them.
  private static let fleet = Result { try FleetFixture(shards: RecordStoreContract.all.count) }

  @Test(arguments: RecordStoreContract.all.indices) func contract(_ index: Int) throws {
    let fleet = try Self.fleet.get()
    func open() throws -> ShardStore {
      let store = try fleet.claim(index + 1)
      _ = try store.load { _ in }
      #expect(store.condition == .healthy)
      return store
    }
    try RecordStoreContract.all[index].check(open(), open) { part in
      // Another byte before the tag.
      try fleet.alter(
        """
        UPDATE record SET \(part) = set_byte(\(part), length(\(part)) - 17,
          get_byte(\(part), length(\(part)) - 17) # 1) WHERE id = 1 AND shard = \(index + 1)
        """)
    }
    #expect(try open().unreadable() == [])
  }

  @Test("What the database's administrator changes is noticed when the shard is read") func rows() throws {
    let fleet = try FleetFixture(shards: 2)
    let store = try fleet.claim()
    try addSamples(store)
    try fleet.alter("CREATE TABLE old AS SELECT * FROM record WHERE id = 2")
    var changes = RecordChanges.of(.sample(2, "newer", .text("newer")))
    changes.audit = [.init(actor: nil, .consentExpired, "one")]
    try store.commit(changes)
    let saved = try SavedShards(fleet.server, fleet.name)
    for sql in [
      "DELETE FROM record WHERE id = 2",
      "INSERT INTO record SELECT shard, 9, home, version, secret_version, state, secret FROM record WHERE id = 1",
      "DELETE FROM record WHERE id = 2; INSERT INTO record SELECT * FROM old", "UPDATE record SET id = 9 WHERE id = 2",
      "UPDATE record SET home = 8 WHERE id = 2", "UPDATE record SET shard = 2 WHERE id = 2",
      "UPDATE record SET version = version + 1 WHERE id = 2",
      "UPDATE record SET secret_version = 0, secret = NULL WHERE id = 2",
      "UPDATE record SET secret = NULL WHERE id = 2",
      "UPDATE record r SET secret = (SELECT secret FROM record WHERE id = 1) WHERE id = 2",
      "UPDATE record r SET state = (SELECT state FROM record WHERE id = 1) WHERE id = 2",
      "UPDATE record SET state = substring(state FROM 1 FOR 20) WHERE id = 2",
      "UPDATE record SET state = '' WHERE id = 2", "DELETE FROM threadkeeper.audit WHERE id = 1",
      "UPDATE threadkeeper.shard SET generation = generation + 1 WHERE id = 1",
    ] {
      try fleet.alter(sql)
      let reader = try fleet.claim()
      _ = try reader.load { _ in }
      #expect(reader.condition == .readOnly(.manifestMismatch), "\(sql)")
      refuses(.readOnly) { try reader.commit(.of(.sample(4, "new"))) }
      refuses(.decode) { _ = try reader.withSecret(of: RecordID(99)) { _ in } }
      let other = try fleet.claim(2)
      _ = try other.load { _ in }
      #expect((other.condition == .healthy) == !sql.contains("shard = 2"), "\(sql)")
      for shard in 1...2 { try saved.restore(shard) }
    }
    #expect(try fleet.claim().contents().count == 3, "the restored one")
  }

  @Test("What is changed behind an open store is not taken for what was written") func behind() throws {
    let fleet = try FleetFixture()
    let store = try fleet.claim()
    try addSamples(store)
    try fleet.alter("UPDATE record SET secret = (SELECT secret FROM record WHERE id = 1) WHERE id = 2")
    refuses(.decode) { _ = try store.withSecret(of: RecordID(2)) { _ in } }
    try fleet.alter("DELETE FROM record WHERE id = 1")
    refuses(.decode) { _ = try store.withSecret(of: RecordID(1)) { _ in } }
    try store.commit(.of(.sample(3, "alert", .copy(of: RecordID(1)))))
    #expect(try store.withSecret(of: RecordID(3)) { Array($0) } == nil)
    try store.commit(messages: [7])
    try fleet.run("UPDATE threadkeeper.outbox SET id = 8")
    refuses(.decode) { _ = try store.messages(after: 0, limit: 9) }
  }

  @Test("The keys of another shard open nothing, and a key slot says which shard it is of") func keys() throws {
    let fleet = try FleetFixture(shards: 2)
    try addSamples(fleet.claim())
    let store = try fleet.claim(1, keysOf: 2)
    #expect(try store.load { _ in }.count == 3)
    #expect(store.condition == .readOnly(.manifestUnreadable))
    let (keys, plaintext) = try ShardKeys.make(shard: 17)
    #expect(plaintext.count == 53)
    let again = try ShardKeys(opening: plaintext, shard: 17)
    #expect(again.store == keys.store && again.hashKey == keys.hashKey)
    #expect(try again.daemonSecrets == keys.daemonSecrets && keys.daemonSecrets.count == 64)
    #expect(again.clientIDSuffix == keys.clientIDSuffix && keys.clientIDSuffix.count == 8)
    refuses(.authFailed) { _ = try ShardKeys(opening: plaintext, shard: 18) }
    refuses(.authFailed) { _ = try ShardKeys(opening: SecretBytes(random: 53), shard: 17) }
    #expect(try ShardKeys.make(shard: 17).keys.hashKey != keys.hashKey)
  }

  @Test("Two shards with the same numbers know nothing of each other") func isolation() throws {
    let fleet = try FleetFixture(shards: 2)
    let (one, two) = (try fleet.claim(1), try fleet.claim(2))
    try one.commit(.announcements(1...20, "one"))
    try two.commit(.announcements(1...10, "two"))
    try two.commit(.of((1...5).map { .init(id: RecordID($0), home: 7, state: nil) }))
    var published = RecordChanges()
    published.published = 8
    try two.commit(published)
    #expect(try fleet.claim(1).contents().count == 20)
    #expect(try fleet.claim(2).contents().values.allSatisfy { $0[0]?.hasPrefix("two") == true })
    #expect(try fleet.claim(1).messages(after: 0, limit: 99).count == 20)
    #expect(try fleet.claim(2).messages(after: 0, limit: 99).map(\.id) == [9, 10])
    #expect(try fleet.claim(2).lastAuditRecord() == 1)
    // Rows that change places open in neither.
    try fleet.run("DELETE FROM threadkeeper.outbox WHERE shard = 1; UPDATE threadkeeper.outbox SET shard = 1")
    refuses(.decode) { _ = try fleet.claim(1).messages(after: 0, limit: 99) }
  }

  @Test("Nothing in a dump can be read but the names of homes") func plaintext() throws {
    let fleet = try FleetFixture(shards: 2)
    let store = try fleet.claim()
    let marks = (0..<5).map { _ in RandomBytes.make(24) }
    var changes = RecordChanges.of(
      .init(id: RecordID(1), home: 1, state: marks[0], secret: .new(SecretBytes(copying: marks[1]))),
      .init(id: RecordID(2), home: 1, state: marks[2], secret: .none))
    changes.messages = [StoredMessage(id: 1, bytes: marks[3])]
    let subject = marks[4].map { "\($0)" }.joined()
    changes.audit = [.init(actor: "anna of the tests", .consentApproved, subject)]
    try store.commit(changes)
    try store.commit(.of(.init(id: RecordID(2), home: 1, state: marks[2], secret: .copy(of: RecordID(1)))))
    try fleet.run("INSERT INTO threadkeeper.home VALUES (1, 'smith-of-the-tests')")
    let dump = try fleet.server.dump(database: fleet.name)
    #expect(dump.contains("smith-of-the-tests"))
    for mark in marks {
      let hexadecimal = mark.map { String(format: "%02x", $0) }.joined()
      #expect(!dump.contains(hexadecimal) && !dump.contains(Data(mark).base64EncodedString()))
    }
    #expect(!dump.contains("anna of the tests") && !dump.contains(subject))
    // Equal states and secrets are not equal there.
    #expect(try fleet.run("SELECT count(DISTINCT secret) FROM threadkeeper.record") == ["2"])
  }

  @Test("Where no message waits, they may be numbered from 1 again") func numbers() throws {
    let fleet = try FleetFixture()
    var published = RecordChanges()
    published.published = 9
    let store = try fleet.claim()
    try store.commit(messages: [1, 5, 9])
    refuses(.duplicateItem) { try store.commit(messages: [9]) }
    try store.commit(published)
    for _ in 0..<2 {
      let again = try fleet.claim()
      #expect(try again.messages(after: 0, limit: 9) == [])
      try again.commit(messages: [1, 2])
      #expect(try again.messages(after: 0, limit: 9).map(\.id) == [1, 2])
      published.published = 2
      try again.commit(published)
    }
  }

  @Test("The lines of the audit have their actors, and are in the commit of their records") func audit() throws {
    let fleet = try FleetFixture()
    let store = try fleet.claim()
    var changes = RecordChanges.of(.sample(1, "a"))
    changes.audit = [
      .init(actor: "anna", .consentApproved, "one"), .init(actor: nil, .consentExpired, "two"),
      .init(actor: "anna", .consentDenied, "three"),
    ]
    try store.commit(changes)
    changes.records = [.init(id: RecordID(1), home: 8, state: [])]
    refuses(.param) { try store.commit(changes) }
    let again = try fleet.claim()
    changes.records = []
    try again.commit(changes)
    var lines: [String] = []
    try again.forEachAuditRecord(after: 1, limit: 2) { record in
      lines += record.lines.map { "\(record.number) \(record.actor): \($0.action) \($0.subject)" }
    }
    #expect(
      lines == ["2 threadkeeper: consentExpired two", "3 anna: consentApproved one", "3 anna: consentDenied three"])
    #expect(try again.lastAuditRecord() == 4 && again.auditProblem() == nil)
    refuses(.decode) { try again.forEachAuditRecord(after: 9, limit: 1) { _ in } }
    try fleet.run(
      "UPDATE threadkeeper.audit SET sealed = (SELECT sealed FROM threadkeeper.audit WHERE id = 1) WHERE id = 2")
    #expect(try again.auditProblem()?.contains("record 2") == true)
    try fleet.run("DELETE FROM threadkeeper.audit WHERE id > 1")
    #expect(try again.auditProblem()?.contains("cut off") == true)
  }

  @Test("An anchor is known as one of this shard, newer, or another history") func anchor() throws {
    let fleet = try FleetFixture(shards: 2)
    let store = try fleet.claim()
    try store.open()
    let first = try store.anchor
    #expect(first.generation == 0 && first.hash.count == 64)
    try addSamples(store)
    let second = try store.anchor
    #expect(second.generation == 2 && store.generation == 2)
    #expect(try store.compare(anchorOf: first.generation, hash: first.hash) == .fits)
    #expect(try store.compare(anchorOf: 2, hash: second.hash) == .fits)
    for (generation, hash) in [(3, second.hash), (2, first.hash), (2, ""), (2, String(repeating: "ä", count: 32))] {
      #expect(try store.compare(anchorOf: Int64(generation), hash: hash) == .notGenuine)
    }
    #expect(try fleet.claim(2).compare(anchorOf: 2, hash: second.hash) == .notGenuine)
    // All of it goes back, and on another way.
    let saved = try SavedShards(fleet.server, fleet.name)
    let last = try fleet.claim()
    try last.commit(.of(.sample(4, "lost")))
    let lost = try last.anchor
    try saved.restore()
    let reader = try fleet.claim()
    _ = try reader.load { _ in }
    #expect(reader.condition == .healthy)
    #expect(try reader.compare(anchorOf: lost.generation, hash: lost.hash) == .rolledBack(by: 1))
    try reader.commit(.of(.sample(4, "another")))
    #expect(try reader.compare(anchorOf: lost.generation, hash: lost.hash) == .rolledBack(by: 0))
  }
}

extension ShardStore {
  func commit(messages ids: [Int64]) throws {
    var changes = RecordChanges()
    changes.messages = ids.map { StoredMessage(id: $0, bytes: [1, 2, 3]) }
    try commit(changes)
  }
}
#endif
