// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

/// `io.threadkeeper.Audit`: who changed what in the store.
package enum AuditMethods {
  package static let follow = VarlinkStream<Start, Entries>(
    VarlinkInterface.audit.name, "Follow", for: .reader)
  package static let verify = VarlinkMethod<VarlinkNothing, Verification>(
    VarlinkInterface.audit.name, "Verify", for: .reader)

  /// Where to begin.
  package struct Start: Codable, Sendable {
    /// After the record of this number, 0 or more.
    package var after: Int64?
    /// Without `after`: with so many of the last records. Nil is 0.
    package var last: Int64?
    /// Whether to end with the newest record instead of waiting for more.
    package var untilNow: Bool?

    package init(after: Int64?, last: Int64?, untilNow: Bool? = nil) {
      self.after = after
      self.last = last
      self.untilNow = untilNow
    }
  }

  package struct Verification: Codable, Sendable {
    package var records: Int64
    /// Nil when all is well.
    package var problem: String?
  }

  package struct Entries: Codable, Sendable {
    package var records: [AuditEntry]
    /// The number of the last record that is complete with this reply, or that came before.
    package var last: Int64
  }
}
