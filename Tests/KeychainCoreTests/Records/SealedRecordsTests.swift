import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

@Suite("Sealed records") struct SealedRecordsTests {
  private let store: TemporaryStore
  private var records: SealedRecords { SealedRecords(store.keychain) }

  init() throws { store = try TemporaryStore { $0.auditor = "tester" } }

  private static let samples: [Int64: [String?]] = [
    1: ["router 1", "dataset 1"], 2: ["router 2", "dataset 2"], 3: ["alert", nil],
  ]

  private func addSamples() throws {
    try records.commit(.of(.sample(1, "router 1", .text("dataset 1")), .sample(2, "router 2", .text("dataset 2"))))
    try records.commit(.of(.sample(3, "alert")))
  }

  /// Another byte before the tag, which the manifest does not see.
  private func damage(_ part: String, of id: Int64) throws {
    var bytes = try store.raw().blob("SELECT \(part) FROM records WHERE id = \(id)")
    bytes[bytes.count - 17] ^= 1
    try store.alter("UPDATE records SET \(part) = ? WHERE id = \(id)", [.blob(bytes)])
  }

  @Test(arguments: RecordStoreContract.all) func contract(_ contract: RecordStoreContract) throws {
    func reopen() throws -> SealedRecords {
      try store.reopen()
      #expect(store.keychain.condition == .healthy)
      #expect(try store.keychain.verify(.everything).matchesManifest)
      return records
    }
    try contract.check(records, reopen) { try damage($0, of: 1) }
    _ = try reopen()
    #expect(try store.keychain.verify(.everything).unreadableRecords == [])
  }

  @Test("A record that is named twice in a commit is what it was last, and counted once") func twice() throws {
    try records.commit(.of(.sample(1, "first", .text("one")), .sample(1, "second"), .sample(2, "other")))
    try records.commit(.of(.sample(2, "third"), .init(id: RecordID(2), home: 7, state: nil)))
    #expect(try records.contents() == [1: ["second", "one"]])
    #expect(try store.keychain.verify().matchesManifest)
  }

  @Test(
    "A row that is deleted, added or put back is noticed at the next opening",
    arguments: [
      "DELETE FROM records WHERE id = 2",
      "INSERT INTO records SELECT 9, home, version, secret_version, state, secret FROM records" + " WHERE id = 1",
      "UPDATE records SET (version, secret_version, state, secret) ="
        + " (SELECT version, secret_version, state, secret FROM old) WHERE id = 2",
    ]) func rows(_ sql: String) throws
  {
    try addSamples()
    try store.alter("CREATE TABLE old AS SELECT * FROM records WHERE id = 2")
    try records.commit(.of(.sample(2, "newer", .text("newer"))))
    try store.alter(sql)
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
    refuses(.readOnly) { try records.commit(.of(.sample(4, "new"))) }
    if sql.hasPrefix("DELETE") { refuses(.decode) { try records.withSecret(of: RecordID(2)) { _ in } } }
  }

  @Test("An older secret, or none, does not go with a newer state") func olderSecret() throws {
    try addSamples()
    try store.alter("CREATE TABLE old AS SELECT * FROM records WHERE id = 2")
    try records.commit(.of(.sample(2, "newer", .text("newer"))))
    // Behind the back of the open store, which does not count its rows again.
    let raw = try store.raw()
    for secret in ["secret_version, secret FROM old", "0, NULL"] {
      try raw.run("UPDATE records SET (secret_version, secret) = (SELECT \(secret)) WHERE id = 2")
      refuses(.decode) { try records.withSecret(of: RecordID(2)) { _ in } }
      #expect(try records.load { _ in }.map(\.id) == [RecordID(2)])
    }
  }

  @Test("A store that is open for reading only gives records, and takes none") func readOnly() throws {
    try addSamples()
    let beside = try store.openBeside()
    defer { beside.close() }
    let records = SealedRecords(beside)
    #expect(try records.contents() == Self.samples)
    refuses(.readOnly) { try records.commit(.of(.sample(4, "new"))) }
    refuses(.readOnly) {
      var changes = RecordChanges()
      changes.published = 1
      try records.commit(changes)
    }
  }

