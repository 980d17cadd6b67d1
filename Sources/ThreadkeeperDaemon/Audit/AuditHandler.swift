// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SystemThreads
import VarlinkSocket

/// Answers `io.threadkeeper.Audit` in the daemon.
struct AuditHandler: LocalAPIHandler {
  /// From one look for new records to the next.
  private static let interval = Duration.milliseconds(300)

  let service: AuditService
  private let queue = HandlerQueue("audit")

  init(keychain: Keychain) { service = AuditService(keychain: keychain) }

  var interface: VarlinkInterface { .audit }

  var endpoints: [VarlinkEndpoint] {
    [
      AuditMethods.follow.answered { start, _, replies in
        try await follow(start) { try await replies.send($0) }
      },
      AuditMethods.verify.answered { _, _ in
        try await SystemThread.result { [service] in try service.verify() }
      },
    ]
  }

  /// The first reply comes at once.
  private func follow(
    _ start: AuditMethods.Start, send: (AuditMethods.Entries) async throws -> Void
  ) async throws -> AuditMethods.Entries {
    var shown = try await queue.run { [service] in try service.begin(start) }
    var isFirst = true
    while true {
      let page = try await queue.run { [service, shown] in try service.page(after: shown) }
      for reply in page.replies where isFirst || !reply.records.isEmpty {
        try await send(reply)
        isFirst = false
      }
      shown = page.last
      if start.untilNow == true, !page.isFull { return .init(records: [], last: shown) }
      if !page.isFull { try await Task.sleep(for: Self.interval) }
    }
  }
}

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
