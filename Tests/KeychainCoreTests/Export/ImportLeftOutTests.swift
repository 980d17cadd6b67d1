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
  func itIsCountedAndNamedAndNotWritten(_ onConflict: ItemImport.OnConflict) throws {
    var names: [String] = []
    var plan = ItemImport()
    plan.onConflict = onConflict
    plan.staysOut = { _, _ in { _ in true } }
    plan.stayedOut = { names.append($0.attributes[.account]?.string ?? "") }
    plan.isTrial = true
    let trial = try file.import(to: to.keychain, plan)
    plan.isTrial = false
    let report = try file.import(to: to.keychain, plan)
    // The same is the same, and another one is no conflict: it does not come.
    for each in [trial, report] {
      #expect(each.stayedOut == 2 && each.unchanged == 1 && each.items == 3)
      #expect(each.added == 0 && each.conflicts == 0)
    }
    #expect(names == ["berta", "carla", "berta", "carla"])
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
    plan.staysOut = { _, _ in { $0.attributes[.account]?.string == "berta" } }
    plan.objection = { $0.attributes[.account]?.string == "berta" ? "is wrong" : nil }
    let report = try file.import(to: to.keychain, plan)
    #expect(report.isDone && report.stayedOut == 1 && report.added == 1)
  }

  @Test(arguments: ItemImport.OnConflict.allCases)
  func whatGivesWayIsNoConflictAndWhatComesInIsTold(_ onConflict: ItemImport.OnConflict) throws {
    var (names, asked): ([String], [String]) = ([], [])
    var plan = ItemImport()
    plan.onConflict = onConflict
    plan.comesIn = { names.append($0.attributes[.account]?.string ?? "") }
    plan.givesWay = { item, differs in
      asked.append("\(item[.account]?.string ?? "") \(differs)")
      return true
    }
    let report = try file.import(to: to.keychain, plan)
    let told = #"berta ["secret"]"#
    #expect(report.isDone && report.conflicts == 0 && report.replaced == 1 && report.added == 1)
    #expect(names == ["berta", "carla"] && asked == [told, told])
    let berta = try to.keychain.first(ItemQuery(.genericPassword, [.account: .string("berta")]))
    #expect(berta?.secret != Sample.secret("mine"))
    #expect(try to.keychain.verify(.everything) == VerificationReport(items: 3))
  }

  @Test func itIsDecidedBeforeAnythingIsWritten() throws {
    var asked: [StoreID] = []
    var seen: [Int] = []
    var plan = ItemImport()
    plan.onConflict = .replace
    plan.staysOut = { store, tx in
      asked.append(store)
      seen.append(try to.keychain.items(matching: ItemQuery(), in: tx).count)
      return { $0.attributes[.account]?.string == "berta" }
    }
    let report = try file.import(to: to.keychain, plan)
    #expect(report.added == 1 && report.stayedOut == 1 && report.replaced == 0)
    #expect(asked == [from.keychain.storeID, from.keychain.storeID])
    #expect(seen == [2, 2])
  }

  @Test func whatWasNotNamedDoesNotStayOutInSilence() throws {
    let before = try to.keychain.portrait()
    var passes = 0
    var plan = ItemImport()
    plan.onConflict = .keep
    // As a store would that has changed meanwhile.
    plan.staysOut = { _, _ in
      passes += 1
      return { [passes] _ in passes == 2 }
    }
    do {
      try file.import(to: to.keychain, plan)
      Issue.record("it was imported")
    } catch let error as KeychainError {
      #expect(error.status == .notAvailable && error.message.contains("import again"))
    }
    #expect(try to.keychain.portrait() == before)
  }
}
