// SPDX-License-Identifier: Apache-2.0

import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// The chain goes over rotations, each time under a new key.
@Suite struct AuditEpochTests {
  private let store: TemporaryStore

  init() throws {
    var options = KeychainOptions()
    options.auditor = "tester"
    options.passwordHash = .floor
    store = try TemporaryStore(options: options)
  }

  private func records() throws -> [AuditRecord] {
    var records: [AuditRecord] = []
    try store.keychain.forEachAuditRecord { records.append($0) }
    return records
  }

  private func epochs() throws -> [RawStore.Value] {
    let raw = try RawStore(store.location.databasePath)
    return try raw.run("SELECT hex(substr(sealed, 2, 4)) FROM audit ORDER BY id").map { $0[0] }
  }

  private func names(_ epochs: [Int]) -> [RawStore.Value] {
    epochs.map { .text(Array("0B00000\($0)".utf8)) }
  }

  @Test func newRootKeysBeginANewEpochThatSealsTheOneBefore() throws {
    try store.keychain.add(Sample.password("anna"))
    let leaked = LeakedKeys(store.keychain)
    try store.keychain.rotateKeys([store.keyFile])
    try store.keychain.add(Sample.password("berta"))
    try store.keychain.rotateKeys([store.keyFile])
    try store.keychain.add(Sample.password("carla"))
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

  /// With the old key the old records can be rewritten, each with its link; the new epoch does not follow.
  @Test func theOldKeyCannotRewriteWhatTheNewEpochSealed() throws {
    for number in 0..<3 { try store.keychain.add(Sample.password("user \(number)")) }
    let keychain = store.keychain
    let id = KeyID(.audit, epoch: 1)
    let old = try AuditKey(
      id, keychain.database.read { try keychain.keys.key(id, in: $0) }, in: KeyArena())
    try keychain.rotateKeys([store.keyFile])
    try keychain.add(Sample.password("last"))
    #expect(try keychain.auditProblem() == nil)
    let second = try #require(try keychain.database.read { try AuditRow.find(2, in: $0) })
    let forged = AuditRecord(number: 3, time: 1, actor: "nobody", lines: [])
    let sealed = try old.seal(
      forged.encoded(link: old.link(to: second.sealed)), number: 3, store: keychain.storeID)
    try store.reopen {
      let raw = try RawStore(store.location.databasePath)
      try raw.run("UPDATE audit SET sealed = ? WHERE id = 3", [.blob(sealed)])
    }
    #expect(
      try store.keychain.auditProblem()?.contains("record 4 of the audit does not follow") == true)
  }

  @Test func aRecordUnderAnOlderKeyThanTheOneBeforeIsNone() throws {
    try store.keychain.add(Sample.password("anna"))
    let keychain = store.keychain
    let id = KeyID(.audit, epoch: 1)
    let old = try AuditKey(
      id, keychain.database.read { try keychain.keys.key(id, in: $0) }, in: KeyArena())
    try keychain.rotateKeys([store.keyFile])
    let last = try #require(try keychain.database.read { try AuditRow.last(in: $0) })
    let forged = AuditRecord(number: last.number + 1, time: 1, actor: "nobody", lines: [])
    let sealed = try old.seal(
      forged.encoded(link: old.link(to: last.sealed)), number: last.number + 1,
      store: keychain.storeID)
    try store.reopen {
      let raw = try RawStore(store.location.databasePath)
      try raw.run(
        "INSERT INTO audit (id, sealed) VALUES (?, ?)", [.integer(last.number + 1), .blob(sealed)])
    }
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
      found.map { $0.lines.map(\.action) } == [
        [.slotAdded], [.rotated, .slotRemoved], [.slotAdded], [.slotRemoved],
      ])
    #expect(found[1].lines[1].subject == "keyFile spare")
    #expect(
      found.map(\.actor) == [
        "command of user 7", "command of user 8", "tester", "command of user 11",
      ])
    #expect(try store.keychain.auditProblem() == nil)
  }
}
