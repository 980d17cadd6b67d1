// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

@Suite struct AuditTests {
  private let store: TemporaryStore

  init() throws {
    var options = KeychainOptions()
    options.auditor = "tester"
    store = try TemporaryStore(options: options)
  }

  private struct Undone: Error {}

  private func records() throws -> [AuditRecord] {
    var records: [AuditRecord] = []
    try store.keychain.forEachAuditRecord { records.append($0) }
    return records
  }

  private func actions(_ record: AuditRecord) -> [AuditAction] { record.lines.map(\.action) }

  @Test func eachTransactionSaysWhoDidWhat() throws {
    let item = try store.keychain.add(Sample.password("anna", secret: "Sesame-3f"))
    try store.keychain.database.write { tx in
      let item = try store.keychain.update(item, secret: Sample.secret("Sesame-4a"), in: tx)
      let labelled = try store.keychain.update(item, attributes: [.label: .string("x")], in: tx)
      try store.keychain.delete(labelled, in: tx)
    }
    let slot = try store.keychain.addKeySlot(.keyFile(path: store.path + "/other.key"), label: "b")
    try store.keychain.removeKeySlot(slot.number)
    let found = try records()
    #expect(found.map(\.number) == [1, 2, 3, 4] && Set(found.map(\.actor)) == ["tester"])
    #expect(
      found.map(actions)
        == [[.added], [.secretChanged, .changed, .deleted], [.slotAdded], [.slotRemoved]])
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
        try store.keychain.add(Sample.password("user \(number)"), in: tx)
      }
    }
    let found = try records()
    #expect(found.map(\.actor) == ["even", "odd"] && found.map(\.lines.count) == [3, 3])
    try store.keychain.database.write { tx in
      for number in 0..<2_500 {
        try store.keychain.add(Sample.password("many \(number)"), in: tx)
      }
    }
    #expect(try records().map(\.lines.count) == [3, 3, 1_000, 1_000, 500])
    #expect(try records().last?.actor == "tester")
    #expect(try store.keychain.auditProblem() == nil)
  }

  @Test func whatIsUndoneIsNotInIt() throws {
    #expect(throws: Undone.self) {
      try store.keychain.database.write { tx in
        try store.keychain.add(Sample.password("anna"), in: tx)
        throw Undone()
      }
    }
    #expect(try records().isEmpty)
    try store.keychain.database.write { tx in
      try store.keychain.add(Sample.password("berta"), in: tx)
      try? tx.savepoint {
        store.keychain.act(as: "somebody", in: tx)
        try store.keychain.add(Sample.password("carla"), in: tx)
        throw Undone()
      }
      try store.keychain.add(Sample.password("dora"), in: tx)
    }
    let found = try records()
    #expect(found.count == 1 && found[0].actor == "tester")
    #expect(found[0].lines.map(\.subject) == ["genp mail berta (own)", "genp mail dora (own)"])
  }

  /// Statements on ten records, and what is said of them then.
  private static let alterations = [
    (["DELETE FROM audit WHERE id = 4"], "record 4 of the audit is missing"),
    (["DELETE FROM audit WHERE id < 3"], "record 1 of the audit is missing"),
    (["DELETE FROM audit WHERE id > 7"], "record 7"),
    (["DELETE FROM audit WHERE id > 7"], "cut off"),
    (["DELETE FROM audit"], "cut off"),
    (
      [
        "UPDATE audit SET id = 100 WHERE id = 3", "UPDATE audit SET id = 3 WHERE id = 4",
        "UPDATE audit SET id = 4 WHERE id = 100",
      ], "record 3 of the audit was altered"
    ),
    (
      ["DELETE FROM audit WHERE id = 4"]
        + (5...10).map { "UPDATE audit SET id = id - 1 WHERE id = \($0)" },
      "record 4 of the audit was altered"
    ),
  ]

  @Test("Records that were removed, cut off or moved are told", arguments: alterations)
  func altered(_ statements: [String], _ words: String) throws {
    for number in 0..<10 { try store.keychain.add(Sample.password("user \(number)")) }
    try store.reopen {
      let raw = try RawStore(store.location.databasePath)
      for statement in statements { try raw.run(statement) }
    }
    let problem = try #require(try store.keychain.auditProblem())
    #expect(problem.contains(words))
    // What the manifest sees stops the store too.
    if problem.contains("cut off") {
      refuses(.readOnly) { try store.keychain.add(Sample.password("anna")) }
    }
  }

  @Test func everyByteOfARecordCounts() throws {
    for number in 0..<3 { try store.keychain.add(Sample.password("user \(number)")) }
    store.keychain.close()
    let raw = try RawStore(store.location.databasePath)
    guard case .blob(let sealed) = try raw.run("SELECT sealed FROM audit WHERE id = 2")[0][0] else {
      Issue.record("no record")
      return
    }
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
    try store.keychain.add(Sample.password("anna"))
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    try store.keychain.add(Sample.password("berta"))
    var options = KeychainOptions()
    options.auditor = "restorer"
    try store.reopen {
      _ = try Keychain.restore(
        path, to: store.location, with: [store.keyFile], replacing: true, options: options)
    }
    #expect(try records().map(\.actor) == ["tester", "restorer"])
    #expect(try records().map(actions) == [[.added], [.restored]])
    #expect(try store.keychain.auditProblem() == nil)
  }
}
