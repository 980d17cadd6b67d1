// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

@Suite struct ExportRecordTests {
  /// What grows leaves copies in freed memory, secrets among them.
  @Test func theLengthOfARecordIsKnownBeforeItIsMade() throws {
    let store = try TemporaryStore()
    for item in GoldenStore.items where !item.accessible.isThisDeviceOnly {
      try store.keychain.add(item)
    }
    var every = Sample.password("every form", secret: String(repeating: "🔑", count: 1_000))
    every.attributes[.accessControl] = .data([1, 0, 0, 0, 0, 0, 0, 0, 1])
    every.attributes[.port] = .integer(-1)
    every.attributes[.preferredMember] = .bool(true)
    every.attributes[ItemAttribute(rawValue: 250)] = .data(Array(repeating: 9, count: 70_000))
    try store.keychain.add(every)
    let items = try store.keychain.items(ItemQuery(synchronizable: .any))
    #expect(items.count > 4)
    for item in items {
      let secret = try store.keychain.secret(of: item)
      #expect(
        ExportRecord.length(of: item, secret) == ExportRecord.encode(item, secret).count,
        "\(item.attributes)")
    }
  }
}
