// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// Exports that are authentic and wrong: made by another program, a newer one, or one that knows the
/// passphrase and means no good.
@Suite struct CraftedExportTests {
  private let file: ExportedFile
  private let to: TemporaryStore

  init() throws {
    file = try ExportedFile()
    to = try TemporaryStore(options: ExportedFile.options())
  }

  private func expect(
    _ export: CraftedExport, _ words: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    try file.write(try export.bytes())
    do {
      try file.import(to: to.keychain)
      Issue.record("it was imported: \(words)", sourceLocation: location)
    } catch let error as KeychainError {
      #expect(error.status == .decode, "\(error)", sourceLocation: location)
      #expect(error.message.contains(words), "\(error)", sourceLocation: location)
    }
    #expect(try to.keychain.items(ItemQuery()).isEmpty, sourceLocation: location)
  }

  private typealias Craft = CraftedExport

  @Test func oneThatIsRightIsTaken() throws {
    try file.write(
      try Craft([Craft.password("anna"), Craft.password("berta", accessible: 0), Craft.end(2)])
        .bytes())
    let report = try file.import(to: to.keychain)
    #expect(report.added == 2)
    #expect(report.store.bytes == [UInt8](repeating: 6, count: 16))
    let anna = try #require(try to.keychain.items(ItemQuery()).first)
    #expect(anna.created == 1_700_000_000_000_000 && anna.accessible == .afterFirstUnlock)
    #expect(try to.keychain.secret(of: anna) == Sample.secret("secret"))
  }

  @Test func whatIsExportedIsWhatTheFormatSays() throws {
    try to.keychain.add(Sample.password("anna", secret: "s3cret"))
    try file.export(to.keychain)
    let records = try Craft.read(try file.bytes(), passphrase: ExportedFile.passphrase)
    let item = try #require(try to.keychain.items(ItemQuery()).first)
    let dates = [Craft.date(13, UInt64(item.created)), Craft.date(14, UInt64(item.modified))]
    #expect(
      records == Craft.password("anna", attributes: dates, secret: "s3cret") + Craft.end(1))
  }

  @Test func recordsOfAnUnknownKindAreToldAndNotGuessedAt() throws {
    let anna = Craft.password("anna")
    try expect(
      Craft([anna, Craft.record(2, [1, 2, 3]), Craft.end(1)]), "record 2 is of a kind (2.1)")
    try expect(
      Craft([anna, Craft.record(1, version: 2, [1]), Craft.end(2)]), "record 2 is of a kind (1.2)")
    try expect(Craft([Craft.password("anna", class: 9), Craft.end(1)]), "a class (9)")
    try expect(Craft([Craft.password("anna", accessible: 9), Craft.end(1)]), "in a way (9)")
    let dates = [Craft.date(13), Craft.date(14)]
    let form = [UInt8(5), 9, 0, 0, 0, 1, 1]
    try expect(
      Craft([Craft.password("anna", attributes: dates + [form]), Craft.end(1)]), "of a form (9)")
  }

  @Test func itemsThatCannotBeAreRefused() throws {
    let dates = [Craft.date(13), Craft.date(14)]
    func anna(_ attributes: [[UInt8]]) -> CraftedExport {
      Craft([Craft.password("anna", attributes: dates + attributes), Craft.end(1)])
    }
    for accessible in UInt8(3)...6 {
      try expect(
        Craft([Craft.password("anna", accessible: accessible), Craft.end(1)]),
        "for another device only")
    }
    try expect(anna([Craft.text(1, "again")]), "twice")
    try expect(anna([[5, 1, 0, 0, 0, 1, 0xFF]]), "not UTF-8")
    try expect(anna([[5, 3, 0, 0, 0, 1, 1]]), "a number that is none")
    try expect(anna([[5, 5, 0, 0, 0, 1, 2]]), "a truth value that is none")
    try expect(anna([[5, 2, 0xFF, 0xFF, 0xFF, 0xFF]]), "ends too early")
    try expect(Craft([Craft.password("anna", attributes: []), Craft.end(1)]), "has no date")
    try expect(
      Craft([Craft.password("anna"), Craft.password("anna", secret: "2"), Craft.end(2)]),
      "record 2 is an item that came before")
    var longer = Craft.password("anna")
    longer[5] += 1
    try expect(Craft([longer + [0], Craft.end(1)]), "longer than what it holds")
    try expect(Craft([[1, 1, 0x7F, 0, 0, 0], Craft.end(0)]), "too long")
    let attribute = [UInt8(200), 2] + Craft.big(1 << 20, 4) + [UInt8](repeating: 1, count: 1 << 20)
    let record = Craft.password("anna", attributes: dates + [attribute]) + Craft.end(1)
    let cut = stride(from: 0, to: record.count, by: Craft.chunkLength).map { start in
      let end = min(start + Craft.chunkLength, record.count)
      return (Array(record[start..<end]), end == record.count ? SecretStream.Tag.final : .message)
    }
    try expect(CraftedExport(chunks: cut), "more attributes than a store takes")
  }

  @Test func theEndHasToFit() throws {
    let anna = Craft.password("anna")
    try expect(Craft([anna]), "its records are not those that it counts")
    try expect(Craft([anna, Craft.end(2)]), "its records are not those that it counts")
    try expect(Craft([anna, Craft.end(1), [255]]), "its records are not those that it counts")
    try expect(Craft([anna, Craft.end(1), Craft.password("berta")]), "comes after the end")
    try expect(Craft([anna, Craft.end(1), Craft.end(1)]), "comes after the end")
  }

  @Test func theLastChunkAndNoOtherIsMarked() throws {
    let anna = Craft.password("anna") + Craft.end(1)
    try expect(CraftedExport(chunks: [(anna, .message)]), "ends too early")
    let large =
      Craft.password("large", secret: String(repeating: "x", count: 70_000)) + Craft.end(1)
    let (first, rest) = (Array(large[..<65_536]), Array(large[65_536...]))
    try expect(CraftedExport(chunks: [(first, .message), (rest, .message)]), "ends too early")
    try expect(CraftedExport(chunks: [(first, .final)]), "its records are not those")
    try file.write(try CraftedExport(chunks: [(first, .message), (rest, .final)]).bytes())
    #expect(try file.import(to: to.keychain).added == 1)
  }
}
