// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import KeychainCore
import Settings
import ThreadkeeperDaemon

#if canImport(Glibc)
  import Glibc
#endif

/// Has something done about consent: by the daemon that runs, or without one in the store itself.
struct ConsentClient: Sendable {
  /// Seconds.
  private static let patience = 30

  let settings: Settings

  /// For what only a daemon can do, because only a daemon has somebody waiting. One that is just
  /// starting is waited for.
  func askDaemon(_ message: ConsentMessage) async throws -> ConsentReport {
    // What broke off in between may have been decided: to decide it again is refused by its id.
    try await DaemonClient.orStore(isRepeatable: true) {
      try await ask(message)
    } store: {
      guard StoreLock.holder(of: OpenStore.location(settings)) == nil else {
        throw CommandFailure(.temporary, "another process has the store, and no daemon answers")
      }
      throw CommandFailure(
        .unavailable, "no daemon runs, so nothing waits for consent",
        remedy: "`threadkeeper run` starts one; the program has to ask again then")
    }
  }

  func perform(_ message: ConsentMessage) async throws -> ConsentReport {
    try await DaemonClient.orStore(isRepeatable: true) {
      try await ask(message)
    } store: {
      let keychain =
        try message.command == .revoke
        ? OpenStore.forWriting(settings) : OpenStore.forReading(settings)
      defer { keychain.close() }
      let service = ConsentService(keychain)
      do {
        switch message.command {
        case .list: return try service.list(namingHome: settings.homes.count > 1)
        case .grants: return try service.grants()
        case .history: return try service.history(message.limit)
        case .revoke: return try service.revoke(message.id, by: geteuid())
        case .approve, .deny: throw CommandFailure(.software, "this takes a daemon")
        }
      } catch let refusal as ConsentRefusal {
        throw CommandFailure(refusal)
      } catch let error as KeychainError {
        throw CommandFailure(error)
      }
    }
  }

  /// - Returns: nil when no daemon listens.
  private func ask(_ message: ConsentMessage) async throws -> ConsentReport? {
    try await DaemonClient(settings: settings).ask(message, within: Self.patience)
  }
}
