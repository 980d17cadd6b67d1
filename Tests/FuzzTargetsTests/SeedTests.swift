// SPDX-License-Identifier: Apache-2.0

import Foundation
import FuzzTargets
import Testing

/// `make fuzz` runs for minutes. Its seeds run here, so that no target breaks unnoticed. One after the other: a program
/// has one keychain.
@Suite(.serialized) struct SeedTests {
  private static let corpus = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz/Corpus").path

  @Test("Each seed of a fuzz target keeps its properties", arguments: FuzzTarget.allCases)
  func seeds(_ target: FuzzTarget) throws {
    let seeds = try Seeds.read(of: target, in: Self.corpus)
    #expect(!seeds.isEmpty)
    for seed in seeds {
      #expect(throws: Never.self, "\(target.rawValue)/\(seed.name)") {
        try target.check(seed.bytes)
      }
    }
  }

  @Test(
    "Each fuzz target takes no bytes, and the cut and changed bytes of its seeds",
    arguments: FuzzTarget.allCases)
  func cutSeeds(_ target: FuzzTarget) throws {
    try target.check([])
    for seed in try Seeds.read(of: target, in: Self.corpus) {
      for count in stride(from: 0, to: seed.bytes.count, by: max(1, seed.bytes.count / 16)) {
        var changed = seed.bytes
        changed[count] ^= 0xFF
        for bytes in [Array(seed.bytes.prefix(count)), changed] {
          #expect(throws: Never.self, "\(target.rawValue)/\(seed.name), \(count)") {
            try target.check(bytes)
          }
        }
      }
    }
  }

  @Test("Every folder of seeds belongs to a fuzz target")
  func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus)
    #expect(folders.sorted() == FuzzTarget.allCases.map(\.rawValue).sorted())
  }
}
