// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

/// An export of format 1 as the first version wrote it, of the golden store, kept as hex in
/// `Golden/export-1.hex`. It is never recreated: a version that cannot read it cannot read those that people have.
@Suite struct GoldenExportTests {
  private static let passphrase = "an export of the first version"
  private let file: ExportedFile

  init() throws {
    file = try ExportedFile()
    let resource = Bundle.module.url(
      forResource: "export-1", withExtension: "hex", subdirectory: "Golden")
    let text = try String(contentsOf: try #require(resource), encoding: .utf8)
    let digits = Array(text.utf8.filter { $0 != 0x0A })
    try file.write(
      try stride(from: 0, to: digits.count, by: 2).map {
        try #require(UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16))
      })
  }

  @Test func everyItemOfItIsRead() throws {
    let to = try TemporaryStore(options: ExportedFile.options())
    let report = try file.import(to: to.keychain, passphrase: Self.passphrase)
    let expected = GoldenStore.items.filter { !$0.accessible.isThisDeviceOnly }
    #expect(report.isDone && report.added == expected.count && report.damaged == 0)
    #expect(
      report.notInExport == [.afterFirstUnlockThisDeviceOnly: 1, .whenPasscodeSetThisDeviceOnly: 1])
    #expect(report.created == GoldenStore.changedAt)
    let found = try to.keychain.items(ItemQuery(synchronizable: .any))
    for (item, expected) in zip(found, expected) {
      #expect(item.itemClass == expected.itemClass && item.accessible == expected.accessible)
      #expect(item.attributes == expected.attributes)
      #expect(try to.keychain.secret(of: item) == expected.secret)
    }
  }
}
