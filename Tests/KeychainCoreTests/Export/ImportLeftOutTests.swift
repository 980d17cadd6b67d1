// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import TestKit
import Testing

@testable import KeychainCore

/// What an import leaves out though nothing is wrong with it.
@Suite struct ImportLeftOutTests {
  private let file: ExportedFile
  private let (from, to): (TemporaryStore, TemporaryStore)

  init() throws {
    file = try ExportedFile()
    (from, to) = try ExportedFile.stores(["anna", "berta", "carla"])
    try file.export(from.keychain)
    try to.keychain.add(Sample.password("anna"))
    try to.keychain.add(Sample.password("berta", secret: "mine"))
  }

  private func accounts() throws -> [String] {
    try to.keychain.items(ItemQuery()).compactMap { $0[.account]?.string }.sorted()
  }

  @Test(arguments: ItemImport.OnConflict.allCases)
  func itIsCountedAndNotWritten(_ onConflict: ItemImport.OnConflict) throws {
    var plan = ItemImport()
    plan.onConflict = onConflict
    plan.isMeant = { $0.attributes[.account]?.string == "anna" }
    plan.isTrial = true
    let trial = try file.import(to: to.keychain, plan)
    plan.isTrial = false
    let report = try file.import(to: to.keychain, plan)
    for each in [trial, report] {
      #expect(each.leftOut == 2 && each.unchanged == 1 && each.items == 3)
      #expect(each.added == 0 && each.conflicts == 0)
    }
    #expect(report.isDone)
    #expect(try accounts() == ["anna", "berta"])
    let berta = try to.keychain.first(ItemQuery(.genericPassword, [.account: .string("berta")]))
    #expect(berta?.secret == Sample.secret("mine"))
    var line = ""
    try to.keychain.forEachAuditRecord { line = $0.lines.last?.subject ?? "" }
    #expect(line.hasSuffix("1 the same, 2 left out"), "\(line)")
  }

  @Test func itRefusesNothingWhateverIsWrongWithIt() throws {
    var plan = ItemImport()
    plan.isMeant = { $0.attributes[.account]?.string != "berta" }
    plan.rejectionReason = { $0.attributes[.account]?.string == "berta" ? "is wrong" : nil }
    let report = try file.import(to: to.keychain, plan)
    #expect(report.isDone && report.leftOut == 1 && report.added == 1)
  }

  @Test(arguments: ItemImport.OnConflict.allCases)
  func whatReplacesAlwaysIsNoConflictAndWhatComesInIsNamed(
    _ onConflict: ItemImport.OnConflict
  ) throws {
    var names: [String] = []
    var plan = ItemImport()
    plan.onConflict = onConflict
    plan.comesIn = { names.append($0.attributes[.account]?.string ?? "") }
    plan.replacesAlways = { $0.attributes[.account]?.string == "berta" }
    let report = try file.import(to: to.keychain, plan)
    #expect(report.isDone && report.conflicts == 0 && report.replaced == 1 && report.added == 1)
    #expect(names == ["berta", "carla"])
    let berta = try to.keychain.first(ItemQuery(.genericPassword, [.account: .string("berta")]))
    #expect(berta?.secret != Sample.secret("mine"))
    #expect(try to.keychain.verify(.everything) == VerificationReport(items: 3))
  }

  @Test func whatTheTransactionBeginsWithUndoesAll() throws {
    let before = try to.keychain.portrait()
    var plan = ItemImport()
    plan.onConflict = .keep
    plan.begin = { _ in throw KeychainError.storeHasChanged() }
    do {
      try file.import(to: to.keychain, plan)
      Issue.record("it was imported")
    } catch let error as KeychainError {
      #expect(error.status == .notAvailable && error.message.contains("import again"))
    }
    #expect(try to.keychain.portrait() == before)
  }

  @Test func aRivalThatComesBetweenThePassesIsNotDeletedUnnamed() throws {
    let before = try to.keychain.portrait()
    let anna = try #require(try to.keychain.items(ItemQuery()).first)
    var isSecondPass = false
    var plan = ItemImport()
    plan.onConflict = .replace
    plan.begin = { _ in isSecondPass = true }
    plan.rival = { item, _ in
      isSecondPass && item.attributes[.account]?.string == "carla" ? anna : nil
    }
    let error = #expect(throws: KeychainError.self) { try file.import(to: to.keychain, plan) }
    #expect(error?.status == .notAvailable)
    #expect(try to.keychain.portrait() == before)
  }
}
