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
