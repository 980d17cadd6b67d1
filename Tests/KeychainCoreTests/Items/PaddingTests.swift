// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite struct PaddingTests {
  /// The lengths of the sealed parts of one item.
  private func lengths(
    _ store: TemporaryStore, _ attributes: ItemAttributes, secret count: Int
  ) throws -> [Int64] {
    let keychain = store.keychain
    let item = try keychain.add(
      NewItem(
        .genericPassword, attributes: attributes, secret: SecretBytes(random: count),
        accessible: .afterFirstUnlock))
    defer { try? keychain.delete(item) }
    let found = try keychain.database.read { tx in
      try tx.first(
        "SELECT length(secret), length(metadata), length(wrapped_key) FROM items WHERE id = ?",
        .integer(item.rowID)
      ) { row in (0..<3).map { row.integer($0) } }
    }
    return try #require(found)
  }

  @Test func aSecretTellsItsLengthInStepsOf64Only() throws {
    let store = try TemporaryStore()
    let overhead: Int64 = 45
    for (range, padded): (ClosedRange<Int>, Int64) in [(0...63, 64), (64...127, 128)] {
      for count in range {
        #expect(try lengths(store, [:], secret: count)[0] == padded + overhead)
      }
    }
  }

  @Test func attributesTellTheirLengthInStepsOf128Only() throws {
    let store = try TemporaryStore()
    let overhead: Int64 = 45
    var seen: Set<Int64> = []
    for count in 0..<300 {
      let label = String(repeating: "x", count: count)
      let length = try lengths(store, [.label: .string(label)], secret: 0)[1] - overhead
      #expect(length % 128 == 0)
      seen.insert(length)
    }
    #expect(seen == [128, 256, 384])
  }

  @Test func aThreadCredentialHasTheSmallestMetadata() throws {
    let store = try TemporaryStore()
    // A home's credential with a 16-byte id and names of usual length fits into one step.
    let credential = Sample.credential("a1b2c3d4e5f60718a1b2c3d4e5f60718", team: "otbr-1")
    let sizes = try lengths(store, credential.attributes, secret: 110)
    #expect(sizes == [173, 173, 77])
  }
}
