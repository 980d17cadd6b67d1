// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import KeychainCore
import Logging

/// Exports and imports in the running daemon. The files come open from the command, whose user may reach other
/// places than the daemon's; they are closed with its connection.
extension StoreService {
  func exchange(_ request: StoreRequest, _ connection: DaemonConnection) throws -> StoreReport {
    defer { progress.withLock { $0 = nil } }
    let service = ExportService(
      keychain: keychain, settings: settings, enrolments: enrolments,
      actor: OpenStore.actor(user: connection.peer.user)
    ) { [self] done, total in
      progress.withLock { $0 = .init(done: done, total: total) }
      guard !isEnding.withLock({ $0 }) else {
        throw KeychainError(.userCanceled, "the daemon ends: nothing was done")
      }
      // Whoever has given up should not find it done.
      guard !connection.isGone else {
        logger.notice(
          "an export or import is given up",
          metadata: ["reason": "nobody waits for it", "user": "\(connection.peer.user)"])
        throw KeychainError(.userCanceled, "nobody waits for it")
      }
    }
    let report = try service.answer(request, connection.passed)
    if let made = report.exported {
      logger.notice(
        "the items of the store are exported",
        metadata: ["items": "\(made.items)", "user": "\(connection.peer.user)"])
    }
    if let made = report.imported, made.imported {
      logger.notice(
        "an export is imported",
        metadata: [
          "added": "\(made.added)", "replaced": "\(made.replaced)", "deleted": "\(made.deleted)",
          "left_out": "\(made.stayedOut.values.reduce(0, +))",
          "taken_over": "\(made.takenOver.values.reduce(0, +))", "user": "\(connection.peer.user)",
        ])
    }
    return report
  }
}
