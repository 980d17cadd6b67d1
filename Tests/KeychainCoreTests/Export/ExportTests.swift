// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite struct ExportTests {
  private let file: ExportedFile
  private let (from, to): (TemporaryStore, TemporaryStore)

  init() throws {
    file = try ExportedFile()
    (from, to) = try ExportedFile.stores()
  }

  /// Items of every class, some larger than a chunk.
  private func fill(_ keychain: Keychain) throws {
    for (number, accessible) in [Accessibility.whenUnlocked, .afterFirstUnlock, .always]
      .enumerated()
    {
      try keychain.add(Sample.password("user \(number)", accessible: accessible))
    }
    try keychain.add(Sample.internetPassword("berta", server: "example.net"))
    for item in GoldenStore.items where !item.accessible.isThisDeviceOnly { try keychain.add(item) }
    var large = Sample.password(
      "large", secret: String(repeating: "0123456789abcdef", count: 20_000))
    large.attributes[.accessControl] = .data([1, 0, 0, 0, 0, 0, 0, 0, 1])
    large.attributes[ItemAttribute(rawValue: 250)] = .data(Array(repeating: 9, count: 70_000))
    try keychain.add(large)
  }

  private func audit(_ keychain: Keychain) throws -> [String] {
    var lines: [String] = []
    try keychain.forEachAuditRecord { record in
      lines += record.lines.map { "\(record.actor): \($0.action) \($0.subject)" }
    }
    return lines
  }

  @Test func everyItemComesToAnotherStoreAsItWasWithItsDates() throws {
    try fill(from.keychain)
    let made = try file.export(from.keychain)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(made.bytes == (try file.bytes()).count && made.bytes > 300_000)
    #expect(made.damaged == 0 && made.notInExport.isEmpty)
    let report = try file.import(to: to.keychain)
    #expect(report.isDone && report.added == made.items && report.items == made.items)
    #expect(report.store == from.keychain.storeID && report.conflicts == 0)
    #expect(try to.keychain.portrait() == from.keychain.portrait())
    #expect(try to.keychain.verify(.everything) == VerificationReport(items: made.items))
    // Its indexes lead to it.
    let found = try to.keychain.first(
      ItemQuery(
        .genericPassword,
        [.service: .string("thread-network/home"), .account: .string("a1b2c3d4e5f60718")]))
    #expect(found != nil)
    #expect(try audit(from.keychain).last == "a test: exported \(made.items) items to \(file.path)")
    #expect(try audit(to.keychain).last?.hasPrefix("a test: imported \(made.items) items") == true)
    #expect(try to.keychain.auditProblem() == nil)
    try to.reopen()
    #expect(to.keychain.condition == .healthy)
  }

  @Test func nothingOfTheItemsIsInTheFileInClear() throws {
    try from.keychain.add(Sample.password("planted account", secret: "planted secret"))
    try file.export(from.keychain)
    let bytes = Data(try file.bytes())
    for needle in ["planted", "mail", ExportedFile.passphrase] {
      #expect(bytes.range(of: Data(needle.utf8)) == nil)
    }
    let before = try file.bytes()
    try file.export(from.keychain)
    #expect(try file.bytes() != before)
  }

  @Test func anEmptyStoreHasAnExport() throws {
    #expect(try file.export(from.keychain).items == 0)
    #expect(try file.import(to: to.keychain).isDone)
    #expect(try to.keychain.items(ItemQuery()).isEmpty)
  }

  @Test func whatIsForThisDeviceOnlyStaysAndIsCountedByClass() throws {
    let store = try TemporaryStore(
      options: ExportedFile.options(), slots: [.passphrase(Sample.secret("a passphrase"))])
    for accessible in Accessibility.allCases {
      try store.keychain.add(Sample.password(accessible.code, accessible: accessible))
    }
    let made = try file.export(store.keychain)
    #expect(made.items == 3)
    #expect(
      made.notInExport == [
        .whenUnlockedThisDeviceOnly: 1, .afterFirstUnlockThisDeviceOnly: 1,
        .alwaysThisDeviceOnly: 1, .whenPasscodeSetThisDeviceOnly: 1,
      ])
    let report = try file.import(to: to.keychain)
    #expect(report.notInExport == made.notInExport && report.added == 3)
    #expect(
      Set(try to.keychain.items(ItemQuery()).map(\.accessible))
        == [.whenUnlocked, .afterFirstUnlock, .always])
  }

  @Test func lockedItemsAreNeitherExportedNorImported() throws {
    try from.keychain.add(Sample.password("anna"))
    try from.keychain.add(Sample.password("berta", accessible: .whenUnlocked))
    try file.export(from.keychain)
    try from.keychain.lock()
    let draft = try ExportDraft(file.path + "-2", replacing: false)
    refuses(.interactionNotAllowed) {
      _ = try from.keychain.exportItems(
        to: draft.descriptor, name: "draft", passphrase: Sample.secret("a passphrase"))
    }
    try to.keychain.lock()
    refuses(.interactionNotAllowed) { try file.import(to: to.keychain) }
    #expect(try to.keychain.items(ItemQuery()).isEmpty)
    #expect(try audit(from.keychain).filter { $0.contains("exported") }.count == 1)
    // Without such items nobody needs to unlock it.
    try from.keychain.unlock(with: from.keyFile)
    try from.keychain.delete(from.keychain.items(ItemQuery())[1])
    try from.keychain.lock()
    #expect(try file.export(from.keychain).items == 1)
    #expect(try file.import(to: to.keychain).added == 1)
  }

  @Test func aDamagedItemIsLeftOutAndCounted() throws {
    for name in ["anna", "berta", "carla"] { try from.keychain.add(Sample.password(name)) }
    try from.reopen {
      // Neither tag is touched, so the manifest still fits.
      try RawStore(from.location.databasePath).run(
        "UPDATE items SET secret = CAST(substr(secret, 1, 40) || x'00000000'"
          + " || substr(secret, 45) AS BLOB)"
          + " WHERE id = 2")
    }
    #expect(from.keychain.condition == .healthy)
    let made = try file.export(from.keychain)
    #expect(made.items == 2 && made.damaged == 1)
    let report = try file.import(to: to.keychain)
    #expect(report.damaged == 1 && report.added == 2)
    #expect(
      Set(try to.keychain.items(ItemQuery()).compactMap { $0[.account]?.string })
        == ["anna", "carla"])
  }

  @Test func anAlteredStoreIsNotExported() throws {
    try from.keychain.add(Sample.password("anna"))
    try from.reopen { try RawStore(from.location.databasePath).run("DELETE FROM items") }
    refuses(.readOnly) { try file.export(from.keychain) }
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(try file.drafts().isEmpty)
  }

  @Test func aFileThatIsThereStaysUnlessItMayGo() throws {
    try file.write(Array("mine".utf8))
    refuses(.duplicateItem) { _ = try ExportDraft(file.path, replacing: false) }
    _ = try ExportDraft(file.path, replacing: true)
    #expect(try file.bytes() == Array("mine".utf8))
    #expect(try file.drafts().isEmpty)
    refuses(.noSuchKeychain) {
      _ = try ExportDraft(file.directory.file("none/file"), replacing: false)
    }
  }

  @Test func twoExportsToOneNameDoNotMeet() throws {
    func export(to draft: ExportDraft) throws {
      _ = try from.keychain.exportItems(
        to: draft.descriptor, name: file.path, passphrase: Sample.secret(ExportedFile.passphrase))
    }
    try from.keychain.add(Sample.password("anna"))
    do {
      let first = try ExportDraft(file.path, replacing: false)
      try export(to: first)
      let second = try ExportDraft(file.path, replacing: false)
      try first.place()
      #expect(try file.import(to: to.keychain).added == 1)
      // The name was free when it began.
      let made = try file.bytes()
      try export(to: second)
      refuses(.duplicateItem) { try second.place() }
      #expect(try file.bytes() == made)
      let third = try ExportDraft(file.path, replacing: true)
      try export(to: third)
      try third.place()
      #expect(try file.bytes() != made && file.import(to: to.keychain).unchanged == 1)
    }
    #expect(try file.drafts().isEmpty)
  }

  @Test func aDraftThatSomebodyExchangedIsNotPutInPlace() throws {
    do {
      let draft = try ExportDraft(file.path, replacing: true)
      let name = file.directory.file(try #require(try file.drafts().first))
      try FileManager.default.removeItem(atPath: name)
      try Data("theirs".utf8).write(to: URL(fileURLWithPath: name))
      refuses(.notAvailable) { try draft.place() }
    }
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(try file.drafts().count == 1)
  }

  @Test func whoStopsAnExportOrAnImportChangesNothing() throws {
    for number in 0..<50 { try from.keychain.add(Sample.password("user \(number)")) }
    let stop = KeychainError(.userCanceled, "stopped")
    let draft = try ExportDraft(file.path, replacing: false)
    refuses(.userCanceled) {
      _ = try from.keychain.exportItems(
        to: draft.descriptor, name: file.path, passphrase: Sample.secret("a passphrase")
      ) { done, _ in if done == 30 { throw stop } }
    }
    // What was written until then may be with somebody.
    let lines = try audit(from.keychain)
    #expect(lines.last == "a test: exportBegun an export to \(file.path) is begun")
    #expect(lines.allSatisfy { !$0.contains("exported") })
    try file.export(from.keychain)
    var plan = ItemImport()
    plan.progress = { done, total in if done == total { throw stop } }
    refuses(.userCanceled) { try file.import(to: to.keychain, plan) }
    plan.progress = { _, _ in }
    plan.willCommit = { _ in throw stop }
    refuses(.userCanceled) { try file.import(to: to.keychain, plan) }
    #expect(try to.keychain.items(ItemQuery()).isEmpty && audit(to.keychain).isEmpty)
  }
}