  @Test("Two that share a store write by turns") func shared() throws {
    try addSamples()
    try store.reopen(access: .shared)
    let other = try TemporaryStore.open(in: store.path, access: .shared)
    defer { other.close() }
    try SealedRecords(other).commit(.of(.sample(1, "theirs", .text("theirs"))))
    try records.commit(.of(.sample(1, "ours"), .sample(4, "new")))
    try SealedRecords(other).commit(.of(.sample(4, "changed")))
    #expect(try records.contents()[1] == ["ours", "theirs"])
    #expect(try records.contents()[4] == ["changed", nil])
    #expect(try store.keychain.verify().matchesManifest)
  }

  @Test("A rotation seals every record again, and the keys of before open none") func rotation() throws {
    try addSamples()
    let leaked = LeakedKeys(store.keychain)
    let last = try store.keychain.lastAuditRecord()
    #expect(try leaked.opens(store.keychain).filter { $0.contains("of record") }.count == 5)
    let report = try store.keychain.rotateKeys([store.keyFile])
    #expect(report.records == 3)
    #expect(try leaked.opens(store.keychain, after: last) == [])
    #expect(try records.contents() == Self.samples)
    try records.commit(.of(.sample(1, "changed"), .sample(4, "new")))
    try store.reopen()
    #expect(try records.contents()[1] == ["changed", "dataset 1"])
    let found = try store.keychain.verify(.everything)
    #expect(found.matchesManifest && found.unreadableRecords == [] && found.records == 4)
  }

  @Test("A record that does not open refuses the rotation", arguments: ["state", "secret"]) func rotationOfDamage(
    _ part: String
  ) throws {
    try addSamples()
    try damage(part, of: 2)
    refuses(.decode) { try store.keychain.rotateKeys([store.keyFile]) }
    try store.reopen()
    #expect(try records.withSecret(of: RecordID(1)) { Array($0) } == Array("dataset 1".utf8))
    #expect(try store.keychain.verify(.everything).unreadableRecords.map(\.id) == [RecordID(2)])
  }

