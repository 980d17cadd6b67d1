// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// Reads the audit of an open store, a page at a time.
package struct AuditService: Sendable {
  struct Page {
    /// Its entries, portioned for replies; there is always one, which may be empty.
    var replies: [AuditMethods.Entries]
    /// Whether there may be more by now.
    var isFull: Bool

    var last: Int64 { replies.last?.last ?? 0 }
  }

  /// Changes in one reply. Each has a subject and a record an actor, of 300 bytes each at most: in JSON a byte takes six
  /// at most, and a message has at most 512 KiB.
  private static let changesInReply = 200
  private static let recordsInPage = 500

  let keychain: Keychain

  package init(keychain: Keychain) { self.keychain = keychain }

  /// The number of the record after which one who follows begins.
  func begin(_ start: AuditMethods.Start) throws -> Int64 {
    guard start.after ?? 0 >= 0, start.last ?? 0 >= 0 else {
      throw CommandFailure(.usage, "`after` and `last` are 0 or more")
    }
    if let after = start.after { return after }
    let newest = try keychain.lastAuditRecord()
    return newest - min(newest, start.last ?? 0)
  }

  /// Goes through all records.
  package func verify() throws -> AuditMethods.Verification {
    AuditMethods.Verification(
      records: try keychain.lastAuditRecord(), problem: try keychain.auditProblem())
  }

  /// - Throws: `decode` when a record is missing, altered or not in its place.
  func page(after number: Int64) throws -> Page {
    var page = Page(replies: [.init(records: [], last: number)], isFull: false)
    var (records, weight) = (0, 0)
    try keychain.forEachAuditRecord(after: number, limit: Self.recordsInPage) { record in
      for part in AuditEntry(record).parts(of: Self.changesInReply - 1) {
        // The actor counts as one of them.
        weight += part.changes.count + 1
        if weight > Self.changesInReply {
          page.replies.append(.init(records: [], last: page.last))
          weight = part.changes.count + 1
        }
        page.replies[page.replies.count - 1].records.append(part)
      }
      page.replies[page.replies.count - 1].last = record.number
      records += 1
    }
    page.isFull = records == Self.recordsInPage
    return page
  }
}
