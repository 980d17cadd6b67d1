// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

/// A commit of records on a disk that fails.
@Suite struct FailingRecordsTests {
  private static let before: [Int64: [String?]] = [
    1: ["router 1", "dataset 1"], 2: ["router 2", "dataset 2"], 3: ["alert", nil],
  ]
  private static let after: [Int64: [String?]] = [
    1: ["router 1 again", "dataset 1"], 2: ["router 2 again", nil], 4: ["new", "dataset 2"],
  ]

  private func change(_ records: SealedRecords) throws {
    var changes = RecordChanges.of(
      .sample(1, "router 1 again"), .sample(2, "router 2 again", .none),
      .init(id: RecordID(3), home: 7, state: nil), .sample(4, "new", .copy(of: RecordID(2))))
    changes.messages = [StoredMessage(id: 2, bytes: [2])]
    changes.published = 1
    try records.commit(changes)
  }

  private func tryEveryCall(_ fault: (Int) -> FaultyDisk.Fault) throws {
    var failed = 0
    for number in 1...300 {
      let disk = FaultyDisk()
      var options = KeychainOptions()
      options.vfs = disk.name
      let store = try TemporaryStore(options: options)
      var first = RecordChanges.of(
        Self.before.map { .sample($0, $1[0] ?? "", $1[1].map { .text($0) } ?? .none) })
      first.messages = [StoredMessage(id: 1, bytes: [1])]
      try SealedRecords(store.keychain).commit(first)
      disk.arm(fault(number))
      var hasFailed = false
      do { try change(SealedRecords(store.keychain)) } catch { hasFailed = true }
      let hasFired = disk.hasFired
      disk.repair()
      func expectOne(of expected: [[Int64: [String?]]]) throws {
        let records = SealedRecords(store.keychain)
        let found = try records.contents()
        #expect(expected.contains(found), "call \(number)")
        let messages = try records.messages(after: 0, limit: 9).map(\.id)
        #expect(messages == (found == Self.after ? [2] : [1]), "call \(number)")
      }
      try expectOne(of: [hasFailed ? Self.before : Self.after])
      try store.reopen()
      // A commit whose sync failed may be on the disk all the same.
      try expectOne(of: hasFailed ? [Self.before, Self.after] : [Self.after])
      #expect(store.keychain.condition == .healthy, "call \(number)")
      // And it goes on as if nothing had been.
      try SealedRecords(store.keychain).commit(.of(.sample(1, "on"), .sample(5, "on")))
      let report = try store.keychain.verify(.everything)
      #expect(report.matchesManifest && report.unreadableRecords == [], "call \(number)")
      failed += hasFailed ? 1 : 0
      guard hasFired else {
        #expect(failed > 0)
        return
      }
    }
    Issue.record("there was no end")
  }

  @Test func anIOErrorAtAnyCallChangesAllOrNothing() throws {
    try tryEveryCall { .ioError(at: $0) }
  }

  @Test func aFullDiskAtAnyWriteChangesAllOrNothing() throws {
    try tryEveryCall { .full(at: $0) }
  }

  @Test func aSyncThatFailsAndLosesWhatWasWrittenChangesAllOrNothing() throws {
    try tryEveryCall { .failedSync(at: $0, seed: UInt64($0)) }
  }
}
