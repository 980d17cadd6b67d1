import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

@Suite struct AuditTests {
  private let store: TemporaryStore

  init() throws { store = try TemporaryStore { $0.auditor = "tester" } }

  private struct Undone: Error {}

  private func records() throws -> [AuditRecord] {
    var records: [AuditRecord] = []
    try store.keychain.forEachAuditRecord { records.append($0) }
    return records
  }

  private func actions(_ record: AuditRecord) -> [AuditAction] { record.lines.map(\.action) }

  @Test func eachTransactionSaysWhoDidWhat() throws {
    let item = try store.add("anna", secret: "Sesame-3f")
    try store.keychain.database.write { tx in
      let item = try store.keychain.update(item, secret: Sample.secret("Sesame-4a"), in: tx)
      let labelled = try store.keychain.update(item, attributes: [.label: .string("x")], in: tx)
      try store.keychain.delete(labelled, in: tx)
    }
    let slot = try store.keychain.addKeySlot(.keyFile(path: store.path + "/other.key"), label: "b")
    try store.keychain.removeKeySlot(slot.number)
    let found = try records()
    #expect(found.map(\.number) == [1, 2, 3, 4] && Set(found.map(\.actor)) == ["tester"])
    #expect(found.map(actions) == [[.added], [.secretChanged, .changed, .deleted], [.slotAdded], [.slotRemoved]])
    #expect(found[0].lines[0].subject == "genp mail anna (own)")
    #expect(found[2].lines[0].subject == "keyFile b")
    #expect(!found.flatMap(\.lines).contains { $0.subject.contains("Sesame") })
    let now = Date().timeIntervalSince1970 * 1_000_000
    #expect(found.allSatisfy { abs(Double($0.time) - now) < 60_000_000 })
    #expect(try store.keychain.auditProblem() == nil)
    try store.reopen()
    #expect(try records() == found && store.keychain.condition == .healthy)
    #expect(try store.keychain.lastAuditRecord() == 4)
  }

  @Test func aBatchHasOneRecordForEachOfItsUsers() throws {
    try store.keychain.database.write { tx in
      for number in 0..<6 {
        store.keychain.act(as: number % 2 == 0 ? "even" : "odd", in: tx)
        try store.keychain.add("user \(number)", in: tx)
      }
    }
    let found = try records()
    #expect(found.map(\.actor) == ["even", "odd"] && found.map(\.lines.count) == [3, 3])
    try store.keychain.database.write { tx in
      for number in 0..<2_500 { try store.keychain.add("many \(number)", in: tx) }
    }
    #expect(try records().map(\.lines.count) == [3, 3, 1_000, 1_000, 500])
    #expect(try records().last?.actor == "tester")
    #expect(try store.keychain.auditProblem() == nil)
  }

