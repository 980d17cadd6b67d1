// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Reads the audit: by the running daemon, or without one in the store itself.
struct AuditClient: Sendable {
  /// To go through all records of a large store takes long on a slow machine.
  private static let timeout = Duration.seconds(600)

  let settings: Settings

  /// The last records, the oldest first.
  func last(_ count: Int64) async throws -> [AuditEntry] {
    try await DaemonClient.orStore(isRepeatable: true) {
      var entries: [AuditEntry] = []
      let reply = try await DaemonClient(settings: settings).follow(
        AuditMethods.follow, .init(after: nil, last: count, untilNow: true)
      ) { reply in
        for entry in reply.records {
          if entries.last?.continues == true {
            entries[entries.count - 1].append(entry)
          } else {
            entries.append(entry)
          }
        }
      }
      return reply.map { _ in entries }
    } store: {
      try read { keychain in
        var entries: [AuditEntry] = []
        let newest = try keychain.lastAuditRecord()
        try keychain.forEachAuditRecord(after: newest - min(newest, count)) {
          entries.append(AuditEntry($0))
        }
        return entries
      }
    }
  }

  func verify() async throws -> AuditMethods.Verification {
    try await DaemonClient.orStore(isRepeatable: true) {
      try await DaemonClient(settings: settings).call(
        AuditMethods.verify, VarlinkNothing(), within: Self.timeout)
    } store: {
      try read { try AuditService(keychain: $0).verify() }
    }
  }

  private func read<R>(_ body: (Keychain) throws -> R) throws -> R {
    let keychain = try OpenStore.forReading(settings)
    defer { keychain.close() }
    do {
      return try body(keychain)
    } catch let error as KeychainError {
      throw CommandFailure(error)
    }
  }
}