  @Test("A backup has the records and the messages") func backup() throws {
    try addSamples()
    var changes = RecordChanges()
    changes.messages = [StoredMessage(id: 1, bytes: [1])]
    try records.commit(changes)
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    try records.commit(.of(.sample(1, "later", .none), .init(id: RecordID(3), home: 7, state: nil)))
    try store.reopen { _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true) }
    #expect(try records.contents() == Self.samples)
    #expect(try records.messages(after: 0, limit: 9) == changes.messages)
    #expect(try store.keychain.verify(.everything).matchesManifest)
  }

  @Test(
    "A backup with a record that does not open is restored with the others, and says so",
    arguments: ["state", "secret"]) func backupOfDamage(_ part: String) throws
  {
    try addSamples()
    try store.add("anna")
    try damage(part, of: 2)
    let path = store.path + "/backup"
    let made = try store.keychain.backup(to: path)
    #expect(made.records == Self.samples.count && made.items == 1)
    try store.reopen {
      let report = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true)
      #expect(report.damaged == 1 && report.records == Self.samples.count && report.items == 1)
    }
    let found = try store.keychain.verify(.everything)
    #expect(found.unreadableRecords.map(\.id) == [RecordID(2)])
    #expect(found.matchesManifest && found.records == Self.samples.count)
  }

  /// The files of the store that have `bytes` in them.
  private func files(with bytes: [UInt8]) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: store.path).filter {
      FileManager.default.contents(atPath: store.path + "/" + $0)?.range(of: Data(bytes)) != nil
    }
  }

  @Test("A secret that was replaced, removed or deleted with its record is in no file") func erasure() throws {
    let secrets = (0..<3).map { _ in RandomBytes.make(40) }
    var sealed: [[UInt8]] = []
    let state = RandomBytes.make(40)
    for (position, secret) in secrets.enumerated() {
      try records.commit(
        .of(.init(id: RecordID(Int64(position + 1)), home: 1, state: state, secret: .new(SecretBytes(copying: secret))))
      )
      sealed += try store.keychain.database.read { tx in
        try tx.all("SELECT secret FROM records WHERE id = ?", .integer(Int64(position + 1))) { $0.blob(0) }
      }
    }
    for bytes in sealed { #expect(try files(with: bytes) != []) }
    try records.commit(.of(.init(id: RecordID(1), home: 1, state: state, secret: .text("new"))))
    #expect(try files(with: sealed[0]) == [] && files(with: sealed[1]) != [])
    try records.commit(.of(.init(id: RecordID(2), home: 1, state: state, secret: .none)))
    #expect(try files(with: sealed[1]) == [] && files(with: sealed[2]) != [])
    try records.commit(.of(.init(id: RecordID(3), home: 1, state: nil)))
    for bytes in sealed + secrets + [state] { #expect(try files(with: bytes) == []) }
  }

  @Test("A change of states alone, and a message, need no erasure") func noErasure() throws {
    let store = try TemporaryStore { $0.defersUpkeep = true }
    let records = SealedRecords(store.keychain)
    try records.commit(.of(.sample(1, "a", .text("one"))))
    #expect(try store.keychain.eraseDeletedPages())
    var changes = RecordChanges.of(.sample(1, "b"), .sample(2, "new", .text("two")))
    changes.messages = [StoredMessage(id: 1, bytes: [1])]
    try records.commit(changes)
    #expect(!store.keychain.erasure.isOwed)
    try records.commit(.of(.sample(1, "c", .text("three"))))
    #expect(store.keychain.erasure.isOwed)
  }

  @Test("Secrets up to 255 bytes and states up to 15 have one length each") func padding() throws {
    for (id, count) in [1, 106, 254, 255].enumerated() {
      try records.commit(
        .of(
          .init(
            id: RecordID(Int64(id + 1)), home: 1, state: [UInt8](repeating: 1, count: id * 5),
            secret: .new(SecretBytes(random: count)))))
    }
    let lengths = try store.raw().run("SELECT DISTINCT length(state), length(secret) FROM records")
    #expect(lengths == [[.integer(61), .integer(301)]])
  }

  @Test("The lines of the audit have their actors, and are in the commit of their records") func audit() throws {
    let last = try store.keychain.lastAuditRecord()
    var changes = RecordChanges.of(.sample(1, "a"))
    changes.audit = [
      .init(actor: "anna", .consentApproved, "one"), .init(actor: nil, .consentExpired, "two"),
      .init(actor: "anna", .consentDenied, "three"),
    ]
    try records.commit(changes)
    var lines: [String] = []
    try store.keychain.forEachAuditRecord(after: last) { record in
      lines += record.lines.map { "\(record.actor): \($0.action) \($0.subject)" }
    }
    #expect(lines == ["anna: consentApproved one", "anna: consentDenied three", "tester: consentExpired two"])
    changes.records = [.init(id: RecordID(1), home: 8, state: [])]
    refuses(.param) { try records.commit(changes) }
    #expect(try store.keychain.lastAuditRecord() == last + 2)
    #expect(try store.keychain.auditProblem() == nil)
  }

  @Test("A line about an item of a home is text when it is read, of at most 300 bytes") func auditItems() throws {
    func item(_ id: [UInt8], _ group: String) -> RecordChanges.AuditLine {
      .init(actor: nil, .added, .item(service: "thread-network", home: "Café", id: id, group: group))
    }
    let last = try store.keychain.lastAuditRecord()
    var changes = RecordChanges.of(.sample(1, "a"))
    changes.audit = [
      item([0xA1, 0x02, 0xF0], "otbr"), item([], ""), item([1], String(repeating: "x", count: 400)),
      .init(actor: nil, .deleted, ""),
    ]
    try records.commit(changes)
    var subjects: [String] = []
    try store.keychain.forEachAuditRecord(after: last) { subjects += $0.lines.map(\.subject) }
    #expect(subjects == changes.audit.map(\.subject))
    #expect(subjects.prefix(2) == ["genp thread-network/Café a102f0 (otbr)", "genp thread-network/Café  ()"])
    #expect(subjects[2].utf8.count == 300 && subjects[3].isEmpty)
    #expect(try store.keychain.auditProblem() == nil)
  }

  @Test("Messages alone change no generation") func generation() throws {
    func generation() throws -> UInt64 {
      try store.keychain.database.read { try store.keychain.manifest.read(in: $0).0.generation }
    }
    try addSamples()
    let before = try generation()
    var changes = RecordChanges()
    changes.messages = [StoredMessage(id: 1, bytes: [1])]
    try records.commit(changes)
    changes.messages = []
    changes.published = 1
    try records.commit(changes)
    #expect(try generation() == before)
  }
}