  @Test func whatIsUndoneIsNotInIt() throws {
    #expect(throws: Undone.self) {
      try store.keychain.database.write { tx in
        try store.keychain.add("anna", in: tx)
        throw Undone()
      }
    }
    #expect(try records().isEmpty)
    try store.keychain.database.write { tx in
      try store.keychain.add("berta", in: tx)
      try? tx.savepoint {
        store.keychain.act(as: "somebody", in: tx)
        try store.keychain.add("carla", in: tx)
        throw Undone()
      }
      try store.keychain.add("dora", in: tx)
    }
    let found = try records()
    #expect(found.count == 1 && found[0].actor == "tester")
    #expect(found[0].lines.map(\.subject) == ["genp mail berta (own)", "genp mail dora (own)"])
  }

  /// Statements on ten records, and what is said of them then.
  private static let alterations = [
    (["DELETE FROM audit WHERE id = 4"], "record 4 of the audit is missing"),
    (["DELETE FROM audit WHERE id < 3"], "record 1 of the audit is missing"),
    (["DELETE FROM audit WHERE id > 7"], "record 7"), (["DELETE FROM audit WHERE id > 7"], "cut off"),
    (["DELETE FROM audit"], "cut off"),
    (
      [(3, 100), (4, 3), (100, 4)].map { "UPDATE audit SET id = \($1) WHERE id = \($0)" },
      "record 3 of the audit was altered"
    ),
    (
      ["DELETE FROM audit WHERE id = 4"] + (5...10).map { "UPDATE audit SET id = id - 1 WHERE id = \($0)" },
      "record 4 of the audit was altered"
    ),
  ]

  @Test("Records that were removed, cut off or moved are told", arguments: alterations) func altered(
    _ statements: [String], _ words: String
  ) throws {
    for number in 0..<10 { try store.add("user \(number)") }
    try store.reopen {
      let raw = try store.raw()
      for statement in statements { try raw.run(statement) }
    }
    let problem = try #require(try store.keychain.auditProblem())
    #expect(problem.contains(words))
    // What the manifest sees stops the store too.
    if problem.contains("cut off") { refuses(.readOnly) { try store.add("anna") } }
  }

  @Test func everyByteOfARecordCounts() throws {
    for number in 0..<3 { try store.add("user \(number)") }
    store.keychain.close()
    let raw = try store.raw()
    let sealed = try raw.blob("SELECT sealed FROM audit WHERE id = 2")
    try store.reopen()
    for place in sealed.indices {
      var altered = sealed
      altered[place] ^= 1 << (place % 8)
      try raw.run("UPDATE audit SET sealed = ? WHERE id = 2", [.blob(altered)])
      let problem = try store.keychain.auditProblem()
      #expect(problem?.contains("record 2") == true, "byte \(place): \(problem ?? "")")
    }
    try raw.run("UPDATE audit SET sealed = ? WHERE id = 2", [.blob(sealed)])
    #expect(try store.keychain.auditProblem() == nil)
    #expect(store.keychain.condition == .healthy)
  }

  @Test func aRestoreIsInTheRestoredAudit() throws {
    try store.add("anna")
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    try store.add("berta")
    var options = KeychainOptions()
    options.auditor = "restorer"
    // The first restore has counted on by far more than was changed: the second one knows no number.
    for lost in ["1 changes", "all changes"] {
      try store.reopen {
        _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true, options: options)
      }
      #expect(try records().map(\.actor) == ["tester", "restorer"])
      #expect(try records().map(actions) == [[.added], [.restored]])
      #expect(try records()[1].lines.map(\.subject) == ["a backup; \(lost) since then are lost"])
    }
    #expect(try store.keychain.auditProblem() == nil)
  }

  private func epochs() throws -> [RawStore.Value] {
    let raw = try store.raw()
    return try raw.run("SELECT hex(substr(sealed, 2, 4)) FROM audit ORDER BY id").map { $0[0] }
  }

  private func names(_ epochs: [Int]) -> [RawStore.Value] { epochs.map { .text(Array("0B00000\($0)".utf8)) } }

  @Test func newRootKeysBeginANewEpochThatSealsTheOneBefore() throws {
    try store.add("anna")
    let leaked = LeakedKeys(store.keychain)
    try store.keychain.rotateKeys([store.keyFile])
    try store.add("berta")
    try store.keychain.rotateKeys([store.keyFile])
    try store.add("carla")
    for _ in 0..<2 {
      #expect(try records().map(\.number) == [1, 2, 3, 4, 5])
      #expect(try records()[1].lines.map(\.action) == [.rotated])
      #expect(try store.keychain.auditProblem() == nil)
      // The record of the renewal itself is under the new key.
      #expect(try leaked.opens(store.keychain).filter { $0.hasPrefix("audit") } == ["audit 1"])
      try store.reopen()
    }
    store.keychain.close()
    #expect(try epochs() == names([1, 2, 2, 3, 3]))
  }

  /// A record that is sealed with the first key, after one of those that are there.
  private func forged(after last: Int64, with old: AuditKey) throws -> [RawStore.Value] {
    let keychain = store.keychain
    let before = try #require(try keychain.database.read { try AuditRow.find(last, in: $0) })
    let record = AuditRecord(number: last + 1, time: 1, actor: "nobody", lines: [])
    let sealed = try old.seal(
      record.encoded(link: old.link(to: before.sealed)), number: last + 1, store: keychain.storeID)
    return [.blob(sealed), .integer(last + 1)]
  }

  private func auditKey() throws -> AuditKey {
    let id = KeyID(.audit, epoch: 1)
    return try store.keychain.database.read { try AuditKey(id, store.keychain.keys.key(id, in: $0), in: KeyArena()) }
  }

  /// With the old key the old records can be rewritten, each with its link; the new epoch does not follow.
  @Test func theOldKeyCannotRewriteWhatTheNewEpochSealed() throws {
    for number in 0..<3 { try store.add("user \(number)") }
    let old = try auditKey()
    try store.keychain.rotateKeys([store.keyFile])
    try store.add("last")
    #expect(try store.keychain.auditProblem() == nil)
    try store.alter("UPDATE audit SET sealed = ? WHERE id = ?", forged(after: 2, with: old))
    #expect(try store.keychain.auditProblem()?.contains("record 4 of the audit does not follow") == true)
  }

  @Test func aRecordUnderAnOlderKeyThanTheOneBeforeIsNone() throws {
    try store.add("anna")
    let old = try auditKey()
    try store.keychain.rotateKeys([store.keyFile])
    try store.alter("INSERT INTO audit (sealed, id) VALUES (?, ?)", forged(after: 2, with: old))
    #expect(try store.keychain.auditProblem()?.contains("under an older key") == true)
  }

  @Test func theSlotsThatGoAndTheRotationAreInIt() throws {
    let spare = KeySlotSecret.keyFile(path: store.path + "/spare.key")
    try store.keychain.addKeySlot(spare, label: "spare", for: "command of user 7")
    try store.keychain.rotateKeys([store.keyFile], for: "command of user 8")
    let slot = try store.keychain.addKeySlot(spare)
    try store.keychain.removeKeySlot(slot.number, for: "command of user 11")
    let found = try records()
    #expect(
      found.map { $0.lines.map(\.action) } == [[.slotAdded], [.rotated, .slotRemoved], [.slotAdded], [.slotRemoved]])
    #expect(found[1].lines[1].subject == "keyFile spare")
    #expect(found.map(\.actor) == ["command of user 7", "command of user 8", "tester", "command of user 11"])
    #expect(try store.keychain.auditProblem() == nil)
  }
}
